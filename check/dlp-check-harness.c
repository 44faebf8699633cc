/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <string.h>

#include <glib/gstdio.h>

#include "dlp-check-private.h"

#define PULL_SECONDS 10

typedef struct
{
  char *name;
  GQueue records; /* lock of the harness: of DlpRecordBatch, of one record each */
  guint64 n_pulled;
} Pulled;

struct _DlpCheckHarness
{
  char *element; /* as given */
  char *factory;
  CheckInput *input;
  gboolean is_source;
  GPtrArray *pads; /* of Pulled; none: a sink */
  CheckFolder *files;
  CheckFolder *folder;
  char *graph;
  guint number;
  guint64 n_rows;

  DlpPipeline *pipeline; /* NULL: not begun */
  GCancellable *cancellable;
  pthread_t thread;
  gboolean joined;
  pthread_mutex_t lock;
  pthread_cond_t cond;
  gboolean over;     /* lock: the run has ended */
  gboolean complete; /* lock */
  GError *error;     /* lock */
};

static GPtrArray *harnesses; /* the main thread, between runs */

/* ---- check-pull ---- */

typedef struct
{
  DlpSink parent_instance;

  guint number;
  DlpCheckHarness *harness;
  Pulled *pulled;
} DlpCheckPull;

typedef DlpSinkClass DlpCheckPullClass;

G_DEFINE_TYPE (DlpCheckPull, dlp_check_pull, DLP_TYPE_SINK)

/* @format: with one %s. */
G_NORETURN static void
fail_use (DlpCheckHarness *self, const char *format, const char *value)
{
  const CheckCase check = { "harness", self->element };
  g_autofree char *text = g_strdup_printf (format, value);
  g_autofree char *lines = g_strdup_printf ("  got:      %s\n", text);

  dlp_check_fail (&check, NULL, lines);
}

static Pulled *
find_pad (DlpCheckHarness *self, const char *name)
{
  for (guint i = 0; i < self->pads->len; i++)
    {
      Pulled *pulled = g_ptr_array_index (self->pads, i);

      if (strcmp (pulled->name, name) == 0)
        return pulled;
    }
  fail_use (self, "it has no output pad %s", name);
}

static gboolean
dlp_check_pull_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpCheckPull *self = (DlpCheckPull *) element;

  self->harness = g_ptr_array_index (harnesses, self->number);
  self->pulled = find_pad (self->harness, dlp_element_get_name (element));
  return TRUE;
}

static gboolean
dlp_check_pull_consume (DlpSink *sink,
                        DlpRecordBatch *batch,
                        guint row,
                        guint n,
                        GCancellable *cancellable,
                        GError **error)
{
  DlpCheckPull *self = (DlpCheckPull *) sink;

  pthread_mutex_lock (&self->harness->lock);
  for (guint i = 0; i < n; i++)
    g_queue_push_tail (&self->pulled->records, dlp_record_batch_slice (batch, row + i, 1));
  pthread_cond_broadcast (&self->harness->cond);
  pthread_mutex_unlock (&self->harness->lock);
  return TRUE;
}

static void
dlp_check_pull_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ((DlpCheckPull *) object)->number = g_value_get_uint (value);
}

static void
dlp_check_pull_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_uint (value, ((DlpCheckPull *) object)->number);
}

static void
dlp_check_pull_class_init (DlpCheckPullClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = dlp_check_pull_set_property;
  object_class->get_property = dlp_check_pull_get_property;
  DLP_ELEMENT_CLASS (klass)->start = dlp_check_pull_start;
  klass->consume = dlp_check_pull_consume;
  g_object_class_install_property (
      object_class, 1,
      g_param_spec_uint ("harness", NULL, "Whose it is", 0, G_MAXUINT, 0, DLP_PARAM_READWRITE));
}

static void
dlp_check_pull_init (DlpCheckPull *self)
{
}

/* ---- the harness ---- */

static void
pulled_free (gpointer data)
{
  Pulled *self = data;

  g_queue_clear_full (&self->records, (GDestroyNotify) dlp_record_batch_unref);
  g_free (self->name);
  g_free (self);
}

static void
look_at_pads (DlpCheckHarness *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpElement) element = dlp_element_make (self->factory, NULL, &error);

  g_assert_no_error (error);
  self->is_source = dlp_element_get_n_inputs (element) == 0;
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      Pulled *pulled = g_new0 (Pulled, 1);

      pulled->name = g_strdup (dlp_pad_get_name (dlp_element_get_output (element, i)));
      g_queue_init (&pulled->records);
      g_ptr_array_add (self->pads, pulled);
    }
}

