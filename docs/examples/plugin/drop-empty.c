/* SPDX-License-Identifier: MIT */
/* drop-empty: drops records whose field `text` is empty. */

#include <dlpipe/dlpipe.h>

G_DECLARE_FINAL_TYPE (DropEmpty, drop_empty, DROP, EMPTY, DlpTransform)

struct _DropEmpty
{
  DlpTransform parent_instance;
  int text; /* the field */
};

static const char *const counters[] = { "dropped", NULL };

G_DEFINE_FINAL_TYPE (DropEmpty, drop_empty, DLP_TYPE_TRANSFORM)

static gboolean
drop_empty_negotiate (DlpElement *element, GError **error)
{
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));
  int text = dlp_schema_find (schema, "text");

  DROP_EMPTY (element)->text = text;
  if (text >= 0 && dlp_schema_get_field_type (schema, (guint) text) == DLP_FIELD_STRING)
    return DLP_ELEMENT_CLASS (drop_empty_parent_class)->negotiate (element, error);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
               "needs a field “text” of type string: put it behind a reader");
  return FALSE;
}

static gboolean
drop_empty_process (DlpTransform *transform,
                    gpointer worker,
                    DlpRecordBatch *batch,
                    guint64 first,
                    DlpTransformOutput *output,
                    GError **error)
{
  guint text = (guint) DROP_EMPTY (transform)->text;
  DlpRecordBatchBuilder *builder = dlp_transform_output_get_builder (output, 0);

  for (guint row = 0; row < dlp_record_batch_get_length (batch); row++)
    {
      gsize size;

      dlp_record_batch_get_value (batch, text, row, &size);
      if (size == 0)
        dlp_transform_output_count (output, 0, 1);
      else
        dlp_record_batch_builder_append_rows (builder, batch, row, 1);
    }
  return TRUE;
}

static void
drop_empty_class_init (DropEmptyClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = drop_empty_negotiate;
  DLP_TRANSFORM_CLASS (klass)->counters = counters;
  DLP_TRANSFORM_CLASS (klass)->process = drop_empty_process;
  dlp_element_class_set_description (DLP_ELEMENT_CLASS (klass), "Drops empty records",
                                     "... ! jsonl-reader ! drop-empty ! null-sink");
}

static void
drop_empty_init (DropEmpty *self)
{
}

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "drop-empty", drop_empty_get_type (), error);
}

DLP_PLUGIN_DEFINE ("drop-empty", "Drops empty records", "1.0", "MIT", init)
