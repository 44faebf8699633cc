/* SPDX-License-Identifier: MIT */

/* What whoever builds a record does wrong with it: an error that says so, never the end of the
 * program, and the records before it stay. */

#include "dlp-record-batch-private.h"
#include "random-batch.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

enum
{
  TEXT,
  NUMBER,
  TOKENS,
  NOTE, /* optional */
  N_FIELDS
};

static DlpSchema *
make_schema (void)
{
  static const char *const names[] = { "text", "number", "tokens", "note" };
  static const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_INT64, DLP_FIELD_LIST_UINT16,
                                        DLP_FIELD_STRING };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, N_FIELDS, names, types,
                         (const gboolean[]){ FALSE, FALSE, FALSE, TRUE });
}

static DlpRecordBatchBuilder *
make_builder (void)
{
  g_autoptr (DlpSchema) schema = make_schema ();

  return dlp_record_batch_builder_new (schema);
}

static void
append_good (DlpRecordBatchBuilder *builder)
{
  static const guint16 tokens[] = { 1, 2, 3 };

  dlp_record_batch_builder_append_string (builder, TEXT, "a");
  dlp_record_batch_builder_append_int64 (builder, NUMBER, 7);
  dlp_record_batch_builder_append_list (builder, TOKENS, tokens, 3);
  dlp_record_batch_builder_append_null (builder, NOTE);
}

static gboolean
add_good (DlpRecordBatchBuilder *builder)
{
  append_good (builder);
  return dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = 5 });
}

/* ---- each fault; the record is ended by the caller, and where it can be is whole otherwise ----
 */

static void
give_nothing (DlpRecordBatchBuilder *builder)
{
}

static void
forget_last (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_string (builder, TEXT, "a");
  dlp_record_batch_builder_append_int64 (builder, NUMBER, 7);
  dlp_record_batch_builder_append_list (builder, TOKENS, NULL, 0);
}

static void
give_twice (DlpRecordBatchBuilder *builder)
{
  append_good (builder);
  dlp_record_batch_builder_append_string (builder, TEXT, "b");
}

static void
give_list_twice (DlpRecordBatchBuilder *builder)
{
  g_autoptr (GError) error = NULL;

  append_good (builder);
  g_assert_false (dlp_record_batch_builder_append_list_checked (builder, TOKENS, NULL, 0, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL);
}

/* As many values as there are fields. */
static void
give_twice_and_forget (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_string (builder, TEXT, "a");
  dlp_record_batch_builder_append_string (builder, TEXT, "b");
  dlp_record_batch_builder_append_int64 (builder, NUMBER, 7);
  dlp_record_batch_builder_append_list (builder, TOKENS, NULL, 0);
}

static void
give_text_as_number (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_string (builder, NUMBER, "7");
  append_good (builder);
}

static void
give_number_as_list (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_uint64 (builder, TOKENS, 7);
  append_good (builder);
}

static void
give_double_as_text (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_double (builder, TEXT, 7);
  append_good (builder);
}

static void
give_boolean_as_number (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_boolean (builder, NUMBER, TRUE);
  append_good (builder);
}

static void
give_list_as_text (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_list (builder, TEXT, NULL, 0);
  append_good (builder);
}

static void
give_null (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_null (builder, NUMBER);
  append_good (builder);
}

static void
give_unknown (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_append_value (builder, N_FIELDS, "", 0);
  append_good (builder);
}

static void
reserve_number (DlpRecordBatchBuilder *builder)
{
  memset (dlp_record_batch_builder_reserve (builder, NUMBER, 100), 1, 100);
  dlp_record_batch_builder_commit (builder, NUMBER, 100);
  append_good (builder);
}

static void
reserve_unknown (DlpRecordBatchBuilder *builder)
{
  memset (dlp_record_batch_builder_reserve (builder, 77, 100), 1, 100);
  dlp_record_batch_builder_commit (builder, 77, 100);
  append_good (builder);
}

static void
reserve_too_much (DlpRecordBatchBuilder *builder)
{
  *(guint8 *) dlp_record_batch_builder_reserve (builder, TEXT, (gsize) 1 << 31) = 1;
  dlp_record_batch_builder_commit (builder, TEXT, (gsize) 1 << 31);
  append_good (builder);
}

static void
commit_too_much (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_reserve (builder, TEXT, 10);
  dlp_record_batch_builder_commit (builder, TEXT, 11);
}

static void
commit_nothing (DlpRecordBatchBuilder *builder)
{
  append_good (builder);
  dlp_record_batch_builder_commit (builder, TEXT, 0);
}

static void
append_before_commit (DlpRecordBatchBuilder *builder)
{
  dlp_record_batch_builder_reserve (builder, TEXT, 10);
  append_good (builder);
}

static void
append_rows_within (DlpRecordBatchBuilder *builder)
{
  g_autoptr (DlpRecordBatchBuilder) other = make_builder ();
  g_autoptr (DlpRecordBatch) batch = NULL;

  g_assert_true (add_good (other));
  batch = dlp_record_batch_builder_finish (other, NULL);
  dlp_record_batch_builder_append_string (builder, TEXT, "a");
  g_assert_false (dlp_record_batch_builder_append_rows (builder, batch, 0, 1));
}

static void
append_other_rows (DlpRecordBatchBuilder *builder)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (DlpSchema) schema = random_schema_all (FALSE);
  g_autoptr (DlpRecordBatch) batch = random_batch (rand, schema, 3);

  g_assert_false (dlp_record_batch_builder_append_rows (builder, batch, 1, 2));
}

