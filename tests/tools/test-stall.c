/* SPDX-License-Identifier: MIT */

/* --stall-action and --stall-timeout, with an element that hangs (fixture-hang.c), with an input
 * that never comes, and with files that are not written (fixture-slow.c). What goes on after a
 * failure gives what an undisturbed run gives. Arguments: dlpipe-launch, the folder tests/data, the
 * library of fixture-slow.c. Environment: DLPIPE_TEST_PLUGINS. */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch-rig.h"

#define READ(file) "file-source location=" file " ! jsonl-reader ! "
#define GRAPH READ ("in.jsonl") "hang name=h ! jsonl-sink name=out location=out.jsonl"
#define RECORDS 200
#define PATIENCE (30 * G_USEC_PER_SEC)

static char *plugin_path;
static char *slow_library;
static char *wanted; /* SHA-256 of what an undisturbed run writes */

static LaunchRig *
new_rig (void)
{
  LaunchRig *rig = launch_rig_new ();

  launch_rig_write_records (rig, "in.jsonl", RECORDS);
  return rig;
}

static void
check_summary (LaunchRig *rig, const char *text)
{
  g_autofree char *path = launch_rig_path (rig, "sum.json");
  g_autofree char *summary = NULL;

  g_assert_true (g_file_get_contents (path, &summary, NULL, NULL));
  if (strstr (summary, text) == NULL)
    g_error ("“%s” is not in:\n%s", text, summary);
}

static void
check_output (LaunchRig *rig)
{
  g_autofree char *hash = launch_rig_hash (rig, "out.jsonl");

  g_assert_cmpstr (hash, ==, wanted);
}

/* @option, @other: (nullable) */
static void
start_with (LaunchRig *rig,
            const char *hang,
            const char *option,
            const char *other,
            const char *graph)
{
  const char *const arguments[] = { plugin_path,
                                    "--checkpoint-every=20ms",
                                    "--stall-timeout=1s",
                                    "--grace=500ms",
                                    "--summary=sum.json",
                                    graph,
                                    option != NULL ? option : other,
                                    option != NULL ? other : NULL,
                                    NULL };

  if (hang != NULL)
    g_setenv ("DLPIPE_TEST_HANG", hang, TRUE);
  launch_rig_start (rig, arguments, NULL);
  g_unsetenv ("DLPIPE_TEST_HANG");
}

static void
start (LaunchRig *rig, const char *hang, const char *option, const char *graph)
{
  start_with (rig, hang, option, NULL, graph);
}

/* Is to fail. @plan: see fixture-slow.c. @option: (nullable) */
static void
start_slow (LaunchRig *rig, const char *plan, const char *option, const char *graph)
{
  g_setenv ("DLPIPE_TEST_SLOW", plan, TRUE);
  g_setenv ("LD_PRELOAD", slow_library, TRUE);
  start_with (rig, NULL, "--stall-action=fail", option, graph);
  g_unsetenv ("LD_PRELOAD");
  g_unsetenv ("DLPIPE_TEST_SLOW");
}

static void
end (LaunchRig *rig, int code)
{
  if (!launch_rig_wait (rig, PATIENCE))
    g_error ("the run hangs");
  if (rig->exit_code != code)
    g_error ("exit code %d, not %d:\n%s", rig->exit_code, code, rig->err);
}

static void
wait_until_it_hangs (LaunchRig *rig)
{
  g_autofree char *path = launch_rig_path (rig, "hangs");

  for (guint i = 0; i < 4000 && !g_file_test (path, G_FILE_TEST_EXISTS); i++)
    g_usleep (5000);
  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
  g_usleep (100000);
}

/* The same command again, without what made it hang. */
static void
go_on (LaunchRig *rig)
{
  start (rig, NULL, "--stall-action=fail", GRAPH);
  end (rig, 0);
  launch_rig_assert_has (rig->err, "going on behind record");
  check_output (rig);
}

