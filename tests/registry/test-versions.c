/* SPDX-License-Identifier: MIT */

/* A run that goes on with another version of a plugin (fixture-pass.c). Arguments: dlpipe-launch,
 * the folder of the fixtures. DLPIPE_STATE: the tool of that name. */

#include <string.h>
#include <sys/stat.h>

#include <dlpipe/dlpipe.h>

#include "launch-rig.h"

#define STATE "out.jsonl.dlpipe"
#define GRAPH                                                                                      \
  "file-source location=in.jsonl ! jsonl-reader ! pass name=p ! jsonl-sink location=out.jsonl"
#define CHANGED                                                                                    \
  "p: plugin pass had version 1.0 when the state was made, and has version 2.0 now: where the "    \
  "two "                                                                                           \
  "do not make the same of a record, the output has some of both"
#define RECORDS 4000

static char *launcher;
static char *wanted; /* SHA-256 of what an undisturbed run writes */

static void
copy_plugin (LaunchRig *rig, const char *folder, const char *fixture)
{
  g_autofree char *path = launch_rig_path (rig, folder);
  g_autofree char *name = g_strdup_printf ("dlp-%s.so", fixture);
  g_autofree char *from = g_build_filename (launch_rig_get_data (), name, NULL);
  g_autofree char *to = g_build_filename (folder, "dlp-pass.so", NULL);
  g_autofree char *data = NULL;
  gsize size;

  g_assert_no_errno (mkdir (path, 0777));
  g_assert_true (g_file_get_contents (from, &data, &size, NULL));
  launch_rig_write (rig, to, data, (gssize) size);
}

static LaunchRig *
new_rig (void)
{
  LaunchRig *rig;

  launch_rig_set_program (launcher);
  rig = launch_rig_new ();
  launch_rig_write_records (rig, "in.jsonl", RECORDS);
  copy_plugin (rig, "one", "pass");
  copy_plugin (rig, "two", "later-pass");
  copy_plugin (rig, "other", "other-pass");
  return rig;
}

static void
stop (LaunchRig *rig, const char *path, const char *at)
{
  g_setenv ("DLPIPE_TEST_STOP", at, TRUE);
  launch_rig_expect (rig, 75, path, GRAPH, NULL);
  g_unsetenv ("DLPIPE_TEST_STOP");
}

static void
finish (LaunchRig *rig, const char *path)
{
  g_autofree char *hash = NULL;

  launch_rig_expect (rig, 0, path, GRAPH, NULL);
  hash = launch_rig_hash (rig, "out.jsonl");
  g_assert_cmpstr (hash, ==, wanted);
}

static void
test_same (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  stop (rig, "--plugin-path=one", "100");
  finish (rig, "--plugin-path=one");
  launch_rig_assert_has_not (rig->err, "when the state was made");
}

static void
test_changed (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  stop (rig, "--plugin-path=one", "100");
  finish (rig, "--plugin-path=two");
  launch_rig_assert_has (rig->err, "warning: " CHANGED);
  /* All is made: nothing can be mixed. */
  finish (rig, "--plugin-path=one");
  launch_rig_assert_has_not (rig->err, "when the state was made");
}

/* Each checkpoint has the version of the run that made it: one warning a change. */
static void
test_once (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  stop (rig, "--plugin-path=one", "100");
  stop (rig, "--plugin-path=two", "1500");
  launch_rig_assert_has (rig->err, "warning: " CHANGED);
  finish (rig, "--plugin-path=two");
  launch_rig_assert_has_not (rig->err, "when the state was made");
}

static void
test_strict (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  stop (rig, "--plugin-path=one", "100");
  launch_rig_expect (rig, 3, "--strict", "--plugin-path=two", GRAPH, NULL);
  launch_rig_assert_has (rig->err, CHANGED ", and the pipeline is strict; ");
  launch_rig_expect (rig, 3, "--strict", "--check", "--plugin-path=two", GRAPH, NULL);
  launch_rig_expect (rig, 0, "--check", "--plugin-path=two", GRAPH, NULL);
  launch_rig_assert_has (rig->err, CHANGED);
  finish (rig, "--plugin-path=one");
  launch_rig_assert_has_not (rig->err, "when the state was made");
}

static void
test_other_plugin (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  stop (rig, "--plugin-path=one", "100");
  finish (rig, "--plugin-path=other");
  launch_rig_assert_has (
      rig->err, "p: it came from plugin pass, version 1.0, when the state was made, and comes from "
                "plugin other, version unknown, now: ");
}

