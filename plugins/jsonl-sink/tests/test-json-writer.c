/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <dlpipe/dlpipe.h>

#include "json-row.h"
#include "json-writer.h"
#include "quarantine-counts.h"

static gboolean
collect (gpointer target, gconstpointer data, gsize size, GCancellable *cancellable, GError **error)
{
  g_string_append_len (target, data, (gssize) size);
  return TRUE;
}

static gboolean
refuse (gpointer target, gconstpointer data, gsize size, GCancellable *cancellable, GError **error)
{
  ++*(guint *) target;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE, "full");
  return FALSE;
}

static char *
write_string (const char *text, gsize size, gsize before)
{
  GString *out = g_string_new (NULL);
  g_autoptr (JsonWriter) writer = json_writer_new (collect, out);
  g_autofree char *padding = g_strnfill (before, ' ');

  json_writer_add_raw (writer, padding, before);
  json_writer_add_string (writer, (const guint8 *) text, size);
  g_assert_true (json_writer_flush (writer, NULL));
  g_string_erase (out, 0, (gssize) before);
  return g_string_free (out, FALSE);
}

static void
assert_string (const char *text, gsize size, const char *expected)
{
  g_autofree char *found = write_string (text, size, 0);

  g_assert_cmpstr (found, ==, expected);
}

