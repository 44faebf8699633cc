/* SPDX-License-Identifier: MIT */

/* An element that gives a record a value too few or too many, in each place where records are made:
 * the records before it come out, the run fails, and says where. */

#include <stdbool.h>
#include <string.h>

#include <glib/gstdio.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-reader.h>
#include <dlpipe/dlp-transform.h>

#define N_RECORDS 2000
#define FAULTY_RECORD 1234

typedef enum
{
  HOW_WELL,
  HOW_FORGET,
  HOW_TWICE,
  HOW_TYPE,
  HOW_NOT_ENDED, /* and the stream ends there */
  HOW_FAIL,      /* in the midst of the record, by an error of its own */
} How;

static How how;

/* FALSE: the record is not to be ended. */
static bool
append_number (DlpRecordBatchBuilder *builder, guint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, number);
  How what = number == FAULTY_RECORD ? how : HOW_WELL;

  if (what == HOW_TYPE)
    dlp_record_batch_builder_append_int64 (builder, 0, 1);
  else if (what != HOW_FORGET)
    dlp_record_batch_builder_append_string (builder, 0, text);
  if (what == HOW_TWICE)
    dlp_record_batch_builder_append_string (builder, 0, text);
  return what < HOW_NOT_ENDED;
}

static DlpSchema *
make_schema (void)
{
  return dlp_schema_new (DLP_SCHEMA_RECORDS, 1, (const char *const[]){ "text" },
                         (const DlpFieldType[]){ DLP_FIELD_STRING }, NULL);
}

/* ---- numbers: a source; several records a step ---- */

typedef struct
{
  DlpSource parent_instance;

  guint64 next;
} Numbers;

typedef DlpSourceClass NumbersClass;

static GType numbers_get_type (void);

G_DEFINE_TYPE (Numbers, numbers, DLP_TYPE_SOURCE)

static gboolean
negotiate (DlpElement *element, GError **error)
{
  g_autoptr (DlpSchema) schema = make_schema ();

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

static DlpStep
numbers_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  Numbers *self = (Numbers *) source;

  for (guint i = 0; i < 7 && self->next < N_RECORDS; i++, self->next++)
    {
      if (!append_number (dlp_pad_get_builder (out), self->next))
        {
          if (how == HOW_NOT_ENDED)
            return DLP_STEP_END;
          g_set_error_literal (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE, "its own error");
          return DLP_STEP_ERROR;
        }
      dlp_pad_end_record (out, &(DlpCoordinate){ .row = self->next });
    }
  return self->next < N_RECORDS ? DLP_STEP_MORE : DLP_STEP_END;
}

static void
numbers_class_init (NumbersClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = negotiate;
  klass->produce = numbers_produce;
}

static void
numbers_init (Numbers *self)
{
}

/* ---- renumber: a transform ---- */

typedef DlpTransform Renumber;
typedef DlpTransformClass RenumberClass;

static GType renumber_get_type (void);

G_DEFINE_TYPE (Renumber, renumber, DLP_TYPE_TRANSFORM)

static gboolean
renumber_process (DlpTransform *transform,
                  gpointer worker,
                  DlpRecordBatch *batch,
                  guint64 first,
                  DlpTransformOutput *output,
                  GError **error)
{
  for (guint row = 0; row < dlp_record_batch_get_length (batch); row++)
    {
      if (!append_number (dlp_transform_output_get_builder (output, 0), first + row))
        {
          if (how == HOW_NOT_ENDED)
            return TRUE;
          g_set_error_literal (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE, "its own error");
          return FALSE;
        }
      dlp_transform_output_end_record (output, 0, dlp_record_batch_get_coordinate (batch, row));
    }
  return TRUE;
}

static void
renumber_class_init (RenumberClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = negotiate;
  klass->process = renumber_process;
}

static void
renumber_init (Renumber *self)
{
}

/* ---- number-reader: a reader ---- */

typedef DlpReader NumberReader;
typedef DlpReaderClass NumberReaderClass;

