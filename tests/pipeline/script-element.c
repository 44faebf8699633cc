/* SPDX-License-Identifier: MIT */

#include "script-element.h"

#include <string.h>

#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-sink.h>

typedef struct
{
  ScriptStep step;
  ScriptStart start;
  ScriptStart negotiate;
  gpointer data;
} Script;

static Script *
get_script (DlpElement *element)
{
  return g_object_get_data (G_OBJECT (element), "script");
}

static gboolean
script_negotiate (DlpElement *element, GError **error)
{
  const char *names[] = { "text" };
  const DlpFieldType types[] = { DLP_FIELD_STRING };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);

  Script *script = get_script (element);

  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    dlp_pad_set_schema (dlp_element_get_output (element, i), schema);
  return script->negotiate == NULL || script->negotiate (element, script->data, error);
}

static gboolean
script_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  Script *script = get_script (element);

  return script->start == NULL || script->start (element, script->data, error);
}

static DlpStep
script_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  Script *script = get_script (element);

  return script->step (element, script->data, error);
}

static void
script_class_init (DlpElementClass *klass)
{
  klass->negotiate = script_negotiate;
  klass->start = script_start;
  klass->step = script_step;
}

/* ---- with their pads ---- */

typedef DlpElement ScriptSource;
typedef DlpElementClass ScriptSourceClass;
typedef DlpElement ScriptPipe;
typedef DlpElementClass ScriptPipeClass;
typedef DlpSink ScriptEnd;
typedef DlpSinkClass ScriptEndClass;

GType script_source_get_type (void);
GType script_pipe_get_type (void);
GType script_end_get_type (void);

G_DEFINE_TYPE (ScriptSource, script_source, DLP_TYPE_ELEMENT)
G_DEFINE_TYPE (ScriptPipe, script_pipe, DLP_TYPE_ELEMENT)
G_DEFINE_TYPE (ScriptEnd, script_end, DLP_TYPE_SINK)

static void
script_source_class_init (ScriptSourceClass *klass)
{
  script_class_init (klass);
}

static void
script_source_init (ScriptSource *self)
{
  dlp_element_add_pad (self, "out", DLP_PAD_OUTPUT);
}

static void
script_pipe_class_init (ScriptPipeClass *klass)
{
  script_class_init (klass);
}

static void
script_pipe_init (ScriptPipe *self)
{
  dlp_element_add_pad (self, "in", DLP_PAD_INPUT);
  dlp_element_add_pad (self, "out", DLP_PAD_OUTPUT);
}

static void
script_end_class_init (ScriptEndClass *klass)
{
  script_class_init (DLP_ELEMENT_CLASS (klass));
}

static void
script_end_init (ScriptEnd *self)
{
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
  g_autoptr (DlpElement) element = dlp_element_make (factory, name, &error);
  Script *script = g_new0 (Script, 1);

  g_assert_no_error (error);
  script->step = step;
  script->data = data;
  g_object_set_data_full (G_OBJECT (element), "script", script, g_free);
  dlp_pipeline_add (pipeline, element, &error);
  g_assert_no_error (error);
  return element;
}

void
script_set_start (DlpElement *self, ScriptStart start)
{
  get_script (self)->start = start;
}

void
script_set_negotiate (DlpElement *self, ScriptStart negotiate)
{
  get_script (self)->negotiate = negotiate;
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
