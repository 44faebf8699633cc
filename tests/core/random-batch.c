/* SPDX-License-Identifier: MIT */

#include "random-batch.h"

#include <string.h>

guint
random_scaled (guint n)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");

  return MAX (1, (guint) (n * (scale != NULL ? g_ascii_strtod (scale, NULL) : 1.0)));
}

static DlpSchema *
make_schema (guint n, const DlpFieldType *types, const gboolean *optional)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (names, g_strdup_printf ("field-%u", i));
  return dlp_schema_new (DLP_SCHEMA_RECORDS, n, (const char *const *) names->pdata, types,
                         optional);
}

DlpSchema *
random_schema_all (gboolean optional)
{
  DlpFieldType types[DLP_FIELD_LIST_UINT32 + 1];
  gboolean nulls[G_N_ELEMENTS (types)];

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      types[i] = (DlpFieldType) i;
      nulls[i] = optional;
    }
  return make_schema (G_N_ELEMENTS (types), types, nulls);
}

DlpSchema *
random_schema (GRand *rand)
{
  DlpFieldType types[20];
  gboolean optional[G_N_ELEMENTS (types)];
  guint n = g_rand_int_range (rand, 0, 4) == 0 ? g_rand_int_range (rand, 0, 20) :
                                                 g_rand_int_range (rand, 1, 6);

  for (guint i = 0; i < n; i++)
    {
      types[i] = (DlpFieldType) g_rand_int_range (rand, 0, DLP_FIELD_LIST_DOUBLE + 1);
      optional[i] = g_rand_boolean (rand);
    }
  return make_schema (n, types, optional);
}

static gsize
random_size (GRand *rand)
{
  guint bits = g_rand_int_range (rand, 0, 100) == 0 ? 17 : g_rand_int_range (rand, 0, 9);

  return bits == 0 ? 0 : g_rand_int (rand) >> (32 - bits);
}

static GBytes *
random_bytes (GRand *rand, gsize n, gboolean text)
{
  guint8 *data = g_malloc (n + 1);

  for (gsize i = 0; i < n; i++)
    data[i] = text ? g_rand_int_range (rand, 0, 128) : g_rand_int_range (rand, 0, 256);
  return g_bytes_new_take (data, n);
}

GBytes *
random_value (GRand *rand, const DlpSchema *schema, guint field)
{
  gboolean optional = dlp_schema_get_field_optional (schema, field);

  if (optional && g_rand_int_range (rand, 0, 5) == 0)
    return NULL;

  switch (dlp_schema_get_field_type (schema, field))
    {
    case DLP_FIELD_STRING:
      return random_bytes (rand, random_size (rand), TRUE);
    case DLP_FIELD_BINARY:
      return random_bytes (rand, random_size (rand), FALSE);
    case DLP_FIELD_LIST_UINT16:
      return random_bytes (rand, random_size (rand) * 2, FALSE);
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_FLOAT:
      return random_bytes (rand, random_size (rand) * 4, FALSE);
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_DOUBLE:
      return random_bytes (rand, random_size (rand) * 8, FALSE);
    case DLP_FIELD_BOOLEAN:
      return g_bytes_new (g_rand_boolean (rand) ? "\1" : "\0", 1);
    case DLP_FIELD_INT64:
    case DLP_FIELD_UINT64:
    case DLP_FIELD_DOUBLE:
    default:
      return random_bytes (rand, 8, FALSE);
    }
}

DlpCoordinate
random_coordinate (GRand *rand)
{
  return (DlpCoordinate){
    .stage = g_rand_int_range (rand, 0, 3),
    .source = g_rand_int (rand),
    .file = g_rand_int (rand),
    .epoch = g_rand_int_range (rand, 0, 9),
    .part = g_rand_int_range (rand, 0, 4),
    .row = (guint64) g_rand_int (rand) << 20,
  };
}

static void
append_run (GRand *rand,
            DlpRecordBatchBuilder *builder,
            guint field,
            gconstpointer data,
            gsize n,
            guint width)
{
  guint how = g_rand_int_range (rand, 0, 4);

  if (how == 0)
    {
      gsize more = n + random_size (rand);
      guint8 *room = dlp_record_batch_builder_reserve (builder, field, more);

      memcpy (room, data, n / 2 * width);
      if (g_rand_boolean (rand))
        room = dlp_record_batch_builder_reserve (builder, field, more * 2);
      memcpy (room + n / 2 * width, (const guint8 *) data + n / 2 * width, (n - n / 2) * width);
      dlp_record_batch_builder_commit (builder, field, n);
    }
  else if (width == 1 && dlp_schema_get_field_type (dlp_record_batch_builder_get_schema (builder),
                                                    field) <= DLP_FIELD_BINARY)
    dlp_record_batch_builder_append_value (builder, field, data, n);
  else
    dlp_record_batch_builder_append_list (builder, field, data, n);
}

