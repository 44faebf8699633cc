/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <time.h>

#include "filter-expression.h"

/* Nanoseconds a record of typical expressions, on records of web pages: text of 1,000 bytes. */

#define N_RECORDS 1024

static DlpRecordBatch *
make_batch (void)
{
  static const char *const names[] = { "text", "lang", "score", "n", "tokens" };
  static const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_STRING, DLP_FIELD_DOUBLE,
                                        DLP_FIELD_INT64, DLP_FIELD_LIST_UINT16 };
  static const gboolean optional[] = { FALSE, TRUE, TRUE, FALSE, FALSE };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 5, names, types, optional);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autofree char *text = g_strnfill (1000, 'a');
  const guint16 tokens[200] = { 0 };

  for (guint i = 0; i < 1000; i += 6)
    text[i] = ' ';
  for (guint i = 0; i < N_RECORDS; i++)
    {
      dlp_record_batch_builder_append_value (builder, 0, text, 1000);
      if (i % 50 == 0)
        dlp_record_batch_builder_append_null (builder, 1);
      else
        dlp_record_batch_builder_append_value (builder, 1, i % 3 == 0 ? "de" : "en", 2);
      dlp_record_batch_builder_append_double (builder, 2, i % 16 / 16.0);
      dlp_record_batch_builder_append_int64 (builder, 3, i);
      dlp_record_batch_builder_append_list (builder, 4, tokens, i % 200);
      dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = i });
    }
  return dlp_record_batch_builder_finish (builder, NULL);
}

/* Of this thread, in nanoseconds: others may be busy beside it. */
static gint64
get_time (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

static guint
run (DlpRecordBatch *batch, FilterContext *context)
{
  guint kept = 0;

  for (guint row = 0; row < N_RECORDS; row++)
    kept += filter_context_test (context, batch, row) == FILTER_TRUE;
  return kept;
}

static void
measure (DlpRecordBatch *batch, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FilterExpression) expression =
      filter_expression_new (text, dlp_record_batch_get_schema (batch), &error);
  g_autoptr (FilterContext) context = NULL;
  gint64 least = G_MAXINT64;
  guint kept = 0;

  g_assert_no_error (error);
  context = filter_context_new (expression);
  for (guint n = 0; n < 300; n++)
    {
      gint64 begin = get_time ();

      kept = run (batch, context);
      least = MIN (least, get_time () - begin);
    }
  g_print ("%8.1f ns  %3.0f %%  %s\n", (double) least / N_RECORDS, 100.0 * kept / N_RECORDS, text);
}

int
main (void)
{
  static const char *const expressions[] = {
    "n >= 100",
    "score > 0.5",
    "lang == 'en'",
    "length(text) >= 100",
    "score > 0.5 and lang == 'en' and length(text) >= 100",
    "lang in ('en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl')",
    "lang is not null and not (score < 0.25 or n > 1000)",
    "n-tokens(tokens) < 150",
    "chars(text) > 500",
    "contains(text, 'lorem ipsum')",
    "matches(text, 'lorem +ipsum')",
    "matches(lang, '^(en|de)$')",
  };
  g_autoptr (DlpRecordBatch) batch = make_batch ();

  for (guint i = 0; i < G_N_ELEMENTS (expressions); i++)
    measure (batch, expressions[i]);
  return 0;
}
