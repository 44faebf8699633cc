/* SPDX-License-Identifier: MIT */

#include "dlp-jsonl-sink.h"

#include <dlpipe/dlp-pad-template.h>

#include <string.h>

#include <dlpipe/dlp-manifest.h>
#include <dlpipe/dlp-upstream.h>

#include "json-row.h"
#include "jsonl-output.h"

struct _DlpJsonlSink
{
  DlpSink parent_instance;

  /* Properties. */
  char *location;
  char **fields;
  gboolean coordinates;

  /* Negotiated. */
  JsonRow *row;
  DlpUpstreamModel model;

  /* Between start() and stop(). */
  JsonlOutput *output;
  JsonWriter *writer;
  JsonlState loaded;
};

enum
{
  PROP_0,
  PROP_LOCATION,
  PROP_FIELDS,
  PROP_COORDINATES,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpJsonlSink, dlp_jsonl_sink, DLP_TYPE_SINK)

static gboolean
is_stdout (DlpJsonlSink *self)
{
  return g_strcmp0 (self->location, "-") == 0;
}

static char *
manifest_path (DlpJsonlSink *self)
{
  return g_strconcat (self->location, ".manifest.json", NULL);
}

static gboolean
dlp_jsonl_sink_negotiate (DlpElement *element, GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));

  if (self->location == NULL || self->location[0] == '\0' || g_str_has_suffix (self->location, "/"))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "location=%s: the name of a file is wanted, or - for the standard output",
                   self->location != NULL ? self->location : "");
      return FALSE;
    }
  if (!dlp_manifest_check_name (self->location, error))
    return FALSE;

  g_clear_pointer (&self->row, json_row_free);
  self->row =
      json_row_new (schema, (const char *const *) self->fields, NULL, self->coordinates, error);
  if (self->row == NULL)
    return FALSE;

  return !json_row_has_lists (self->row) ||
         dlp_element_find_upstream_model (element, &self->model, error);
}

/* ---- streaming ---- */

static gboolean
dlp_jsonl_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (element);
  DlpSinkAttempt attempt;
  const char *run_id = dlp_sink_get_run_id (DLP_SINK (self));

  dlp_sink_get_attempt (DLP_SINK (self), &attempt);
  if (self->loaded.finished)
    return TRUE;

  if (is_stdout (self))
    self->output = jsonl_output_stdout (error);
  else if (self->loaded.attempt == 0)
    self->output = jsonl_output_create (self->location, run_id, attempt.attempt, error);
  else
    self->output = jsonl_output_resume (self->location, run_id, &self->loaded, attempt.attempt,
                                        attempt.former_is_dead, cancellable, error);
  if (self->output == NULL)
    return FALSE;

  self->writer = json_writer_new (jsonl_output_write, self->output);
  return TRUE;
}

static void
dlp_jsonl_sink_stop (DlpElement *element)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (element);

  if (self->output != NULL)
    jsonl_output_get_state (self->output, &self->loaded);
  g_clear_pointer (&self->writer, json_writer_free);
  g_clear_pointer (&self->output, jsonl_output_free);
}

static gboolean
dlp_jsonl_sink_consume (DlpSink *sink,
                        DlpRecordBatch *batch,
                        guint row,
                        guint n,
                        GCancellable *cancellable,
                        GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);

  if (self->output == NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "its state says that it was finished, but there are more records");
      return FALSE;
    }

  json_writer_begin (self->writer, cancellable);
  for (guint i = 0; i < n; i++)
    json_row_write (self->row, self->writer, batch, row + i);
  jsonl_output_add_lines (self->output, n);
  dlp_sink_add_tokens (sink, json_row_count_values (self->row, batch, row, n));
  return json_writer_flush (self->writer, error);
}

static gboolean
dlp_jsonl_sink_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);

  return self->output == NULL || jsonl_output_flush (self->output, error);
}

static gboolean
dlp_jsonl_sink_drain (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);

  return self->output == NULL || jsonl_output_finish (self->output, error);
}

