/* SPDX-License-Identifier: MIT */

/* dlpipe-launch by its exit codes and by what it says and writes. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch-rig.h"

#define GRAPH "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=out.jsonl"
#define ENDLESS                                                                                    \
  "file-source location=in.jsonl epochs=0 ! jsonl-reader ! jsonl-sink location=out.jsonl"
#define RECORDS 200

static LaunchRig *
new_rig (void)
{
  LaunchRig *rig = launch_rig_new ();

  launch_rig_write_records (rig, "in.jsonl", RECORDS);
  return rig;
}

static void
check_prints (LaunchRig *rig, const char *text)
{
  if (strstr (rig->out, text) == NULL)
    g_error ("“%s” is not printed in:\n%s", text, rig->out);
}

static gboolean
exists (LaunchRig *rig, const char *name)
{
  g_autofree char *path = launch_rig_path (rig, name);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static gint64
get_mtime (LaunchRig *rig, const char *name)
{
  g_autofree char *path = launch_rig_path (rig, name);
  struct stat info;

  g_assert_cmpint (stat (path, &info), ==, 0);
  return info.st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) + info.st_mtim.tv_nsec;
}

static char *
read_file (LaunchRig *rig, const char *name)
{
  g_autofree char *path = launch_rig_path (rig, name);
  char *text = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    g_error ("%s is not there", name);
  return text;
}

/* ---- graphs ---- */

static void
test_version_and_help (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  launch_rig_expect (rig, 0, "--version", NULL);
  g_assert_true (g_str_has_prefix (rig->out, "dlpipe-launch 0."));
  launch_rig_expect (rig, 0, "--help", NULL);
  check_prints (rig, "--checkpoint-every");
  check_prints (rig, "! megatron-sink location=");
  check_prints (rig, "Exit codes");
  launch_rig_expect (rig, 2, NULL);
  launch_rig_assert_has (rig->err, "there is no graph");
  launch_rig_expect (rig, 2, "--no-such-option", NULL);
  launch_rig_expect (rig, 2, "--progress=fast", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "allowed are auto, bar, plain, json, none");
}

static void
test_graph_in_arguments (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "file-source", "location=in.jsonl", "!", "jsonl-reader", "!",
                     "null-sink", NULL);
  launch_rig_assert_has (rig->err, "finished: 200 records");
  launch_rig_assert_has (rig->err, "no state, because no file is written");
}

static void
test_graph_in_file (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_write (rig, "graph",
                    "# a comment\nfile-source location=in.jsonl\n"
                    "! jsonl-reader ! null-sink\n",
                    -1);
  launch_rig_expect (rig, 0, "--file=graph", NULL);
  launch_rig_assert_has (rig->err, "finished: 200 records");
  launch_rig_expect (rig, 2, "--file=graph", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "exclude each other");
}

static void
test_set (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "--set", "file-source0.epochs=3", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "finished: 600 records");
  launch_rig_expect (rig, 2, "--set", "file-source0.epoch=3", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "did you mean “epochs”?");
  launch_rig_expect (rig, 2, "--set", "epochs", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "NAME.PROP=VALUE");
}

static void
test_check (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *list = NULL;
  g_autofree char *dot = NULL;

  launch_rig_expect (rig, 0, "--check", "--dot=graph.dot", "--seed=5", "--set",
                     "jsonl-reader0.interleave=2", GRAPH, NULL);
  check_prints (rig, "  seed                     5                                        option");
  check_prints (rig, "in.jsonl                                 graph");
  check_prints (rig, "  interleave               2                                        option");
  check_prints (rig, "  field                    text                                     default");
  check_prints (rig, "memory at worst: ");
  list = launch_rig_list (rig, NULL);
  g_assert_cmpstr (list, ==, "graph.dot in.jsonl");
  dot = read_file (rig, "graph.dot");
  g_assert_nonnull (strstr (dot, "\"jsonl-reader0\" -> \"jsonl-sink0\""));
}

