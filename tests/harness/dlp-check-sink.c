/* SPDX-License-Identifier: MIT */

#include "dlp-check-sink.h"

struct _DlpCheckSink
{
  DlpSink parent_instance;

  guint64 stop_after;
  guint64 delay;
  guint64 consumed; /* of this attempt */
  guint64 count;    /* the state */
};

enum
{
  PROP_0,
  PROP_STOP_AFTER,
  PROP_DELAY,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static GMutex lock;
static GHashTable *stores; /* lock */
static DlpPipeline *stopped;

G_DEFINE_FINAL_TYPE (DlpCheckSink, dlp_check_sink, DLP_TYPE_SINK)

GPtrArray *
dlp_check_sink_get_lines (const char *name)
{
  GPtrArray *lines;

  g_mutex_lock (&lock);
  if (stores == NULL)
    stores =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  lines = g_hash_table_lookup (stores, name);
  if (lines == NULL)
    {
      lines = g_ptr_array_new_with_free_func (g_free);
      g_hash_table_insert (stores, g_strdup (name), lines);
    }
  g_mutex_unlock (&lock);
  return lines;
}

void
dlp_check_sink_clear (void)
{
  g_mutex_lock (&lock);
  g_clear_pointer (&stores, g_hash_table_unref);
  g_mutex_unlock (&lock);
}

void
dlp_check_sink_set_pipeline (DlpPipeline *pipeline)
{
  stopped = pipeline;
}

static void
append_list (GString *text, const DlpRecordBatch *batch, guint field, guint row, gboolean wide)
{
  gsize n;
  gconstpointer values = dlp_record_batch_get_list (batch, field, row, &n);

  for (gsize i = 0; i < n; i++)
    g_string_append_printf (text, " %u",
                            wide ? ((const guint32 *) values)[i] : ((const guint16 *) values)[i]);
}

static void
append_value (GString *text, const DlpRecordBatch *batch, guint field, guint row)
{
  DlpFieldType type = dlp_schema_get_field_type (dlp_record_batch_get_schema (batch), field);
  g_autofree char *escaped = NULL;
  gsize size;

  g_string_append_printf (
      text, " %s=", dlp_schema_get_field_name (dlp_record_batch_get_schema (batch), field));
  if (dlp_record_batch_is_null (batch, field, row))
    {
      g_string_append (text, "null");
      return;
    }
  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      {
        const guint8 *data = dlp_record_batch_get_value (batch, field, row, &size);

        escaped = g_base64_encode (data, size);
        g_string_append (text, escaped);
        break;
      }
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
      append_list (text, batch, field, row, type == DLP_FIELD_LIST_UINT32);
      break;
    case DLP_FIELD_BOOLEAN:
      g_string_append_printf (text, "%d", dlp_record_batch_get_boolean (batch, field, row));
      break;
    case DLP_FIELD_INT64:
      g_string_append_printf (text, "%" G_GINT64_FORMAT,
                              dlp_record_batch_get_int64 (batch, field, row));
      break;
    case DLP_FIELD_UINT64:
      g_string_append_printf (text, "%" G_GUINT64_FORMAT,
                              dlp_record_batch_get_uint64 (batch, field, row));
      break;
    case DLP_FIELD_DOUBLE:
      g_string_append_printf (text, "%.17g", dlp_record_batch_get_double (batch, field, row));
      break;
    }
}

char *
dlp_check_record_to_text (const DlpRecordBatch *batch, guint row)
{
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "[%u %u %u %" G_GUINT64_FORMAT " %u]", at->stage, at->source,
                          at->file, at->row, at->epoch);
  for (guint i = 0; i < dlp_schema_get_n_fields (dlp_record_batch_get_schema (batch)); i++)
    append_value (text, batch, i, row);
  return g_string_free (text, FALSE);
}

static gboolean
dlp_check_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  GPtrArray *lines = dlp_check_sink_get_lines (dlp_element_get_name (element));

  g_assert_cmpuint (lines->len, >=, DLP_CHECK_SINK (element)->count);
  g_ptr_array_set_size (lines, DLP_CHECK_SINK (element)->count);
  return TRUE;
}

static gboolean
dlp_check_sink_consume (DlpSink *sink,
                        DlpRecordBatch *batch,
                        guint row,
                        guint n,
                        GCancellable *cancellable,
                        GError **error)
{
  DlpCheckSink *self = DLP_CHECK_SINK (sink);
  GPtrArray *lines = dlp_check_sink_get_lines (dlp_element_get_name (DLP_ELEMENT (sink)));

  if (self->delay > 0)
    g_usleep (n * self->delay);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (lines, dlp_check_record_to_text (batch, row + i));
  self->count += n;
  self->consumed += n;
  if (self->stop_after > 0 && self->consumed >= self->stop_after)
    dlp_pipeline_stop (stopped);
  return TRUE;
}

static DlpState *
dlp_check_sink_save (DlpElement *element)
{
  return dlp_state_new (&DLP_CHECK_SINK (element)->count, sizeof (guint64));
}

static GVariant *
dlp_check_sink_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "count", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_check_sink_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "count", NULL };

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "count", G_MAXUINT64, &DLP_CHECK_SINK (element)->count,
                               error);
}

static void
dlp_check_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STOP_AFTER)
    DLP_CHECK_SINK (object)->stop_after = g_value_get_uint64 (value);
  else if (id == PROP_DELAY)
    DLP_CHECK_SINK (object)->delay = g_value_get_uint64 (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_check_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STOP_AFTER)
    g_value_set_uint64 (value, DLP_CHECK_SINK (object)->stop_after);
  else if (id == PROP_DELAY)
    g_value_set_uint64 (value, DLP_CHECK_SINK (object)->delay);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_check_sink_class_init (DlpCheckSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_check_sink_set_property;
  object_class->get_property = dlp_check_sink_get_property;
  element_class->start = dlp_check_sink_start;
  element_class->save = dlp_check_sink_save;
  element_class->describe = dlp_check_sink_describe;
  element_class->load = dlp_check_sink_load;
  DLP_SINK_CLASS (klass)->consume = dlp_check_sink_consume;

  properties[PROP_STOP_AFTER] =
      g_param_spec_uint64 ("stop-after", NULL, "Stop behind so many records; 0: do not", 0,
                           G_MAXUINT64, 0, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_DELAY] =
      g_param_spec_uint64 ("delay", NULL, "Time taken for each record, in microseconds", 0,
                           G_USEC_PER_SEC, 0, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_check_sink_init (DlpCheckSink *self)
{
}