/* The run has failed. @code: 75: the same command goes on; 1: it has no state. */
static void
check_error (LaunchRig *rig, int code, const char *text)
{
  g_autofree char *exit_code = g_strdup_printf ("\"exit-code\": %d,", code);
  g_autofree char *said = g_strconcat (text, "; the run fails\n", NULL);

  launch_rig_assert_has (rig->err, "warning: nothing has moved for 1.");
  launch_rig_assert_has (rig->err, said);
  launch_rig_assert_has (rig->err, "error: nothing has moved for 1.");
  launch_rig_assert_has (rig->err, text);
  launch_rig_assert_has (
      rig->err, "; where that may take so long, set a longer stall-timeout (now 1s; 0: no limit)");
  check_summary (rig, exit_code);
  check_summary (rig, "\"exit-reason\": \"stalled\"");
  check_summary (rig, "\"error\": \"nothing has moved for 1.");
}

/* ---- the run fails ---- */

static void
test_step (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "step", "--stall-action=fail", GRAPH);
  end (rig, 75);
  check_error (rig, 75, "; h is in a step that does not return");
  launch_rig_assert_has (
      rig->err, "the run has failed and did not end within 0.5 s; h is in a step that does not "
                "return; --grace TIME gives it longer");
  launch_rig_assert_has (rig->err, "; the same command goes on from the last checkpoint");
  go_on (rig);
}

static void
test_work (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "work", "--stall-action=fail", GRAPH);
  end (rig, 75);
  check_error (rig, 75, "; h waits for its own input/output or for work it gave to the workers");
  launch_rig_assert_has_not (rig->err, "--grace");
  check_summary (rig, "\"status\": \"failed\"");
  go_on (rig);
}

/* Before the first record, and an exit code that says so is not what it deserves. */
static void
test_start (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "start", "--stall-action=fail", GRAPH);
  end (rig, 75);
  check_error (rig, 75, "; h is starting");
  launch_rig_assert_has (rig->err, "did not end within 0.5 s; h is starting; --grace TIME");
  start (rig, NULL, "--stall-action=fail", GRAPH);
  end (rig, 0);
  check_output (rig);
}

/* While the graph is built: nothing was read or written. */
static void
test_negotiate (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "negotiate", "--stall-action=fail", GRAPH);
  end (rig, 75);
  check_error (rig, 75, "; h is negotiating");
  launch_rig_assert_has (rig->err, "did not end within 0.5 s; h is negotiating; --grace TIME");
  start (rig, NULL, "--stall-action=fail", GRAPH);
  end (rig, 0);
  check_output (rig);
}