/* A line for each, whatever is in it. */
static void
test_check_quotes (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "--check", "--state=a state",
                     "file-source location=in.jsonl ! jsonl-reader field=\"a\n\\\"b\" ! null-sink",
                     NULL);
  check_prints (rig, "  field                    \"a\\x0a\\\"b\"");
  check_prints (rig, "  state                    \"a state\"");
}

static void
test_memory (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 2, "--memory=1k", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "memory: 1024 bytes cannot work; the least is 1M ");
  launch_rig_expect (rig, 2, "--check", "--memory=1048575", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "memory: 1048575 bytes cannot work; the least is 1M ");
  launch_rig_expect (rig, 0, "--memory=1M", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "finished: 200 records");
  launch_rig_assert_has (rig->err, ", 1 MiB of memory");
}

static void
test_dry_run (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *graph = g_strdup_printf (
      "file-source location=\"%s/sample/*.jsonl.*\" ! jsonl-reader ! shuffle size=100 "
      "! tokenizer model=gpt2 ! megatron-sink location=out",
      launch_rig_get_data ());
  g_autofree char *list = NULL;
  g_autofree char *first = NULL;

  launch_rig_expect (rig, 0, "--dry-run", graph, NULL);
  check_prints (rig, "sample: 16 of 20 files");
  check_prints (rig, "projected tokens: ");
  check_prints (rig, "bytes of text per token: ");
  check_prints (rig, "---- sample 5 of megatron-sink0");
  list = launch_rig_list (rig, NULL);
  g_assert_cmpstr (list, ==, "");

  /* All of the files: what is projected is what is there. */
  launch_rig_expect (rig, 0, "--dry-run=100%", graph, NULL);
  check_prints (rig, "sample: 20 of 20 files");
  check_prints (rig, "projected records: 3614\n");
  check_prints (rig, "projected tokens: 2024514\n");
  first = g_strdup (strstr (rig->out, "---- sample 1"));
  launch_rig_expect (rig, 0, "--dry-run=100%", graph, NULL);
  g_assert_cmpstr (strstr (rig->out, "---- sample 1"), ==, first);
}

/* ---- state ---- */

static void
test_twice (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;
  gint64 mtime;

  launch_rig_expect (rig, 0, "--summary=one.json", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "state out.jsonl.dlpipe");
  launch_rig_assert_has (rig->err, "finished: 200 records, 0 bad records");
  mtime = get_mtime (rig, "out.jsonl");
  launch_rig_expect (rig, 0, "--summary=two.json", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "finished already, nothing to do: 200 records, 0 bad records");
  g_assert_cmpint (get_mtime (rig, "out.jsonl"), ==, mtime);

  first = read_file (rig, "one.json");
  second = read_file (rig, "two.json");
  g_assert_cmpstr (first, ==, second);
  g_assert_nonnull (strstr (first, "\"exit-code\": 0"));
  g_assert_nonnull (strstr (first, "\"exit-reason\": \"finished\""));

  /* The state alone says it too. */
  launch_rig_expect (rig, 0, "--state=out.jsonl.dlpipe", NULL);
  launch_rig_assert_has (rig->err, "finished already");
  launch_rig_expect (rig, 0, "--restart", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "finished: 200 records");
  g_assert_cmpint (get_mtime (rig, "out.jsonl"), >, mtime);
}

static void
test_overwrite (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "--no-state", GRAPH, NULL);
  g_assert_false (exists (rig, "out.jsonl.dlpipe"));
  launch_rig_expect (rig, 2, "--no-state", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "--overwrite");
  launch_rig_expect (rig, 0, "--no-state", "--overwrite", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "finished: 200 records");
}

