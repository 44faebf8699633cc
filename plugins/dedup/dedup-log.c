/* SPDX-License-Identifier: MIT */

#include "dedup-log.h"

#include <dlpipe/dlp-error.h>

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FILES_TYPE G_VARIANT_TYPE ("a(sts)")
#define PIECE_KEYS (64 * 1024 / sizeof (DedupKey))
/* A file of a former attempt that is smaller than what comes behind it, and so much, is copied. So
 * their number is bounded, however often a run was killed, and a large one is copied rarely. */
#define COPY_BYTES ((guint64) 64 * 1024 * 1024)

/* A file of a former attempt. */
typedef struct
{
  DlpStateFile *file;
  guint64 n_keys;
  char *hash;
} Segment;

struct _DedupLog
{
  DlpElement *element; /* (transfer none) */
  GPtrArray *segments; /* of Segment: as they were loaded */
  guint n_kept;        /* how many of them were not copied */
  guint64 base;        /* hashes in those */

  DlpStateFile *file; /* (nullable): this attempt's */
  XXH3_state_t *hash; /* of what is in it */
  guint64 n_keys;     /* in all */
};

/* Keys are written as they are in memory. */
G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);
G_STATIC_ASSERT (sizeof (DedupKey) == 16);

static void
segment_free (gpointer data)
{
  Segment *self = data;

  dlp_state_file_unref (self->file);
  g_free (self->hash);
  g_free (self);
}

DedupLog *
dedup_log_new (DlpElement *element)
{
  DedupLog *self = g_new0 (DedupLog, 1);

  self->element = element;
  self->segments = g_ptr_array_new_with_free_func (segment_free);
  self->hash = XXH3_createState ();
  XXH3_128bits_reset (self->hash);
  return self;
}

void
dedup_log_free (DedupLog *self)
{
  g_ptr_array_unref (self->segments);
  g_clear_pointer (&self->file, dlp_state_file_unref);
  XXH3_freeState (self->hash);
  g_free (self);
}

/* ---- files of former attempts ---- */

static gboolean
load_segment (DedupLog *self, GVariant *described, GError **error)
{
  DlpStateFile *file;
  Segment *segment;
  const char *name, *hash;
  guint64 size;

  g_variant_get (described, "(&st&s)", &name, &size, &hash);
  if (size % sizeof (DedupKey) != 0)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “state-files”: %s has %" G_GUINT64_FORMAT
                   " bytes, which are no whole hashes of %zu bytes",
                   name, size, sizeof (DedupKey));
      return FALSE;
    }
  file = dlp_state_file_open (self->element, described, error);
  if (file == NULL)
    return FALSE;
  segment = g_new0 (Segment, 1);
  segment->file = file;
  segment->n_keys = size / sizeof (DedupKey);
  segment->hash = g_strdup (hash);
  g_ptr_array_add (self->segments, segment);
  self->n_keys += segment->n_keys;
  return TRUE;
}

gboolean
dedup_log_load (DedupLog *self, GVariant *files, guint64 n_keys, GError **error)
{
  GVariantIter iter;
  GVariant *described;
  gboolean ok = TRUE;

  g_variant_iter_init (&iter, files);
  while (ok && (described = g_variant_iter_next_value (&iter)) != NULL)
    {
      ok = load_segment (self, described, error);
      g_variant_unref (described);
    }
  if (!ok || self->n_keys == n_keys)
    return ok;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “state-files”: the files have %" G_GUINT64_FORMAT " hashes; %" G_GUINT64_FORMAT
               " records were kept that have one",
               self->n_keys, n_keys);
  return FALSE;
}

/* How many of them stay as they are. */
static guint
count_kept (const DedupLog *self)
{
  guint64 behind = COPY_BYTES / sizeof (DedupKey);
  guint n = self->segments->len;

  for (; n > 0; n--)
    {
      const Segment *segment = g_ptr_array_index (self->segments, n - 1);

      if (segment->n_keys >= behind)
        break;
      behind += segment->n_keys;
    }
  return n;
}

