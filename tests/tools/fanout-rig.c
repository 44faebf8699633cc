/* SPDX-License-Identifier: MIT */

#include "fanout-rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUMMARY "sum.json"

void
fanout_rig_write_files (LaunchRig *self, guint records)
{
  for (guint f = 0; f < FANOUT_FILES; f++)
    {
      g_autofree char *name = g_strdup_printf ("in-%u.jsonl", f);
      g_autoptr (GString) text = g_string_new (NULL);
      guint n = records * (f + 1) / FANOUT_FILES;

      for (guint i = 0; i < n; i++)
        g_string_append_printf (text, "{\"text\": \"file %u record %u%s\"}\n", f, i,
                                f == 5 && i == n / 2 ? " die" : "");
      launch_rig_write (self, name, text->str, -1);
    }
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* A manifest has the identity of the run in it. */
char *
fanout_rig_hash (LaunchRig *self)
{
  g_autofree char *list = launch_rig_list (self, "out");
  g_auto (GStrv) names = g_strsplit (list, " ", -1);
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  GString *text = g_string_new (NULL);

  for (guint i = 0; names[i] != NULL; i++)
    g_ptr_array_add (sorted, names[i]);
  g_ptr_array_sort (sorted, compare_names);
  for (guint i = 0; i < sorted->len; i++)
    {
      g_autofree char *path = g_build_filename ("out", sorted->pdata[i], NULL);
      g_autofree char *hash = NULL;

      if (!g_str_has_suffix (path, "manifest.json"))
        hash = launch_rig_hash (self, path);
      g_string_append_printf (text, "%s %s\n", path, hash != NULL ? hash : "");
    }
  return g_string_free (text, FALSE);
}

/* The state of a process and its parent, of /proc/PID/stat; its name may have anything in it. */
static gboolean
read_stat (pid_t pid, char *state, int *parent)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/stat", (int) pid);
  g_autofree char *text = NULL;
  const char *end;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return FALSE;
  end = strrchr (text, ')');
  return end != NULL && sscanf (end + 1, " %c %d", state, parent) == 2;
}

gboolean
fanout_rig_is_alive (pid_t pid)
{
  char state;
  int parent;

  return read_stat (pid, &state, &parent) && state != 'Z';
}

GArray *
fanout_rig_list_workers (pid_t pid)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, NULL);
  GArray *found = g_array_new (FALSE, FALSE, sizeof (int));
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      int child = atoi (name);
      int parent;
      char state;

      if (child > 0 && read_stat (child, &state, &parent) && parent == pid && state != 'Z')
        g_array_append_val (found, child);
    }
  return found;
}

GArray *
fanout_rig_wait_for_workers (LaunchRig *self, guint n)
{
  gint64 until = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;
  GArray *found = fanout_rig_list_workers (self->pid);

  while (found->len < n && g_get_monotonic_time () < until)
    {
      g_array_unref (found);
      g_usleep (1000);
      found = fanout_rig_list_workers (self->pid);
    }
  return found;
}

char *
fanout_rig_read (LaunchRig *self, const char *name)
{
  g_autofree char *path = launch_rig_path (self, name);
  char *text = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    g_error ("%s is not there", name);
  return text;
}

guint64
fanout_rig_get_number (LaunchRig *self, const char *key)
{
  g_autofree char *text = fanout_rig_read (self, SUMMARY);
  g_autofree char *wanted = g_strdup_printf ("\n  \"%s\": ", key);
  const char *at = strstr (text, wanted);

  if (at == NULL)
    g_error ("“%s” is not in:\n%s", key, text);
  return g_ascii_strtoull (at + strlen (wanted), NULL, 10);
}