static void
test_no_state (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0,
                     "file-source location=- ! jsonl-reader ! jsonl-sink location=out.jsonl", NULL);
  launch_rig_assert_has (rig->err, "no state, because file-source0 reads the standard input");
  g_assert_false (exists (rig, "out.jsonl.dlpipe"));

  launch_rig_expect (rig, 0, "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=-",
                     NULL);
  launch_rig_assert_has (rig->err, "no state, because jsonl-sink0 writes where it cannot go back");
  check_prints (rig, "record 199");
  g_assert_cmpint (rig->out[0], ==, '{');

  launch_rig_expect (rig, 2, "--state=s",
                     "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=-", NULL);
  launch_rig_assert_has (rig->err, "cannot go back");
}

/* @arguments: for a run that does not end by itself. */
static void
start_long (LaunchRig *rig, const char *const *arguments)
{
  g_autofree char *status = launch_rig_path (rig, "out.jsonl.dlpipe/status.json");

  remove (status);
  launch_rig_start (rig, arguments, NULL);
  /* Until it runs, and a little longer. */
  for (guint i = 0; i < 4000 && !g_file_test (status, G_FILE_TEST_EXISTS); i++)
    g_usleep (5000);
  g_usleep (100000);
}

static void
start_endless (LaunchRig *rig, const char *option)
{
  const char *arguments[] = { "--checkpoint-every=50ms", "--progress=none", ENDLESS, option, NULL };

  start_long (rig, arguments);
}

static void
end_by (LaunchRig *rig, int number, int code)
{
  kill (rig->pid, number);
  g_assert_true (launch_rig_wait (rig, 20 * G_USEC_PER_SEC));
  if (rig->exit_code != code)
    g_error ("exit code %d, not %d:\n%s", rig->exit_code, code, rig->err);
}

static void
test_stop (void)
{
  static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };
  g_autoptr (LaunchRig) rig = new_rig ();

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      start_endless (rig, NULL);
      end_by (rig, numbers[i], 75);
      launch_rig_assert_has (rig->err, "continue with the same command");
      if (i > 0)
        launch_rig_assert_has (rig->err, "going on behind record");
    }
}

/* What the attempt before has read is no speed of this one. */
static void
test_rate_after_stop (void)
{
  static const char *const arguments[] = { "--progress=json", ENDLESS, NULL };
  g_autoptr (LaunchRig) rig = new_rig ();
  const char *first;

  start_endless (rig, NULL);
  end_by (rig, SIGTERM, 75);
  start_long (rig, arguments);
  end_by (rig, SIGTERM, 75);
  first = strstr (rig->err, "{\"");
  g_assert_nonnull (first);
  first = strstr (first, "\"bytes-per-second\": ");
  g_assert_nonnull (first);
  g_assert_true (g_str_has_prefix (first, "\"bytes-per-second\": null"));
}

/* A pipe with a reader who does not read. */
static void
write_to_full_pipe (gpointer data)
{
  int fds[2];

  if (pipe (fds) != 0 || dup2 (fds[1], 1) < 0)
    _exit (99);
}

static void
test_stop_slow_reader (void)
{
  static const char *const arguments[] = {
    "--progress=none",
    "file-source location=in.jsonl epochs=0 ! jsonl-reader ! jsonl-sink location=-", NULL
  };
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_start (rig, arguments, write_to_full_pipe);
  g_assert_false (launch_rig_wait (rig, G_USEC_PER_SEC));
  end_by (rig, SIGTERM, 128 + SIGTERM);
  launch_rig_assert_has (rig->err, "stopped: ");
}

static void
test_locked (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (LaunchRig) other = launch_rig_new ();
  g_autofree char *dir = launch_rig_path (rig, "out.jsonl.dlpipe");
  g_autofree char *option = g_strconcat ("--state=", dir, NULL);
  g_autofree char *pid = NULL;

  start_endless (rig, NULL);
  pid = g_strdup_printf ("%d", (int) rig->pid);
  launch_rig_expect (other, 2, option, "file-source location=x ! jsonl-reader ! null-sink", NULL);
  launch_rig_expect (other, 2, option,
                     "file-source location=/etc/hostname ! jsonl-reader ! null-sink", NULL);
  launch_rig_assert_has (other->err, pid);
  end_by (rig, SIGTERM, 75);
}