static void
test_strings (void)
{
  assert_string ("", 0, "\"\"");
  assert_string ("abc", 3, "\"abc\"");
  assert_string ("\"\\/", 3, "\"\\\"\\\\/\"");
  assert_string ("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"");
  assert_string ("\0\1\37\40\177", 5, "\"\\u0000\\u0001\\u001f \177\"");
  assert_string ("héllo, 世界 \360\237\230\200", 19, "\"héllo, 世界 \360\237\230\200\"");
  assert_string ("\342\200\250", 3, "\"\342\200\250\"");
}

/* Every byte below 0x80 at every place of a word, against the plain rule. */
static void
test_each_byte (void)
{
  for (guint c = 0; c < 0x80; c++)
    for (guint place = 0; place < 24; place++)
      {
        char text[24];
        g_autofree char *found = NULL;
        GString *expected = g_string_new (NULL);

        memset (text, 'x', sizeof text);
        text[place] = (char) c;
        dlp_json_append_string (expected, text, sizeof text);
        found = write_string (text, sizeof text, 0);
        g_assert_cmpstr (found, ==, expected->str);
        g_string_free (expected, TRUE);
      }
}

/* Values across the border of the buffer. */
static void
test_buffer_border (void)
{
  g_autofree char *text = g_strnfill (300, 'a');

  for (guint i = 0; i < 300; i += 3)
    text[i] = i % 2 == 0 ? '\1' : '"';
  for (gsize before = 65536 - 400; before < 65536 + 20; before++)
    {
      g_autofree char *expected = write_string (text, 300, 0);
      g_autofree char *found = write_string (text, 300, before);

      g_assert_cmpstr (found, ==, expected);
    }
}

static void
test_large_string (void)
{
  const gsize size = 3 * 1000 * 1000;
  g_autofree char *text = g_strnfill (size, 'z');
  g_autofree char *found = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) back = NULL;

  for (gsize i = 0; i < size; i += 977)
    text[i] = '\n';
  found = write_string (text, size, 0);
  back = dlp_json_parse (found, strlen (found), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (g_variant_get_string (back, NULL), ==, text);
}

static void
test_numbers (void)
{
  GString *out = g_string_new (NULL);
  g_autoptr (JsonWriter) writer = json_writer_new (collect, out);
  const guint16 narrow[] = { 0, 9, 65535 };
  const guint32 wide[] = { 4294967295, 10 };

  json_writer_add_int64 (writer, G_MININT64);
  json_writer_add_raw (writer, " ", 1);
  json_writer_add_int64 (writer, G_MAXINT64);
  json_writer_add_raw (writer, " ", 1);
  json_writer_add_uint64 (writer, G_MAXUINT64);
  json_writer_add_raw (writer, " ", 1);
  json_writer_add_uint64 (writer, 0);
  json_writer_add_boolean (writer, TRUE);
  json_writer_add_boolean (writer, FALSE);
  json_writer_add_null (writer);
  json_writer_add_list16 (writer, narrow, 3);
  json_writer_add_list32 (writer, wide, 2);
  json_writer_add_list32 (writer, wide, 0);
  g_assert_true (json_writer_flush (writer, NULL));
  g_assert_cmpstr (out->str, ==,
                   "-9223372036854775808 9223372036854775807 18446744073709551615 0"
                   "truefalsenull[0,9,65535][4294967295,10][]");
  g_string_free (out, TRUE);
}

static void
assert_double (double value, const char *expected)
{
  GString *out = g_string_new (NULL);
  g_autoptr (JsonWriter) writer = json_writer_new (collect, out);

  json_writer_add_double (writer, value);
  g_assert_true (json_writer_flush (writer, NULL));
  if (expected != NULL)
    g_assert_cmpstr (out->str, ==, expected);
  if (isfinite (value))
    g_assert_true (g_ascii_strtod (out->str, NULL) == value);
  g_string_free (out, TRUE);
}

static void
test_doubles (void)
{
  assert_double (0.1, "0.1");
  assert_double (-0.0, "-0.0");
  assert_double (3, "3.0");
  assert_double (1e300, "1e+300");
  assert_double (0.1 + 0.2, "0.30000000000000004");
  assert_double (DBL_MAX, NULL);
  assert_double (DBL_TRUE_MIN, NULL);
  assert_double (NAN, "null");
  assert_double (-INFINITY, "null");
  for (guint i = 0; i < 1000; i++)
    assert_double (g_test_rand_double () * pow (10, g_test_rand_int_range (-300, 300)), NULL);
}

static void
assert_base64 (const char *data, gsize size, const char *expected)
{
  GString *out = g_string_new (NULL);
  g_autoptr (JsonWriter) writer = json_writer_new (collect, out);

  json_writer_add_base64 (writer, (const guint8 *) data, size);
  g_assert_true (json_writer_flush (writer, NULL));
  g_assert_cmpstr (out->str, ==, expected);
  g_string_free (out, TRUE);
}

static void
test_base64 (void)
{
  guint8 data[1000];
  g_autofree char *encoded = NULL;
  g_autofree char *expected = NULL;

  assert_base64 ("", 0, "\"\"");
  assert_base64 ("\377\376", 2, "\"//4=\"");
  assert_base64 ("\300\257x", 3, "\"wK94\"");
  assert_base64 ("a\0b", 3, "\"YQBi\"");
  for (guint i = 0; i < sizeof data; i++)
    data[i] = (guint8) (i * 7);
  encoded = g_base64_encode (data, sizeof data);
  expected = g_strdup_printf ("\"%s\"", encoded);
  assert_base64 ((const char *) data, sizeof data, expected);
}

/* The first error stays, and the target is left alone. */
static void
test_error (void)
{
  guint calls = 0;
  g_autoptr (JsonWriter) writer = json_writer_new (refuse, &calls);
  g_autofree char *text = g_strnfill (200000, 'a');
  g_autoptr (GError) error = NULL;

  json_writer_add_string (writer, (const guint8 *) text, 200000);
  g_assert_false (json_writer_flush (writer, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  g_assert_cmpuint (calls, ==, 1);
  g_clear_error (&error);
  g_assert_false (json_writer_flush (writer, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  g_assert_cmpuint (calls, ==, 1);
}

/* ---- rows ---- */

static DlpSchema *
make_schema (void)
{
  const char *const names[] = { "text", "raw", "ok", "n", "u", "x", "tokens", "wide", "a\"b" };
  const DlpFieldType types[] = { DLP_FIELD_STRING,      DLP_FIELD_BINARY,      DLP_FIELD_BOOLEAN,
                                 DLP_FIELD_INT64,       DLP_FIELD_UINT64,      DLP_FIELD_DOUBLE,
                                 DLP_FIELD_LIST_UINT16, DLP_FIELD_LIST_UINT32, DLP_FIELD_STRING };
  const gboolean optional[] = { TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, TRUE };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, 9, names, types, optional);
}

static DlpRecordBatch *
make_batch (DlpSchema *schema)
{
  const DlpCoordinate at = { 1, 2, 3, 4, 5, 0, 6 };
  const guint16 narrow[] = { 1, 2 };
  const guint32 wide[] = { 70000 };
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);

  dlp_record_batch_builder_append_value (builder, 0, "a\nb", 3);
  dlp_record_batch_builder_append_value (builder, 1, "\377", 1);
  dlp_record_batch_builder_append_boolean (builder, 2, TRUE);
  dlp_record_batch_builder_append_int64 (builder, 3, -5);
  dlp_record_batch_builder_append_uint64 (builder, 4, 5);
  dlp_record_batch_builder_append_double (builder, 5, 0.5);
  dlp_record_batch_builder_append_list (builder, 6, narrow, 2);
  dlp_record_batch_builder_append_list (builder, 7, wide, 1);
  dlp_record_batch_builder_append_value (builder, 8, "", 0);
  dlp_record_batch_builder_end_record (builder, &at);
  for (guint i = 0; i < 9; i++)
    dlp_record_batch_builder_append_null (builder, i);
  dlp_record_batch_builder_end_record (builder, &at);
  return dlp_record_batch_builder_finish (builder, NULL);
}

static void
assert_rows (const char *const *fields,
             const char *element,
             gboolean coordinates,
             const char *expected)
{
  g_autoptr (DlpSchema) schema = make_schema ();
  g_autoptr (DlpRecordBatch) batch = make_batch (schema);
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonRow) row = json_row_new (schema, fields, element, coordinates, &error);
  GString *out = g_string_new (NULL);
  g_autoptr (JsonWriter) writer = json_writer_new (collect, out);

  g_assert_no_error (error);
  json_row_write (row, writer, batch, 0);
  json_row_write (row, writer, batch, 1);
  g_assert_true (json_writer_flush (writer, NULL));
  g_assert_cmpstr (out->str, ==, expected);
  g_string_free (out, TRUE);
}

/* As another program that reads them takes them: of floats nine digits are enough, and mostly fewer
 * are. */
static void
test_lists (void)
{
  const gint32 i32[] = { 0, -1, G_MAXINT32, G_MININT32 };
  const gint64 i64[] = { 0, -1, G_MAXINT64, G_MININT64 };
  const float f32[] = { 0.1f, 1, -2.5f, 16777216, 3.4028235e38f, 1.17549435e-38f, 8.5899346e9f };
  const double f64[] = { 0.1, 1, 1e300, 0.30000000000000004 };
  GString *out = g_string_new (NULL);
  g_autoptr (JsonWriter) writer = json_writer_new (collect, out);

  json_writer_add_list_int32 (writer, i32, G_N_ELEMENTS (i32));
  json_writer_add_list_int64 (writer, i64, G_N_ELEMENTS (i64));
  json_writer_add_list_float (writer, f32, G_N_ELEMENTS (f32));
  json_writer_add_list_double (writer, f64, G_N_ELEMENTS (f64));
  json_writer_add_list_int32 (writer, NULL, 0);
  g_assert_true (json_writer_flush (writer, NULL));
  g_assert_cmpstr (out->str, ==,
                   "[0,-1,2147483647,-2147483648]"
                   "[0,-1,9223372036854775807,-9223372036854775808]"
                   "[0.1,1.0,-2.5,16777216.0,3.4028235e+38,1.1754944e-38,8.589935e+09]"
                   "[0.1,1.0,1e+300,0.30000000000000004]"
                   "[]");
  g_string_free (out, TRUE);
}

static void
test_rows (void)
{
  assert_rows (NULL, NULL, FALSE,
               "{\"text\":\"a\\nb\",\"raw_base64\":\"/w==\",\"ok\":true,\"n\":-5,\"u\":5,"
               "\"x\":0.5,\"tokens\":[1,2],\"wide\":[70000],\"a\\\"b\":\"\"}\n"
               "{\"text\":null,\"raw\":null,\"ok\":null,\"n\":null,\"u\":null,"
               "\"x\":null,\"tokens\":null,\"wide\":null,\"a\\\"b\":null}\n");
  assert_rows ((const char *const[]){ "n", "text", NULL }, NULL, TRUE,
               "{\"n\":-5,\"text\":\"a\\nb\",\"stage\":1,\"source\":2,\"file\":3,\"row\":6,"
               "\"epoch\":4,\"part\":5}\n"
               "{\"n\":null,\"text\":null,\"stage\":1,\"source\":2,\"file\":3,\"row\":6,"
               "\"epoch\":4,\"part\":5}\n");
  assert_rows ((const char *const[]){ "u", NULL }, "r\"1", FALSE,
               "{\"element\":\"r\\\"1\",\"u\":5}\n{\"element\":\"r\\\"1\",\"u\":null}\n");
}

static void
assert_refused (const char *const *fields, const char *element, gboolean coordinates)
{
  const char *const names[] = { "file", "element", "text", "raw", "raw_base64" };
  const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_STRING, DLP_FIELD_STRING,
                                 DLP_FIELD_BINARY, DLP_FIELD_STRING };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 5, names, types, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonRow) row = json_row_new (schema, fields, element, coordinates, &error);

  g_assert_null (row);
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  g_test_message ("%s", error->message);
}