void
random_append (GRand *rand, DlpRecordBatchBuilder *builder, guint field, GBytes *value)
{
  DlpSchema *schema = dlp_record_batch_builder_get_schema (builder);
  gsize n;
  const guint8 *data;
  union
  {
    gint64 i;
    guint64 u;
    double d;
  } number = { 0 };

  if (value == NULL)
    {
      dlp_record_batch_builder_append_null (builder, field);
      return;
    }

  data = g_bytes_get_data (value, &n);
  if (n == sizeof number)
    memcpy (&number, data, sizeof number);
  switch (dlp_schema_get_field_type (schema, field))
    {
    case DLP_FIELD_INT64:
      dlp_record_batch_builder_append_int64 (builder, field, number.i);
      break;
    case DLP_FIELD_UINT64:
      dlp_record_batch_builder_append_uint64 (builder, field, number.u);
      break;
    case DLP_FIELD_DOUBLE:
      dlp_record_batch_builder_append_double (builder, field, number.d);
      break;
    case DLP_FIELD_BOOLEAN:
      dlp_record_batch_builder_append_boolean (builder, field, data[0] * 4);
      break;
    case DLP_FIELD_LIST_UINT16:
      append_run (rand, builder, field, data, n / 2, 2);
      break;
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_FLOAT:
      append_run (rand, builder, field, data, n / 4, 4);
      break;
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_DOUBLE:
      append_run (rand, builder, field, data, n / 8, 8);
      break;
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
    default:
      append_run (rand, builder, field, n > 0 ? (gconstpointer) data : "", n, 1);
    }
}

DlpRecordBatch *
random_batch (GRand *rand, DlpSchema *schema, guint n)
{
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);

  for (guint row = 0; row < n; row++)
    {
      DlpCoordinate coordinate = random_coordinate (rand);

      for (guint field = 0; field < dlp_schema_get_n_fields (schema); field++)
        {
          g_autoptr (GBytes) value = random_value (rand, schema, field);

          random_append (rand, builder, field, value);
        }
      dlp_record_batch_builder_end_record (builder, &coordinate);
    }
  return dlp_record_batch_builder_finish (builder, NULL);
}

static gsize
list_width (DlpFieldType type)
{
  if (type == DLP_FIELD_LIST_INT64 || type == DLP_FIELD_LIST_DOUBLE)
    return 8;
  return type == DLP_FIELD_LIST_UINT16 ? 2 : 4;
}

GBytes *
random_get (const DlpRecordBatch *batch, guint field, guint row)
{
  DlpFieldType type = dlp_schema_get_field_type (dlp_record_batch_get_schema (batch), field);
  gconstpointer data;
  gsize n;
  gint64 i;
  guint64 u;
  double d;

  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      data = dlp_record_batch_get_value (batch, field, row, &n);
      g_assert_true ((data == NULL) == dlp_record_batch_is_null (batch, field, row));
      return data == NULL ? NULL : g_bytes_new (data, n);
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_FLOAT:
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_DOUBLE:
      data = dlp_record_batch_get_list (batch, field, row, &n);
      g_assert_true ((data == NULL) == dlp_record_batch_is_null (batch, field, row));
      return data == NULL ? NULL : g_bytes_new (data, n * list_width (type));
    case DLP_FIELD_BOOLEAN:
    case DLP_FIELD_INT64:
    case DLP_FIELD_UINT64:
    case DLP_FIELD_DOUBLE:
    default:
      break;
    }

  if (dlp_record_batch_is_null (batch, field, row))
    return NULL;
  i = type == DLP_FIELD_INT64 ? dlp_record_batch_get_int64 (batch, field, row) : 0;
  u = type == DLP_FIELD_UINT64 ? dlp_record_batch_get_uint64 (batch, field, row) : 0;
  d = type == DLP_FIELD_DOUBLE ? dlp_record_batch_get_double (batch, field, row) : 0;
  if (type == DLP_FIELD_BOOLEAN)
    return g_bytes_new (dlp_record_batch_get_boolean (batch, field, row) ? "\1" : "\0", 1);
  return g_bytes_new (type == DLP_FIELD_INT64  ? (gconstpointer) &i :
                      type == DLP_FIELD_UINT64 ? (gconstpointer) &u :
                                                 (gconstpointer) &d,
                      8);
}

void
random_assert_value (const DlpRecordBatch *batch, guint field, guint row, GBytes *expected)
{
  g_autoptr (GBytes) value = random_get (batch, field, row);

  g_assert_true ((value == NULL) == (expected == NULL));
  if (value != NULL)
    g_assert_cmpmem (g_bytes_get_data (value, NULL), g_bytes_get_size (value),
                     g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));
}

void
random_assert_equal (const DlpRecordBatch *a,
                     guint row_a,
                     const DlpRecordBatch *b,
                     guint row_b,
                     guint n)
{
  DlpSchema *schema = dlp_record_batch_get_schema (a);

  g_assert_true (dlp_schema_equal (schema, dlp_record_batch_get_schema (b)));
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpmem (dlp_record_batch_get_coordinate (a, row_a + i), sizeof (DlpCoordinate),
                       dlp_record_batch_get_coordinate (b, row_b + i), sizeof (DlpCoordinate));
      for (guint field = 0; field < dlp_schema_get_n_fields (schema); field++)
        {
          g_autoptr (GBytes) expected = random_get (b, field, row_b + i);

          random_assert_value (a, field, row_a + i, expected);
        }
    }
}