/* A pipe with a reader who does not read: a run that is to finish does not come to its end. */
static void
start_stuck (LaunchRig *rig, const char *option)
{
  const char *arguments[] = {
    "--on-interrupt=finish", "--progress=none",
    "file-source location=in.jsonl epochs=0 ! jsonl-reader ! jsonl-sink location=-", option, NULL
  };

  launch_rig_start (rig, arguments, write_to_full_pipe);
  g_usleep (500000);
}

static void
test_abort (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_stuck (rig, NULL);
  kill (rig->pid, SIGINT);
  g_assert_false (launch_rig_wait (rig, 1200 * 1000));
  end_by (rig, SIGTERM, 128 + SIGTERM);
  launch_rig_assert_has (rig->err, "SIGTERM again: aborting");
}

/* As timeout(1) does it: to the process, and to its group. */
static void
test_signal_twice (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_stuck (rig, NULL);
  kill (rig->pid, SIGTERM);
  g_usleep (20000);
  kill (rig->pid, SIGTERM);
  g_assert_false (launch_rig_wait (rig, 300 * 1000));
  g_usleep (G_USEC_PER_SEC);
  end_by (rig, SIGTERM, 128 + SIGTERM);
}

static void
test_finish (gconstpointer data)
{
  g_autofree char *graph = g_strdup_printf (
      "file-source location=in.jsonl epochs=0 ! jsonl-reader ! %s location=out.jsonl",
      (const char *) data);
  const char *arguments[] = { "--on-interrupt=finish", "--progress=none", "--summary=s.json", graph,
                              NULL };
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *summary = NULL;
  g_autofree char *manifest = NULL;

  start_long (rig, arguments);
  end_by (rig, SIGINT, 0);
  launch_rig_assert_has (rig->err, "finished early, not all of the input was read: ");
  summary = read_file (rig, "s.json");
  g_assert_nonnull (strstr (summary, "\"exit-reason\": \"finished early\""));
  g_assert_nonnull (strstr (summary, "\"finished-early\": true"));
  g_assert_null (strstr (summary, "\"fraction\": 1.0"));
  manifest = read_file (rig, "out.jsonl.manifest.json");
  g_assert_nonnull (strstr (manifest, "\"finished-early\": true"));

  launch_rig_expect (rig, 0, graph, NULL);
  launch_rig_assert_has (rig->err, "finished early before, nothing to do: ");
  launch_rig_assert_has (rig->err, "--restart begins anew and makes the whole");
  launch_rig_expect (rig, 0, "--check", graph, NULL);
  check_prints (rig, "a run finds that it is finished early");

  /* What came to its own end has no such mark. */
  launch_rig_expect (rig, 0, "--restart", "--summary=s.json", "--set=file-source0.epochs=1", graph,
                     NULL);
  launch_rig_assert_has (rig->err, "finished: 200 records");
  g_free (manifest);
  manifest = read_file (rig, "out.jsonl.manifest.json");
  g_assert_null (strstr (manifest, "finished-early"));
}

static void
test_stop_without_state (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  const char *arguments[] = { "file-source location=in.jsonl epochs=0 ! jsonl-reader ! null-sink",
                              NULL };

  launch_rig_start (rig, arguments, NULL);
  g_usleep (300000);
  end_by (rig, SIGTERM, 128 + SIGTERM);
}

static void
test_quit (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_endless (rig, NULL);
  kill (rig->pid, SIGQUIT);
  if (launch_rig_wait (rig, 300000))
    g_error ("SIGQUIT ends the run:\n%s", rig->err);
  end_by (rig, SIGTERM, 75);
  launch_rig_assert_has (rig->err, "records out");
  launch_rig_assert_has (rig->err, "\nslowest: ");
}

/* ---- faults ---- */