DlpCheckHarness *
dlp_check_harness_new (const char *element)
{
  DlpCheckHarness *self = g_new0 (DlpCheckHarness, 1);

  self->element = g_strdup (element);
  self->factory = g_strndup (element, strcspn (element, " \t\n"));
  self->input = dlp_check_input_store_new ();
  self->cancellable = g_cancellable_new ();
  self->pads = g_ptr_array_new_with_free_func (pulled_free);
  self->files = dlp_check_folder_new ();
  self->folder = dlp_check_folder_new ();
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->cond, NULL);
  if (harnesses == NULL)
    harnesses = g_ptr_array_new ();
  self->number = harnesses->len;
  g_ptr_array_add (harnesses, self);
  look_at_pads (self);
  return self;
}

static void
assert_released (DlpCheckHarness *self)
{
  const CheckCase check = { "held records", self->element };
  guint n = dlp_check_input_store_get_n_held (self->input);
  g_autofree char *lines = NULL;

  if (n == 0)
    return;
  lines =
      g_strdup_printf ("  element:  %s\n"
                       "  expected: every record batch is given back when the pipeline is gone\n"
                       "  got:      %u record batches are still held\n"
                       "  remedy:   dlp_record_batch_unref() what dlp_pad_take() gave, and what "
                       "is kept in stop()\n",
                       self->factory, n);
  dlp_check_fail (&check, NULL, lines);
}

static void
join (DlpCheckHarness *self)
{
  if (self->pipeline == NULL || self->joined)
    return;
  pthread_join (self->thread, NULL);
  self->joined = TRUE;
}

static void
abandon (DlpCheckHarness *self)
{
  g_cancellable_cancel (self->cancellable);
  join (self);
}

void
dlp_check_harness_free (DlpCheckHarness *self)
{
  abandon (self);
  g_clear_object (&self->pipeline);
  g_object_unref (self->cancellable);
  g_ptr_array_unref (self->pads);
  assert_released (self);
  g_ptr_array_index (harnesses, self->number) = NULL;
  dlp_check_input_store_free (self->input);
  dlp_check_folder_free (self->files);
  dlp_check_folder_free (self->folder);
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
  g_clear_error (&self->error);
  g_free (self->graph);
  g_free (self->factory);
  g_free (self->element);
  g_free (self);
}

/* ---- pushing ---- */

void
dlp_check_harness_push (DlpCheckHarness *self, DlpRecordBatch *batch)
{
  DlpSchema *schema = dlp_check_input_store_get_schema (self->input);

  g_assert_false (self->is_source);
  if (schema == NULL)
    dlp_check_input_store_set_schema (self->input, dlp_record_batch_get_schema (batch));
  else
    g_assert_true (dlp_schema_equal (schema, dlp_record_batch_get_schema (batch)));
  self->n_rows += dlp_record_batch_get_length (batch);
  dlp_check_input_store_push (self->input, batch);
}

static DlpRecordBatchBuilder *
begin_record (const char *field, DlpFieldType type)
{
  g_autoptr (DlpSchema) schema =
      dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &field, &type, (gboolean[]){ FALSE });

  return dlp_record_batch_builder_new (schema);
}

static void
push_record (DlpCheckHarness *self, DlpRecordBatchBuilder *builder, const DlpCoordinate *at)
{
  g_autoptr (DlpRecordBatch) batch = NULL;

  dlp_record_batch_builder_end_record (builder, at);
  batch = dlp_record_batch_builder_finish (builder, NULL);
  dlp_check_harness_push (self, batch);
}

void
dlp_check_harness_push_text (DlpCheckHarness *self, const char *text)
{
  g_autoptr (DlpRecordBatchBuilder) builder = begin_record ("text", DLP_FIELD_STRING);

  dlp_record_batch_builder_append_value (builder, 0, text, strlen (text));
  push_record (self, builder, &(DlpCoordinate){ .row = self->n_rows });
}

void
dlp_check_harness_push_tokens (DlpCheckHarness *self, const guint16 *tokens, gsize n_tokens)
{
  g_autoptr (DlpRecordBatchBuilder) builder = begin_record ("tokens", DLP_FIELD_LIST_UINT16);

  dlp_record_batch_builder_append_list (builder, 0, tokens, n_tokens);
  push_record (self, builder, &(DlpCoordinate){ .row = self->n_rows });
}

