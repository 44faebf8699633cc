/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-file-sink.h>

#include <string.h>

#include <dlpipe/dlp-manifest.h>

typedef struct
{
  guint64 attempt; /* whose unfinished file it is; 0: none yet */
  guint64 bytes;
  guint64 hash;  /* of the file; see DlpFileHash */
  guint64 chain; /* of its whole blocks */
  guint64 finished;
} FileState;

typedef struct
{
  char *location;
  DlpOutputFile *file; /* between start() and stop() */
  DlpFileHash *hash;
  FileState state;
} DlpFileSinkPrivate;

enum
{
  PROP_0,
  PROP_LOCATION,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static const char *const state_keys[] = { "attempt", "bytes", "hash", "chain", "finished", NULL };

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (DlpFileSink, dlp_file_sink, DLP_TYPE_SINK)

static DlpFileSinkPrivate *
get_private (gpointer self)
{
  return dlp_file_sink_get_instance_private (DLP_FILE_SINK (self));
}

static char *
manifest_path (DlpFileSinkPrivate *priv)
{
  return g_strconcat (priv->location, ".manifest.json", NULL);
}

static gboolean
dlp_file_sink_negotiate (DlpElement *element, GError **error)
{
  DlpFileSinkPrivate *priv = get_private (element);

  if (priv->location == NULL || priv->location[0] == '\0' || g_str_has_suffix (priv->location, "/"))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "location=%s: the name of a file is wanted",
                   priv->location != NULL ? priv->location : "");
      return FALSE;
    }
  return dlp_manifest_check_name (priv->location, error);
}

/* ---- streaming ---- */

static gboolean
open_file (DlpSink *sink, DlpFileSinkPrivate *priv, GCancellable *cancellable, GError **error)
{
  DlpSinkAttempt attempt;
  const char *run_id = dlp_sink_get_run_id (sink);

  dlp_sink_get_attempt (sink, &attempt);
  if (priv->state.attempt == 0)
    {
      priv->hash = dlp_file_hash_new ();
      priv->file = dlp_output_file_create (priv->location, run_id, attempt.attempt, error);
      return priv->file != NULL;
    }
  priv->file =
      dlp_output_file_resume (priv->location, run_id, attempt.attempt, (guint) priv->state.attempt,
                              attempt.former_is_dead, priv->state.bytes, error);
  if (priv->file == NULL)
    return FALSE;
  priv->hash =
      dlp_file_hash_resume (dlp_output_file_get_partial_path (priv->file), priv->state.bytes,
                            priv->state.chain, priv->state.hash, cancellable, error);
  return priv->hash != NULL;
}

static gboolean
dlp_file_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpFileSinkClass *klass = DLP_FILE_SINK_GET_CLASS (element);
  DlpFileSinkPrivate *priv = get_private (element);
  gboolean is_new = priv->state.attempt == 0;
  DlpSinkAttempt attempt;

  if (priv->state.finished)
    return TRUE;
  if (!open_file (DLP_SINK (element), priv, cancellable, error))
    return FALSE;
  dlp_sink_get_attempt (DLP_SINK (element), &attempt);
  priv->state.attempt = attempt.attempt;
  return !is_new || klass->write_begin == NULL ||
         klass->write_begin (DLP_FILE_SINK (element), error);
}

static void
save_hash (DlpFileSinkPrivate *priv)
{
  if (priv->hash == NULL)
    return;
  priv->state.hash = dlp_file_hash_get (priv->hash);
  priv->state.chain = dlp_file_hash_get_chain (priv->hash);
}

static void
dlp_file_sink_stop (DlpElement *element)
{
  DlpFileSinkPrivate *priv = get_private (element);

  save_hash (priv);
  g_clear_pointer (&priv->file, dlp_output_file_free);
  g_clear_pointer (&priv->hash, dlp_file_hash_free);
}

gboolean
dlp_file_sink_write (DlpFileSink *self, gconstpointer data, gsize size, GError **error)
{
  DlpFileSinkPrivate *priv;

  g_return_val_if_fail (DLP_IS_FILE_SINK (self) && (data != NULL || size == 0), FALSE);

  priv = get_private (self);
  if (priv->file == NULL)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                   "dlp_file_sink_write() is called while there is no file to write to");
      return FALSE;
    }
  priv->state.bytes += size;
  dlp_file_hash_update (priv->hash, data, size);
  return dlp_output_file_write (priv->file, data, size, error);
}

