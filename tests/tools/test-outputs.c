/* SPDX-License-Identifier: MIT */

/* Outputs among the inputs and beside one another, and what a run leaves. */

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "launch-rig.h"

static void
assert_ended (LaunchRig *rig, int code)
{
  if (rig->exit_code != code)
    g_error ("exit code %d, not %d:\n%s", rig->exit_code, code, rig->err);
}

static LaunchRig *
new_rig (const char *name, guint n)
{
  LaunchRig *rig = launch_rig_new ();
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "{\"text\": \"record %u\"}\n", i);
  launch_rig_write (rig, name, text->str, -1);
  return rig;
}

/* ---- of one graph ---- */

typedef struct
{
  const char *name;
  const char *graph;
  const char *said;
} Clash;

#define HEAD "file-source location=in.jsonl ! jsonl-reader ! tokenizer model=gpt2 keep-text=true "

static const Clash clashes[] = {
  { "two-jsonl-sinks",
    HEAD "! tee name=t ! jsonl-sink location=x.jsonl t. ! jsonl-sink location=./x.jsonl",
    "jsonl-sink1: location: it would write ./x.jsonl, as jsonl-sink0 does" },
  { "through-a-folder-to-be-made",
    HEAD "! tee name=t ! jsonl-sink location=no/such/../x t. ! jsonl-sink location=no/x",
    "it would write no/x, as jsonl-sink0 does" },
  { "megatron-and-jsonl",
    HEAD "! tee name=t ! megatron-sink location=x t. ! jsonl-sink location=x.bin",
    "jsonl-sink0: location: it would write x.bin, as megatron-sink0 does" },
  { "manifest",
    HEAD "! tee name=t ! megatron-sink location=x t. ! jsonl-sink location=x.manifest.json",
    "it would write x.manifest.json, as megatron-sink0 does" },
  { "input-is-output",
    "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=./in.jsonl",
    "in.jsonl is to be read, but it is written by jsonl-sink0; write elsewhere" },
};

static void
test_clash (gconstpointer data)
{
  const Clash *clash = data;
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 10);
  g_autofree char *names = NULL;

  launch_rig_expect (rig, 2, "--progress=none", "--no-state", clash->graph, NULL);
  launch_rig_assert_has (rig->err, clash->said);
  names = launch_rig_list (rig, NULL);
  g_assert_cmpstr (names, ==, "in.jsonl");
}

/* By whatever name the file that would be replaced is read. */
static void
test_input_is_output (gconstpointer data)
{
  g_autoptr (LaunchRig) rig = new_rig ("corpus.jsonl", 10);
  g_autofree char *path = launch_rig_path (rig, "corpus.jsonl");
  g_autofree char *link = launch_rig_path (rig, "latest.jsonl");
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  g_autofree char *before = launch_rig_hash (rig, "corpus.jsonl");
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s ! jsonl-reader ! jsonl-sink location=corpus.jsonl",
                       data != NULL ? (const char *) data : uri);
  g_autofree char *after = NULL;

  g_assert_cmpint (symlink ("corpus.jsonl", link), ==, 0);
  launch_rig_expect (rig, 2, "--progress=none", "--overwrite", graph, NULL);
  launch_rig_assert_has (rig->err,
                         "is to be read, but it is written by jsonl-sink0; write elsewhere");
  after = launch_rig_hash (rig, "corpus.jsonl");
  g_assert_cmpstr (before, ==, after);
}

static void
test_state_clash (void)
{
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 10);

  launch_rig_expect (
      rig, 2, "--progress=none", "--state=s",
      "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=s/status.json", NULL);
  launch_rig_assert_has (rig->err, "it would write s/status.json, as the state folder does");
  launch_rig_expect (
      rig, 0, "--progress=none", "--state=s",
      "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=s/out.jsonl", NULL);
}

static void
test_quarantine_clash (void)
{
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 10);

  launch_rig_expect (rig, 2, "--progress=none", "--quarantine=x.jsonl",
                     "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=x.jsonl",
                     NULL);
  launch_rig_assert_has (rig->err, "it would write x.jsonl, as jsonl-sink0 does");
}