void
dlp_check_harness_push_file (DlpCheckHarness *self,
                             const char *name,
                             gconstpointer data,
                             gssize size)
{
  g_autoptr (DlpSchema) schema = dlp_schema_files ();
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autofree char *path = g_build_filename (self->files->out, name, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpFile) file = NULL;
  DlpScheme *scheme;

  g_assert_null (strchr (name, '/'));
  g_file_set_contents (path, data, size, &error);
  g_assert_no_error (error);
  scheme = dlp_scheme_for_uri (path, &error);
  g_assert_no_error (error);
  file = dlp_scheme_identify (scheme, path, NULL, &error);
  g_assert_no_error (error);
  dlp_record_batch_builder_append_value (builder, 0, path, strlen (path));
  dlp_record_batch_builder_append_int64 (builder, 1, dlp_file_get_size (file));
  dlp_record_batch_builder_append_value (builder, 2, dlp_file_get_identity (file),
                                         strlen (dlp_file_get_identity (file)));
  push_record (self, builder, &(DlpCoordinate){ .file = (guint32) self->n_rows });
}

void
dlp_check_harness_end (DlpCheckHarness *self)
{
  dlp_check_input_store_end (self->input);
}

/* ---- the run ---- */

/* (transfer full): with @sink behind each pad. */
static char *
make_graph (DlpCheckHarness *self, const char *sink, gboolean live)
{
  GString *text = g_string_new (NULL);

  if (!self->is_source)
    {
      if (dlp_check_input_store_get_schema (self->input) == NULL)
        fail_use (self, "%s was pushed yet, so what its input looks like is not known", "nothing");
      g_string_append_printf (text, "check-input data=%" G_GUINT64_FORMAT "%s ! ",
                              dlp_check_input_store_get_number (self->input),
                              live ? " live=true" : "");
    }
  g_string_append_printf (text, "%s name=element", self->element);
  for (guint i = 0; i < self->pads->len; i++)
    {
      const char *name = ((Pulled *) g_ptr_array_index (self->pads, i))->name;

      g_string_append_printf (text, " element.%s ! %s name=%s", name, sink, name);
    }
  return g_string_free (text, FALSE);
}

static void *
run (void *data)
{
  DlpCheckHarness *self = data;
  GError *error = NULL;
  gboolean complete = dlp_pipeline_run (self->pipeline, self->cancellable, &error);

  pthread_mutex_lock (&self->lock);
  self->over = TRUE;
  self->complete = complete;
  self->error = error;
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

static void
ensure_run (DlpCheckHarness *self)
{
  g_autofree char *sink = g_strdup_printf ("check-pull harness=%u", self->number);
  g_autofree char *graph = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  if (self->pipeline != NULL)
    return;
  graph = make_graph (self, sink, TRUE);
  text = dlp_check_folder_expand (self->folder, graph);
  self->pipeline = dlp_pipeline_new_from_string (text, &error);
  g_assert_no_error (error);
  g_assert_cmpint (pthread_create (&self->thread, NULL, run, self), ==, 0);
}

static void
fail_pull (DlpCheckHarness *self, Pulled *pulled, const char *line)
{
  const CheckCase check = { "pull", self->element };
  g_autofree char *lines = g_strdup_printf ("  element:  %s, pad %s\n"
                                            "  record:   %" G_GUINT64_FORMAT "\n%s",
                                            self->factory, pulled->name, pulled->n_pulled, line);

  dlp_check_fail (&check, NULL, lines);
}

DlpRecordBatch *
dlp_check_harness_pull (DlpCheckHarness *self, const char *pad)
{
  Pulled *pulled = find_pad (self, pad);
  gint64 limit = dlp_check_get_patience (PULL_SECONDS);
  DlpRecordBatch *batch;
  struct timespec until;
  int status = 0;

  ensure_run (self);
  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_sec += limit / G_USEC_PER_SEC;
  pthread_mutex_lock (&self->lock);
  while ((batch = g_queue_pop_head (&pulled->records)) == NULL && !self->over && status == 0)
    status = pthread_cond_timedwait (&self->cond, &self->lock, &until);
  pthread_mutex_unlock (&self->lock);
  if (batch == NULL && status != 0)
    fail_pull (self, pulled,
               "  got:      nothing came within 10 seconds, nor did the stream end; is "
               "dlp_check_harness_end() missing?\n");
  if (batch != NULL)
    pulled->n_pulled++;
  else if (self->error != NULL)
    {
      g_autofree char *line =
          g_strdup_printf ("  got:      the run failed: %s\n", self->error->message);

      fail_pull (self, pulled, line);
    }
  return batch;
}

static void
compare_value (DlpCheckHarness *self, const char *pad, const char *expected, const char *got)
{
  Pulled *pulled = find_pad (self, pad);
  g_autofree char *line = NULL;

  if (g_strcmp0 (expected, got) == 0)
    return;
  line = g_strdup_printf ("  expected: %s\n  got:      %s\n", expected != NULL ? expected : "null",
                          got != NULL ? got : "null");
  if (pulled->n_pulled > 0)
    pulled->n_pulled--;
  fail_pull (self, pulled, line);
}

static DlpRecordBatch *
pull_record (DlpCheckHarness *self, const char *pad, const char *expected)
{
  DlpRecordBatch *batch = dlp_check_harness_pull (self, pad);

  if (batch == NULL)
    compare_value (self, pad, expected != NULL ? expected : "a record", "the end of the stream");
  return batch;
}

void
dlp_check_harness_assert_text (DlpCheckHarness *self,
                               const char *pad,
                               const char *field,
                               const char *text)
{
  g_autoptr (DlpRecordBatch) batch = pull_record (self, pad, text);
  int i = dlp_schema_find (dlp_record_batch_get_schema (batch), field);
  g_autofree char *got = NULL;
  const guint8 *data;
  gsize size;

  if (i < 0)
    {
      g_autofree char *schema = dlp_schema_to_string (dlp_record_batch_get_schema (batch));
      g_autofree char *wanted = g_strdup_printf ("a field %s", field);

      compare_value (self, pad, wanted, schema);
    }
  data = dlp_record_batch_get_value (batch, (guint) i, 0, &size);
  got = data != NULL ? g_strndup ((const char *) data, size) : NULL;
  compare_value (self, pad, text, got);
}

void
dlp_check_harness_assert_record (DlpCheckHarness *self, const char *pad, const char *line)
{
  g_autoptr (DlpRecordBatch) batch = pull_record (self, pad, line);
  g_autofree char *got = dlp_check_record_to_string (batch, 0);

  compare_value (self, pad, line, got);
}

void
dlp_check_harness_assert_end (DlpCheckHarness *self, const char *pad)
{
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autofree char *got = NULL;

  dlp_check_harness_end (self);
  batch = dlp_check_harness_pull (self, pad);
  if (batch == NULL)
    return;
  got = dlp_check_record_to_string (batch, 0);
  compare_value (self, pad, "the end of the stream", got);
}

gboolean
dlp_check_harness_finish (DlpCheckHarness *self, GError **error)
{
  dlp_check_harness_end (self);
  ensure_run (self);
  join (self);
  if (self->error != NULL)
    g_propagate_error (error, g_error_copy (self->error));
  return self->complete;
}

void
dlp_check_harness_assert_error (DlpCheckHarness *self, GQuark domain, int code, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_check_harness_finish (self, &error));
  g_assert_error (error, domain, code);
  if (strstr (error->message, part) == NULL)
    {
      g_autofree char *text =
          g_strdup_printf ("the message of the error has no “%s” in it: %s", part, error->message);

      fail_use (self, "%s", text);
    }
}