static void
test_rows_refused (void)
{
  assert_refused ((const char *const[]){ "txt", NULL }, NULL, FALSE);
  assert_refused ((const char *const[]){ "text", "text", NULL }, NULL, FALSE);
  assert_refused ((const char *const[]){ "file", "text", NULL }, NULL, TRUE);
  assert_refused ((const char *const[]){ "element", NULL }, "r", FALSE);
  assert_refused ((const char *const[]){ "raw", "raw_base64", NULL }, NULL, FALSE);
}

/* ---- counts ---- */

static void
test_counts (void)
{
  g_autoptr (QuarantineCounts) counts = quarantine_counts_new ();
  g_autoptr (QuarantineCounts) again = quarantine_counts_new ();
  g_autofree gpointer packed = NULL;
  g_autoptr (GVariant) described = NULL;
  g_autoptr (GVariant) twice = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  for (guint round = 0; round < 2; round++)
    for (guint i = 0; i < QUARANTINE_MAX_NAMES + 50; i++)
      {
        g_autofree char *name = g_strdup_printf ("file-%u", i);

        quarantine_counts_add (counts, name, strlen (name), 1);
      }
  packed = g_malloc (quarantine_counts_get_packed_size (counts));
  quarantine_counts_pack (counts, packed);
  described = g_variant_ref_sink (quarantine_counts_describe (packed, &size));
  g_assert_cmpuint (size, ==, quarantine_counts_get_packed_size (counts));
  g_assert_cmpuint (g_variant_n_children (described), ==, QUARANTINE_MAX_NAMES + 1);
  {
    guint64 n;

    g_assert_true (g_variant_lookup (described, "file-0", "t", &n));
    g_assert_cmpuint (n, ==, 2);
    g_assert_true (g_variant_lookup (described, QUARANTINE_OTHERS, "t", &n));
    g_assert_cmpuint (n, ==, 100);
    g_assert_false (g_variant_lookup (described, "file-10000", "t", &n));
  }

  quarantine_counts_load (again, described, &error);
  g_assert_no_error (error);
  g_clear_pointer (&packed, g_free);
  packed = g_malloc (quarantine_counts_get_packed_size (again));
  quarantine_counts_pack (again, packed);
  twice = g_variant_ref_sink (quarantine_counts_describe (packed, &size));
  g_assert_true (g_variant_equal (described, twice));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-writer/strings", test_strings);
  g_test_add_func ("/json-writer/each-byte", test_each_byte);
  g_test_add_func ("/json-writer/buffer-border", test_buffer_border);
  g_test_add_func ("/json-writer/large-string", test_large_string);
  g_test_add_func ("/json-writer/numbers", test_numbers);
  g_test_add_func ("/json-writer/doubles", test_doubles);
  g_test_add_func ("/json-writer/base64", test_base64);
  g_test_add_func ("/json-writer/error", test_error);
  g_test_add_func ("/json-writer/lists", test_lists);
  g_test_add_func ("/json-row/rows", test_rows);
  g_test_add_func ("/json-row/refused", test_rows_refused);
  g_test_add_func ("/quarantine-counts/counts", test_counts);

  return g_test_run ();
}