static void
test_damaged_kept (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *whole =
      g_build_filename (launch_rig_get_data (), "cases", "z04-truncated-frame.jsonl.zst", NULL);
  g_autofree char *graph = g_strdup_printf (
      "file-source location=\"%s\" ! jsonl-reader on-damaged-file=keep ! jsonl-sink "
      "location=out.jsonl",
      whole);

  launch_rig_expect (rig, 4, graph, NULL);
  launch_rig_assert_has (rig->err, "1 damaged file");
  launch_rig_assert_has (rig->err, "z04-truncated-frame.jsonl.zst");
  /* Judged from the state. */
  launch_rig_expect (rig, 4, graph, NULL);
  launch_rig_assert_has (rig->err, "finished already");
  launch_rig_assert_has (rig->err, "1 damaged file");
}

static void
write_bad_record (LaunchRig *rig)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < 2000; i++)
    g_string_append (text, i == 1500 ? "{\"text\": 1}\n" : "{\"text\": \"good\"}\n");
  launch_rig_write (rig, "in.jsonl", text->str, -1);
}

/* Where bad records go is part of the state, though not of the graph. */
static void
test_quarantine_continued (void)
{
  static const char *const by_state[] = { "--progress=none", "--state=out.jsonl.dlpipe", NULL };
  g_autoptr (LaunchRig) rig = new_rig ();

  write_bad_record (rig);
  start_endless (rig, "--quarantine=bad.jsonl");
  end_by (rig, SIGTERM, 75);
  start_long (rig, by_state);
  end_by (rig, SIGTERM, 75);
  launch_rig_assert_has (rig->err, "going on behind record");
  g_assert_true (exists (rig, "bad.jsonl"));
  g_assert_false (exists (rig, "out.jsonl.dlpipe/quarantine.jsonl"));

  launch_rig_expect (rig, 3, "--quarantine=other.jsonl", ENDLESS, NULL);
  launch_rig_assert_has (rig->err,
                         "bad records went to bad.jsonl when the run began, now to other.jsonl");
  launch_rig_expect (rig, 3, "--quarantine=other.jsonl", "--state=out.jsonl.dlpipe", NULL);
  launch_rig_assert_has (rig->err,
                         "bad records went to bad.jsonl when the run began, now to other.jsonl");
  launch_rig_expect (rig, 3, ENDLESS, NULL);
  launch_rig_assert_has (
      rig->err, "bad records went to bad.jsonl when the run began, now into the state folder");
  start_endless (rig, "--quarantine=bad.jsonl");
  end_by (rig, SIGTERM, 75);
  launch_rig_assert_has (rig->err, "going on behind record");
}

static void
test_quarantine_foreign (void)
{
  static const char *const options[] = { "--progress=none", "--restart", "--overwrite" };
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_write (rig, "notes.txt", "mine", -1);
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autofree char *notes = NULL;

      launch_rig_expect (rig, 2, options[i], "--quarantine=notes.txt", GRAPH, NULL);
      launch_rig_assert_has (rig->err, "notes.txt is there already");
      notes = read_file (rig, "notes.txt");
      g_assert_cmpstr (notes, ==, "mine");
      g_assert_false (exists (rig, "out.jsonl"));
    }
}

static void
test_bad_records (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *summary = NULL;
  g_autofree char *quarantine = NULL;

  write_bad_record (rig);

  launch_rig_expect (rig, 0, "--summary=summary.json", "--quarantine=bad.jsonl", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "finished: 1999 records, 1 bad record");
  summary = read_file (rig, "summary.json");
  g_assert_nonnull (strstr (summary, "\"bad-records\": 1"));
  g_assert_nonnull (strstr (summary, "\"in.jsonl\": 1"));
  quarantine = read_file (rig, "bad.jsonl");
  g_assert_nonnull (strstr (quarantine, "1500"));

  launch_rig_expect (rig, 1, "--restart", "--strict", "--summary=summary.json", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "line 1501");
  g_free (summary);
  summary = read_file (rig, "summary.json");
  g_assert_nonnull (strstr (summary, "\"exit-code\": 1"));
  g_assert_nonnull (strstr (summary, "\"exit-reason\": \"failed\""));
}