/* In what it says itself, among the counters of a reader, or in what core says of it. */
static gboolean
find_counter (GVariant *said, const char *name, guint64 *n)
{
  g_autoptr (GVariant) state = g_variant_lookup_value (said, "state", G_VARIANT_TYPE_VARDICT);
  g_autoptr (GVariant) counters =
      state != NULL ? g_variant_lookup_value (state, "counters", G_VARIANT_TYPE ("a{st}")) : NULL;

  return (state != NULL && g_variant_lookup (state, name, "t", n)) ||
         (counters != NULL && g_variant_lookup (counters, name, "t", n)) ||
         g_variant_lookup (said, name, "t", n);
}

guint64
dlp_check_harness_get_counter (DlpCheckHarness *self, const char *name)
{
  g_autoptr (GVariant) report = NULL;
  g_autoptr (GVariant) elements = NULL;
  guint64 n = 0;
  gboolean found = FALSE;

  g_assert_true (self->joined);
  report = dlp_pipeline_get_report (self->pipeline);
  elements = g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) said = g_variant_get_child_value (elements, i);
      const char *element = "";

      g_variant_lookup (said, "name", "&s", &element);
      if (strcmp (element, "element") == 0)
        found = find_counter (said, name, &n);
    }
  if (!found)
    fail_use (self, "its report has no number “%s”", name);
  return n;
}

const char *
dlp_check_harness_get_folder (DlpCheckHarness *self)
{
  return self->folder->out;
}

void
dlp_check_harness_assert_file (DlpCheckHarness *self, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (self->folder->out, name, NULL);
  g_autofree char *got = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (self->joined);
  g_file_get_contents (path, &got, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (got, ==, text);
}

const char *
dlp_check_harness_get_graph (DlpCheckHarness *self)
{
  /* Nothing runs beside a check. */
  abandon (self);
  g_free (self->graph);
  self->graph = make_graph (self, "check-sink", FALSE);
  return self->graph;
}

void
dlp_check_harness_check_all (DlpCheckHarness *self)
{
  dlp_check_all (dlp_check_harness_get_graph (self));
  if (self->pipeline == NULL)
    assert_released (self);
}
