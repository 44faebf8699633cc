/* SPDX-License-Identifier: MIT */

#include "dlp-record-batch-private.h"
#include "random-batch.h"

#include <string.h>

static void
test_types (void)
{
  g_autoptr (DlpSchema) schema = random_schema_all (FALSE);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) batch = NULL;
  const guint16 narrow[] = { 1, 65535, 7 };
  const guint32 wide[] = { 70000, G_MAXUINT32 };
  const DlpCoordinate coordinate = { 1, 2, 3, 4, 5, 0, 6 };
  gsize n;

  /* In any order. */
  dlp_record_batch_builder_append_list (builder, DLP_FIELD_LIST_UINT32, wide, 2);
  dlp_record_batch_builder_append_value (builder, DLP_FIELD_STRING, "h\303\251", 3);
  dlp_record_batch_builder_append_value (builder, DLP_FIELD_BINARY, "\0\377", 2);
  dlp_record_batch_builder_append_double (builder, DLP_FIELD_DOUBLE, -0.1);
  dlp_record_batch_builder_append_boolean (builder, DLP_FIELD_BOOLEAN, 8);
  dlp_record_batch_builder_append_int64 (builder, DLP_FIELD_INT64, G_MININT64);
  dlp_record_batch_builder_append_uint64 (builder, DLP_FIELD_UINT64, G_MAXUINT64);
  dlp_record_batch_builder_append_list (builder, DLP_FIELD_LIST_UINT16, narrow, 3);
  g_assert_cmpuint (dlp_record_batch_builder_get_length (builder), ==, 0);
  dlp_record_batch_builder_end_record (builder, &coordinate);
  g_assert_cmpuint (dlp_record_batch_builder_get_length (builder), ==, 1);
  g_assert_cmpuint (dlp_record_batch_builder_get_bytes (builder), ==, 32 + 24 + 16 + 5 + 6 + 8);

  batch = dlp_record_batch_builder_finish (builder, NULL);
  g_assert_cmpuint (dlp_record_batch_builder_get_length (builder), ==, 0);
  g_assert_cmpuint (dlp_record_batch_builder_get_bytes (builder), ==, 0);
  g_assert_cmpuint (dlp_record_batch_get_length (batch), ==, 1);
  g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, 0);
  g_assert_cmpuint (dlp_record_batch_get_bytes (batch), ==, 32 + 24 + 16 + 5 + 6 + 8 + 1);
  g_assert_true (dlp_record_batch_get_schema (batch) == schema);
  g_assert_cmpmem (dlp_record_batch_get_coordinate (batch, 0), 32, &coordinate, 32);

  g_assert_cmpmem (dlp_record_batch_get_value (batch, DLP_FIELD_STRING, 0, &n), n, "h\303\251", 3);
  g_assert_cmpmem (dlp_record_batch_get_value (batch, DLP_FIELD_BINARY, 0, &n), n, "\0\377", 2);
  g_assert_cmpint (dlp_record_batch_get_boolean (batch, DLP_FIELD_BOOLEAN, 0), ==, TRUE);
  g_assert_cmpint (dlp_record_batch_get_int64 (batch, DLP_FIELD_INT64, 0), ==, G_MININT64);
  g_assert_cmpuint (dlp_record_batch_get_uint64 (batch, DLP_FIELD_UINT64, 0), ==, G_MAXUINT64);
  g_assert_cmpfloat (dlp_record_batch_get_double (batch, DLP_FIELD_DOUBLE, 0), ==, -0.1);
  g_assert_cmpmem (dlp_record_batch_get_list (batch, DLP_FIELD_LIST_UINT16, 0, &n), n * 2, narrow,
                   sizeof narrow);
  g_assert_cmpuint (n, ==, 3);
  g_assert_cmpmem (dlp_record_batch_get_list (batch, DLP_FIELD_LIST_UINT32, 0, &n), n * 4, wide,
                   sizeof wide);
  g_assert_cmpuint (n, ==, 2);
  for (guint i = 0; i <= DLP_FIELD_LIST_UINT32; i++)
    g_assert_false (dlp_record_batch_is_null (batch, i, 0));
}

