/* SPDX-License-Identifier: MIT */

/* No run deletes, replaces or spoils what it has not written: jsonl-sink and quarantine-sink beside
 * files of others. */

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "sink-rig.h"

#define SOME 20

typedef struct
{
  char *folder;
  char *state;
  char *sink;     /* the element, with location=FOLDER/x */
  char *location; /* FOLDER/x */
  char *manifest;
  gboolean is_quarantine;
} Fixture;

static void
fill (DlpRecordBatchBuilder *builder, guint64 n)
{
  g_autofree char *text = g_strdup_printf ("line %" G_GUINT64_FORMAT, n);

  dlp_record_batch_builder_append_value (builder, 0, text, strlen (text));
}

static void
set_source (guint64 n)
{
  const char *const names[] = { "text" };
  const DlpFieldType types[] = { DLP_FIELD_STRING };

  sink_rig_set_source (dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL), n, fill);
}

static void
set_up (Fixture *fixture, gconstpointer element)
{
  fixture->folder = sink_rig_make_folder ();
  fixture->state = g_build_filename (fixture->folder, "s", NULL);
  fixture->location = g_build_filename (fixture->folder, "x", NULL);
  fixture->manifest = g_strconcat (fixture->location, ".manifest.json", NULL);
  fixture->sink = g_strdup_printf ("%s location=%s", (const char *) element, fixture->location);
  fixture->is_quarantine = strcmp (element, "quarantine-sink") == 0;
  set_source (SOME);
}

static void
tear_down (Fixture *fixture, gconstpointer element)
{
  g_autofree char *warning = sink_rig_take_warning ();

  sink_rig_set_options (FALSE, FALSE);
  sink_rig_remove_folder (fixture->folder);
  g_free (fixture->state);
  g_free (fixture->sink);
  g_free (fixture->location);
  g_free (fixture->manifest);
}

static void
put (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

static void
assert_text (const char *path, const char *text)
{
  g_autofree char *found = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &found, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (found, ==, text);
}

static char *
make_expected (Fixture *fixture, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "{%s\"text\":\"line %u\"}\n",
                            fixture->is_quarantine ? "\"element\":\"rig-source0\"," : "", i);
  return g_string_free (text, FALSE);
}

static void
run (Fixture *fixture, gboolean has_state)
{
  g_autoptr (GError) error = NULL;

  sink_rig_run (fixture->sink, has_state ? fixture->state : NULL, SINK_RIG_RUN, 0, &error);
  g_assert_no_error (error);
}

