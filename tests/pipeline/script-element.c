/* SPDX-License-Identifier: MIT */

#include "script-element.h"

#include <string.h>

#include <dlpipe/dlp-plugin.h>

typedef struct
{
  ScriptStep step;
  ScriptStart start;
  gpointer data;
} ScriptElementPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (ScriptElement, script_element, DLP_TYPE_ELEMENT)

static gboolean
script_element_negotiate (DlpElement *element, GError **error)
{
  const char *names[] = { "text" };
  const DlpFieldType types[] = { DLP_FIELD_STRING };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);

  if (dlp_element_get_n_outputs (element) > 0)
    dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

static gboolean
script_element_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ScriptElementPrivate *priv = script_element_get_instance_private (SCRIPT_ELEMENT (element));

  return priv->start == NULL || priv->start (element, priv->data, error);
}

static DlpStep
script_element_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ScriptElementPrivate *priv = script_element_get_instance_private (SCRIPT_ELEMENT (element));

  return priv->step (element, priv->data, error);
}

static void
script_element_class_init (ScriptElementClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = script_element_negotiate;
  DLP_ELEMENT_CLASS (klass)->start = script_element_start;
  DLP_ELEMENT_CLASS (klass)->step = script_element_step;
}

static void
script_element_init (ScriptElement *self)
{
}

/* ---- with their pads ---- */

typedef ScriptElement ScriptSource;
typedef ScriptElementClass ScriptSourceClass;
typedef ScriptElement ScriptPipe;
typedef ScriptElementClass ScriptPipeClass;
typedef ScriptElement ScriptEnd;
typedef ScriptElementClass ScriptEndClass;

GType script_source_get_type (void);
GType script_pipe_get_type (void);
GType script_end_get_type (void);

G_DEFINE_TYPE (ScriptSource, script_source, SCRIPT_TYPE_ELEMENT)
G_DEFINE_TYPE (ScriptPipe, script_pipe, SCRIPT_TYPE_ELEMENT)
G_DEFINE_TYPE (ScriptEnd, script_end, SCRIPT_TYPE_ELEMENT)

static void
script_source_class_init (ScriptSourceClass *klass)
{
}

static void
script_source_init (ScriptSource *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

static void
script_pipe_class_init (ScriptPipeClass *klass)
{
}

static void
script_pipe_init (ScriptPipe *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

static void
script_end_class_init (ScriptEndClass *klass)
{
}

static void
script_end_init (ScriptEnd *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
}

void
script_register (void)
{
  g_assert_true (dlp_registry_add_element ("script-source", script_source_get_type (), NULL));
  g_assert_true (dlp_registry_add_element ("script-pipe", script_pipe_get_type (), NULL));
  g_assert_true (dlp_registry_add_element ("script-end", script_end_get_type (), NULL));
}

DlpElement *
script_add (DlpPipeline *pipeline,
            const char *factory,
            const char *name,
            ScriptStep step,
            gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpElement) element = dlp_element_new (factory, name, &error);
  ScriptElementPrivate *priv;

  g_assert_no_error (error);
  priv = script_element_get_instance_private (SCRIPT_ELEMENT (element));
  priv->step = step;
  priv->data = data;
  dlp_pipeline_add (pipeline, element, &error);
  g_assert_no_error (error);
  return element;
}

void
script_set_start (DlpElement *self, ScriptStart start)
{
  ScriptElementPrivate *priv = script_element_get_instance_private (SCRIPT_ELEMENT (self));

  priv->start = start;
}

void
script_link (DlpPipeline *pipeline, DlpElement *from, DlpElement *to)
{
  g_autoptr (GError) error = NULL;

  dlp_pipeline_link (pipeline, from, NULL, to, NULL, &error);
  g_assert_no_error (error);
}

void
script_emit (DlpElement *self, const char *text)
{
  const DlpCoordinate at = { 0 };
  DlpPad *pad = dlp_element_get_output (self, 0);

  dlp_record_batch_builder_append_value (dlp_pad_get_builder (pad), 0, text, strlen (text));
  dlp_pad_end_record (pad, &at);
}

gboolean
script_take (DlpElement *self)
{
  DlpPad *in = dlp_element_get_input (self, 0);
  guint row;

  if (dlp_pad_peek (in, &row) == NULL)
    return FALSE;
  dlp_pad_consume (in, 1);
  return TRUE;
}