static void
test_nulls (void)
{
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (DlpRecordBatch) later = NULL;
  g_autoptr (DlpRecordBatch) dropped = NULL;
  const DlpCoordinate coordinate = { 0 };

  /* The first null of field f is in row f * 5. */
  for (guint row = 0; row < 40; row++)
    {
      for (guint field = 0; field <= DLP_FIELD_LIST_UINT32; field++)
        {
          g_autoptr (GBytes) value = g_bytes_new_static ("12345678", 8);

          random_append (rand, builder, field, row >= field * 5 && row % 2 == 1 ? NULL : value);
        }
      dlp_record_batch_builder_end_record (builder, &coordinate);
    }
  batch = dlp_record_batch_builder_finish (builder, NULL);
  for (guint row = 0; row < 40; row++)
    for (guint field = 0; field <= DLP_FIELD_LIST_UINT32; field++)
      {
        g_autoptr (GBytes) value = random_get (batch, field, row);

        g_assert_true ((value == NULL) == (row >= field * 5 && row % 2 == 1));
      }

  /* A bitmap only where a null occurred. */
  dlp_record_batch_builder_append_rows (builder, batch, 0, 6);
  later = dlp_record_batch_builder_finish (builder, NULL);
  g_assert_nonnull (later->columns->columns[0].validity);
  g_assert_nonnull (later->columns->columns[1].validity);
  g_assert_null (later->columns->columns[2].validity);
  random_assert_equal (later, 0, batch, 0, 6);

  /* Nor is there one for a null that was dropped. */
  dlp_record_batch_builder_append_rows (builder, batch, 0, 1);
  dlp_record_batch_builder_append_null (builder, 0);
  dlp_record_batch_builder_drop_record (builder);
  dlp_record_batch_builder_append_rows (builder, batch, 2, 1);
  dropped = dlp_record_batch_builder_finish (builder, NULL);
  g_assert_null (dropped->columns->columns[0].validity);
  random_assert_equal (dropped, 1, batch, 2, 1);
}

static void
test_empty (void)
{
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) batch = dlp_record_batch_builder_finish (builder, NULL);
  g_autoptr (DlpRecordBatch) slice = dlp_record_batch_slice (batch, 0, 0);
  g_autoptr (DlpRecordBatch) again = NULL;
  gsize used = dlp_buffer_get_used_bytes ();

  g_assert_cmpuint (dlp_record_batch_get_length (batch), ==, 0);
  g_assert_cmpuint (dlp_record_batch_get_length (slice), ==, 0);
  g_assert_cmpuint (dlp_record_batch_get_bytes (batch), ==, 0);
  g_assert_cmpuint (used, ==, 0);
  dlp_record_batch_builder_append_rows (builder, batch, 0, 0);
  again = dlp_record_batch_builder_finish (builder, NULL);
  g_assert_cmpuint (dlp_record_batch_get_length (again), ==, 0);
}

/* Without fields a record is its coordinate. */
static void
test_no_fields (void)
{
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 0, NULL, NULL, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) batch = NULL;

  for (guint i = 0; i < 3; i++)
    dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = i });
  batch = dlp_record_batch_builder_finish (builder, NULL);
  g_assert_cmpuint (dlp_record_batch_get_length (batch), ==, 3);
  g_assert_cmpuint (dlp_record_batch_get_coordinate (batch, 2)->row, ==, 2);
}

static guint n_marks_freed;

static void
mark_unref (gpointer mark)
{
  g_assert_cmpstr (mark, ==, "mark");
  n_marks_freed++;
  g_free (mark);
}

static void
test_slice (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 100);
  g_autoptr (DlpRecordBatch) a = dlp_record_batch_slice (batch, 13, 60);
  g_autoptr (DlpRecordBatch) b = dlp_record_batch_slice (a, 7, 30);
  g_autoptr (DlpRecordBatch) whole = dlp_record_batch_slice (b, 0, 30);
  g_autoptr (DlpRecordBatch) end = dlp_record_batch_slice (a, 60, 0);

  g_assert_cmpuint (dlp_record_batch_get_length (b), ==, 30);
  g_assert_cmpuint (dlp_record_batch_get_position (b), ==, 20);
  g_assert_cmpuint (dlp_record_batch_get_length (end), ==, 0);
  g_assert_cmpuint (dlp_record_batch_get_position (end), ==, 73);
  g_assert_true (whole == b);
  random_assert_equal (a, 0, batch, 13, 60);
  random_assert_equal (b, 0, batch, 20, 30);
  g_assert_cmpuint (dlp_record_batch_get_bytes (b), <, dlp_record_batch_get_bytes (a));

  /* The memory outlives the batch it came from. */
  g_clear_pointer (&batch, dlp_record_batch_unref);
  random_assert_equal (b, 0, a, 7, 30);
}