static void
stop (Fixture *fixture, guint n)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (sink_rig_run (fixture->sink, fixture->state, SINK_RIG_STOP, n, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
}

static void
assert_refused (Fixture *fixture, gboolean has_state)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (
      sink_rig_run (fixture->sink, has_state ? fixture->state : NULL, SINK_RIG_RUN, 0, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  g_assert_nonnull (strstr (error->message, fixture->location));
  g_test_message ("%s", error->message);
}

static char *
list (Fixture *fixture)
{
  g_autofree char *names = sink_rig_list_folder (fixture->folder);
  g_auto (GStrv) parts = g_strsplit (names, ".manifest.json", -1);

  return g_strjoinv ("+", parts);
}

/* ---- --restart ---- */

/* A user's file, of which no state speaks. */
static void
test_restart_nothing (Fixture *fixture, gconstpointer element)
{
  put (fixture->location, "mine");
  for (guint i = 0; i < 4; i++)
    {
      sink_rig_set_options (i >= 2, TRUE);
      assert_refused (fixture, i % 2);
      assert_text (fixture->location, "mine");
    }
}

static void
test_restart_own (Fixture *fixture, gconstpointer element)
{
  g_autofree char *expected = make_expected (fixture, 7);
  g_autofree char *names = NULL;

  run (fixture, TRUE);
  set_source (7);
  sink_rig_set_options (FALSE, TRUE);
  run (fixture, TRUE);
  assert_text (fixture->location, expected);
  names = list (fixture);
  g_assert_cmpstr (names, ==, fixture->is_quarantine ? "s x" : "s x x+");
}

/* Stopped, then a file of somebody else's came to its name: it is in the way, and the state stays.
 */
static void
test_restart_unfinished (Fixture *fixture, gconstpointer element)
{
  g_autofree char *expected = make_expected (fixture, SOME);

  stop (fixture, 5);
  g_unlink (fixture->location);
  put (fixture->location, "mine");
  sink_rig_set_options (FALSE, TRUE);
  assert_refused (fixture, TRUE);
  assert_text (fixture->location, "mine");

  g_assert_no_errno (g_unlink (fixture->location));
  sink_rig_set_options (FALSE, FALSE);
  run (fixture, TRUE);
  assert_text (fixture->location, expected);
}

/* What is unfinished of its own goes, that of others stays. */
static void
test_restart_partial (Fixture *fixture, gconstpointer element)
{
  g_autofree char *other = g_build_filename (fixture->folder, ".x.0badcafe.1.partial", NULL);
  g_autofree char *names = NULL;
  g_autofree char *warning = NULL;

  stop (fixture, 5);
  put (other, "theirs");
  sink_rig_set_options (FALSE, TRUE);
  run (fixture, TRUE);
  warning = sink_rig_take_warning ();
  g_assert_nonnull (strstr (warning, ".x.0badcafe.1.partial"));
  names = list (fixture);
  g_assert_cmpstr (names, ==,
                   fixture->is_quarantine ? ".x.0badcafe.1.partial s x" :
                                            ".x.0badcafe.1.partial s x x+");
  assert_text (other, "theirs");
}

static void
damage_checkpoints (Fixture *fixture)
{
  g_autofree char *names = sink_rig_list_folder (fixture->state);
  g_auto (GStrv) list = g_strsplit (names, " ", -1);

  for (guint i = 0; list[i] != NULL; i++)
    if (g_str_has_prefix (list[i], "checkpoint-"))
      {
        g_autofree char *path = g_build_filename (fixture->state, list[i], NULL);

        put (path, "damaged");
      }
}

/* With both generations damaged, the folder and the manifest still tell whose the output is. */
static void
test_restart_damaged (Fixture *fixture, gconstpointer element)
{
  g_autofree char *names = NULL;

  run (fixture, TRUE);
  damage_checkpoints (fixture);
  sink_rig_set_options (FALSE, TRUE);
  if (fixture->is_quarantine)
    {
      /* It has none. */
      assert_refused (fixture, TRUE);
      return;
    }
  run (fixture, TRUE);
  stop (fixture, 3);
  damage_checkpoints (fixture);
  run (fixture, TRUE);
  names = list (fixture);
  g_assert_cmpstr (names, ==, "s x x+");
}

/* The manifest that is there is another run's. */
static void
test_restart_replaced (Fixture *fixture, gconstpointer element)
{
  g_autofree char *expected = make_expected (fixture, 3);

  run (fixture, TRUE);
  set_source (3);
  sink_rig_set_options (TRUE, FALSE);
  run (fixture, FALSE);
  sink_rig_set_options (FALSE, TRUE);
  assert_refused (fixture, TRUE);
  assert_text (fixture->location, expected);
}

/* ---- going on ---- */

static void
test_appeared (Fixture *fixture, gconstpointer element)
{
  g_autofree char *expected = make_expected (fixture, SOME);

  for (guint overwrite = 0; overwrite < 2; overwrite++)
    {
      sink_rig_set_options (overwrite, FALSE);
      stop (fixture, 2);
      g_unlink (fixture->location);
      put (fixture->location, "mine");
      assert_refused (fixture, TRUE);
      assert_text (fixture->location, "mine");
      g_assert_no_errno (g_unlink (fixture->location));
    }
  run (fixture, TRUE);
  assert_text (fixture->location, expected);
  run (fixture, TRUE);
  assert_text (fixture->location, expected);
}

/* A run that died before its first checkpoint is gone on with as the same run: nothing of it is
 * left. */
static void
test_died_early (Fixture *fixture, gconstpointer element)
{
  g_autofree char *names = NULL;

  while (!sink_rig_run_in_child (fixture->sink, fixture->state, 1))
    {
      g_autofree char *state = sink_rig_list_folder (fixture->state);
      g_auto (GStrv) found = g_strsplit (state, " ", -1);

      /* As if there never had been one. */
      for (guint i = 0; found[i] != NULL; i++)
        if (g_str_has_prefix (found[i], "checkpoint-") || strcmp (found[i], "inputs") == 0)
          {
            g_autofree char *path = g_build_filename (fixture->state, found[i], NULL);

            g_assert_no_errno (g_unlink (path));
          }
      if (names != NULL)
        break;
      names = list (fixture);
      g_assert_nonnull (strstr (names, ".partial"));
    }
  g_free (names);
  run (fixture, TRUE);
  names = list (fixture);
  g_assert_cmpstr (names, ==, fixture->is_quarantine ? "s x" : "s x x+");
}

/* ---- at once ---- */

static void
test_living (Fixture *fixture, gconstpointer element)
{
  g_autoptr (GError) error = NULL;
  DlpOutputFile *other = dlp_output_file_create (fixture->location, "0badcafe", 1, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < 4; i++)
    {
      sink_rig_set_options (i % 2, i / 2);
      assert_refused (fixture, FALSE);
    }
  dlp_output_file_free (other);
  sink_rig_set_options (FALSE, FALSE);
  run (fixture, FALSE);
}

/* Two runs that began at the same time: the one that ends first keeps its output. */
static void
taken_meanwhile (DlpRecordBatchBuilder *builder, guint64 n)
{
  g_autofree char *path = g_strdup (g_getenv ("TEST_LOCATION"));

  if (n == SOME - 1)
    {
      g_unlink (path);
      put (path, "theirs");
    }
  fill (builder, n);
}

static void
test_taken_meanwhile (Fixture *fixture, gconstpointer element)
{
  const char *const names[] = { "text" };
  const DlpFieldType types[] = { DLP_FIELD_STRING };

  g_setenv ("TEST_LOCATION", fixture->location, TRUE);
  for (guint has_state = 0; has_state < 2; has_state++)
    {
      sink_rig_set_source (dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL), SOME,
                           taken_meanwhile);
      assert_refused (fixture, has_state);
      assert_text (fixture->location, "theirs");
      g_assert_no_errno (g_unlink (fixture->location));
    }

  /* The state says that all is written; only the name was missing. */
  run (fixture, TRUE);
  if (!fixture->is_quarantine)
    g_assert_true (g_file_test (fixture->manifest, G_FILE_TEST_EXISTS));
}

/* ---- what only a quarantine has ---- */

static void
test_user_link (Fixture *fixture, gconstpointer element)
{
  g_autofree char *target = g_build_filename (fixture->folder, "real", NULL);

  put (target, "mine");
  g_assert_no_errno (symlink ("real", fixture->location));
  for (guint i = 0; i < 4; i++)
    {
      sink_rig_set_options (i % 2, i / 2);
      assert_refused (fixture, TRUE);
      g_assert_true (g_file_test (fixture->location, G_FILE_TEST_IS_SYMLINK));
    }
  assert_text (target, "mine");
}

static void
test_overwrite_quarantine (Fixture *fixture, gconstpointer element)
{
  g_autofree char *expected = make_expected (fixture, 4);

  run (fixture, FALSE);
  assert_refused (fixture, FALSE);
  set_source (4);
  sink_rig_set_options (TRUE, FALSE);
  run (fixture, FALSE);
  assert_text (fixture->location, expected);
}

static void
test_in_state_folder (Fixture *fixture, gconstpointer element)
{
  g_autofree char *path = g_build_filename (fixture->state, "quarantine.jsonl", NULL);
  g_autofree char *lock = g_build_filename (fixture->state, "lock", NULL);
  g_autofree char *expected = make_expected (fixture, SOME);

  g_free (fixture->sink);
  fixture->sink = g_strdup_printf ("quarantine-sink location=%s", path);
  g_assert_no_errno (g_mkdir (fixture->state, 0777));
  put (lock, "dlpipe lock 1\n");
  put (path, "of whatever run was here");
  run (fixture, TRUE);
  assert_text (path, expected);
  sink_rig_set_options (FALSE, TRUE);
  run (fixture, TRUE);
  assert_text (path, expected);
}

#define ADD(element, name, func)                                                                   \
  g_test_add ("/owner/" element "/" name, Fixture, element, set_up, func, tear_down)
#define ADD_BOTH(name, func)                                                                       \
  ADD ("jsonl-sink", name, func);                                                                  \
  ADD ("quarantine-sink", name, func)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sink_rig_catch_warnings ();
  ADD_BOTH ("restart/nothing", test_restart_nothing);
  ADD_BOTH ("restart/own", test_restart_own);
  ADD_BOTH ("restart/unfinished", test_restart_unfinished);
  ADD_BOTH ("restart/partial", test_restart_partial);
  ADD_BOTH ("restart/damaged", test_restart_damaged);
  ADD ("jsonl-sink", "restart/replaced", test_restart_replaced);
  ADD_BOTH ("appeared", test_appeared);
  ADD_BOTH ("died-early", test_died_early);
  ADD_BOTH ("living", test_living);
  ADD_BOTH ("taken-meanwhile", test_taken_meanwhile);
  ADD ("quarantine-sink", "user-link", test_user_link);
  ADD ("quarantine-sink", "overwrite", test_overwrite_quarantine);
  ADD ("quarantine-sink", "in-state-folder", test_in_state_folder);

  return g_test_run ();
}
