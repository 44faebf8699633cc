/* SPDX-License-Identifier: MIT */

#include "dlp-null-sink.h"

struct _DlpNullSink
{
  DlpSink parent_instance;

  int tokens; /* the field; -1: there is none */
};

G_DEFINE_FINAL_TYPE (DlpNullSink, dlp_null_sink, DLP_TYPE_SINK)

static gboolean
dlp_null_sink_negotiate (DlpElement *element, GError **error)
{
  DlpNullSink *self = DLP_NULL_SINK (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));
  DlpFieldType type;

  self->tokens = dlp_schema_find (schema, "tokens");
  if (self->tokens < 0)
    return TRUE;

  type = dlp_schema_get_field_type (schema, (guint) self->tokens);
  if (type != DLP_FIELD_LIST_UINT16 && type != DLP_FIELD_LIST_UINT32 &&
      type != DLP_FIELD_LIST_INT32)
    self->tokens = -1;
  return TRUE;
}

static gboolean
dlp_null_sink_consume (DlpSink *sink,
                       DlpRecordBatch *batch,
                       guint row,
                       guint n,
                       GCancellable *cancellable,
                       GError **error)
{
  DlpNullSink *self = DLP_NULL_SINK (sink);
  guint64 tokens = 0;

  if (self->tokens < 0)
    return TRUE;

  for (guint i = 0; i < n; i++)
    {
      gsize length;

      dlp_record_batch_get_list (batch, (guint) self->tokens, row + i, &length);
      tokens += length;
    }
  dlp_sink_add_tokens (sink, tokens);
  return TRUE;
}

static void
dlp_null_sink_class_init (DlpNullSinkClass *klass)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  element_class->negotiate = dlp_null_sink_negotiate;
  DLP_SINK_CLASS (klass)->consume = dlp_null_sink_consume;
  dlp_element_class_set_description (
      element_class, "Counts records and tokens, keeps their digest, writes nothing",
      "file-source location=data/*.jsonl ! jsonl-reader ! null-sink");
}

static void
dlp_null_sink_init (DlpNullSink *self)
{
}