/* Of a slice, and of a selection: the columns are shared, and all of the memory is counted. */
static void
test_select (void)
{
  const char *const names[] = { "x", "y", "z" };
  const guint fields[] = { DLP_FIELD_UINT64, DLP_FIELD_STRING, DLP_FIELD_LIST_UINT32 };
  const guint last[] = { 2, 0 };
  const DlpFieldType types[] = { fields[0], fields[1], fields[2] };
  const DlpFieldType last_types[] = { fields[2], fields[0] };
  const gboolean optional[] = { TRUE, TRUE, TRUE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  g_autoptr (DlpSchema) three = dlp_schema_new (DLP_SCHEMA_RECORDS, 3, names, types, optional);
  g_autoptr (DlpSchema) two = dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, last_types, optional);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 100);
  g_autoptr (DlpRecordBatch) slice = dlp_record_batch_slice (batch, 13, 60);
  g_autoptr (DlpRecordBatch) a = dlp_record_batch_select (slice, three, fields, 3);
  g_autoptr (DlpRecordBatch) b = dlp_record_batch_select (a, two, last, 2);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (two);
  g_autoptr (DlpRecordBatch) copy = NULL;

  g_assert_cmpuint (dlp_record_batch_get_bytes (a), ==, dlp_record_batch_get_bytes (slice));
  g_assert_cmpuint (dlp_record_batch_get_bytes (b), ==, dlp_record_batch_get_bytes (slice));
  g_assert_cmpuint (dlp_record_batch_get_position (b), ==, 13);
  g_clear_pointer (&batch, dlp_record_batch_unref);
  g_clear_pointer (&a, dlp_record_batch_unref);
  dlp_record_batch_builder_append_rows (builder, b, 0, 60);
  copy = dlp_record_batch_builder_finish (builder, NULL);
  random_assert_equal (copy, 0, b, 0, 60);
  g_assert_cmpuint (dlp_record_batch_get_bytes (copy), <, dlp_record_batch_get_bytes (b));
  for (guint row = 0; row < 60; row++)
    {
      g_autoptr (GBytes) list = random_get (slice, DLP_FIELD_LIST_UINT32, row);
      g_autoptr (GBytes) number = random_get (slice, DLP_FIELD_UINT64, row);

      random_assert_value (b, 0, row, list);
      random_assert_value (b, 1, row, number);
      g_assert_cmpmem (dlp_record_batch_get_coordinate (b, row), sizeof (DlpCoordinate),
                       dlp_record_batch_get_coordinate (slice, row), sizeof (DlpCoordinate));
    }
}

static void
test_mark (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_autoptr (DlpSchema) schema = random_schema_all (FALSE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 20);
  DlpRecordBatch *placed =
      dlp_record_batch_new_at (batch, 5, 10, 1000, g_strdup ("mark"), mark_unref);
  DlpRecordBatch *a = dlp_record_batch_slice (placed, 2, 6);
  DlpRecordBatch *b = dlp_record_batch_slice (a, 1, 3);
  DlpRecordBatch *without = dlp_record_batch_new_at (placed, 0, 4, 7, NULL, NULL);

  n_marks_freed = 0;
  g_assert_null (dlp_record_batch_get_mark (batch));
  g_assert_null (dlp_record_batch_get_mark (without));
  g_assert_cmpuint (dlp_record_batch_get_position (placed), ==, 1000);
  g_assert_cmpuint (dlp_record_batch_get_position (b), ==, 1003);
  random_assert_equal (b, 0, batch, 8, 3);
  random_assert_equal (without, 0, batch, 5, 4);

  dlp_record_batch_unref (without);
  dlp_record_batch_unref (placed);
  dlp_record_batch_unref (a);
  g_assert_cmpuint (n_marks_freed, ==, 0);
  g_assert_cmpstr (dlp_record_batch_get_mark (b), ==, "mark");
  dlp_record_batch_unref (b);
  g_assert_cmpuint (n_marks_freed, ==, 1);
}

