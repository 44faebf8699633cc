/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-schema.h>

static const char *const names[] = { "text", "raw", "ok", "n", "u", "score", "tokens", "wide" };
static const DlpFieldType types[] = { DLP_FIELD_STRING,      DLP_FIELD_BINARY,
                                      DLP_FIELD_BOOLEAN,     DLP_FIELD_INT64,
                                      DLP_FIELD_UINT64,      DLP_FIELD_DOUBLE,
                                      DLP_FIELD_LIST_UINT16, DLP_FIELD_LIST_UINT32 };
static const gboolean optional[] = { FALSE, TRUE, FALSE, TRUE, FALSE, FALSE, TRUE, FALSE };

static void
test_fields (void)
{
  g_autoptr (DlpSchema) schema =
      dlp_schema_new (DLP_SCHEMA_RECORDS, G_N_ELEMENTS (names), names, types, optional);
  g_autofree char *text = dlp_schema_to_string (schema);

  g_assert_cmpuint (dlp_schema_get_kind (schema), ==, DLP_SCHEMA_RECORDS);
  g_assert_cmpuint (dlp_schema_get_n_fields (schema), ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_assert_cmpstr (dlp_schema_get_field_name (schema, i), ==, names[i]);
      g_assert_cmpuint (dlp_schema_get_field_type (schema, i), ==, types[i]);
      g_assert_cmpint (dlp_schema_get_field_optional (schema, i), ==, optional[i]);
      g_assert_cmpint (dlp_schema_find (schema, names[i]), ==, i);
    }
  g_assert_cmpint (dlp_schema_find (schema, "tex"), ==, -1);
  g_assert_cmpint (dlp_schema_find (schema, ""), ==, -1);
  g_assert_cmpstr (text, ==,
                   "records {text: string, raw: binary?, ok: boolean, n: int64?, u: uint64, "
                   "score: double, tokens: list<uint16>?, wide: list<uint32>}");
}

static void
test_equal (void)
{
  g_autoptr (DlpSchema) a = dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, NULL);
  g_autoptr (DlpSchema) b = dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, NULL);
  g_autoptr (DlpSchema) kind = dlp_schema_new (DLP_SCHEMA_BATCHES, 2, names, types, NULL);
  g_autoptr (DlpSchema) fewer = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);
  g_autoptr (DlpSchema) name = dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names + 1, types, NULL);
  g_autoptr (DlpSchema) type = dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types + 1, NULL);
  g_autoptr (DlpSchema) null = dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, optional);
  g_autoptr (DlpSchema) empty = dlp_schema_new (DLP_SCHEMA_RECORDS, 0, NULL, NULL, NULL);

  g_assert_true (dlp_schema_equal (a, a));
  g_assert_true (dlp_schema_equal (a, b));
  g_assert_false (dlp_schema_equal (a, kind));
  g_assert_false (dlp_schema_equal (a, fewer));
  g_assert_false (dlp_schema_equal (a, name));
  g_assert_false (dlp_schema_equal (a, type));
  g_assert_false (dlp_schema_equal (a, null));
  g_assert_false (dlp_schema_equal (a, empty));
}

static void
test_files (void)
{
  g_autoptr (DlpSchema) a = dlp_schema_files ();
  g_autoptr (DlpSchema) b = dlp_schema_files ();
  g_autofree char *text = dlp_schema_to_string (a);

  g_assert_true (a == b);
  g_assert_cmpstr (text, ==, "files {uri: string, size: int64, identity: string}");
}

static void
test_names_unique (void)
{
  const char *const twice[] = { "a", "b", "a" };

  g_test_expect_message ("dlpipe", G_LOG_LEVEL_CRITICAL, "*check_fields*");
  g_assert_null (dlp_schema_new (DLP_SCHEMA_RECORDS, 3, twice, types, NULL));
  g_test_assert_expected_messages ();
}

static void
test_boxed (void)
{
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, DLP_TYPE_SCHEMA);
  g_value_set_boxed (&value, schema);
  g_assert_true (g_value_get_boxed (&value) == schema);
}

static gpointer
ref_many_times (gpointer data)
{
  for (guint i = 0; i < 20000; i++)
    {
      g_autoptr (DlpSchema) schema = dlp_schema_ref (data);

      g_assert_cmpint (dlp_schema_find (schema, "raw"), ==, 1);
    }
  dlp_schema_unref (data);
  return NULL;
}

static void
test_threads (void)
{
  DlpSchema *schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, NULL);
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, ref_many_times, dlp_schema_ref (schema));
  dlp_schema_unref (schema);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/schema/fields", test_fields);
  g_test_add_func ("/schema/equal", test_equal);
  g_test_add_func ("/schema/files", test_files);
  g_test_add_func ("/schema/names-unique", test_names_unique);
  g_test_add_func ("/schema/boxed", test_boxed);
  g_test_add_func ("/schema/threads", test_threads);
  return g_test_run ();
}
