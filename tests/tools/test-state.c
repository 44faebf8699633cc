/* SPDX-License-Identifier: MIT */

/* dlpipe-state by its exit code and its output. Arguments: dlpipe-launch, the folder tests/data;
 * DLPIPE_STATE: the program. */

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlpipe.h>

#include "launch-rig.h"

#define GRAPH                                                                                      \
  "file-source location=in-*.jsonl ! jsonl-reader ! shuffle size=10 ! jsonl-sink location=%s"

static void
write_input (LaunchRig *rig, const char *name, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "{\"text\": \"%s %u\"}\n", name, i);
  launch_rig_write (rig, name, text->str, (gssize) text->len);
}

static void
launch (LaunchRig *rig, const char *location, const char *seed)
{
  g_autofree char *graph = g_strdup_printf (GRAPH, location);

  launch_rig_expect (rig, 0, "--seed", seed, graph, NULL);
}

/* From now on it is the tool that is run. */
static void
use_tool (void)
{
  launch_rig_set_program (g_getenv ("DLPIPE_STATE"));
}

/* And from now on what runs a graph. */
static void
use_launcher (void)
{
  static char *launcher;

  if (launcher == NULL)
    launcher = g_strdup (launch_rig_get_program ());
  launch_rig_set_program (launcher);
}

static LaunchRig *
new_rig (void)
{
  LaunchRig *rig;

  use_launcher ();
  rig = launch_rig_new ();
  write_input (rig, "in-0.jsonl", 60);
  write_input (rig, "in-1.jsonl", 40);
  return rig;
}

static void
copy_stored (LaunchRig *rig, const char *name, const char *to)
{
  g_autofree char *path = g_build_filename (launch_rig_get_data (), "state", name, NULL);
  g_autofree char *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  launch_rig_write (rig, to, data, (gssize) size);
}

static void
make_folder (LaunchRig *rig, const char *name)
{
  g_autofree char *path = launch_rig_path (rig, name);

  g_assert_no_errno (mkdir (path, 0777));
}

static void
put_stored (LaunchRig *rig)
{
  make_folder (rig, "corpus.dlpipe");
  copy_stored (rig, "stored/checkpoint-2", "corpus.dlpipe/checkpoint-2");
  copy_stored (rig, "stored/inputs", "corpus.dlpipe/inputs");
}

static void
test_usage (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  use_tool ();
  launch_rig_expect (rig, 2, NULL);
  launch_rig_assert_has (
      rig->err, "a command (show, diff, verify, list, watch, skip) and a state are wanted");
  launch_rig_expect (rig, 2, "peek", "x", NULL);
  launch_rig_assert_has (rig->err,
                         "unknown command “peek”; known are show, diff, verify, list, watch, skip");
  launch_rig_expect (rig, 2, "show", NULL);
  launch_rig_assert_has (rig->err, "show takes 1 state, not 0");
  launch_rig_expect (rig, 2, "diff", "x", NULL);
  launch_rig_assert_has (rig->err, "diff takes 2 states, not 1");
  launch_rig_expect (rig, 2, "watch", "--interval=1", "x", NULL);
  launch_rig_assert_has (rig->err, "--interval 1; allowed are 10 to 3600000 ms");
  for (guint i = 0; i < 4; i++)
    {
      const char *const command[] = { "show", "verify", "list", "watch" };

      launch_rig_expect (rig, 2, command[i], "nothing", NULL);
      launch_rig_assert_has (rig->err, "nothing");
      g_assert_cmpstr (rig->out, ==, "");
    }
  make_folder (rig, "empty");
  launch_rig_expect (rig, 2, "show", "empty", NULL);
  launch_rig_assert_has (rig->err, "empty: there is no checkpoint");
  launch_rig_expect (rig, 2, "list", "empty", NULL);
  launch_rig_assert_has (rig->err, "no state is there, nor below it");
  launch_rig_expect (rig, 0, "--version", NULL);
  launch_rig_assert_has (rig->out, "dlpipe-state ");
}