static gboolean
append (DedupLog *self, const DedupKey *keys, gsize n, GError **error)
{
  if (!dlp_state_file_append (self->file, keys, n * sizeof *keys, error))
    return FALSE;
  XXH3_128bits_update (self->hash, keys, n * sizeof *keys);
  return TRUE;
}

static gboolean
read_keys (Segment *segment, guint64 at, DedupKey *keys, gsize n, GError **error)
{
  gssize size =
      dlp_state_file_read (segment->file, at * sizeof *keys, keys, n * sizeof *keys, error);

  if (size < 0)
    return FALSE;
  if ((gsize) size == n * sizeof *keys)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "%s: it ends before its %" G_GUINT64_FORMAT " hashes",
               dlp_state_file_get_name (segment->file), segment->n_keys);
  return FALSE;
}

static gboolean
read_segment (DedupLog *self,
              Segment *segment,
              gboolean copy,
              DedupLogFunc func,
              gpointer data,
              GCancellable *cancellable,
              GError **error)
{
  g_autofree DedupKey *keys = g_new (DedupKey, PIECE_KEYS);

  for (guint64 at = 0; at < segment->n_keys;)
    {
      gsize n = (gsize) MIN (PIECE_KEYS, segment->n_keys - at);

      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !read_keys (segment, at, keys, n, error) || !func (keys, n, data, error) ||
          (copy && !append (self, keys, n, error)))
        return FALSE;
      at += n;
    }
  return TRUE;
}

/* ---- this attempt's ---- */

gboolean
dedup_log_begin (DedupLog *self,
                 DedupLogFunc func,
                 gpointer data,
                 GCancellable *cancellable,
                 GError **error)
{
  self->file = dlp_state_file_new (self->element, error);
  if (self->file == NULL)
    return FALSE;
  self->n_kept = count_kept (self);
  for (guint i = 0; i < self->segments->len; i++)
    {
      Segment *segment = g_ptr_array_index (self->segments, i);

      if (!read_segment (self, segment, i >= self->n_kept, func, data, cancellable, error))
        return FALSE;
      if (i < self->n_kept)
        self->base += segment->n_keys;
    }
  return TRUE;
}

gboolean
dedup_log_append (DedupLog *self, const DedupKey *keys, gsize n, GError **error)
{
  if (n > 0 && !append (self, keys, n, error))
    return FALSE;
  self->n_keys += n;
  return TRUE;
}

void
dedup_log_get_mark (const DedupLog *self, DedupLogMark *mark)
{
  XXH128_hash_t hash = XXH3_128bits_digest (self->hash);

  mark->n_keys = self->n_keys;
  mark->hash[0] = hash.high64;
  mark->hash[1] = hash.low64;
  mark->is_begun = self->file != NULL;
}

/* Once there is a file of this attempt it is named, also while nothing of it counts: its name says
 * which files are older. */
GVariant *
dedup_log_describe (const DedupLog *self, const DedupLogMark *mark)
{
  guint n = mark->is_begun ? self->n_kept : self->segments->len;
  GVariantBuilder builder;

  g_variant_builder_init (&builder, FILES_TYPE);
  for (guint i = 0; i < n; i++)
    {
      const Segment *segment = g_ptr_array_index (self->segments, i);

      g_variant_builder_add (&builder, "(sts)", dlp_state_file_get_name (segment->file),
                             segment->n_keys * sizeof (DedupKey), segment->hash);
    }
  if (mark->is_begun)
    {
      g_autofree char *hash = g_strdup_printf (
          "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", mark->hash[0], mark->hash[1]);

      g_variant_builder_add (&builder, "(sts)", dlp_state_file_get_name (self->file),
                             (mark->n_keys - self->base) * sizeof (DedupKey), hash);
    }
  return g_variant_builder_end (&builder);
}