static gboolean
dlp_jsonl_sink_sync (DlpSink *sink,
                     const DlpState *state,
                     GCancellable *cancellable,
                     GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);

  /* Without an output the state is the one that was restored. */
  return self->output == NULL || jsonl_output_sync (self->output, error);
}

/* ---- state ---- */

static DlpState *
dlp_jsonl_sink_save (DlpElement *element)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (element);
  JsonlState state = self->loaded;

  if (self->output != NULL)
    jsonl_output_get_state (self->output, &state);
  return dlp_state_new (&state, sizeof state);
}

static GVariant *
dlp_jsonl_sink_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  jsonl_state_describe (dlp_state_get_data (state), &dict);
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_jsonl_sink_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  return dlp_state_check_keys (described, jsonl_state_keys, error) &&
         jsonl_state_load (&DLP_JSONL_SINK (element)->loaded, described, error);
}

/* ---- output ---- */

static GVariant *
make_manifest (DlpJsonlSink *self, const JsonlState *state)
{
  const DlpManifestFile file = { self->location, state->bytes, state->hash };
  GVariantBuilder builder;
  gboolean use_digest;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&builder, "{sv}", "documents", g_variant_new_uint64 (state->lines));
  if (json_row_has_lists (self->row))
    g_variant_builder_add (&builder, "{sv}", "tokens",
                           g_variant_new_uint64 (dlp_sink_get_n_tokens (DLP_SINK (self))));
  dlp_upstream_model_describe (&self->model, &builder);
  if (dlp_sink_is_finished_early (DLP_SINK (self)))
    g_variant_builder_add (&builder, "{sv}", "finished-early", g_variant_new_boolean (TRUE));

  g_object_get (self, "digest", &use_digest, NULL);
  if (use_digest)
    {
      DlpDigest digest;

      dlp_sink_get_digest (DLP_SINK (self), &digest);
      g_variant_builder_add (&builder, "{sv}", "digest",
                             g_variant_new_take_string (dlp_digest_to_string (&digest)));
    }
  return dlp_manifest_new ("jsonl", dlp_sink_get_run_id (DLP_SINK (self)), &file, 1,
                           g_variant_builder_end (&builder));
}

static gboolean
dlp_jsonl_sink_publish (DlpSink *sink,
                        const DlpState *saved,
                        gboolean complete,
                        GCancellable *cancellable,
                        GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);
  const JsonlState *state = dlp_state_get_data (saved);
  const char *run_id = dlp_sink_get_run_id (sink);
  g_autofree char *path = NULL;
  g_autoptr (GVariant) manifest = NULL;

  if (!complete || !state->finished || is_stdout (self))
    return TRUE;

  path = manifest_path (self);
  if (!dlp_manifest_check_run (path, run_id, error) ||
      !jsonl_output_publish (self->location, run_id, state, error))
    return FALSE;
  manifest = make_manifest (self, state);
  return dlp_manifest_write (path, manifest, error);
}

static char *
dlp_jsonl_sink_get_location (DlpSink *sink)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);

  return is_stdout (self) ? NULL : g_strdup (self->location);
}

static char **
dlp_jsonl_sink_list_files (DlpSink *sink)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);
  g_autofree char *manifest = NULL;

  if (self->location == NULL || is_stdout (self))
    return NULL;
  manifest = manifest_path (self);
  return g_strdupv ((char *[]){ self->location, manifest, NULL });
}

static gboolean
dlp_jsonl_sink_check_location (DlpSink *sink, gboolean overwrite, GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);
  g_autofree char *path = manifest_path (self);

  return is_stdout (self) ||
         dlp_sink_check_files (sink, path, (const char *const[]){ self->location, NULL }, overwrite,
                               error);
}

static gboolean
dlp_jsonl_sink_discard (DlpSink *sink, gboolean overwrite, GError **error)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (sink);
  g_autofree char *path = manifest_path (self);

  return is_stdout (self) ||
         dlp_sink_discard_files (sink, path, (const char *const[]){ self->location, NULL },
                                 overwrite, error);
}

