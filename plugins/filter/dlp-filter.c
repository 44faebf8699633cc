/* SPDX-License-Identifier: MIT */

#include "dlp-filter.h"

#include <stdbool.h>

#include <dlpipe/dlp-pad-template.h>

#include "check-records.h"
#include "filter-expression.h"

enum
{
  PAD_OUT,
  PAD_REJECTED,
};

enum
{
  COUNT_KEPT,
  COUNT_DROPPED,
  COUNT_NULL,
};

static const char *const counter_names[] = { "kept", "dropped", "null", NULL };

struct _DlpFilter
{
  DlpTransform parent_instance;

  char *where;

  FilterExpression *expression;
};

enum
{
  PROP_0,
  PROP_WHERE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpFilter, dlp_filter, DLP_TYPE_TRANSFORM)

static gboolean
dlp_filter_negotiate (DlpElement *element, GError **error)
{
  DlpFilter *self = DLP_FILTER (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));

  if (!check_records (schema, error))
    return FALSE;
  if (self->where == NULL || *self->where == '\0')
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "set where=CONDITION, such as where='length (text) >= 100'");
      return FALSE;
    }
  g_clear_pointer (&self->expression, filter_expression_free);
  self->expression = filter_expression_new (self->where, schema, error);
  if (self->expression == NULL)
    return FALSE;
  dlp_pad_set_schema (dlp_element_get_output (element, PAD_OUT), schema);
  dlp_pad_set_schema (dlp_element_get_output (element, PAD_REJECTED), schema);
  return TRUE;
}

/* ---- work ---- */

static gpointer
dlp_filter_worker_new (DlpTransform *transform)
{
  return filter_context_new (DLP_FILTER (transform)->expression);
}

static void
dlp_filter_worker_free (DlpTransform *transform, gpointer worker)
{
  filter_context_free (worker);
}

/* Rows that go one way. */
static void
deliver (DlpFilter *self,
         bool kept,
         DlpRecordBatch *batch,
         guint row,
         guint n,
         DlpTransformOutput *output)
{
  guint pad = kept ? PAD_OUT : PAD_REJECTED;

  dlp_transform_output_count (output, kept ? COUNT_KEPT : COUNT_DROPPED, n);
  if (!dlp_pad_is_linked (dlp_element_get_output (DLP_ELEMENT (self), pad)))
    return;
  if (n == dlp_record_batch_get_length (batch))
    dlp_transform_output_push (output, pad, dlp_record_batch_ref (batch));
  else if (n > 0)
    dlp_record_batch_builder_append_rows (dlp_transform_output_get_builder (output, pad), batch,
                                          row, n);
}

static gboolean
fail (DlpFilter *self, FilterContext *context, DlpRecordBatch *batch, guint row, GError **error)
{
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  g_autofree char *file = dlp_element_dup_input_name (DLP_ELEMENT (self), at);
  g_autofree char *place =
      file != NULL ? g_strdup (file) : g_strdup_printf ("source %u, file %u", at->source, at->file);
  g_autofree char *reason = filter_context_get_failure (context);

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD,
               "%s: row %" G_GUINT64_FORMAT
               ": a pattern of matches gave up on this record: %s; make the pattern simpler, such "
               "as without one repetition inside of another, or test the record's length before",
               place, at->row, reason);
  return FALSE;
}

static gboolean
dlp_filter_process (DlpTransform *transform,
                    gpointer worker,
                    DlpRecordBatch *batch,
                    guint64 first,
                    DlpTransformOutput *output,
                    GError **error)
{
  DlpFilter *self = DLP_FILTER (transform);
  guint n = dlp_record_batch_get_length (batch);
  FilterTruth truth = FILTER_FALSE;
  guint64 nulls = 0;
  guint begin = 0, row;
  bool keeps = true; /* what the rows from begin on come to */

  for (row = 0; row < n; row++)
    {
      truth = filter_context_test (worker, batch, row);
      if (truth == FILTER_FAILED)
        break;
      nulls += truth == FILTER_NULL;
      if ((truth == FILTER_TRUE) == keeps)
        continue;
      deliver (self, keeps, batch, begin, row - begin, output);
      begin = row;
      keeps = !keeps;
    }
  deliver (self, keeps, batch, begin, row - begin, output);
  dlp_transform_output_count (output, COUNT_NULL, nulls);
  return truth != FILTER_FAILED || fail (self, worker, batch, row, error);
}

/* ---- the end ---- */

static guint64
get_count (GVariant *counts, guint counter)
{
  guint64 n = 0;

  g_variant_lookup (counts, counter_names[counter], "t", &n);
  return n;
}

/* A condition that keeps nothing is most often a mistake. */
static void
warn_of_nothing (DlpElement *element)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  g_autoptr (DlpState) state = klass->save (element);
  g_autoptr (GVariant) counts = g_variant_ref_sink (klass->describe (element, state));
  guint64 dropped = get_count (counts, COUNT_DROPPED);
  g_autofree char *message = NULL;

  if (get_count (counts, COUNT_KEPT) > 0 || dropped == 0)
    return;
  message = g_strdup_printf ("kept none of %" G_GUINT64_FORMAT " records; for %" G_GUINT64_FORMAT
                             " of them the condition was null: %s",
                             dropped, get_count (counts, COUNT_NULL), DLP_FILTER (element)->where);
  dlp_element_warn (element, NULL, -1, message);
}

static DlpStep
dlp_filter_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpStep step = DLP_ELEMENT_CLASS (dlp_filter_parent_class)->step (element, cancellable, error);

  if (step == DLP_STEP_END)
    warn_of_nothing (element);
  return step;
}

/* ---- properties ---- */

static void
dlp_filter_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpFilter *self = DLP_FILTER (object);

  if (id != PROP_WHERE)
    {
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }
  g_free (self->where);
  self->where = g_value_dup_string (value);
}

static void
dlp_filter_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_WHERE)
    g_value_set_string (value, DLP_FILTER (object)->where);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_filter_finalize (GObject *object)
{
  DlpFilter *self = DLP_FILTER (object);

  g_clear_pointer (&self->expression, filter_expression_free);
  g_free (self->where);
  G_OBJECT_CLASS (dlp_filter_parent_class)->finalize (object);
}

static void
dlp_filter_class_init (DlpFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);
  DlpTransformClass *transform_class = DLP_TRANSFORM_CLASS (klass);

  object_class->set_property = dlp_filter_set_property;
  object_class->get_property = dlp_filter_get_property;
  object_class->finalize = dlp_filter_finalize;
  element_class->negotiate = dlp_filter_negotiate;
  element_class->step = dlp_filter_step;
  transform_class->counters = counter_names;
  transform_class->worker_new = dlp_filter_worker_new;
  transform_class->worker_free = dlp_filter_worker_free;
  transform_class->process = dlp_filter_process;
  dlp_element_class_add_pad_template (element_class, "rejected", DLP_PAD_OUTPUT, DLP_PAD_OPTIONAL,
                                      DLP_CARRIES_RECORDS, "Records that are not kept");
  dlp_element_class_set_description (
      element_class, "Keeps the records that a condition on their fields is true for",
      "... ! filter where='length (text) >= 100 and lang in (\"en\", \"de\")' ! null-sink");

  properties[PROP_WHERE] = g_param_spec_string (
      "where", NULL, "The condition, such as length (text) >= 100; records are kept if it is true",
      NULL, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_filter_init (DlpFilter *self)
{
  dlp_element_add_optional_pad (DLP_ELEMENT (self), "rejected", DLP_PAD_OUTPUT);
}
