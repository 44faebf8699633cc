/* SPDX-License-Identifier: MIT */

/* Preloaded into a program, tells how its main loop comes round, from the time on that the file
 * named by DLPIPE_PROBE_START exists. A source that is due every millisecond, before all others,
 * notes the longest time between two of its turns. That time holds also what the machine makes the
 * thread wait: so the time is noted too from the return of one poll() to the call of the next, less
 * what the thread waited meanwhile for a processor (/proc/thread-self/schedstat; nothing where the
 * kernel does not tell), in which the program itself keeps the loop from coming round.
 *
 * At the end of the program the file named by DLPIPE_PROBE_OUTPUT gets a line: the longest time
 * between two turns in microseconds, how many were above 16 ms, how many there were, the longest
 * time away in microseconds. */

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

#define LIMIT (16 * 1000)

static gint64 last_turn, longest_turn;
static guint n_above;
static guint64 n_turns;
static gint64 returned, longest_away; /* us */
static guint64 waited_before;         /* ns */

/* How long this thread has been ready and without a processor, in ns. */
static guint64
get_waited (void)
{
  static int fd = -2;
  guint64 waited = 0;
  char buffer[100];
  ssize_t n;

  if (fd == -2)
    fd = open ("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  n = pread (fd, buffer, sizeof buffer - 1, 0);
  buffer[MAX (n, 0)] = '\0';
  return sscanf (buffer, "%*u %" G_GUINT64_FORMAT, &waited) == 1 ? waited : 0;
}

static int
poll_and_measure (GPollFD *fds, guint n_fds, int timeout)
{
  int n;

  if (last_turn != 0 && returned != 0)
    {
      gint64 waited = (get_waited () - waited_before) / 1000;

      longest_away = MAX (longest_away, g_get_monotonic_time () - returned - waited);
    }
  n = poll ((struct pollfd *) fds, n_fds, timeout);
  waited_before = get_waited ();
  returned = last_turn != 0 ? g_get_monotonic_time () : 0;
  return n;
}

static gboolean
turn (gpointer data)
{
  gint64 now = g_get_monotonic_time ();

  if (last_turn == 0)
    last_turn = access (g_getenv ("DLPIPE_PROBE_START"), F_OK) == 0 ? now : 0;
  else
    {
      longest_turn = MAX (longest_turn, now - last_turn);
      n_above += now - last_turn > LIMIT;
      n_turns++;
      last_turn = now;
    }
  return G_SOURCE_CONTINUE;
}

static void __attribute__ ((constructor)) begin (void)
{
  if (g_getenv ("DLPIPE_PROBE_OUTPUT") == NULL)
    return;
  g_main_context_set_poll_func (NULL, poll_and_measure);
  g_timeout_add_full (G_PRIORITY_HIGH, 1, turn, NULL, NULL);
}

static void __attribute__ ((destructor)) end (void)
{
  const char *path = g_getenv ("DLPIPE_PROBE_OUTPUT");
  g_autofree char *line = NULL;

  if (path == NULL || n_turns == 0)
    return;
  line = g_strdup_printf ("%" G_GINT64_FORMAT " %u %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                          longest_turn, n_above, n_turns, longest_away);
  g_file_set_contents (path, line, -1, NULL);
}