/* Each slice of a slice refers to the first batch: no chain, which would be freed by recursion. */
static void
test_deep_slices (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (DlpSchema) schema = random_schema_all (FALSE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 20);
  DlpRecordBatch *slice = dlp_record_batch_new_at (batch, 0, 20, 0, g_strdup ("mark"), mark_unref);
  DlpRecordBatch *whole = dlp_record_batch_ref (slice);

  n_marks_freed = 0;
  for (guint i = 0; i < 20; i++)
    {
      DlpRecordBatch *next = dlp_record_batch_slice (slice, 1, 19 - i);

      g_assert_true (next->mark_owner == whole);
      dlp_record_batch_unref (slice);
      slice = next;
    }
  dlp_record_batch_unref (whole);
  g_assert_cmpuint (n_marks_freed, ==, 0);
  dlp_record_batch_unref (slice);
  g_assert_cmpuint (n_marks_freed, ==, 1);
}

static void
test_full (void)
{
  const DlpFieldType types[] = { DLP_FIELD_STRING };
  const char *const names[] = { "text" };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autofree char *text = g_malloc0 (1024 * 1024);
  const DlpCoordinate coordinate = { 0 };

  for (guint i = 0; i < DLP_RECORD_BATCH_MAX_RECORDS; i++)
    {
      g_assert_false (dlp_record_batch_builder_is_full (builder));
      dlp_record_batch_builder_append_value (builder, 0, "x", 1);
      dlp_record_batch_builder_end_record (builder, &coordinate);
    }
  g_assert_true (dlp_record_batch_builder_is_full (builder));
  dlp_record_batch_unref (dlp_record_batch_builder_finish (builder, NULL));
  g_assert_false (dlp_record_batch_builder_is_full (builder));

  dlp_record_batch_builder_append_value (builder, 0, text, 1024 * 1024);
  g_assert_false (dlp_record_batch_builder_is_full (builder));
  dlp_record_batch_builder_drop_record (builder);
  dlp_record_batch_builder_append_value (builder, 0, text, 512 * 1024);
  dlp_record_batch_builder_end_record (builder, &coordinate);
  g_assert_false (dlp_record_batch_builder_is_full (builder));
  dlp_record_batch_builder_append_value (builder, 0, text, 512 * 1024);
  dlp_record_batch_builder_end_record (builder, &coordinate);
  g_assert_true (dlp_record_batch_builder_is_full (builder));
}

/* What is reserved but not used is not held. */
static void
test_memory (void)
{
  g_autoptr (DlpSchema) schema = random_schema_all (FALSE);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) batch = NULL;
  const DlpCoordinate coordinate = { 0 };
  guint8 *room;

  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
  for (guint i = DLP_FIELD_BOOLEAN; i <= DLP_FIELD_DOUBLE; i++)
    {
      g_autoptr (GBytes) value = g_bytes_new_static ("12345678", 8);

      random_append (NULL, builder, i, value);
    }
  room = dlp_record_batch_builder_reserve (builder, DLP_FIELD_STRING, 150 * 1000 * 1000);
  memset (room, 'x', 100);
  dlp_record_batch_builder_commit (builder, DLP_FIELD_STRING, 100);
  dlp_record_batch_builder_reserve (builder, DLP_FIELD_BINARY, 0);
  dlp_record_batch_builder_commit (builder, DLP_FIELD_BINARY, 0);
  dlp_record_batch_builder_reserve (builder, DLP_FIELD_LIST_UINT16, 1000 * 1000);
  dlp_record_batch_builder_commit (builder, DLP_FIELD_LIST_UINT16, 0);
  dlp_record_batch_builder_append_list (builder, DLP_FIELD_LIST_UINT32, NULL, 0);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), <, 153 * 1000 * 1000);
  dlp_record_batch_builder_end_record (builder, &coordinate);
  batch = dlp_record_batch_builder_finish (builder, NULL);

  g_assert_cmpuint (dlp_buffer_get_used_bytes (), <, 16 * 1024);
  g_assert_cmpuint (dlp_record_batch_get_bytes (batch), <, 1000);
  g_clear_pointer (&batch, dlp_record_batch_unref);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), >, 0);
  g_assert_cmpuint (dlp_buffer_get_cached_bytes (), <=, DLP_BUFFER_MAX_CACHED);
}

