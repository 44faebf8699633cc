/* SPDX-License-Identifier: MIT */

#include "filter-rows.h"

#include <math.h>
#include <string.h>

static const DlpFieldType types[] = {
  DLP_FIELD_STRING, DLP_FIELD_BINARY,      DLP_FIELD_BOOLEAN,     DLP_FIELD_INT64, DLP_FIELD_UINT64,
  DLP_FIELD_DOUBLE, DLP_FIELD_LIST_UINT16, DLP_FIELD_LIST_UINT32, DLP_FIELD_STRING
};

static const struct
{
  const char *s;
  const char *b;
  gsize b_size;
  gboolean f;
  gint64 i;
  guint64 u;
  double d;
  gsize n_tokens;
} rows[FILTER_N_ROWS - 1] = {
  { "", "", 0, FALSE, 0, 0, 0.0, 0 },
  { "hello", "\0\377", 2, TRUE, -5, 5, 0.5, 1 },
  { "Füchse 🦊", "hello", 5, FALSE, G_MAXINT64, G_MAXUINT64, -1e300, 3 },
  { "it's", "it's", 4, TRUE, G_MININT64, 9223372036854775808u, 9223372036854775808.0, 2 },
  { "en", "en\0", 3, TRUE, 9007199254740993, 9007199254740993, NAN, 2 },
};

DlpSchema *
filter_rows_schema (void)
{
  static const char *const names[] = { "s", "b", "f", "i", "u", "d", "l16", "l32", "odd name" };
  static const gboolean optional[] = { TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, TRUE, FALSE };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, G_N_ELEMENTS (types), names, types, optional);
}

DlpRecordBatch *
filter_rows_new (void)
{
  g_autoptr (DlpSchema) schema = filter_rows_schema ();
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  const guint16 narrow[] = { 1, 2, 3 };
  const guint32 wide[] = { 1, 2, 3 };

  for (guint row = 0; row < FILTER_N_ROWS - 1; row++)
    {
      dlp_record_batch_builder_append_value (builder, 0, rows[row].s, strlen (rows[row].s));
      dlp_record_batch_builder_append_value (builder, 1, rows[row].b, rows[row].b_size);
      dlp_record_batch_builder_append_boolean (builder, 2, rows[row].f);
      dlp_record_batch_builder_append_int64 (builder, 3, rows[row].i);
      dlp_record_batch_builder_append_uint64 (builder, 4, rows[row].u);
      dlp_record_batch_builder_append_double (builder, 5, rows[row].d);
      dlp_record_batch_builder_append_list (builder, 6, narrow, rows[row].n_tokens);
      dlp_record_batch_builder_append_list (builder, 7, wide, rows[row].n_tokens);
      dlp_record_batch_builder_append_value (builder, 8, "x", 1);
      dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = row });
    }
  for (guint field = 0; field < 8; field++)
    dlp_record_batch_builder_append_null (builder, field);
  dlp_record_batch_builder_append_value (builder, 8, "y", 1);
  dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = FILTER_N_ROWS - 1 });
  return dlp_record_batch_builder_finish (builder, NULL);
}

char *
filter_rows_test (DlpRecordBatch *batch, const FilterExpression *expression)
{
  g_autoptr (FilterContext) context = filter_context_new (expression);
  GString *text = g_string_new (NULL);

  for (guint row = 0; row < dlp_record_batch_get_length (batch); row++)
    g_string_append_c (text, "FNTX"[filter_context_test (context, batch, row)]);
  return g_string_free (text, FALSE);
}