static const struct
{
  const char *name;
  void (*build) (DlpRecordBatchBuilder *builder);
  const char *message;
} faults[] = {
  { "nothing", give_nothing,
    "*field “text” was given no value; each field of a record gets one, *" },
  { "forgotten", forget_last, "*field “note” was given no value; each *gets one, or null, *" },
  { "twice", give_twice, "*field “text” was given a second value*" },
  { "list-twice", give_list_twice, "*field “tokens” was given a second value*" },
  { "twice-and-forgotten", give_twice_and_forget, "*field “text” was given a second value*" },
  { "text-as-number", give_text_as_number,
    "*field “number” is of type int64 and was given a text*" },
  { "number-as-list", give_number_as_list,
    "*field “tokens” is of type list<uint16> and was given a uint64*" },
  { "double-as-text", give_double_as_text,
    "*field “text” is of type string and was given a double*" },
  { "boolean-as-number", give_boolean_as_number, "*field “number” is of type int64 *a boolean*" },
  { "list-as-text", give_list_as_text, "*field “text” is of type string and was given a list*" },
  { "null", give_null, "*field “number” is not optional and was given null*" },
  { "unknown", give_unknown, "*bytes for field 4, but has 4 fields, counted from 0*" },
  { "reserve-number", reserve_number, "*field “number” is of type int64 *room for a value*" },
  { "reserve-unknown", reserve_unknown, "*room for a value for field 77, but has 4 fields*" },
  { "reserve-too-much", reserve_too_much,
    "*field “text”: 2147483648 values of 1 bytes do not fit*" },
  { "commit-too-much", commit_too_much, "*field “text”: 11 were committed of 10 reserved*" },
  { "commit-nothing", commit_nothing, "*field 0: a value was committed for which nothing*" },
  { "before-commit", append_before_commit,
    "*field “text” was given a text before what was reserved for it was committed*" },
  { "rows-within", append_rows_within, "*whole records were appended within it*" },
  { "other-rows", append_other_rows, "*was to be one of *text*tokens* and is one of *field-7*" },
};

static void
test_fault (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (DlpRecordBatchBuilder) builder = make_builder ();
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  g_assert_true (add_good (builder));
  g_assert_true (add_good (builder));
  faults[i].build (builder);
  g_assert_false (dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = 9 }));

  /* What comes after it does not come in, nor is it a fault of its own. */
  g_assert_false (add_good (builder));
  g_assert_cmpuint (dlp_record_batch_builder_get_length (builder), ==, 2);
  g_assert_null (dlp_record_batch_builder_finish (builder, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL);
  g_test_message ("%s", error->message);
  g_assert_true (g_str_has_prefix (error->message, "record 2 of the record batch, "));
  g_assert_true (g_pattern_match_simple (faults[i].message, error->message));

  /* Empty and good again. */
  g_assert_true (add_good (builder));
  batch = dlp_record_batch_builder_finish (builder, NULL);
  g_assert_cmpuint (dlp_record_batch_get_length (batch), ==, 1);
  g_assert_cmpmem (dlp_record_batch_get_value (batch, TEXT, 0, &size), size, "a", 1);
  dlp_record_batch_get_list (batch, TOKENS, 0, &size);
  g_assert_cmpuint (size, ==, 3);
}

/* A record that is dropped takes its fault along. */
static void
test_dropped (void)
{
  g_autoptr (DlpRecordBatchBuilder) builder = make_builder ();
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      if (faults[i].build == append_rows_within || faults[i].build == append_other_rows)
        continue;
      faults[i].build (builder);
      dlp_record_batch_builder_drop_record (builder);
      g_assert_true (add_good (builder));
    }
  batch = dlp_record_batch_builder_finish (builder, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dlp_record_batch_get_length (batch), ==, G_N_ELEMENTS (faults) - 2);
  for (guint row = 0; row < dlp_record_batch_get_length (batch); row++)
    g_assert_cmpint (dlp_record_batch_get_int64 (batch, NUMBER, row), ==, 7);
}

static void
test_not_ended (void)
{
  g_autoptr (DlpRecordBatchBuilder) builder = make_builder ();
  g_autoptr (GError) error = NULL;

  g_assert_true (add_good (builder));
  append_good (builder);
  g_assert_null (dlp_record_batch_builder_finish (builder, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL);
  g_assert_cmpstr (error->message, ==,
                   "record 1 of the record batch, counted from 0: it was begun and never ended");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *path = g_strdup_printf ("/record-fault/%s", faults[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_fault);
    }
  g_test_add_func ("/record-fault/dropped", test_dropped);
  g_test_add_func ("/record-fault/not-ended", test_not_ended);
  return g_test_run ();
}
