/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "sink-rig.h"

static void
fill (DlpRecordBatchBuilder *builder, guint64 n)
{
  const guint32 ids[] = { 1, 2, (guint32) n };

  dlp_record_batch_builder_append_list (builder, 0, ids, n % 4);
}

static DlpSchema *
make_schema (const char *name, DlpFieldType type)
{
  return dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, NULL);
}

/* (transfer full): the digest. */
static char *
run (const char *sink, const char *state, guint64 records, guint64 tokens)
{
  g_autofree char *json = sink_rig_run_for_report (sink, state);
  g_autoptr (GVariant) report = dlp_json_parse (json, strlen (json), NULL);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("av"));
  g_autoptr (GVariant) boxed = g_variant_get_child_value (elements, 1);
  g_autoptr (GVariant) element = g_variant_get_variant (boxed);
  gint64 n;
  char *digest = NULL;

  g_test_message ("%s", json);
  g_assert_true (g_variant_lookup (report, "records", "x", &n));
  g_assert_cmpint (n, ==, (gint64) records);
  g_assert_true (g_variant_lookup (report, "tokens", "x", &n));
  g_assert_cmpint (n, ==, (gint64) tokens);
  g_variant_lookup (element, "digest", "s", &digest);
  return digest;
}

static void
test_counts (void)
{
  g_autofree char *digest = NULL;
  g_autofree char *same = NULL;
  g_autofree char *none = NULL;

  /* 0 + 1 + 2 + 3 tokens, five times. */
  sink_rig_set_source (make_schema ("tokens", DLP_FIELD_LIST_UINT32), 20, fill);
  digest = run ("null-sink", NULL, 20, 30);
  same = run ("null-sink", NULL, 20, 30);
  none = run ("null-sink digest=false", NULL, 20, 30);
  g_assert_cmpstr (digest, ==, same);
  g_assert_cmpuint (strlen (digest), ==, 65);
  g_assert_cmpstr (none, !=, digest);
}

static void
test_no_tokens (void)
{
  g_autofree char *digest = NULL;

  sink_rig_set_source (make_schema ("ids", DLP_FIELD_LIST_UINT32), 8, fill);
  digest = run ("null-sink", NULL, 8, 0);
}

static void
test_stop_at_each_record (void)
{
  g_autofree char *whole = NULL;

  sink_rig_set_source (make_schema ("tokens", DLP_FIELD_LIST_UINT32), 20, fill);
  whole = run ("null-sink", NULL, 20, 30);
  for (guint stop = 0; stop <= 20; stop++)
    {
      char *folder = sink_rig_make_folder ();
      g_autofree char *state = g_build_filename (folder, "s", NULL);
      g_autofree char *digest = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_false (sink_rig_run ("null-sink", state, SINK_RIG_STOP, stop, &error));
      g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
      digest = run ("null-sink", state, 20, 30);
      g_assert_cmpstr (digest, ==, whole);
      sink_rig_remove_folder (folder);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/null-sink/counts", test_counts);
  g_test_add_func ("/null-sink/no-tokens", test_no_tokens);
  g_test_add_func ("/null-sink/stop-at-each-record", test_stop_at_each_record);

  return g_test_run ();
}