/* What is stored is read by every version to come, without the plugins. */
static void
test_golden (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = g_build_filename (launch_rig_get_data (), "state", "show.txt", NULL);
  g_autofree char *wanted = NULL;

  put_stored (rig);
  use_tool ();
  launch_rig_expect (rig, 0, "show", "corpus", NULL);
  if (g_getenv ("DLPIPE_UPDATE_GOLDEN") != NULL)
    g_assert_true (g_file_set_contents (path, rig->out, -1, NULL));
  g_assert_true (g_file_get_contents (path, &wanted, NULL, NULL));
  g_assert_cmpstr (rig->out, ==, wanted);
  g_assert_cmpstr (rig->err, ==, "");
  launch_rig_expect (rig, 0, "show", "--all", "corpus.dlpipe/checkpoint-2", NULL);
  launch_rig_assert_has (rig->out, "    set  size=100\n");
  launch_rig_assert_has (rig->out, "  part-0.jsonl: 7088895 bytes, mtime=");
  launch_rig_expect (rig, 0, "show", "--json", "corpus.dlpipe", NULL);
  launch_rig_assert_has (rig->out,
                         "\"digest\": "
                         "\"b2bc5fdd6ea1f6e8bb87423afca2ee04-702eaa63e6cd61d42356914631a0878a\"");
}

static void
test_verify (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch (rig, "a.jsonl", "0");
  use_tool ();
  launch_rig_expect (rig, 0, "verify", "a.jsonl", NULL);
  launch_rig_assert_has (rig->out, "ok    input files: 2, as they were when they were read");
  launch_rig_assert_has (rig->out, "ok    graph: fits");
  launch_rig_assert_has (rig->out, "\n0 faults\n");
  launch_rig_expect (rig, 0, "verify", "--json", "a.jsonl.dlpipe", NULL);
  launch_rig_assert_has (rig->out, "\"ok\": true");

  write_input (rig, "in-1.jsonl", 41);
  launch_rig_expect (rig, 1, "verify", "a.jsonl", NULL);
  launch_rig_assert_has (rig->out, "FAULT input file: in-1.jsonl: was ");
  launch_rig_assert_has (rig->out, "\n1 fault\n");
  write_input (rig, "in-2.jsonl", 1);
  launch_rig_expect (rig, 1, "verify", "a.jsonl", NULL);
  launch_rig_assert_has (rig->out, "FAULT graph: ");
  launch_rig_expect (rig, 1, "verify", "--json", "a.jsonl", NULL);
  launch_rig_assert_has (rig->out, "\"faults\": 2");
}

/* The newest generation is damaged, then both; then the list of inputs. */
static void
test_damaged (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch (rig, "a.jsonl", "0");
  use_tool ();
  launch_rig_write (rig, "a.jsonl.dlpipe/checkpoint-9", "DLPSTATE", 8);
  launch_rig_expect (rig, 1, "verify", "a.jsonl", NULL);
  launch_rig_assert_has (rig->out,
                         "FAULT checkpoint: a.jsonl.dlpipe/checkpoint-9: cut off: 8 bytes");
  launch_rig_assert_has (rig->out, "ok    graph: fits");
  launch_rig_expect (rig, 0, "show", "a.jsonl", NULL);
  launch_rig_assert_has (rig->err,
                         "checkpoint-9: cut off: 8 bytes, the least is 40; going on from");
  launch_rig_expect (rig, 0, "list", "a.jsonl", NULL);
  launch_rig_assert_has (rig->out, "cannot be used: ");

  launch_rig_write (rig, "a.jsonl.dlpipe/inputs", "dlpipe inputs 1\n", -1);
  launch_rig_expect (rig, 1, "verify", "a.jsonl", NULL);
  launch_rig_assert_has (rig->out, "FAULT input list: a.jsonl.dlpipe/inputs: cut off");
}

