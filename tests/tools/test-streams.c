/* SPDX-License-Identifier: MIT */

/* What the program is started with: its standard streams, its locale, its limit of open files; and
 * what it must not write over. */

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch-rig.h"

#define LINES "{\"text\": \"one\"}\n{\"text\": \"two\"}\n"

static void
run (LaunchRig *rig, const char *graph, const char *option, GSpawnChildSetupFunc setup)
{
  const char *arguments[] = { "--progress", "none", "--workers", "1", graph, option, NULL };

  launch_rig_start (rig, arguments, setup);
  if (!launch_rig_wait (rig, 20 * G_USEC_PER_SEC))
    g_error ("the run hangs");
}

static void
assert_fails (LaunchRig *rig, int code, const char *message)
{
  if (strstr (rig->err, message) == NULL)
    g_error ("“%s” is not in: %s", message, rig->err);
  g_assert_cmpint (rig->exit_code, ==, code);
  g_assert_cmpstr (rig->out, ==, "");
}

static void
close_stdin (gpointer data)
{
  close (STDIN_FILENO);
}

static void
close_stdout (gpointer data)
{
  close (STDOUT_FILENO);
}

static void
close_stderr (gpointer data)
{
  close (STDERR_FILENO);
}

static void
fill_stdout (gpointer data)
{
  int fd = open ("/dev/full", O_WRONLY);

  dup2 (fd, STDOUT_FILENO);
  close (fd);
}

static void
test_closed (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *path = launch_rig_path (rig, "out.jsonl");
  g_autofree char *text = NULL;

  launch_rig_write (rig, "in.jsonl", LINES, -1);
  run (rig, "file-source location=- ! jsonl-reader ! null-sink", NULL, close_stdin);
  assert_fails (rig, 2, "-: the standard input is not open for reading");
  run (rig, "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=-", NULL,
       close_stdout);
  assert_fails (rig, 2, "location=-: the standard output is not open for writing");
  /* What is said does not go into the output. */
  run (rig, "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=out.jsonl", NULL,
       close_stderr);
  g_assert_cmpint (rig->exit_code, ==, 0);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "{\"text\":\"one\"}\n{\"text\":\"two\"}\n");
}

static void
run_dataset (LaunchRig *rig, const char *command)
{
  g_autofree char *path = launch_rig_path (rig, "out.jsonl");
  const char *argv[] = { g_getenv ("DLPIPE_TEST_DATASET"), command, path, NULL };
  g_autofree char *err = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, fill_stdout, NULL, NULL, &err, &status,
                &error);
  g_assert_no_error (error);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 1);
  g_assert_nonnull (strstr (err, "standard output: not all could be written"));
}

static void
test_full (void)
{
  static const char *const options[] = { "--version", "--help", "--check", "--dry-run=100%" };
  static const char *const commands[] = { "info", "head", "verify" };
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  launch_rig_write (rig, "in.jsonl", LINES, -1);
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      run (rig, "file-source location=in.jsonl ! jsonl-reader ! null-sink", options[i],
           fill_stdout);
      assert_fails (rig, 1, "standard output: not all could be written");
    }
  run (rig, "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=out.jsonl", NULL,
       NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    run_dataset (rig, commands[i]);
}

/* ---- names in any bytes ---- */

static void
test_names (void)
{
  static const char *const locales[] = { "C", "C.UTF-8" };
  static const char *const names[] = { "\xc3\xa9.jsonl", "\xff.jsonl" };

  for (guint i = 0; i < G_N_ELEMENTS (locales); i++)
    for (guint j = 0; j < G_N_ELEMENTS (names); j++)
      {
        g_autoptr (LaunchRig) rig = launch_rig_new ();
        g_autofree char *graph = g_strdup_printf (
            "file-source location=%s ! jsonl-reader ! jsonl-sink location=out.jsonl", names[j]);
        g_autofree char *set = g_strdup_printf ("--set=file-source0.location=%s", names[j]);

        g_setenv ("LC_ALL", locales[i], TRUE);
        launch_rig_write (rig, names[j], LINES, -1);
        run (rig, graph, NULL, NULL);
        g_assert_cmpint (rig->exit_code, ==, 0);
        g_assert_null (strstr (rig->err, "internal"));
        run (rig, "file-source location=none ! jsonl-reader ! null-sink", set, NULL);
        g_assert_cmpint (rig->exit_code, ==, 0);
      }
}