/* ---- what is said ---- */

static void
test_quiet (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "-q", GRAPH, NULL);
  g_assert_cmpstr (rig->err, ==, "");
  g_assert_cmpstr (rig->out, ==, "");
  launch_rig_expect (rig, 2, "-q", "no-such ! null-sink", NULL);
  launch_rig_assert_has (rig->err, "error: ");
}

static void
test_progress (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  const char *graph = "file-source location=in.jsonl epochs=200000 ! jsonl-reader ! null-sink";
  const char *forms[] = { "--progress=json", "--progress=bar" };
  const char *signs[] = { "{\"", "records, " };

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      const char *arguments[] = { forms[i], graph, NULL };

      launch_rig_start (rig, arguments, NULL);
      if (!launch_rig_wait (rig, 1800 * 1000))
        end_by (rig, SIGTERM, 128 + SIGTERM);
      launch_rig_assert_has (rig->err, signs[i]);
      launch_rig_assert_has (rig->err, "slowest");
      g_assert_cmpstr (rig->out, ==, "");
    }
}

/* A short run has its first and its last record too; what is not known is null. */
static void
test_progress_json (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  const char *last;

  launch_rig_expect (rig, 0, "--progress=json",
                     "file-source location=in.jsonl ! jsonl-reader ! null-sink", NULL);
  last = strstr (rig->err, "\"exit-reason\": \"finished\"");
  g_assert_nonnull (last);
  g_assert_null (strchr (strchr (last, '\n') + 1, '\n'));
  launch_rig_assert_has (rig->err, "\"exit-code\": 0");
  launch_rig_assert_has (rig->err, "\"records\": 200");
  launch_rig_assert_has (rig->err, "\"fraction\": 1.0");

  launch_rig_expect (rig, 0, "--progress=json", "file-source location=- ! jsonl-reader ! null-sink",
                     NULL);
  launch_rig_assert_has (rig->err, "\"exit-code\": 0");
  launch_rig_assert_has_not (rig->err, "-1.0");
}

/* All is read, and next to nothing has left the shuffle. */
static void
test_fraction (void)
{
  static const char *const arguments[] = {
    "--progress=json",
    "file-source location=in.jsonl epochs=200 ! jsonl-reader ! shuffle size=40000 ! jsonl-sink "
    "location=-",
    NULL
  };
  g_autoptr (LaunchRig) rig = new_rig ();
  const char *at;

  launch_rig_start (rig, arguments, write_to_full_pipe);
  g_assert_false (launch_rig_wait (rig, 2500 * 1000));
  end_by (rig, SIGTERM, 128 + SIGTERM);
  at = strstr (rig->err, "\"files-done\": 200");
  g_assert_nonnull (at);
  launch_rig_assert_has_not (rig->err, "\"fraction\": 1.0");
  launch_rig_assert_has_not (rig->err, "\"fraction\": 0.9");
  launch_rig_assert_has_not (rig->err, "\"eta\": 0.0,");
  launch_rig_assert_has_not (rig->err, "\"eta\": 0.0}");
}

/* A buffer grows as far as the memory allows; that it grew too large is found while it runs. */
static void
test_outgrown (void)
{
  static const char graph[] = "file-source name=s location=in.jsonl ! jsonl-reader ! "
                              "shuffle size=1M ! null-sink";
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "--memory=1M", "--set", "s.epochs=100", graph, NULL);
  launch_rig_expect (rig, 1, "--memory=1M", "--set", "s.epochs=300", graph, NULL);
  launch_rig_assert_has (rig->err, " bytes for its slots alone");
  launch_rig_assert_has (rig->err, "set a smaller size, or a larger --memory");
}

