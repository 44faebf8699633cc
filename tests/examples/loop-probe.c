/* SPDX-License-Identifier: MIT */

/* Preloaded into a program, tells how long its main loop did not come round: a source that is due
 * every millisecond, before all others, notes the longest time between two of its turns, from the
 * time on that the file named by DLPIPE_PROBE_START exists. At the end of the program the file
 * named by DLPIPE_PROBE_OUTPUT gets a line: the longest time in microseconds, how many were above
 * 16 ms, how many turns there were. */

#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

#define LIMIT (16 * 1000)

static gint64 last;
static gint64 longest;
static guint n_above;
static guint64 n_turns;

static gboolean
turn (gpointer data)
{
  gint64 now = g_get_monotonic_time ();

  if (last == 0)
    last = access (g_getenv ("DLPIPE_PROBE_START"), F_OK) == 0 ? now : 0;
  else
    {
      longest = MAX (longest, now - last);
      n_above += now - last > LIMIT;
      n_turns++;
      last = now;
    }
  return G_SOURCE_CONTINUE;
}

static void __attribute__ ((constructor)) begin (void)
{
  if (g_getenv ("DLPIPE_PROBE_OUTPUT") != NULL)
    g_timeout_add_full (G_PRIORITY_HIGH, 1, turn, NULL, NULL);
}

static void __attribute__ ((destructor)) end (void)
{
  const char *path = g_getenv ("DLPIPE_PROBE_OUTPUT");
  g_autofree char *line = NULL;

  if (path == NULL || n_turns == 0)
    return;
  line = g_strdup_printf ("%" G_GINT64_FORMAT " %u %" G_GUINT64_FORMAT "\n", longest, n_above,
                          n_turns);
  g_file_set_contents (path, line, -1, NULL);
}