static gboolean
dlp_file_sink_consume (DlpSink *sink,
                       DlpRecordBatch *batch,
                       guint row,
                       guint n,
                       GCancellable *cancellable,
                       GError **error)
{
  DlpFileSinkPrivate *priv = get_private (sink);

  if (priv->file == NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "its state says that it was finished, but there are more records");
      return FALSE;
    }
  return DLP_FILE_SINK_GET_CLASS (sink)->write_rows (DLP_FILE_SINK (sink), batch, row, n, error);
}

static gboolean
dlp_file_sink_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  DlpFileSinkPrivate *priv = get_private (sink);

  return priv->file == NULL || dlp_output_file_flush (priv->file, error);
}

static gboolean
dlp_file_sink_drain (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  DlpFileSinkClass *klass = DLP_FILE_SINK_GET_CLASS (sink);
  DlpFileSinkPrivate *priv = get_private (sink);

  if (priv->file == NULL || priv->state.finished)
    return TRUE;
  if ((klass->write_end != NULL && !klass->write_end (DLP_FILE_SINK (sink), error)) ||
      !dlp_output_file_flush (priv->file, error))
    return FALSE;
  priv->state.finished = TRUE;
  return TRUE;
}

static gboolean
dlp_file_sink_sync (DlpSink *sink, const DlpState *state, GCancellable *cancellable, GError **error)
{
  DlpFileSinkPrivate *priv = get_private (sink);

  /* Without a file the state is the one that was restored. */
  return priv->file == NULL || dlp_output_file_sync (priv->file, error);
}

/* ---- state ---- */

static DlpState *
dlp_file_sink_save (DlpElement *element)
{
  DlpFileSinkPrivate *priv = get_private (element);

  save_hash (priv);
  return dlp_state_new (&priv->state, sizeof priv->state);
}

static GVariant *
dlp_file_sink_describe (DlpElement *element, const DlpState *saved)
{
  const FileState *state = dlp_state_get_data (saved);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "attempt", "t", state->attempt);
  g_variant_dict_insert (&dict, "bytes", "t", state->bytes);
  g_variant_dict_insert (&dict, "hash", "t", state->hash);
  g_variant_dict_insert (&dict, "chain", "t", state->chain);
  g_variant_dict_insert (&dict, "finished", "t", state->finished);
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_file_sink_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  FileState *state = &get_private (element)->state;

  return dlp_state_check_keys (described, state_keys, error) &&
         dlp_state_get_uint64 (described, "attempt", G_MAXUINT32, &state->attempt, error) &&
         dlp_state_get_uint64 (described, "bytes", G_MAXINT64, &state->bytes, error) &&
         dlp_state_get_uint64 (described, "hash", G_MAXUINT64, &state->hash, error) &&
         dlp_state_get_uint64 (described, "chain", G_MAXUINT64, &state->chain, error) &&
         dlp_state_get_uint64 (described, "finished", 1, &state->finished, error);
}

/* ---- output ---- */

static GVariant *
make_manifest (DlpSink *sink, DlpFileSinkPrivate *priv, const FileState *state)
{
  const DlpManifestFile file = { priv->location, state->bytes, state->hash };
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&builder, "{sv}", "documents",
                         g_variant_new_uint64 (dlp_sink_get_n_records (sink)));
  if (dlp_sink_is_finished_early (sink))
    g_variant_builder_add (&builder, "{sv}", "finished-early", g_variant_new_boolean (TRUE));
  return dlp_manifest_new (DLP_FILE_SINK_GET_CLASS (sink)->format, dlp_sink_get_run_id (sink),
                           &file, 1, g_variant_builder_end (&builder));
}

static gboolean
dlp_file_sink_publish (DlpSink *sink,
                       const DlpState *saved,
                       gboolean complete,
                       GCancellable *cancellable,
                       GError **error)
{
  DlpFileSinkPrivate *priv = get_private (sink);
  const FileState *state = dlp_state_get_data (saved);
  const char *run_id = dlp_sink_get_run_id (sink);
  g_autofree char *path = manifest_path (priv);
  g_autoptr (GVariant) manifest = NULL;

  if (!complete || !state->finished)
    return TRUE;
  if (!dlp_manifest_check_run (path, run_id, error) ||
      !dlp_output_file_publish (priv->location, run_id, (guint) state->attempt, state->bytes,
                                error) ||
      !dlp_output_file_clean (priv->location, run_id, 0, error))
    return FALSE;
  manifest = make_manifest (sink, priv, state);
  return dlp_manifest_write (path, manifest, error);
}