/* A manifest is UTF-8. */
static void
test_output_names (void)
{
  static const char *const sinks[] = { "jsonl-sink location=o\xfe",
                                       "tokenizer model=gpt2 ! megatron-sink location=d/o\xfe" };
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  launch_rig_write (rig, "in.jsonl", LINES, -1);
  for (guint i = 0; i < G_N_ELEMENTS (sinks); i++)
    {
      g_autofree char *graph =
          g_strdup_printf ("file-source location=in.jsonl ! jsonl-reader ! %s", sinks[i]);

      run (rig, graph, NULL, NULL);
      assert_fails (rig, 2, "o\\xfe: byte \\xfe, the 2. of the name, is not UTF-8");
    }
  run (rig,
       "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=\xfe"
       "d/out.jsonl",
       NULL, NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);
  g_assert_null (strstr (rig->err, "internal"));
}

/* ---- few files ---- */

static void
limit_files (gpointer data)
{
  struct rlimit limit = { GPOINTER_TO_UINT (data), GPOINTER_TO_UINT (data) };

  setrlimit (RLIMIT_NOFILE, &limit);
}

static void
limit_to_14 (gpointer data)
{
  limit_files (GUINT_TO_POINTER (14));
}

static void
limit_to_40 (gpointer data)
{
  limit_files (GUINT_TO_POINTER (40));
}

static void
test_few_files (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *text = g_strnfill (1024 * 1024, 'x');
  g_autoptr (GString) lines = g_string_new (NULL);
  g_autoptr (GString) graph = g_string_new ("mix name=m ! null-sink");

  launch_rig_write (rig, "in.jsonl", LINES, -1);
  run (rig, "file-source location=in.jsonl ! jsonl-reader ! null-sink", NULL, limit_to_14);
  assert_fails (rig, 2, "24 are needed at least; raise the limit (ulimit -n)");
  /* Longer than what is read ahead, so that all of them stay open. */
  for (guint i = 0; i < 16; i++)
    g_string_append_printf (lines, "{\"text\": \"%s\"}\n", text);
  launch_rig_write (rig, "long.jsonl", lines->str, (gssize) lines->len);
  for (guint i = 0; i < 60; i++)
    g_string_append (graph, " file-source location=long.jsonl ! jsonl-reader ! m.");
  run (rig, graph->str, NULL, limit_to_40);
  assert_fails (rig, 1, "Too many open files; raise the limit (ulimit -n)");
}

/* ---- reports ---- */

static void
assert_not_replaced (const char *source, const char *option, const char *message)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *graph =
      g_strdup_printf ("file-source %s ! jsonl-reader ! jsonl-sink location=out.jsonl", source);
  g_autofree char *path = launch_rig_path (rig, "in.jsonl");
  g_autofree char *text = NULL;

  launch_rig_write (rig, "in.jsonl", LINES, -1);
  launch_rig_write (rig, "list", "./in.jsonl\n", -1);
  run (rig, graph, option, NULL);
  assert_fails (rig, 2, message);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, LINES);
}

static void
test_reports (void)
{
  static const char names[] = "in.jsonl: that file is read by file-source0, and would be replaced";
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  assert_not_replaced ("location=in.jsonl", "--summary=in.jsonl", names);
  assert_not_replaced ("location=*.jsonl", "--dot=./in.jsonl", names);
  assert_not_replaced ("list=list", "--summary=in.jsonl", names);
  assert_not_replaced ("list=list", "--summary=list", "list: that file is read by file-source0");
  assert_not_replaced ("location=in.jsonl", "--summary=./out.jsonl",
                       "out.jsonl: that file is written by jsonl-sink0");

  launch_rig_write (rig, "in.jsonl", LINES, -1);
  for (guint i = 0; i < 2; i++)
    {
      run (rig, "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=out.jsonl",
           "--summary=s.json", NULL);
      g_assert_cmpint (rig->exit_code, ==, 0);
    }
}

/* Several readers: the suffix stays one. */
static void
test_quarantine (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *list = NULL;

  launch_rig_write (rig, "in.jsonl", LINES "x\n", -1);
  run (rig,
       "mix name=m ! jsonl-sink location=out.jsonl"
       " file-source location=in.jsonl ! jsonl-reader name=a ! m."
       " file-source location=in.jsonl ! jsonl-reader name=b ! m.",
       "--quarantine=q.jsonl", NULL);
  list = launch_rig_list (rig, NULL);
  g_assert_nonnull (strstr (list, "q-a.jsonl q-b.jsonl"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  g_test_add_func ("/streams/closed", test_closed);
  g_test_add_func ("/streams/full", test_full);
  g_test_add_func ("/streams/names", test_names);
  g_test_add_func ("/streams/output-names", test_output_names);
  g_test_add_func ("/streams/few-files", test_few_files);
  g_test_add_func ("/streams/reports", test_reports);
  g_test_add_func ("/streams/quarantine", test_quarantine);
  return g_test_run ();
}