/* Copies count once, bad records not at all. */
static void
test_totals (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *summary = NULL;

  launch_rig_expect (rig, 0,
                     "file-source location=in.jsonl ! jsonl-reader ! tee name=t ! null-sink  t. ! "
                     "tokenizer model=gpt2 ! null-sink",
                     NULL);
  launch_rig_assert_has (rig->err, "finished: 200 records, 600 tokens");
  /* Of two sources, behind one of which there is a tee. */
  launch_rig_expect (rig, 0,
                     "file-source location=in.jsonl ! jsonl-reader ! tee name=t ! null-sink  t. ! "
                     "null-sink  file-source location=in.jsonl epochs=2 ! jsonl-reader ! null-sink",
                     NULL);
  launch_rig_assert_has (rig->err, "finished: 600 records");
  launch_rig_expect (rig, 0, "--summary=summary.json",
                     "file-source location=in.jsonl ! jsonl-reader ! batch size=30 drop-last=true "
                     "world-size=4 ! null-sink",
                     NULL);
  launch_rig_assert_has (rig->err, "finished: 120 records, 0 bad records, 80 dropped records");
  summary = read_file (rig, "summary.json");
  g_assert_nonnull (strstr (summary, "\"dropped-records\": 80"));
  g_assert_nonnull (strstr (summary, "\"dropped-step-batches\": 2"));
  write_bad_record (rig);
  launch_rig_expect (
      rig, 0,
      "file-source location=in.jsonl ! jsonl-reader name=r ! null-sink  r.rejected ! "
      "jsonl-sink location=bad.jsonl",
      NULL);
  launch_rig_assert_has (rig->err, "finished: 1999 records, 1 bad record");
}

static void
test_check_state (void)
{
  static const char graph[] =
      "file-source location=in.jsonl ! jsonl-reader ! shuffle size=50 ! jsonl-sink "
      "location=out.jsonl";
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "--check", graph, NULL);
  g_assert_false (exists (rig, "out.jsonl.dlpipe"));
  launch_rig_expect (rig, 0, "--seed=5", graph, NULL);
  launch_rig_expect (rig, 0, "--check", "--state=out.jsonl.dlpipe", NULL);
  check_prints (rig, "  seed                     5                                        state");
  check_prints (rig, "  size                     50                                       state");
  check_prints (rig, "a run finds that it is finished already: 200 records");
  launch_rig_expect (rig, 3, "--check", "--seed=7", graph, NULL);
  launch_rig_assert_has (rig->err, "the seed was 5 when the run began, is 7");
  launch_rig_expect (rig, 3, "--check", "--set=shuffle0.size=60", graph, NULL);
  launch_rig_assert_has (rig->err, "property “size” was “50”");
  launch_rig_expect (rig, 0, "--check", "--set=shuffle0.size=60", "--restart", graph, NULL);
  launch_rig_expect (rig, 2, "--check", "--no-state", graph, NULL);
  launch_rig_assert_has (rig->err, "out.jsonl");
  launch_rig_assert_has (rig->err, "--overwrite");
  launch_rig_expect (rig, 0, graph, NULL);
  launch_rig_assert_has (rig->err, "finished already");
}

/* What is left to an element is shown with what it comes to. */
static void
test_check_automatic (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (
      rig, 0, "--check",
      "file-source location=in.jsonl ! jsonl-reader ! tokenizer model=gpt2 ! megatron-sink "
      "location=out",
      NULL);
  check_prints (rig, "  dtype                    auto: uint16                             default");
  check_prints (rig, "  vocab-size               0: 50257                                 default");
}

static void
test_summary_place (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 2, "--summary=nodir/s.json", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "--summary nodir/s.json: there is no folder nodir");
  g_assert_false (exists (rig, "out.jsonl"));
  launch_rig_expect (rig, 2, "--dot=nodir/s.dot", GRAPH, NULL);
  launch_rig_expect (rig, 0, "--summary=-", GRAPH, NULL);
  check_prints (rig, "\"exit-code\": 0");
  g_assert_false (exists (rig, "-"));
}