/* The same state, of a graph with an element that nobody has. */
static void
put_foreign (LaunchRig *rig)
{
  g_autofree char *path = launch_rig_path (rig, "corpus.dlpipe/checkpoint-2");
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) stored = dlp_checkpoint_new_from_file (path, &error);
  g_autoptr (DlpCheckpoint) foreign = NULL;
  g_autoptr (GVariant) state = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GVariantDict dict;

  g_assert_no_error (error);
  state = dlp_checkpoint_to_variant (stored);
  g_variant_dict_init (&dict, state);
  g_variant_dict_insert_value (&dict, "graph",
                               g_variant_new_bytestring ("from-elsewhere ! null-sink"));
  foreign = dlp_checkpoint_new_from_variant (g_variant_dict_end (&dict), &error);
  g_assert_no_error (error);
  bytes = dlp_checkpoint_to_bytes (foreign);
  launch_rig_write (rig, "corpus.dlpipe/checkpoint-2", g_bytes_get_data (bytes, NULL),
                    (gssize) g_bytes_get_size (bytes));
}

static void
test_without_plugin (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  put_stored (rig);
  put_foreign (rig);
  use_tool ();
  launch_rig_expect (rig, 0, "show", "corpus", NULL);
  launch_rig_assert_has (rig->out, "  from-elsewhere ! null-sink\n");
  launch_rig_expect (rig, 1, "verify", "corpus", NULL);
  launch_rig_assert_has (rig->out, "ok    checkpoint: corpus.dlpipe/checkpoint-2");
  launch_rig_assert_has (rig->out, "FAULT input file: ");
  launch_rig_assert_has (rig->out,
                         "ok    graph: not looked at, since an element is not installed here: ");
  launch_rig_assert_has (rig->out, "from-elsewhere");
}

static void
test_diff (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch (rig, "a.jsonl", "0");
  launch (rig, "b.jsonl", "0");
  launch (rig, "c.jsonl", "1");
  use_tool ();
  launch_rig_expect (rig, 0, "diff", "a.jsonl", "b.jsonl", NULL);
  launch_rig_assert_has (rig->out, "= jsonl-sink0: 100 records, ");
  launch_rig_assert_has (rig->out, "jsonl-sink0 location: a.jsonl -> b.jsonl\n");
  launch_rig_expect (rig, 1, "diff", "a.jsonl", "c.jsonl", NULL);
  launch_rig_assert_has (rig->out, "! jsonl-sink0: 100 records, ");
  launch_rig_assert_has (rig->out, " (the same records in another order)\n");
  launch_rig_assert_has (rig->out, "seed: 0 -> 1\n");
  launch_rig_expect (rig, 1, "diff", "--json", "a.jsonl", "c.jsonl", NULL);
  launch_rig_assert_has (rig->out, "\"equal\": false");
  launch_rig_expect (rig, 2, "diff", "a.jsonl", "nothing", NULL);
}

static void
test_list (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  make_folder (rig, "deep");
  launch (rig, "a.jsonl", "0");
  launch (rig, "deep/b.jsonl", "0");
  use_tool ();
  launch_rig_expect (rig, 0, "list", ".", NULL);
  launch_rig_assert_has (rig->out, "./a.jsonl.dlpipe: run ");
  launch_rig_assert_has (rig->out, "./deep/b.jsonl.dlpipe: run ");
  launch_rig_assert_has (rig->out, ", attempt 1, finished, process ");
  launch_rig_assert_has (rig->out, "attempt 1, complete, 100 records, 0 tokens");
  launch_rig_expect (rig, 0, "list", "--json", "a.jsonl", NULL);
  launch_rig_assert_has (rig->out, "\"state\": \"finished\"");
}