static gboolean
dlp_jsonl_sink_is_resumable (DlpSink *sink)
{
  return !is_stdout (DLP_JSONL_SINK (sink));
}

static gboolean
dlp_jsonl_sink_merge (DlpSink *sink, DlpMerge *merge, GError **error)
{
  return dlp_merge_concatenate (merge, error);
}

/* ---- */

static void
dlp_jsonl_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (object);

  switch (id)
    {
    case PROP_LOCATION:
      g_free (self->location);
      self->location = g_value_dup_string (value);
      break;
    case PROP_FIELDS:
      g_strfreev (self->fields);
      self->fields = g_value_dup_boxed (value);
      break;
    case PROP_COORDINATES:
      self->coordinates = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_jsonl_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (object);

  switch (id)
    {
    case PROP_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case PROP_FIELDS:
      g_value_set_boxed (value, self->fields);
      break;
    case PROP_COORDINATES:
      g_value_set_boolean (value, self->coordinates);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_jsonl_sink_finalize (GObject *object)
{
  DlpJsonlSink *self = DLP_JSONL_SINK (object);

  g_clear_pointer (&self->writer, json_writer_free);
  g_clear_pointer (&self->output, jsonl_output_free);
  g_clear_pointer (&self->row, json_row_free);
  dlp_upstream_model_clear (&self->model);
  g_strfreev (self->fields);
  g_free (self->location);

  G_OBJECT_CLASS (dlp_jsonl_sink_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  properties[PROP_LOCATION] = g_param_spec_string (
      "location", NULL, "Name of the file; - for the standard output", NULL, DLP_PARAM_READWRITE);
  properties[PROP_FIELDS] = g_param_spec_boxed (
      "fields", NULL, "Field to be written, may be given several times; none: all of them",
      G_TYPE_STRV, DLP_PARAM_READWRITE);
  properties[PROP_COORDINATES] = g_param_spec_boolean (
      "coordinates", NULL, "Add stage, source, file, row, epoch and part to each line", FALSE,
      DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_jsonl_sink_class_init (DlpJsonlSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);
  DlpSinkClass *sink_class = DLP_SINK_CLASS (klass);

  object_class->set_property = dlp_jsonl_sink_set_property;
  object_class->get_property = dlp_jsonl_sink_get_property;
  object_class->finalize = dlp_jsonl_sink_finalize;

  element_class->negotiate = dlp_jsonl_sink_negotiate;
  element_class->start = dlp_jsonl_sink_start;
  element_class->stop = dlp_jsonl_sink_stop;
  element_class->save = dlp_jsonl_sink_save;
  element_class->describe = dlp_jsonl_sink_describe;
  element_class->load = dlp_jsonl_sink_load;
  element_class->state_version = element_class->state_oldest_version = 2;

  sink_class->consume = dlp_jsonl_sink_consume;
  sink_class->drain = dlp_jsonl_sink_drain;
  sink_class->flush = dlp_jsonl_sink_flush;
  sink_class->sync = dlp_jsonl_sink_sync;
  sink_class->publish = dlp_jsonl_sink_publish;
  sink_class->get_location = dlp_jsonl_sink_get_location;
  sink_class->list_files = dlp_jsonl_sink_list_files;
  sink_class->check_location = dlp_jsonl_sink_check_location;
  sink_class->discard = dlp_jsonl_sink_discard;
  sink_class->is_resumable = dlp_jsonl_sink_is_resumable;
  sink_class->merge = dlp_jsonl_sink_merge;

  install_properties (object_class);
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, NULL);
  dlp_element_class_set_description (element_class, "Writes records as lines of JSON",
                                     "file-source location=data/*.jsonl ! jsonl-reader "
                                     "! jsonl-sink location=out/all.jsonl coordinates=true");
}

static void
dlp_jsonl_sink_init (DlpJsonlSink *self)
{
}
