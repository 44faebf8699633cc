/* SPDX-License-Identifier: MIT */

/* Before a run begins: whether the first records of a source have what is wanted of them. */

#include <dlpipe/dlp-error.h>

#include "dlp-element-private.h"
#include "dlp-file-private.h"
#include "dlp-reader-private.h"
#include "dlp-setting-private.h"

/* Records are looked for in so many files, and of these in so many that have some. */
#define MAX_FILES 64
#define MAX_WITH_RECORDS 8
#define CHUNK_BYTES (64 * 1024)
/* What a decoder needs beyond this is out of memory meanwhile. */
#define STREAM_BYTES (8 * 1024 * 1024)

typedef enum
{
  LOOK_NOTHING, /* there is no record */
  LOOK_GOOD,    /* or what cannot be told, and is left to the run */
  LOOK_MISSING,
} Look;

/* A reader with the settings of one, which itself stays as it is: it counts what it parses. */
static DlpReader *
copy_reader (DlpReader *self)
{
  DlpReader *copy = g_object_new (G_OBJECT_TYPE (self), NULL);
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (self), &n);

  dlp_element_set_context (DLP_ELEMENT (copy), dlp_element_get_context (DLP_ELEMENT (self)));
  for (guint i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;

      if (g_type_is_a (DLP_TYPE_ELEMENT, pspecs[i]->owner_type) ||
          (pspecs[i]->flags & G_PARAM_READWRITE) != G_PARAM_READWRITE ||
          (pspecs[i]->flags & G_PARAM_CONSTRUCT_ONLY) != 0)
        continue;
      g_value_init (&value, pspecs[i]->value_type);
      g_object_get_property (G_OBJECT (self), pspecs[i]->name, &value);
      g_object_set_property (G_OBJECT (copy), pspecs[i]->name, &value);
    }
  return copy;
}

static bool
prepare (DlpReader *copy)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (copy);

  priv->schema = DLP_READER_GET_CLASS (copy)->get_schema (copy, NULL);
  priv->chunk_size = MIN (CHUNK_BYTES, priv->max_record_bytes);
  priv->piece_size = CHUNK_BYTES;
  priv->effective_read_size = CHUNK_BYTES;
  priv->stream_memory = STREAM_BYTES;
  return priv->schema != NULL;
}

/* Of records that were parsed: bad ones are left to the run, but where all of them lack the same.
 */
static Look
judge (DlpReader *copy, DlpReaderChunk *chunk, char **why)
{
  const DlpReaderReject *reject;

  if (chunk->batches->len > 0)
    return LOOK_GOOD;
  if (chunk->damage != NULL)
    {
      /* A header that has not what is wanted, unless such files are passed over. */
      if (chunk->header == NULL || chunk->rows > 0 ||
          dlp_reader_get_private (copy)->on_damaged_file == DLP_DAMAGED_FILE_KEEP)
        return LOOK_GOOD;
      *why = g_strdup (chunk->damage);
      return LOOK_MISSING;
    }
  while ((reject = dlp_reader_rejects_peek (&chunk->rejects, chunk->data)) != NULL)
    {
      if (g_strcmp0 (reject->kind, "missing") != 0)
        return LOOK_GOOD;
      if (*why == NULL)
        *why = g_strdup (reject->message);
      dlp_reader_rejects_pass (&chunk->rejects);
    }
  return *why != NULL ? LOOK_MISSING : LOOK_NOTHING;
}

static Look
look_at_chunk (DlpReader *copy, DlpReaderChunk *chunk, char **why)
{
  DlpReaderClass *klass = DLP_READER_GET_CLASS (copy);
  g_autoptr (DlpRecordBatchBuilder) builder =
      dlp_record_batch_builder_new (dlp_reader_get_private (copy)->schema);
  gpointer worker;

  if (!dlp_reader_chunk_has_work (chunk))
    return LOOK_GOOD;
  worker = klass->worker_new != NULL ? klass->worker_new (copy) : NULL;
  dlp_reader_chunk_parse (chunk, worker, builder);
  if (klass->worker_free != NULL)
    klass->worker_free (copy, worker);
  return judge (copy, chunk, why);
}

/* A file that the class opens says by itself what it has. */
static Look
look_into_file (DlpReader *copy, DlpFile *file, GCancellable *cancellable, char **why)
{
  DlpReaderClass *klass = DLP_READER_GET_CLASS (copy);
  g_autoptr (GError) error = NULL;
  gpointer opened = klass->open_file (copy, file, 0, cancellable, &error);

  if (opened != NULL)
    klass->close_file (copy, opened);
  if (!g_error_matches (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE))
    return LOOK_GOOD;
  *why = g_strdup (error->message);
  return LOOK_MISSING;
}