/* A run that lives is seen, is not disturbed, and is seen to be dead. */
static void
test_watch (void)
{
  g_autoptr (LaunchRig) run = new_rig ();
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  const char *const endless[] = {
    "--state", "s", "file-source location=in-0.jsonl epochs=0 ! jsonl-reader ! null-sink", NULL
  };
  g_autofree char *place = launch_rig_path (run, "s");
  gboolean seen = FALSE;

  launch_rig_start (run, endless, NULL);
  use_tool ();
  for (guint i = 0; i < 200 && !seen; i++)
    {
      const char *const look[] = { "watch", "--once", place, NULL };

      g_usleep (50 * 1000);
      launch_rig_run (rig, look);
      seen = rig->exit_code == 0 && strstr (rig->out, "running") != NULL;
    }
  g_assert_true (seen);
  launch_rig_expect (rig, 0, "list", place, NULL);
  launch_rig_assert_has (rig->out, ", attempt 1, running, process ");
  launch_rig_expect (rig, 0, "watch", "--json", "--once", place, NULL);
  launch_rig_assert_has (rig->out, "\"status\": \"running\"");
  kill (run->pid, SIGKILL);
  g_assert_true (launch_rig_wait (run, 10 * G_USEC_PER_SEC));
  launch_rig_expect (rig, 1, "watch", "--interval=10", place, NULL);
  launch_rig_assert_has (rig->out, "dead");
}

/* Whether there is a checkpoint that is not in @before (nullable), a list of what was there. */
static gboolean
has_checkpoint (LaunchRig *rig, const char *before)
{
  g_autofree char *folder = launch_rig_path (rig, "s");
  g_autofree char *list = NULL;
  g_auto (GStrv) names = NULL;

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return FALSE;
  list = launch_rig_list (rig, "s");
  names = g_strsplit (list, " ", 0);
  /* One that is still being written has a point before it. */
  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_has_prefix (names[i], "checkpoint-") &&
        (before == NULL || strstr (before, names[i]) == NULL))
      return TRUE;
  return FALSE;
}

static const char *const batches[] = { "--state",
                                       "s",
                                       "--checkpoint-every",
                                       "20ms",
                                       "file-source location=in-0.jsonl epochs=0 ! jsonl-reader ! "
                                       "batch name=b size=4 ! null-sink",
                                       NULL };

/* Runs, and has a checkpoint that is not in @before (nullable). */
static void
make_batches (LaunchRig *rig, const char *before)
{
  launch_rig_start (rig, batches, NULL);
  for (guint i = 0; i < 2000 && !has_checkpoint (rig, before); i++)
    g_usleep (10 * 1000);
  g_assert_true (has_checkpoint (rig, before));
}

/* What goes on from then on without them, and says so in every state; not while it runs. */
static void
test_skip (void)
{
  g_autoptr (LaunchRig) run = new_rig ();
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *place = launch_rig_path (run, "s");

  for (guint again = 0; again < 2; again++)
    {
      g_autofree char *before = again > 0 ? launch_rig_list (run, "s") : NULL;

      make_batches (run, before);
      if (again == 0)
        {
          use_tool ();
          launch_rig_expect (rig, 1, "skip", place, "--batches=900000000000..900000000010", NULL);
          launch_rig_assert_has (rig->err, "in use by another run: process ");
          use_launcher ();
        }
      kill (run->pid, SIGTERM);
      g_assert_true (launch_rig_wait (run, 60 * G_USEC_PER_SEC));
      g_assert_cmpint (run->exit_code, ==, 75);
      if (again == 1)
        launch_rig_assert_has (run->err, "leaving out batches 900000000000 to 900000000010 of b, "
                                         "batches 900000000019 to 900000000020 of b, as ");

      use_tool ();
      if (again == 0)
        {
          launch_rig_expect (rig, 0, "skip", place, "--batches=900000000000..900000000010", NULL);
          launch_rig_assert_has (rig->out,
                                 "s: batches 900000000000 to 900000000010 will be read and not");
          launch_rig_expect (rig, 0, "skip", place, "--batches=900000000019", NULL);
          launch_rig_expect (rig, 0, "skip", "--json", place, "--batches=900000000020", NULL);
          launch_rig_assert_has (rig->out, "\"last\": 900000000020");
        }
      launch_rig_expect (rig, 0, "show", place, NULL);
      launch_rig_assert_has (rig->out, "skip [[900000000000, 900000000010, ");
      launch_rig_assert_has (rig->out, "], [900000000019, 900000000020, ");
      use_launcher ();
    }

  use_tool ();
  launch_rig_expect (rig, 1, "skip", place, "--batches=0..9", NULL);
  launch_rig_assert_has (rig->err, "batch 0 of b was given out before this state");
  launch_rig_expect (rig, 1, "skip", place, "--element=x", "--batches=900000000030", NULL);
  launch_rig_assert_has (rig->err, "element “x” of the state has no batches");
  launch_rig_expect (rig, 2, "skip", place, NULL);
  launch_rig_assert_has (rig->err, "skip: wants --batches=FIRST..LAST, such as ");
  launch_rig_expect (rig, 2, "skip", place, "--batches=9..8", NULL);
  launch_rig_assert_has (rig->err, "--batches=9..8; wanted");
}