/* A pipe whose writer writes nothing. */
static void
test_input (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = launch_rig_path (rig, "pipe");
  int fd;

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  fd = open (path, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  start (rig, NULL, "--stall-action=fail", READ ("pipe name=in") "null-sink");
  end (rig, 1);
  check_error (rig, 1,
               "; jsonl-reader0 waits for its own input/output or for work it gave to the "
               "workers");
  close (fd);
}

/* Another one fails than the one that hangs. */
static void
test_other_fault (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = launch_rig_path (rig, "pipe");
  static const char bad[] = "no JSON\n";
  int fd;

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  fd = open (path, O_RDWR | O_CLOEXEC);
  start (rig, "step", "--no-state",
         GRAPH "  file-source location=pipe ! jsonl-reader on-bad-record=fail ! null-sink");
  wait_until_it_hangs (rig);
  g_assert_cmpint (write (fd, bad, strlen (bad)), ==, strlen (bad));
  close (fd);
  end (rig, 1);
  launch_rig_assert_has (
      rig->err, "the run has failed and did not end within 0.5 s; h is in a step that does not "
                "return");
  launch_rig_assert_has (rig->err, "error: jsonl-reader1: ");
  check_summary (rig, "\"exit-reason\": \"failed\"");
}

/* ---- what it writes to does not answer ---- */

/* The file that a sink finishes. */
static void
test_drain (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_slow (rig, "write:.out.jsonl:0", "--no-state",
              READ ("in.jsonl") "jsonl-sink name=out location=out.jsonl");
  wait_until_it_hangs (rig);
  end (rig, 1);
  check_error (rig, 1, "; out is in a step that does not return");
}

static void
test_drain_megatron (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_slow (rig, "write:.out.idx:0", "--no-state",
              READ ("in.jsonl") "tokenizer model=gpt2 ! megatron-sink name=out location=out");
  wait_until_it_hangs (rig);
  end (rig, 1);
  check_error (rig, 1, "; out is in a step that does not return");
}

/* The last sync, outside of all steps. */
static void
test_last_sync (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_slow (rig, "sync:.out.jsonl:0", "--no-state",
              READ ("in.jsonl") "jsonl-sink name=out location=out.jsonl");
  wait_until_it_hangs (rig);
  end (rig, 1);
  check_error (rig, 1, "; out is syncing");
  launch_rig_assert_has (rig->err, "the run has failed and did not end within 0.5 s; out is "
                                   "syncing; --grace TIME");
}

/* The checkpoint that a signal asks for. */
static void
test_signal_in_checkpoint (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_slow (rig, "sync:.checkpoint-2:0", "--stall-timeout=1h", GRAPH);
  wait_until_it_hangs (rig);
  kill (rig->pid, SIGTERM);
  end (rig, 1);
  launch_rig_assert_has (
      rig->err, "the run did not end within 0.5 s of SIGTERM; a checkpoint is being written; "
                "--grace TIME");
}

/* The last checkpoint: what is in it is not taken back. */
static void
test_last_checkpoint (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_slow (rig, "sync:.checkpoint-2:2500", "--checkpoint-every=1h",
              READ ("in.jsonl") "jsonl-sink name=out location=out.jsonl");
  wait_until_it_hangs (rig);
  end (rig, 0);
  launch_rig_assert_has (rig->err, "warning: nothing has moved for 1.");
  launch_rig_assert_has (rig->err, "; the last checkpoint is being written\n");
  launch_rig_assert_has_not (rig->err, "the run fails");
  launch_rig_assert_has_not (rig->err, "the run has failed");
  check_summary (rig, "\"exit-reason\": \"finished\"");
  check_output (rig);
}

/* ---- it goes on ---- */

static void
test_report (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "nap", NULL, GRAPH);
  end (rig, 0);
  launch_rig_assert_has (rig->err, "warning: nothing has moved for 1.");
  launch_rig_assert_has (rig->err, "; h is in a step that does not return\n");
  launch_rig_assert_has_not (rig->err, "the run fails");
  check_output (rig);
}

static void
test_never (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  /* The one that is given last holds. */
  start (rig, "nap", "--stall-timeout=0", GRAPH);
  end (rig, 0);
  launch_rig_assert_has_not (rig->err, "nothing has moved");
}

/* A batch system that gives the place to another job for a while. */
static void
test_stopped (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "naps", "--stall-timeout=4s", GRAPH);
  wait_until_it_hangs (rig);
  /* That it does not move was seen once, a second later. */
  g_usleep (1000000);
  kill (rig->pid, SIGSTOP);
  g_usleep (4500000);
  kill (rig->pid, SIGCONT);
  end (rig, 0);
  launch_rig_assert_has_not (rig->err, "nothing has moved");
  check_output (rig);
}

/* ---- the rest ---- */

/* A signal to a run that hangs. */
static void
test_signal (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "step", "--stall-timeout=1h", GRAPH);
  wait_until_it_hangs (rig);
  kill (rig->pid, SIGTERM);
  end (rig, 1);
  launch_rig_assert_has (
      rig->err, "the run did not end within 0.5 s of SIGTERM; h is in a step that does not "
                "return; --grace TIME gives it longer");
  check_summary (rig, "\"exit-code\": 1,");
  check_summary (rig, "\"exit-reason\": \"failed\"");
  check_summary (rig, "\"error\": \"the run did not end within 0.5 s of SIGTERM");
}

