/* SPDX-License-Identifier: MIT */

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlp-work-pool-private.h"

/* The path of this process in a cgroup hierarchy: v2 is "0::/PATH", v1 "N:CONTROLLER[,...]:/PATH".
 */
static char *
cgroup_path (const char *controller)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/proc/self/cgroup", &text, NULL, NULL))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) part = g_strsplit (lines[i], ":", 3);
      g_auto (GStrv) names = NULL;

      if (g_strv_length (part) != 3)
        continue;
      names = g_strsplit (part[1], ",", -1);
      if (controller == NULL ? part[1][0] == '\0' :
                               g_strv_contains ((const char *const *) names, controller))
        return g_strdup (part[2]);
    }
  return NULL;
}

typedef void (*DlpCgroupFunc) (const char *folder, gpointer data);

/* Calls @func for the group of the process and each one above it. */
static void
each_cgroup (const char *controller, DlpCgroupFunc func, gpointer data)
{
  g_autofree char *path = cgroup_path (controller);
  g_autofree char *root = controller != NULL ?
                              g_build_filename ("/sys/fs/cgroup", controller, NULL) :
                              g_strdup ("/sys/fs/cgroup");

  while (path != NULL)
    {
      g_autofree char *folder = g_build_filename (root, path, NULL);
      char *slash = strrchr (path, '/');

      func (folder, data);
      if (slash == NULL || slash[1] == '\0')
        break;
      slash[slash == path ? 1 : 0] = '\0';
    }
}

static char *
read_line (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? g_strstrip (text) : NULL;
}

static void
limit_cpus (double *limit, double quota, double period)
{
  if (quota > 0 && period > 0)
    *limit = MIN (*limit, quota / period);
}

static void
cpus_v2 (const char *folder, gpointer data)
{
  g_autofree char *text = read_line (folder, "cpu.max");
  char *end;

  if (text != NULL && g_ascii_isdigit (text[0]))
    {
      double quota = g_ascii_strtod (text, &end);
      limit_cpus (data, quota, g_ascii_strtod (end, NULL));
    }
}

static void
cpus_v1 (const char *folder, gpointer data)
{
  g_autofree char *quota = read_line (folder, "cpu.cfs_quota_us");
  g_autofree char *period = read_line (folder, "cpu.cfs_period_us");

  if (quota != NULL && period != NULL)
    limit_cpus (data, g_ascii_strtod (quota, NULL), g_ascii_strtod (period, NULL));
}

guint
dlp_cpu_budget (void)
{
  double limit = MAX (sysconf (_SC_NPROCESSORS_ONLN), 1);
  cpu_set_t set;
  guint whole;

  if (sched_getaffinity (0, sizeof set, &set) == 0)
    limit = MIN (limit, CPU_COUNT (&set));
  each_cgroup (NULL, cpus_v2, &limit);
  each_cgroup ("cpu", cpus_v1, &limit);
  whole = (guint) limit;
  return MAX (whole + (whole < limit ? 1 : 0), 1);
}

static void
limit_memory (guint64 *limit, const char *text)
{
  if (text != NULL && g_ascii_isdigit (text[0]))
    *limit = MIN (*limit, g_ascii_strtoull (text, NULL, 10));
}

static void
memory_v2 (const char *folder, gpointer data)
{
  g_autofree char *max = read_line (folder, "memory.max");

  limit_memory (data, max);
}

static void
memory_v1 (const char *folder, gpointer data)
{
  g_autofree char *max = read_line (folder, "memory.limit_in_bytes");

  limit_memory (data, max);
}

guint64
dlp_memory_limit (void)
{
  guint64 limit = (guint64) sysconf (_SC_PHYS_PAGES) * (guint64) sysconf (_SC_PAGESIZE);

  each_cgroup (NULL, memory_v2, &limit);
  each_cgroup ("memory", memory_v1, &limit);
  return limit;
}