static void
test_tool (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = launch_rig_path (rig, STATE);
  g_autofree char *kept = launch_rig_path (rig, "kept");
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  g_autoptr (GBytes) bytes = NULL;

  stop (rig, "--plugin-path=one", "100");
  checkpoint = dlp_checkpoint_new_from_folder (path, NULL, NULL);
  g_assert_nonnull (checkpoint);
  bytes = dlp_checkpoint_to_bytes (checkpoint);
  launch_rig_write (rig, "kept", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  finish (rig, "--plugin-path=two");

  launch_rig_set_program (g_getenv ("DLPIPE_STATE"));
  launch_rig_expect (rig, 0, "show", "kept", NULL);
  launch_rig_assert_has (rig->out, "  p: pass, state version 1, plugin pass 1.0\n");
  launch_rig_assert_has (rig->out, "plugin jsonl-sink " PLUGIN_VERSION "\n");
  launch_rig_expect (rig, 0, "show", "--json", "kept", NULL);
  launch_rig_assert_has (rig->out, "\"plugin-version\": \"1.0\"");
  launch_rig_expect (rig, 1, "diff", "kept", STATE, NULL);
  launch_rig_assert_has (rig->out, "p plugin-version: 1.0 -> 2.0\n");
  launch_rig_assert_has_not (rig->out, "p plugin:");
}

static GVariant *
forget_plugins (GVariant *elements)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      GVariantDict dict;

      g_variant_dict_init (&dict, element);
      g_assert_true (g_variant_dict_remove (&dict, "plugin"));
      g_assert_true (g_variant_dict_remove (&dict, "plugin-version"));
      g_variant_builder_add_value (&builder, g_variant_dict_end (&dict));
    }
  return g_variant_builder_end (&builder);
}

/* As it was written before. */
static void
test_without (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = launch_rig_path (rig, STATE);
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  g_autoptr (DlpCheckpoint) without = NULL;
  g_autoptr (GVariant) state = NULL;
  g_autoptr (GVariant) elements = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  GVariantDict dict;

  stop (rig, "--plugin-path=one", "100");
  checkpoint = dlp_checkpoint_new_from_folder (path, NULL, &error);
  g_assert_no_error (error);
  state = dlp_checkpoint_to_variant (checkpoint);
  elements = g_variant_lookup_value (state, "elements", NULL);
  g_variant_dict_init (&dict, state);
  g_variant_dict_insert_value (&dict, "elements", forget_plugins (elements));
  without = dlp_checkpoint_new_from_variant (g_variant_dict_end (&dict), &error);
  g_assert_no_error (error);
  bytes = dlp_checkpoint_to_bytes (without);
  g_assert_true (g_file_set_contents (dlp_checkpoint_get_path (checkpoint),
                                      g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  launch_rig_expect (rig, 0, "--strict", "--check", "--plugin-path=two", GRAPH, NULL);
  finish (rig, "--plugin-path=two");
  launch_rig_assert_has_not (rig->err, "when the state was made");
}

/* An element that is called as one of dlpipe's, and has none of its properties. */
static void
test_called_alike (void)
{
  static const char *const options[] = { "--stats", "--check", "--dry-run=100%" };
  const char *graph =
      "file-source location=in.jsonl ! jsonl-reader ! tokenizer ! jsonl-sink location=own.jsonl";
  g_autoptr (LaunchRig) rig = new_rig ();

  copy_plugin (rig, "own", "as-tokenizer");
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      launch_rig_expect (rig, 0, "--plugin-path=own", "--no-state", "--overwrite", options[i],
                         graph, NULL);
      launch_rig_assert_has_not (rig->err, "no property");
      launch_rig_assert_has_not (rig->err, "arning");
      g_test_message ("%s", rig->err);
    }
}

static void
prepare (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "--no-state", "--plugin-path=one", GRAPH, NULL);
  wanted = launch_rig_hash (rig, "out.jsonl");
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  launcher = g_strdup (launch_rig_get_program ());
  prepare ();
  g_test_add_func ("/versions/same", test_same);
  g_test_add_func ("/versions/changed", test_changed);
  g_test_add_func ("/versions/once", test_once);
  g_test_add_func ("/versions/strict", test_strict);
  g_test_add_func ("/versions/other-plugin", test_other_plugin);
  g_test_add_func ("/versions/tool", test_tool);
  g_test_add_func ("/versions/without", test_without);
  g_test_add_func ("/versions/called-alike", test_called_alike);
  code = g_test_run ();
  g_free (wanted);
  g_free (launcher);
  return code;
}