/* (transfer full): a checkpoint of it. */
static char *
stop_and_copy (LaunchRig *rig, gsize *size)
{
  g_autofree char *list = NULL;
  g_autofree char *path = NULL;
  g_auto (GStrv) names = NULL;
  char *bytes = NULL;

  make_batches (rig, NULL);
  kill (rig->pid, SIGTERM);
  g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
  list = launch_rig_list (rig, "s");
  names = g_strsplit (list, " ", 0);
  for (guint i = 0; names[i] != NULL && bytes == NULL; i++)
    if (g_str_has_prefix (names[i], "checkpoint-"))
      {
        g_autofree char *name = g_build_filename ("s", names[i], NULL);

        path = launch_rig_path (rig, name);
        g_assert_true (g_file_get_contents (path, &bytes, size, NULL));
      }
  g_assert_nonnull (bytes);
  return bytes;
}

/* A state in a file of its own stays for the same users, and where it is. */
static void
test_skip_file (void)
{
  g_autoptr (LaunchRig) run = new_rig ();
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *file = launch_rig_path (rig, "file");
  g_autofree char *link = launch_rig_path (rig, "link");
  g_autofree char *before = NULL;
  gsize size = 0;
  struct stat found;

  before = stop_and_copy (run, &size);
  launch_rig_write (rig, "file", before, (gssize) size);
  g_assert_cmpint (chmod (file, 0600), ==, 0);
  g_assert_cmpint (symlink ("file", link), ==, 0);
  use_tool ();
  launch_rig_expect (rig, 0, "skip", link, "--batches=900000000000..900000000010", NULL);
  g_assert_cmpint (lstat (link, &found), ==, 0);
  g_assert_true (S_ISLNK (found.st_mode));
  g_assert_cmpint (stat (file, &found), ==, 0);
  g_assert_cmpint (found.st_mode & 07777, ==, 0600);
  launch_rig_expect (rig, 0, "show", file, NULL);
  launch_rig_assert_has (rig->out, "skip [[900000000000, 900000000010, ");
  g_assert_cmpint (chmod (file, 0666), ==, 0);
  launch_rig_expect (rig, 0, "skip", file, "--clear", NULL);
  g_assert_cmpint (stat (file, &found), ==, 0);
  g_assert_cmpint (found.st_mode & 07777, ==, 0666);
  use_launcher ();
}

/* ---- batches left out, to the end ---- */

#define N_BATCHES 50000
#define SIZE 4

static const char *const counting[] = { "--state",
                                        "s",
                                        "--checkpoint-every",
                                        "10ms",
                                        "file-source location=many.jsonl ! jsonl-reader ! batch "
                                        "name=b size=4 ! null-sink",
                                        NULL };