/* Offsets near their limit, whose products with the width pass 2^32; without the memory between. */
static void
test_large_offsets (void)
{
  const DlpFieldType types[] = { DLP_FIELD_LIST_UINT32 };
  const char *const names[] = { "tokens" };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);
  DlpColumns *columns = dlp_columns_new (schema, 1);
  const gint32 begin = 1610612736; /* 6 GiB of uint32 */
  const gint32 offsets[] = { begin, begin + 2, G_MAXINT32 - 1, G_MAXINT32 };
  const DlpCoordinate coordinates[3] = { 0 };
  guint32 values[2] = { 5, 6 };
  g_autoptr (DlpRecordBatch) batch = NULL;
  gsize n;

  columns->columns[0].data = (const guint8 *) ((gsize) values - (gsize) begin * 4);
  columns->columns[0].offsets = offsets;
  columns->coordinates = coordinates;
  columns->length = 3;
  batch = dlp_record_batch_new_take (columns);

  g_assert_cmpmem (dlp_record_batch_get_list (batch, 0, 0, &n), 8, values, 8);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint ((gsize) dlp_record_batch_get_list (batch, 0, 1, &n) - (gsize) values, ==, 8);
  g_assert_cmpuint (n, ==, G_MAXINT32 - 3 - begin);
  g_assert_cmpuint ((gsize) dlp_record_batch_get_list (batch, 0, 2, &n) - (gsize) values, ==,
                    ((gsize) G_MAXINT32 - 1 - begin) * 4);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpuint (dlp_record_batch_get_bytes (batch), ==,
                    3 * 32 + 3 * 4 + ((gsize) G_MAXINT32 - begin) * 4);

  {
    g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
    g_autoptr (DlpRecordBatch) copy = NULL;

    dlp_record_batch_builder_append_rows (builder, batch, 0, 1);
    dlp_record_batch_builder_append_rows (builder, batch, 0, 1);
    copy = dlp_record_batch_builder_finish (builder, NULL);
    g_assert_cmpmem (dlp_record_batch_get_list (copy, 0, 1, &n), 8, values, 8);
  }
}

static void
test_misuse (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_autoptr (DlpSchema) schema = random_schema_all (FALSE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 10);
  gsize n = 7;

#define EXPECT(text) g_test_expect_message ("dlpipe", G_LOG_LEVEL_CRITICAL, text)
  EXPECT ("*row <= self->length*");
  g_assert_null (dlp_record_batch_slice (batch, 8, 3));
  EXPECT ("*row <= self->length*");
  g_assert_null (dlp_record_batch_slice (batch, 11, G_MAXUINT));
  EXPECT ("*is_valid*");
  g_assert_null (dlp_record_batch_get_value (batch, DLP_FIELD_STRING, 10, &n));
  g_assert_cmpuint (n, ==, 0);
  EXPECT ("*is_valid*");
  g_assert_null (dlp_record_batch_get_list (batch, DLP_FIELD_STRING, 0, &n));
  EXPECT ("*is_valid*");
  g_assert_cmpint (dlp_record_batch_get_int64 (batch, 8, 0), ==, 0);
  EXPECT ("*is_valid*");
  g_assert_cmpint (dlp_record_batch_get_int64 (batch, DLP_FIELD_UINT64, 0), ==, 0);
  EXPECT ("*row < self->length*");
  g_assert_null (dlp_record_batch_get_coordinate (batch, 10));
#undef EXPECT
  g_test_assert_expected_messages ();
}