/* Faults of all other kinds are the run's to say. */
static Look
look_at_file (DlpReader *copy, DlpFile *file, GCancellable *cancellable, char **why)
{
  static const DlpCoordinate nowhere;
  DlpReaderLane *lane = dlp_reader_lane_new (copy, 0, file, &nowhere);
  DlpReaderChunk *chunk;
  Look look = LOOK_NOTHING;

  lane->is_probe = true;
  while (look == LOOK_NOTHING && (chunk = dlp_reader_lane_fill (lane, false, cancellable)) != NULL)
    {
      look = look_at_chunk (copy, chunk, why);
      dlp_reader_chunk_free (chunk);
    }
  if (lane->paused || lane->failed != NULL)
    look = look == LOOK_NOTHING ? LOOK_GOOD : look;
  dlp_reader_lane_free (lane);
  return look;
}

static Look
look (DlpReader *copy, DlpFile *file, GCancellable *cancellable, char **why)
{
  /* What can be read only once is left to the run. */
  if (dlp_file_get_size (file) < 0)
    return LOOK_GOOD;
  return dlp_reader_opens_files (copy) ? look_into_file (copy, file, cancellable, why) :
                                         look_at_file (copy, file, cancellable, why);
}

/* (transfer full): as the run will open it, by the settings of its source. */
static DlpFile *
make_file (DlpReader *self, DlpSource *source, DlpFile *file)
{
  DlpElement *element = DLP_ELEMENT (source);
  DlpCoordinate of = { .stage = dlp_element_get_stage (element),
                       .source = dlp_element_get_ordinal (element) };
  const char *uri = dlp_file_get_uri (file);
  DlpFile *made = dlp_file_new (uri, dlp_file_get_size (file), dlp_file_get_identity (file));

  dlp_file_set_scheme (made, dlp_element_find_file_scheme (DLP_ELEMENT (self), &of, uri));
  return made;
}

static void
fail (DlpReader *self, DlpSource *source, const char *why, GString *tried, GError **error)
{
  DlpElement *element = DLP_ELEMENT (source);

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: what is wanted is in no record of %s (stage %u, source %u): %s; tried %s",
               dlp_element_get_name (DLP_ELEMENT (self)), dlp_element_get_name (element),
               dlp_element_get_stage (element), dlp_element_get_ordinal (element), why, tried->str);
}

static bool
look_at_source (DlpReader *self,
                DlpReader *copy,
                DlpSource *source,
                GCancellable *cancellable,
                GError **error)
{
  DlpSourceClass *klass = DLP_SOURCE_GET_CLASS (source);
  g_autoptr (GString) tried = g_string_new (NULL);
  g_autofree char *why = NULL;
  guint n_missing = 0;
  DlpFile *file;

  for (guint i = 0; i < MAX_FILES && n_missing < MAX_WITH_RECORDS &&
                    (file = klass->get_file (source, i)) != NULL;
       i++)
    {
      g_autofree char *name = dlp_uri_escape_for_display (dlp_file_get_uri (file));
      g_autofree char *message = NULL;
      g_autoptr (DlpFile) own = make_file (self, source, file);
      Look found = look (copy, own, cancellable, &message);

      if (found == LOOK_GOOD)
        return true;
      g_string_append_printf (tried, "%s%s", tried->len > 0 ? ", " : "", name);
      n_missing += found == LOOK_MISSING;
      if (why == NULL)
        why = g_steal_pointer (&message);
    }
  if (why != NULL)
    fail (self, source, why, tried, error);
  return why == NULL;
}

bool
dlp_reader_probe (DlpReader *self, DlpSource *source, GCancellable *cancellable, GError **error)
{
  g_autoptr (DlpReader) copy = copy_reader (self);

  return !prepare (copy) || look_at_source (self, copy, source, cancellable, error);
}

bool
dlp_reader_can_probe (DlpReader *self, DlpSource **source)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpElement *producer = priv->in->peer != NULL ? priv->in->peer->element : NULL;

  /* Where all records may be bad, nothing is to be found; a class of a program's own may not like
   * to be made once more. */
  if (producer == NULL || !DLP_IS_SOURCE (producer) ||
      DLP_SOURCE_GET_CLASS (producer)->get_file == NULL || priv->max_bad_ratio >= 1 ||
      dlp_element_get_private (DLP_ELEMENT (self))->plugin == NULL)
    return false;
  *source = DLP_SOURCE (producer);
  return true;
}
