/* SPDX-License-Identifier: MIT */

/* A program that pulls and pushes is killed at any instant and started again: what it got, put
 * together by position, is what an undisturbed one gets. The test is the program too. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "app-rig.h"

#define RECORDS 2000
#define GRAPH                                                                                      \
  "app-source name=in schema=text:string tokens=true ! shuffle size=300 ! tee name=t ! app-sink "  \
  "name=out  t. ! app-sink name=other max-batches=1"
#define MANY_RUNS 3000 /* to the end of one, after kills; more is no progress */

/* ---- the program ---- */

static gpointer
push_all (gpointer data)
{
  DlpAppSource *in = data;
  g_autoptr (GVariant) restored = dlp_app_source_dup_restored_token (in);
  g_autoptr (GError) error = NULL;

  for (guint64 i = restored != NULL ? g_variant_get_uint64 (restored) : 0; i < RECORDS; i += 50)
    {
      g_autoptr (DlpRecordBatch) batch = app_make_batch (i, 50);

      if (!dlp_app_source_push (in, batch, g_variant_new_uint64 (i), NULL, &error))
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED);
          return NULL;
        }
    }
  dlp_app_source_end (in);
  return NULL;
}

/* A line is written at once, so a kill leaves whole ones. */
static gboolean
pull_to (DlpAppSink *sink, int fd)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (sink, 20, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; batch != NULL && i < dlp_record_batch_get_length (batch); i++)
    {
      g_autofree char *line = dlp_check_record_to_text (batch, i);

      g_string_append_printf (text, "%" G_GUINT64_FORMAT " %s\n",
                              dlp_record_batch_get_position (batch) + i, line);
    }
  g_assert_cmpint (write (fd, text->str, text->len), ==, (gssize) text->len);
  return batch != NULL;
}

typedef struct
{
  DlpAppSink *sink;
  int fd;
} Puller;

static gpointer
pull_all (gpointer data)
{
  Puller *self = data;

  while (pull_to (self->sink, self->fd))
    g_usleep ((gulong) g_random_int_range (0, 1000));
  return NULL;
}

static int
open_output (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  int fd = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static int
run_program (const char *folder, DlpRunnerKind runner)
{
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  GThread *threads[2];
  Puller pullers[2];
  AppRig rig;

  app_rig_init (&rig, GRAPH, runner, state);
  pullers[0] = (Puller){ rig.out, open_output (folder, "out") };
  pullers[1] = (Puller){ DLP_APP_SINK (dlp_pipeline_get_element (rig.pipeline, "other")),
                         open_output (folder, "other") };
  app_rig_start (&rig);
  threads[0] = g_thread_new ("push", push_all, rig.in);
  threads[1] = g_thread_new ("pull", pull_all, &pullers[1]);
  pull_all (&pullers[0]);
  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
  app_rig_finish (&rig);
  return 0;
}

/* ---- the test ---- */

static const char *program;
static gint64 duration; /* us, of an undisturbed run; 0: not known */

static pid_t
start_program (const char *folder, DlpRunnerKind runner)
{
  g_autofree char *kind = g_strdup_printf ("%d", runner);
  pid_t pid = fork ();

  if (pid == 0)
    {
      execl (program, program, "--program", folder, kind, NULL);
      _exit (127);
    }
  g_assert_cmpint (pid, >, 0);
  return pid;
}

/* How often a program began to pull behind the beginning, and the lines it got again by then. */
static guint n_continued;
static guint n_again;

/* What was given more than once is the same each time, and nothing is left out. */
static void
read_output (const char *folder, const char *name, GPtrArray *lines)
{
  guint64 next = 0;

  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) parts = NULL;

  g_ptr_array_set_size (lines, 0);
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return;
  parts = g_strsplit (text, "\n", -1);
  for (guint i = 0; parts[i] != NULL && parts[i][0] != '\0'; i++)
    {
      char *rest;
      guint64 position = g_ascii_strtoull (parts[i], &rest, 10);

      g_assert_cmpuint (position, <=, lines->len);
      n_continued += position != next && position > 0;
      n_again += position < lines->len;
      next = position + 1;
      if (position < lines->len)
        g_assert_cmpstr (rest + 1, ==, g_ptr_array_index (lines, position));
      else
        g_ptr_array_add (lines, g_strdup (rest + 1));
    }
}

/* (transfer full): kills it so often, then lets it end. */
static guint
run_killed (guint n_kills, const char *const *names, GPtrArray *const *lines)
{
  char *folder = app_make_folder ();
  guint n_killed = 0;
  int status;

  for (guint i = 0;; i++)
    {
      pid_t pid = start_program (folder, DLP_RUNNER_THREADS + i % 3);
      bool kills = n_killed < n_kills;

      g_assert_cmpuint (i, <, MANY_RUNS);
      if (kills)
        {
          g_usleep ((gulong) g_random_int_range ((gint32) duration / 8, (gint32) duration));
          kill (pid, SIGKILL);
        }
      g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
      n_killed += WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL;
      /* The machine may be busier than it was. */
      if (kills)
        duration += WIFSIGNALED (status) ? duration / 16 : -duration / 8;
      if (WIFEXITED (status))
        {
          g_assert_cmpint (WEXITSTATUS (status), ==, 0);
          break;
        }
      g_assert_cmpint (WTERMSIG (status), ==, SIGKILL);
    }
  for (guint k = 0; k < 2; k++)
    read_output (folder, names[k], lines[k]);
  app_remove_folder (folder);
  return n_killed;
}

static void
test_killed (void)
{
  static const char *const names[] = { "out", "other" };
  g_autoptr (GPtrArray) expected = app_lines_new ();
  g_autoptr (GPtrArray) unused = app_lines_new ();
  g_autoptr (GPtrArray) out = app_lines_new ();
  g_autoptr (GPtrArray) other = app_lines_new ();
  guint n = dlp_harness_scale (20);
  guint n_killed = 0;
  gint64 begin;

  begin = g_get_monotonic_time ();
  run_killed (0, names, (GPtrArray *[]){ expected, unused });
  duration = g_get_monotonic_time () - begin;
  g_assert_cmpuint (expected->len, ==, RECORDS);
  while (n_killed < n)
    {
      n_killed += run_killed (MIN (5, n - n_killed), names, (GPtrArray *[]){ out, other });
      app_assert_equal (out, expected);
      app_assert_equal (other, expected);
    }
  g_test_message ("%u kills; %u times a stream went on behind its beginning, with %u records given "
                  "again",
                  n_killed, n_continued, n_again);
  g_assert_cmpuint (n_continued, >, n_killed / 8);
}

int
main (int argc, char **argv)
{
  program = argv[0];
  if (argc == 4 && strcmp (argv[1], "--program") == 0)
    {
      dlp_harness_init ();
      return run_program (argv[2], (DlpRunnerKind) atoi (argv[3]));
    }
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/app/killed", test_killed);
  return g_test_run ();
}