/* Until it has a checkpoint of its own, and @us more. FALSE: it has ended before. */
static gboolean
run_for (LaunchRig *rig, gint64 us, int number)
{
  g_autofree char *folder = launch_rig_path (rig, "s");
  g_autofree char *before =
      g_file_test (folder, G_FILE_TEST_IS_DIR) ? launch_rig_list (rig, "s") : NULL;

  launch_rig_start (rig, counting, NULL);
  while (!has_checkpoint (rig, before))
    if (launch_rig_wait (rig, 500))
      return FALSE;
  if (launch_rig_wait (rig, us))
    return FALSE;
  kill (rig->pid, number);
  g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
  g_assert_true (rig->exit_code <= 0 || rig->exit_code == 75);
  return number == SIGKILL ? rig->killed_by == SIGKILL : rig->exit_code == 75;
}

/* The state goes on without these, well before its end. FALSE: it was too far. */
static gboolean
stop_and_skip (LaunchRig *rig, LaunchRig *tool)
{
  g_autofree char *place = launch_rig_path (rig, "s");
  const char *const first[] = { "skip", place, "--batches=40000..41999", NULL };

  launch_rig_clear (rig);
  launch_rig_write_records (rig, "many.jsonl", N_BATCHES * SIZE);
  if (!run_for (rig, 0, SIGTERM))
    return FALSE;
  use_tool ();
  launch_rig_run (tool, first);
  if (tool->exit_code == 0)
    {
      launch_rig_expect (tool, 0, "skip", place, "--batches=45000..45000", NULL);
      launch_rig_expect (tool, 0, "skip", place, "--batches=49990..60000", NULL);
      launch_rig_expect (rig, 0, "verify", place, NULL);
    }
  use_launcher ();
  return tool->exit_code == 0;
}

static void
copy_folder (LaunchRig *rig, const char *from, const char *to)
{
  g_autofree char *source = launch_rig_path (rig, from);
  g_autofree char *target = launch_rig_path (rig, to);
  const char *const argv[] = { "cp", "-R", source, target, NULL };
  g_autoptr (GError) error = NULL;
  int status;

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status,
                &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
}

/* All records but those of 2011 batches. */
static void
assert_counted (LaunchRig *rig, const char *how)
{
  g_assert_cmpint (rig->exit_code, ==, 0);
  launch_rig_assert_has (rig->err, how);
  launch_rig_assert_has (rig->err, ": 191956 records, 0 bad records, 2011 skipped batches");
}

/* Killed at places that the clock decides, each behind a checkpoint of that attempt, and gone on
 * with to the end, and once more: as one that was not disturbed. */
static void
test_skip_killed (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (LaunchRig) tool = launch_rig_new ();
  g_autofree char *place = launch_rig_path (rig, "s");
  g_autofree char *whole = launch_rig_path (rig, "whole");
  guint n = 0;

  while (!stop_and_skip (rig, tool))
    g_assert_cmpuint (++n, <, 20);
  copy_folder (rig, "s", "whole");
  for (n = 0; n < 6 && run_for (rig, n * 2000, SIGKILL); n++)
    ;
  g_assert_cmpuint (n, >, 0);
  launch_rig_run (rig, counting);
  assert_counted (rig, "finished");
  launch_rig_run (rig, counting);
  assert_counted (rig, "finished already, nothing to do");
  launch_rig_expect (rig, 0, "--state", "whole", counting[4], NULL);
  assert_counted (rig, "finished");
  use_tool ();
  launch_rig_expect (tool, 0, "diff", place, whole, NULL);
  launch_rig_expect (tool, 1, "skip", place, "--batches=70000..70001", NULL);
  launch_rig_assert_has (tool->err, "which has something left to do");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  g_test_add_func ("/state/usage", test_usage);
  g_test_add_func ("/state/golden", test_golden);
  g_test_add_func ("/state/verify", test_verify);
  g_test_add_func ("/state/damaged", test_damaged);
  g_test_add_func ("/state/without-plugin", test_without_plugin);
  g_test_add_func ("/state/diff", test_diff);
  g_test_add_func ("/state/list", test_list);
  g_test_add_func ("/state/watch", test_watch);
  g_test_add_func ("/state/skip", test_skip);
  g_test_add_func ("/state/skip-file", test_skip_file);
  g_test_add_func ("/state/skip-killed", test_skip_killed);
  return g_test_run ();
}