/* That nothing moves is noticed after the signal, within the grace. */
static void
test_after_signal (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_with (rig, "step", "--stall-action=fail", "--grace=3s", GRAPH);
  wait_until_it_hangs (rig);
  kill (rig->pid, SIGTERM);
  end (rig, 75);
  check_error (rig, 75, "; h is in a step that does not return");
  go_on (rig);
}

/* A signal while the graph is built. */
static void
test_signal_before (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "negotiate", "--stall-timeout=1h", GRAPH);
  wait_until_it_hangs (rig);
  kill (rig->pid, SIGTERM);
  end (rig, 75);
  launch_rig_assert_has (rig->err, "stopped by SIGTERM before the first record");
  check_summary (rig, "\"exit-code\": 75,");
  check_summary (rig, "\"exit-reason\": \"stopped\"");
}

/* Twice, while what is prepared hangs: at once, whatever the grace is. */
static void
test_signal_before_twice (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start_with (rig, "negotiate", "--stall-timeout=1h", "--grace=1h", GRAPH);
  wait_until_it_hangs (rig);
  kill (rig->pid, SIGTERM);
  /* Those that come within a second are one. */
  g_assert_false (launch_rig_wait (rig, 1200 * 1000));
  kill (rig->pid, SIGTERM);
  end (rig, 128 + SIGTERM);
  launch_rig_assert_has (rig->err, "SIGTERM: stopping");
  launch_rig_assert_has (rig->err, "aborted by SIGTERM before the first record");
  check_summary (rig, "\"exit-reason\": \"aborted\"");
}

static void
test_options (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 2, plugin_path, "--stall-action=fial", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "--stall-action: ");
  launch_rig_assert_has (rig->err, "fail");
  launch_rig_expect (rig, 2, plugin_path, "--stall-timeout=soon", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "--stall-timeout: ");
  launch_rig_expect (rig, 0, plugin_path, "--check", GRAPH, NULL);
  g_assert_nonnull (strstr (rig->out, "  stall-action             report  "));
  g_assert_nonnull (strstr (rig->out, "  stall-timeout            60.0 s  "));
  launch_rig_expect (rig, 0, plugin_path, "--check", "--stall-action=fail", "--stall-timeout=5m",
                     GRAPH, NULL);
  g_assert_nonnull (strstr (rig->out, "  stall-action             fail  "));
  g_assert_nonnull (strstr (rig->out, "  stall-timeout            5:00 min  "));
}

static void
find_wanted (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, plugin_path, GRAPH, NULL);
  wanted = launch_rig_hash (rig, "out.jsonl");
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  launch_rig_init (3, argv);
  slow_library = g_canonicalize_filename (argv[3], NULL);
  plugin_path = g_strconcat ("--plugin-path=", g_getenv ("DLPIPE_TEST_PLUGINS"), NULL);
  find_wanted ();
  g_test_add_func ("/stall/step", test_step);
  g_test_add_func ("/stall/work", test_work);
  g_test_add_func ("/stall/start", test_start);
  g_test_add_func ("/stall/negotiate", test_negotiate);
  g_test_add_func ("/stall/input", test_input);
  g_test_add_func ("/stall/other-fault", test_other_fault);
  g_test_add_func ("/stall/drain", test_drain);
  g_test_add_func ("/stall/drain-megatron", test_drain_megatron);
  g_test_add_func ("/stall/last-sync", test_last_sync);
  g_test_add_func ("/stall/signal-in-checkpoint", test_signal_in_checkpoint);
  g_test_add_func ("/stall/last-checkpoint", test_last_checkpoint);
  g_test_add_func ("/stall/report", test_report);
  g_test_add_func ("/stall/never", test_never);
  g_test_add_func ("/stall/stopped", test_stopped);
  g_test_add_func ("/stall/signal", test_signal);
  g_test_add_func ("/stall/after-signal", test_after_signal);
  g_test_add_func ("/stall/signal-before", test_signal_before);
  g_test_add_func ("/stall/signal-before-twice", test_signal_before_twice);
  g_test_add_func ("/stall/options", test_options);
  code = g_test_run ();
  g_free (slow_library);
  g_free (plugin_path);
  g_free (wanted);
  return code;
}