/* A glob that the output matches, and the state below it: the same command finds the same files. */
static void
test_output_in_glob (gconstpointer data)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s ! jsonl-reader ! jsonl-sink location=out.jsonl",
                       (const char *) data);
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 10);
  g_autofree char *hash = NULL, *again = NULL;

  launch_rig_expect (rig, 0, "--progress=none", "--progress=none", graph, NULL);
  launch_rig_assert_has (rig->err, "finished: 10 records");
  hash = launch_rig_hash (rig, "out.jsonl");
  launch_rig_expect (rig, 0, "--progress=none", "--progress=none", graph, NULL);
  launch_rig_assert_has (rig->err, "finished already");
  launch_rig_expect (rig, 0, "--progress=none", "--restart", graph, NULL);
  launch_rig_assert_has (rig->err, "finished: 10 records");
  again = launch_rig_hash (rig, "out.jsonl");
  g_assert_cmpstr (hash, ==, again);
}

/* ---- of others ---- */

static void
test_foreign_file (void)
{
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 10);
  const char *graph = "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=mine";

  launch_rig_write (rig, "mine", "mine", -1);
  launch_rig_expect (rig, 2, "--progress=none", "--no-state", graph, NULL);
  launch_rig_assert_has (
      rig->err, "mine is there already, and is not of this run: choose another location, or "
                "delete it yourself");
}

static void
test_foreign_state (void)
{
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 10);
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  launch_rig_write (rig, "status.json", "mine", -1);
  before = launch_rig_list (rig, NULL);
  launch_rig_expect (rig, 2, "--progress=none", "--state=.",
                     "file-source location=in.jsonl ! jsonl-reader ! null-sink", NULL);
  launch_rig_assert_has (
      rig->err, ".: is not the state of a run, but has “status.json”, which a state would replace");
  after = launch_rig_list (rig, NULL);
  g_assert_cmpstr (before, ==, after);
}

/* ---- what is left ---- */

static void
start_long (LaunchRig *rig, const char *option)
{
  const char *arguments[] = {
    "--progress=none", option,
    "file-source location=in.jsonl epochs=0 ! jsonl-reader ! tee name=t ! "
    "jsonl-sink location=out/a.jsonl "
    "t. ! tokenizer model=gpt2 ! megatron-sink location=out/b",
    NULL
  };

  launch_rig_start (rig, arguments, NULL);
  for (guint i = 0; i < 1000; i++)
    {
      g_autofree char *path = launch_rig_path (rig, "out");
      g_autofree char *names =
          g_file_test (path, G_FILE_TEST_IS_DIR) ? launch_rig_list (rig, "out") : NULL;

      if (names != NULL && strstr (names, ".b.idx.documents.") != NULL)
        return;
      g_assert_false (launch_rig_wait (rig, 10000));
    }
  g_assert_not_reached ();
}

static void
test_stopped_without_state (gconstpointer data)
{
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 100);
  g_autofree char *names = NULL;

  start_long (rig, "--no-state");
  g_assert_cmpint (kill (rig->pid, GPOINTER_TO_INT (data)), ==, 0);
  g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
  assert_ended (rig, 128 + GPOINTER_TO_INT (data));
  names = launch_rig_list (rig, "out");
  g_assert_cmpstr (names, ==, "");
}

static void
test_taken_away (void)
{
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 100);
  g_autofree char *out = launch_rig_path (rig, "out");
  g_autofree char *moved = launch_rig_path (rig, "moved");

  start_long (rig, "--checkpoint-every=50ms");
  g_assert_cmpint (g_rename (out, moved), ==, 0);
  g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
  g_assert_cmpint (rig->exit_code, !=, 0);
  g_assert_cmpint (rig->exit_code, !=, -1);
  launch_rig_assert_has (rig->err, "out/");
}

/* ---- totals ---- */