static void
test_verbose (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, GRAPH, NULL);
  launch_rig_assert_has_not (rig->err, "debug: ");
  launch_rig_expect (rig, 0, "-v", "--restart", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "debug: jsonl-reader0: opens in.jsonl, ");
  launch_rig_assert_has (rig->err, "debug: jsonl-sink0: starts, ");
  launch_rig_assert_has (rig->err, "debug: checkpoint 1 is written");
}

static void
test_stats (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  const char *at;
  guint records;

  launch_rig_expect (rig, 0, "--stats", "--sequential", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "\nfile-source0 ");
  launch_rig_assert_has (rig->err, "\njsonl-reader0 ");
  launch_rig_assert_has (rig->err, "\njsonl-sink0 ");
  at = strstr (rig->err, "\nslowest: ");
  g_assert_nonnull (at);
  launch_rig_assert_has (rig->err, "leave out --sequential");
  launch_rig_assert_has_not (rig->err, "warning");

  /* Nothing runs: what the run was then. */
  launch_rig_expect (rig, 0, "--stats", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "finished already, nothing to do: 200 records");
  launch_rig_assert_has_not (rig->err, "nothing ran");
  at = strstr (rig->err, "\njsonl-sink0 ");
  g_assert_nonnull (at);
  g_assert_cmpint (sscanf (at, "%*s %u", &records), ==, 1);
  g_assert_cmpuint (records, ==, RECORDS);
  g_assert_true (g_regex_match_simple ("\njsonl-reader0 +1 +200 ", rig->err, 0, 0));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  g_test_add_func ("/launch/version-and-help", test_version_and_help);
  g_test_add_func ("/launch/graph-in-arguments", test_graph_in_arguments);
  g_test_add_func ("/launch/graph-in-file", test_graph_in_file);
  g_test_add_func ("/launch/set", test_set);
  g_test_add_func ("/launch/check", test_check);
  g_test_add_func ("/launch/check-quotes", test_check_quotes);
  g_test_add_func ("/launch/memory", test_memory);
  g_test_add_func ("/launch/dry-run", test_dry_run);
  g_test_add_func ("/launch/twice", test_twice);
  g_test_add_func ("/launch/overwrite", test_overwrite);
  g_test_add_func ("/launch/no-state", test_no_state);
  g_test_add_func ("/launch/stop", test_stop);
  g_test_add_func ("/launch/rate-after-stop", test_rate_after_stop);
  g_test_add_func ("/launch/stop-slow-reader", test_stop_slow_reader);
  g_test_add_func ("/launch/locked", test_locked);
  g_test_add_func ("/launch/abort", test_abort);
  g_test_add_func ("/launch/signal-twice", test_signal_twice);
  g_test_add_data_func ("/launch/finish/megatron-sink", "tokenizer model=gpt2 ! megatron-sink",
                        test_finish);
  g_test_add_data_func ("/launch/finish/jsonl-sink", "jsonl-sink", test_finish);
  g_test_add_func ("/launch/stop-without-state", test_stop_without_state);
  g_test_add_func ("/launch/quit", test_quit);
  g_test_add_func ("/launch/damaged-kept", test_damaged_kept);
  g_test_add_func ("/launch/bad-records", test_bad_records);
  g_test_add_func ("/launch/quarantine-continued", test_quarantine_continued);
  g_test_add_func ("/launch/quarantine-foreign", test_quarantine_foreign);
  g_test_add_func ("/launch/quiet", test_quiet);
  g_test_add_func ("/launch/progress", test_progress);
  g_test_add_func ("/launch/progress-json", test_progress_json);
  g_test_add_func ("/launch/fraction", test_fraction);
  g_test_add_func ("/launch/outgrown", test_outgrown);
  g_test_add_func ("/launch/totals", test_totals);
  g_test_add_func ("/launch/check-state", test_check_state);
  g_test_add_func ("/launch/check-automatic", test_check_automatic);
  g_test_add_func ("/launch/summary-place", test_summary_place);
  g_test_add_func ("/launch/verbose", test_verbose);
  g_test_add_func ("/launch/stats", test_stats);
  return g_test_run ();
}
