/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-digest.h>

#include "random-batch.h"

/* The expected values were computed by the Python program of docs/internals/digest.md. */

static void
append_run (DlpRecordBatchBuilder *builder, guint field, guint64 i, gsize n)
{
  switch (dlp_schema_get_field_type (dlp_record_batch_builder_get_schema (builder), field))
    {
    case DLP_FIELD_STRING:
      {
        guint8 *text = dlp_record_batch_builder_reserve (builder, field, n);

        for (gsize j = 0; j < n; j++)
          text[j] = 97 + (i + j) % 26;
        dlp_record_batch_builder_commit (builder, field, n);
        break;
      }
    case DLP_FIELD_BINARY:
      {
        guint8 *bytes = dlp_record_batch_builder_reserve (builder, field, i % 5);

        for (gsize j = 0; j < i % 5; j++)
          bytes[j] = i * 7 + j;
        dlp_record_batch_builder_commit (builder, field, i % 5);
        break;
      }
    case DLP_FIELD_LIST_UINT16:
      {
        guint16 *ids = dlp_record_batch_builder_reserve (builder, field, n / 2);

        for (gsize j = 0; j < n / 2; j++)
          ids[j] = i * 251 + j * 77;
        dlp_record_batch_builder_commit (builder, field, n / 2);
        break;
      }
    case DLP_FIELD_LIST_UINT32:
    default:
      {
        guint32 *ids = dlp_record_batch_builder_reserve (builder, field, n / 3);

        for (gsize j = 0; j < n / 3; j++)
          ids[j] = i * 65539 + j * 77777;
        dlp_record_batch_builder_commit (builder, field, n / 3);
      }
    }
}

static void
append_field (DlpRecordBatchBuilder *builder, guint field, gint64 i)
{
  if ((i + field) % 11 == 10)
    dlp_record_batch_builder_append_null (builder, field);
  else if (field == DLP_FIELD_BOOLEAN)
    dlp_record_batch_builder_append_boolean (builder, field, i % 3 == 0);
  else if (field == DLP_FIELD_INT64)
    dlp_record_batch_builder_append_int64 (builder, field, -i * 1000003);
  else if (field == DLP_FIELD_UINT64)
    dlp_record_batch_builder_append_uint64 (builder, field, G_MAXUINT64 - i);
  else if (field == DLP_FIELD_DOUBLE)
    dlp_record_batch_builder_append_double (builder, field, i * -0.25);
  else
    append_run (builder, field, i, i * 37 % 700);
}

static DlpRecordBatch *
known_batch (void)
{
  g_autoptr (DlpSchema) schema = random_schema_all (TRUE);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);

  for (guint i = 0; i < 200; i++)
    {
      const DlpCoordinate coordinate = { i % 2, i % 3, i % 5, i / 50, i % 7, 0, i * i };

      for (guint field = 0; field <= DLP_FIELD_LIST_UINT32; field++)
        append_field (builder, field, i);
      dlp_record_batch_builder_end_record (builder, &coordinate);
    }
  return dlp_record_batch_builder_finish (builder, NULL);
}

static void
assert_digest (DlpRecordBatch *batch, guint row, guint n, guint64 position, const char *expected)
{
  DlpDigest digest = { 0 };
  g_autofree char *text = NULL;

  dlp_digest_add (&digest, batch, row, n, position);
  text = dlp_digest_to_string (&digest);
  g_assert_cmpstr (text, ==, expected);
}

static void
test_known (void)
{
  g_autoptr (DlpRecordBatch) batch = known_batch ();
  g_autoptr (DlpRecordBatch) slice = dlp_record_batch_slice (batch, 10, 20);

  assert_digest (batch, 0, 200, 0,
                 "f0231f322111910644f000854b3837b7-b5b6747cfadfddf865365a699384830d");
  assert_digest (batch, 0, 1, 0,
                 "5e8c6f464da51c10d20cd8ebec640143-79667a47a7a0f4f8132a7589e7e19411");
  assert_digest (slice, 3, 1, G_GUINT64_CONSTANT (1) << 40,
                 "cfb389f1926de598a2919451518620f7-ea805f50dc9feede118b83ca02be8349");
  assert_digest (batch, 7, 0, 0,
                 "00000000000000000000000000000000-00000000000000000000000000000000");
}

static void
assert_hello (const char *name, DlpFieldType type, const char *expected)
{
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_BATCHES, 1, &name, &type, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) batch = NULL;

  dlp_record_batch_builder_append_value (builder, 0, "hello", 5);
  dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ 0 });
  batch = dlp_record_batch_builder_finish (builder, NULL);
  assert_digest (batch, 0, 1, 0, expected);
}