static gpointer
share (gpointer data)
{
  DlpRecordBatch *batch = data;

  for (guint i = 0; i < 5000; i++)
    {
      g_autoptr (DlpRecordBatch) slice = dlp_record_batch_slice (batch, i % 10, 5);
      g_autoptr (DlpRecordBatch) inner = dlp_record_batch_slice (slice, 1, 2);
      g_autoptr (DlpRecordBatch) ref = dlp_record_batch_ref (batch);

      g_assert_true (ref == batch);
      g_assert_cmpuint (dlp_record_batch_get_position (inner), ==, 100 + i % 10 + 1);
    }
  dlp_record_batch_unref (batch);
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 20);
  DlpRecordBatch *placed =
      dlp_record_batch_new_at (batch, 0, 20, 100, g_strdup ("mark"), mark_unref);
  GThread *threads[4];

  n_marks_freed = 0;
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, share, dlp_record_batch_ref (placed));
  dlp_record_batch_unref (placed);
  g_clear_pointer (&batch, dlp_record_batch_unref);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (n_marks_freed, ==, 1);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
}

static void
test_bits (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);

  for (guint round = 0; round < random_scaled (20000); round++)
    {
      guint8 src[20];
      guint8 dst[20];
      guint8 before[20];
      guint from = g_rand_int_range (rand, 0, 64);
      guint to = g_rand_int_range (rand, 0, 64);
      guint n = g_rand_int_range (rand, 0, 96);
      guint count = 0;

      for (guint i = 0; i < sizeof src; i++)
        {
          src[i] = g_rand_int (rand);
          before[i] = dst[i] = g_rand_int (rand);
        }
      dlp_bits_copy (dst, to, src, from, n);
      for (guint i = 0; i < 160; i++)
        if (dlp_bits_get (dst, i) !=
            (i >= to && i < to + n ? dlp_bits_get (src, from + i - to) : dlp_bits_get (before, i)))
          g_error ("bit %u after copying %u from %u to %u", i, n, from, to);
      for (guint i = 0; i < n; i++)
        count += dlp_bits_get (dst, to + i);
      g_assert_cmpuint (dlp_bits_count (src, from, n), ==, count);

      memset (dst, 0, sizeof dst);
      dlp_bits_set (dst, to, n);
      g_assert_cmpuint (dlp_bits_count (dst, to, n), ==, n);
      g_assert_cmpuint (dlp_bits_count (dst, 0, 160), ==, n);
    }
}

/* A record of the model: its values, and its coordinate as the last one. */
typedef GPtrArray Row;

static void
clear_value (gpointer value)
{
  g_clear_pointer ((GBytes **) &value, g_bytes_unref);
}

static Row *
model_row (GRand *rand, DlpSchema *schema)
{
  guint n_fields = dlp_schema_get_n_fields (schema);
  DlpCoordinate coordinate = random_coordinate (rand);
  Row *row = g_ptr_array_new_full (n_fields + 1, clear_value);

  for (guint i = 0; i < n_fields; i++)
    g_ptr_array_add (row, random_value (rand, schema, i));
  g_ptr_array_add (row, g_bytes_new (&coordinate, sizeof coordinate));
  return row;
}

static void
build_row (GRand *rand, DlpRecordBatchBuilder *builder, Row *row)
{
  guint n_fields = row->len - 1;
  guint first = n_fields > 0 ? g_rand_int_range (rand, 0, n_fields) : 0;

  for (guint i = 0; i < n_fields; i++)
    {
      guint field = (first + i) % n_fields;

      random_append (rand, builder, field, row->pdata[field]);
    }
  dlp_record_batch_builder_end_record (builder, g_bytes_get_data (row->pdata[n_fields], NULL));
}

static void
build_and_drop (GRand *rand, DlpRecordBatchBuilder *builder)
{
  DlpSchema *schema = dlp_record_batch_builder_get_schema (builder);
  guint n = g_rand_int_range (rand, 0, dlp_schema_get_n_fields (schema) + 1);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GBytes) value = random_value (rand, schema, i);

      random_append (rand, builder, i, value);
    }
  dlp_record_batch_builder_drop_record (builder);
}

static void
assert_rows (const DlpRecordBatch *batch, GPtrArray *rows)
{
  g_assert_cmpuint (dlp_record_batch_get_length (batch), ==, rows->len);
  for (guint i = 0; i < rows->len; i++)
    {
      Row *row = rows->pdata[i];

      for (guint field = 0; field < row->len - 1; field++)
        random_assert_value (batch, field, i, row->pdata[field]);
      g_assert_cmpmem (dlp_record_batch_get_coordinate (batch, i), sizeof (DlpCoordinate),
                       g_bytes_get_data (row->pdata[row->len - 1], NULL), sizeof (DlpCoordinate));
    }
}