static GType number_reader_get_type (void);

G_DEFINE_TYPE (NumberReader, number_reader, DLP_TYPE_READER)

static DlpSchema *
number_reader_get_schema (DlpReader *reader, GError **error)
{
  return make_schema ();
}

static void
number_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  gsize size;
  const char *data = (const char *) dlp_reader_chunk_get_data (chunk, &size);

  for (const char *at = data; at < data + size; at = strchr (at, '\n') + 1)
    {
      if (!append_number (dlp_reader_chunk_get_builder (chunk), g_ascii_strtoull (at, NULL, 10)))
        return;
      dlp_reader_chunk_end_record (chunk, 1);
    }
}

static void
number_reader_class_init (NumberReaderClass *klass)
{
  klass->get_schema = number_reader_get_schema;
  klass->parse = number_reader_parse;
}

static void
number_reader_init (NumberReader *self)
{
}

/* ---- tests ---- */

static void
check_run (const char *graph, How fault, const char *where)
{
  static const char *const what[] = {
    [HOW_FORGET] = "*field “text” was given no value*",
    [HOW_TWICE] = "*field “text” was given a second value*",
    [HOW_TYPE] = "*field “text” is of type string and was given an int64*",
    [HOW_NOT_ENDED] = "*was begun and never ended",
    [HOW_FAIL] = "*its own error",
  };
  static const guint batch_records[] = { 0, 1, 3 };

  how = fault;
  for (guint i = 0; i < G_N_ELEMENTS (batch_records); i++)
    for (guint runner = DLP_RUNNER_THREADS; runner <= DLP_RUNNER_SEQUENTIAL; runner++)
      {
        const DlpCheckSettings settings = { .runner = (DlpRunnerKind) runner,
                                            .workers = 2,
                                            .batch_records = batch_records[i] };
        g_autoptr (GError) error = NULL;
        GPtrArray *lines;

        g_assert_false (dlp_check_run (graph, &settings, &error));
        g_assert_nonnull (error);
        g_test_message ("%s", error->message);
        g_assert_true (g_pattern_match_simple (what[fault], error->message));
        if (fault == HOW_FAIL)
          g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE);
        else
          {
            g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL);
            g_assert_nonnull (strstr (error->message, where));
          }
        lines = dlp_check_sink_get_lines ("k");
        g_assert_cmpuint (lines->len, ==, FAULTY_RECORD);
      }
}

static void
test_source (void)
{
  for (How fault = HOW_FORGET; fault <= HOW_FAIL; fault++)
    check_run ("numbers name=s ! check-sink name=k", fault, "s: record 1234 of pad out, counted");
}

static void
test_transform (void)
{
  for (How fault = HOW_FORGET; fault <= HOW_FAIL; fault++)
    check_run ("check-source records=2000 ! renumber name=t ! check-sink name=k", fault,
               "t: record 1234 of pad out, counted");
}

static void
test_reader (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-faults-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "numbers.txt", NULL);
  g_autofree char *graph = g_strdup_printf (
      "file-source location=%s ! number-reader name=r chunk-bytes=1024 ! check-sink name=k", path);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < N_RECORDS; i++)
    g_string_append_printf (text, "%u\n", i);
  g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
  for (How fault = HOW_FORGET; fault <= HOW_NOT_ENDED; fault++)
    check_run (graph, fault, "numbers.txt: record of row 1234: ");
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
add_element (const char *name, GType type)
{
  g_autoptr (GError) error = NULL;

  dlp_registry_add_element (name, type, &error);
  g_assert_no_error (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  add_element ("numbers", numbers_get_type ());
  add_element ("renumber", renumber_get_type ());
  add_element ("number-reader", number_reader_get_type ());
  g_test_add_func ("/record-faults/source", test_source);
  g_test_add_func ("/record-faults/transform", test_transform);
  g_test_add_func ("/record-faults/reader", test_reader);
  return g_test_run ();
}