static char *
dlp_file_sink_get_location (DlpSink *sink)
{
  return g_strdup (get_private (sink)->location);
}

static char **
dlp_file_sink_list_files (DlpSink *sink)
{
  DlpFileSinkPrivate *priv = get_private (sink);
  g_autofree char *manifest = NULL;

  if (priv->location == NULL)
    return NULL;
  manifest = manifest_path (priv);
  return g_strdupv ((char *[]){ priv->location, manifest, NULL });
}

static gboolean
dlp_file_sink_check_location (DlpSink *sink, gboolean overwrite, GError **error)
{
  DlpFileSinkPrivate *priv = get_private (sink);
  g_autofree char *path = manifest_path (priv);

  return dlp_sink_check_files (sink, path, (const char *const[]){ priv->location, NULL }, overwrite,
                               error);
}

static gboolean
dlp_file_sink_discard (DlpSink *sink, gboolean overwrite, GError **error)
{
  DlpFileSinkPrivate *priv = get_private (sink);
  g_autofree char *path = manifest_path (priv);

  return dlp_sink_discard_files (sink, path, (const char *const[]){ priv->location, NULL },
                                 overwrite, error);
}

/* What has a beginning or an end would have them in the middle. */
static gboolean
dlp_file_sink_check_merge (DlpSink *sink, GError **error)
{
  DlpFileSinkClass *klass = DLP_FILE_SINK_GET_CLASS (sink);

  if (klass->write_begin == NULL && klass->write_end == NULL)
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: files of the format %s have a beginning or an end of their own, so that parts "
               "one behind the other are none; leave them as they are (without --merge)",
               dlp_element_get_name (DLP_ELEMENT (sink)), klass->format);
  return FALSE;
}

static gboolean
dlp_file_sink_merge (DlpSink *sink, DlpMerge *merge, GError **error)
{
  return dlp_merge_concatenate (merge, error);
}

/* ---- */

static void
dlp_file_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpFileSinkPrivate *priv = get_private (object);

  if (id != PROP_LOCATION)
    {
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }
  g_free (priv->location);
  priv->location = g_value_dup_string (value);
}

static void
dlp_file_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_LOCATION)
    g_value_set_string (value, get_private (object)->location);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_file_sink_finalize (GObject *object)
{
  DlpFileSinkPrivate *priv = get_private (object);

  g_clear_pointer (&priv->file, dlp_output_file_free);
  g_clear_pointer (&priv->hash, dlp_file_hash_free);
  g_free (priv->location);
  G_OBJECT_CLASS (dlp_file_sink_parent_class)->finalize (object);
}

static void
dlp_file_sink_class_init (DlpFileSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);
  DlpSinkClass *sink_class = DLP_SINK_CLASS (klass);

  object_class->set_property = dlp_file_sink_set_property;
  object_class->get_property = dlp_file_sink_get_property;
  object_class->finalize = dlp_file_sink_finalize;
  element_class->negotiate = dlp_file_sink_negotiate;
  element_class->start = dlp_file_sink_start;
  element_class->stop = dlp_file_sink_stop;
  element_class->save = dlp_file_sink_save;
  element_class->describe = dlp_file_sink_describe;
  element_class->load = dlp_file_sink_load;
  sink_class->consume = dlp_file_sink_consume;
  sink_class->drain = dlp_file_sink_drain;
  sink_class->flush = dlp_file_sink_flush;
  sink_class->sync = dlp_file_sink_sync;
  sink_class->publish = dlp_file_sink_publish;
  sink_class->get_location = dlp_file_sink_get_location;
  sink_class->list_files = dlp_file_sink_list_files;
  sink_class->check_location = dlp_file_sink_check_location;
  sink_class->discard = dlp_file_sink_discard;
  sink_class->check_merge = dlp_file_sink_check_merge;
  sink_class->merge = dlp_file_sink_merge;

  properties[PROP_LOCATION] =
      g_param_spec_string ("location", NULL, "Name of the file", NULL, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_file_sink_init (DlpFileSink *self)
{
}