/* The first source is over when the run is killed: what it did is in the totals of the next. */
static void
test_totals (void)
{
  g_autoptr (LaunchRig) rig = new_rig ("in.jsonl", 100);
  const char *graph = "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=a.jsonl "
                      "file-source location=in.jsonl epochs=20000 ! jsonl-reader ! null-sink "
                      "digest=false";
  const char *arguments[] = {
    "--progress=none", "--checkpoint-every=20ms", "--summary=s.json", "--state=s", graph, NULL
  };
  g_autofree char *path = launch_rig_path (rig, "s.json");
  g_autofree char *summary = NULL;

  launch_rig_start (rig, arguments, NULL);
  g_assert_false (launch_rig_wait (rig, G_USEC_PER_SEC / 2));
  g_assert_cmpint (kill (rig->pid, SIGTERM), ==, 0);
  g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
  assert_ended (rig, 75);
  launch_rig_run (rig, arguments);
  assert_ended (rig, 0);
  g_assert_true (g_file_get_contents (path, &summary, NULL, NULL));
  g_assert_nonnull (strstr (summary, "\"files-done\": 20001"));
  g_assert_nonnull (strstr (summary, "\"files-total\": 20001"));
}

/* ---- what may be another when a run goes on ---- */

static void
write_bad_behind (LaunchRig *rig, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (text, "{\"text\": \"a\"}\n");
  g_string_append (text, "x\n{\"text\": \"b\"}\n");
  launch_rig_write (rig, "in.jsonl", text->str, (gssize) text->len);
}

static gboolean
lists_checkpoint (LaunchRig *rig)
{
  g_autofree char *names = launch_rig_list (rig, "out.jsonl.dlpipe");

  return strstr (names, "checkpoint-") != NULL;
}

static void
test_tolerance (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *finished = NULL;
  gboolean has_checkpoint = FALSE;
  guint n_good = 0;
  const char *sink = "jsonl-sink location=out.jsonl";
  g_autofree char *strict = g_strdup_printf (
      "file-source location=in.jsonl ! jsonl-reader on-bad-record=fail ! %s", sink);
  g_autofree char *window =
      g_strdup_printf ("file-source location=in.jsonl ! jsonl-reader window-log-max=20 ! %s", sink);
  g_autofree char *lenient =
      g_strdup_printf ("file-source location=in.jsonl ! jsonl-reader max-bad-ratio=1 ! %s", sink);

  /* A checkpoint is wanted that was written before the bad record came. */
  for (guint n = 1; n < 10000000 && !has_checkpoint; n *= 10)
    {
      write_bad_behind (rig, n);
      launch_rig_expect (rig, 1, "--progress=none", "--restart", "--checkpoint-every=1ms", strict,
                         NULL);
      has_checkpoint = lists_checkpoint (rig);
      n_good = n + 1;
    }
  g_assert_true (has_checkpoint);
  /* A file that did not decode with one window may have records with another. */
  launch_rig_expect (rig, 3, "--progress=none", window, NULL);
  launch_rig_assert_has (rig->err, "window-log-max");
  launch_rig_expect (rig, 0, "--progress=none", lenient, NULL);
  finished = g_strdup_printf ("finished: %u records", n_good);
  launch_rig_assert_has (rig->err, finished);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (clashes); i++)
    {
      g_autofree char *path = g_strdup_printf ("/outputs/clash/%s", clashes[i].name);

      g_test_add_data_func (path, &clashes[i], test_clash);
    }
  g_test_add_func ("/outputs/clash/quarantine", test_quarantine_clash);
  g_test_add_func ("/outputs/clash/state", test_state_clash);
  g_test_add_data_func ("/outputs/input/uri", NULL, test_input_is_output);
  g_test_add_data_func ("/outputs/input/glob", "corp*.jsonl", test_input_is_output);
  g_test_add_data_func ("/outputs/input/symlink", "latest.jsonl", test_input_is_output);
  g_test_add_data_func ("/outputs/in-glob", "*.jsonl", test_output_in_glob);
  g_test_add_data_func ("/outputs/in-deep-glob", "./**", test_output_in_glob);
  g_test_add_data_func ("/outputs/in-folder", ".", test_output_in_glob);
  g_test_add_func ("/outputs/foreign-file", test_foreign_file);
  g_test_add_func ("/outputs/foreign-state", test_foreign_state);
  g_test_add_data_func ("/outputs/left/stopped", GINT_TO_POINTER (SIGTERM),
                        test_stopped_without_state);
  g_test_add_data_func ("/outputs/left/interrupted", GINT_TO_POINTER (SIGINT),
                        test_stopped_without_state);
  g_test_add_func ("/outputs/taken-away", test_taken_away);
  g_test_add_func ("/outputs/totals", test_totals);
  g_test_add_func ("/outputs/tolerance", test_tolerance);
  return g_test_run ();
}