/* Rows of the last batch, of a slice of a slice of it. */
static void
append_former (GRand *rand,
               DlpRecordBatchBuilder *builder,
               DlpRecordBatch *former,
               GPtrArray *former_rows,
               GPtrArray *rows)
{
  guint a = g_rand_int_range (rand, 0, former_rows->len + 1);
  guint b = g_rand_int_range (rand, a, former_rows->len + 1);
  guint c = g_rand_int_range (rand, a, b + 1);
  guint d = g_rand_int_range (rand, c, b + 1);
  g_autoptr (DlpRecordBatch) outer = dlp_record_batch_slice (former, a, former_rows->len - a);
  g_autoptr (DlpRecordBatch) slice = dlp_record_batch_slice (outer, 0, b - a);

  dlp_record_batch_builder_append_rows (builder, slice, c - a, d - c);
  for (guint i = c; i < d; i++)
    g_ptr_array_add (rows, g_ptr_array_ref (former_rows->pdata[i]));
}

static void
fuzz_builder (GRand *rand)
{
  g_autoptr (DlpSchema) schema = random_schema (rand);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) former = dlp_record_batch_new_empty (schema);
  g_autoptr (GPtrArray) former_rows = g_ptr_array_new ();

  for (guint round = 0; round < 6; round++)
    {
      GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
      guint n_steps = g_rand_int_range (rand, 0, 60);

      for (guint i = 0; i < n_steps; i++)
        switch (g_rand_int_range (rand, 0, 8))
          {
          case 0:
            build_and_drop (rand, builder);
            break;
          case 1:
            append_former (rand, builder, former, former_rows, rows);
            break;
          default:
            g_ptr_array_add (rows, model_row (rand, schema));
            build_row (rand, builder, rows->pdata[rows->len - 1]);
          }

      g_assert_cmpuint (dlp_record_batch_builder_get_length (builder), ==, rows->len);
      g_clear_pointer (&former, dlp_record_batch_unref);
      g_clear_pointer (&former_rows, g_ptr_array_unref);
      former = dlp_record_batch_builder_finish (builder, NULL);
      former_rows = rows;
      assert_rows (former, rows);
    }
}

static void
test_model (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);

  for (guint i = 0; i < random_scaled (300); i++)
    fuzz_builder (rand);
  g_assert_cmpuint (dlp_buffer_get_used_bytes (), ==, 0);
}

/* Values of each type, copied one by one, as append_rows() copies them. */
static void
test_append_field (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 50);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) copy = NULL;

  for (guint row = 0; row < 50; row++)
    {
      for (guint field = dlp_schema_get_n_fields (schema); field > 0; field--)
        dlp_record_batch_builder_append_field (builder, field - 1, batch, field - 1, row);
      dlp_record_batch_builder_end_record (builder, dlp_record_batch_get_coordinate (batch, row));
    }
  copy = dlp_record_batch_builder_finish (builder, NULL);
  random_assert_equal (batch, 0, copy, 0, 50);
}

int
main (int argc, char *argv[])
{
  int status;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record-batch/types", test_types);
  g_test_add_func ("/record-batch/nulls", test_nulls);
  g_test_add_func ("/record-batch/empty", test_empty);
  g_test_add_func ("/record-batch/no-fields", test_no_fields);
  g_test_add_func ("/record-batch/slice", test_slice);
  g_test_add_func ("/record-batch/select", test_select);
  g_test_add_func ("/record-batch/mark", test_mark);
  g_test_add_func ("/record-batch/deep-slices", test_deep_slices);
  g_test_add_func ("/record-batch/full", test_full);
  g_test_add_func ("/record-batch/memory", test_memory);
  g_test_add_func ("/record-batch/large-offsets", test_large_offsets);
  g_test_add_func ("/record-batch/misuse", test_misuse);
  g_test_add_func ("/record-batch/threads", test_threads);
  g_test_add_func ("/record-batch/bits", test_bits);
  g_test_add_func ("/record-batch/append-field", test_append_field);
  g_test_add_func ("/record-batch/model", test_model);
  status = g_test_run ();
  dlp_buffer_trim ();
  return status;
}
