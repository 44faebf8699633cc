/* SPDX-License-Identifier: MIT */

/* An element that passes records on, and does to its process what DLPIPE_TEST_DIE says when a
 * record has “die” in its text: "kill", "exit", "stop" (as a signal does), "eat" (all memory). So
 * often as DLPIPE_TEST_DEATHS says, over all processes: each makes the file `deaths` longer by one
 * byte. DLPIPE_TEST_NAP is how long it sleeps between two batches, in microseconds. It prints “die
 * is there” when it starts. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dlpipe/dlpipe.h>

#define EXIT_CODE 3
#define ROWS_AT_ONCE 20
#define BITE (1024 * 1024)

typedef DlpElement Die;
typedef DlpElementClass DieClass;

GType die_get_type (void);

G_DEFINE_TYPE (Die, die, DLP_TYPE_ELEMENT)

static gboolean
may_die (void)
{
  const char *times = g_getenv ("DLPIPE_TEST_DEATHS");
  int fd = open ("deaths", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  gboolean may = lseek (fd, 0, SEEK_END) < (times != NULL ? atoi (times) : 1);

  if (may && write (fd, "x", 1) != 1)
    abort ();
  close (fd);
  return may;
}

static void
end_process (void)
{
  const char *how = g_getenv ("DLPIPE_TEST_DIE");

  if (how == NULL || !may_die ())
    return;
  if (strcmp (how, "exit") == 0)
    _exit (EXIT_CODE);
  while (strcmp (how, "eat") == 0)
    memset (g_malloc (BITE), 1, BITE);
  kill (getpid (), strcmp (how, "stop") == 0 ? SIGSTOP : SIGKILL);
  pause ();
}

static void
look_for_end (DlpRecordBatch *batch, guint row, guint n)
{
  for (guint i = row; i < row + n; i++)
    {
      gsize size;
      const guint8 *text = dlp_record_batch_get_value (batch, 0, i, &size);

      if (memmem (text, size, "die", 3) != NULL)
        end_process ();
    }
}

static DlpStep
die_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpPad *in = dlp_element_get_input (element, 0);
  const char *nap = g_getenv ("DLPIPE_TEST_NAP");
  guint row, n;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);
  n = MIN (dlp_record_batch_get_length (batch) - row, ROWS_AT_ONCE);
  look_for_end (batch, row, n);
  if (nap != NULL)
    g_usleep ((gulong) atol (nap));
  dlp_pad_push_rows (dlp_element_get_output (element, 0), batch, row, n);
  dlp_pad_consume (in, n);
  return DLP_STEP_MORE;
}

static gboolean
die_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  printf ("die is there\n");
  fflush (stdout);
  return TRUE;
}

static void
die_class_init (DieClass *klass)
{
  klass->start = die_start;
  klass->step = die_step;
  dlp_element_class_set_description (klass, "Dies", "... ! die ! null-sink");
}

static void
die_init (Die *self)
{
  dlp_element_add_pad (self, "in", DLP_PAD_INPUT);
  dlp_element_add_pad (self, "out", DLP_PAD_OUTPUT);
}

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "die", die_get_type (), error);
}

DLP_PLUGIN_DEFINE ("die", "Dies", "1.0", "MIT", init)