static void
test_schema (void)
{
  assert_hello ("text", DLP_FIELD_STRING,
                "ef9c1f678cb3d4bb6a6de6ac3694f716-79668b4ed26981edbbba0d1f9acd304a");
  assert_hello ("text", DLP_FIELD_BINARY,
                "773c7da65468167f8cbd0f0eb58c8fe1-9795a3d3b79df7f116cb6f65da0bef66");
  assert_hello ("txt", DLP_FIELD_STRING,
                "f9ac1d3849c4a7fb511b75e00c508835-a9e4ead7dc1d706a3c9956e3579ac71d");
}

/* More fields than there is room for on the stack, and none. */
static void
test_number_of_fields (void)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  DlpFieldType types[20];
  g_autoptr (DlpSchema) schema = NULL;
  g_autoptr (DlpSchema) none = dlp_schema_new (DLP_SCHEMA_RECORDS, 0, NULL, NULL, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = NULL;
  g_autoptr (DlpRecordBatchBuilder) none_builder = dlp_record_batch_builder_new (none);
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (DlpRecordBatch) none_batch = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_ptr_array_add (names, g_strdup_printf ("f%u", i));
      types[i] = DLP_FIELD_INT64;
    }
  schema = dlp_schema_new (DLP_SCHEMA_RECORDS, G_N_ELEMENTS (types),
                           (const char *const *) names->pdata, types, NULL);
  builder = dlp_record_batch_builder_new (schema);
  for (guint i = 0; i < 3; i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (types); j++)
        dlp_record_batch_builder_append_int64 (builder, j, i * 20 + j);
      dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = i });
    }
  batch = dlp_record_batch_builder_finish (builder, NULL);
  assert_digest (batch, 0, 3, 5,
                 "5356a6e0a0b27c699446723b0cb47537-6dce05f2625b2c22692f90d67aac2498");

  dlp_record_batch_builder_end_record (none_builder, &(DlpCoordinate){ 1, 2, 3, 4, 5, 0, 6 });
  none_batch = dlp_record_batch_builder_finish (none_builder, NULL);
  assert_digest (none_batch, 0, 1, 0,
                 "69698728ae9f8226eb766ff276628d29-1ca53f4ee9eee56a8dd5a1f6dbf9fd32");
}

/* Wherever it is cut, and in whatever order the parts are added. */
static void
test_parts (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (DlpRecordBatch) batch = known_batch ();
  DlpDigest whole = { 0 };

  dlp_digest_add (&whole, batch, 0, 200, 1000);
  for (guint round = 0; round < random_scaled (50); round++)
    {
      DlpDigest sums[3] = { 0 };
      guint row = 0;

      while (row < 200)
        {
          guint n = g_rand_int_range (rand, 0, 201 - row);
          g_autoptr (DlpRecordBatch) slice = dlp_record_batch_slice (batch, row, n);

          dlp_digest_add (&sums[g_rand_int_range (rand, 0, 3)], slice, 0, n, 1000 + row);
          row += n;
        }
      dlp_digest_combine (&sums[2], &sums[0]);
      dlp_digest_combine (&sums[1], &sums[2]);
      g_assert_cmpmem (&sums[1], sizeof sums[1], &whole, sizeof whole);
    }
}

static void
test_order (void)
{
  g_autoptr (DlpRecordBatch) batch = known_batch ();
  DlpDigest forward = { 0 };
  DlpDigest swapped = { 0 };

  dlp_digest_add (&forward, batch, 0, 2, 0);
  dlp_digest_add (&swapped, batch, 1, 1, 0);
  dlp_digest_add (&swapped, batch, 0, 1, 1);
  g_assert_cmpmem (forward.unordered, 16, swapped.unordered, 16);
  g_assert_cmpuint (forward.ordered[0], !=, swapped.ordered[0]);
  g_assert_cmpuint (forward.ordered[1], !=, swapped.ordered[1]);
}

static void
test_carry (void)
{
  DlpDigest a = { { G_MAXUINT64, 1 }, { G_MAXUINT64, G_MAXUINT64 } };
  const DlpDigest b = { { 2, 3 }, { 1, 0 } };
  g_autofree char *text = NULL;

  dlp_digest_combine (&a, &b);
  text = dlp_digest_to_string (&a);
  g_assert_cmpstr (text, ==, "00000000000000050000000000000001-00000000000000000000000000000000");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/digest/known", test_known);
  g_test_add_func ("/digest/schema", test_schema);
  g_test_add_func ("/digest/number-of-fields", test_number_of_fields);
  g_test_add_func ("/digest/parts", test_parts);
  g_test_add_func ("/digest/order", test_order);
  g_test_add_func ("/digest/carry", test_carry);
  return g_test_run ();
}
