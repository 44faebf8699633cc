/* SPDX-License-Identifier: MIT */

#include "dlp-megatron-writer.h"

#include <errno.h>
#include <gio/gio.h>
#include <sys/stat.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-manifest.h>

#include "dlp-megatron-index.h"
#include "dlp-megatron-tokens.h"

/* Converted at a time. */
#define PIECE ((gsize) 65536)

struct _DlpMegatronWriter
{
  DlpMegatronPaths paths;
  char *run_id;
  DlpMegatronState state;
  DlpOutputFile *bin;
  DlpOutputFile *lengths;
  DlpOutputFile *documents;
  DlpOutputFile *idx; /* once it is finished; sync looks at it for a finished state only */
  DlpFileHash *hash;  /* of the .bin */
  DlpFileHash *lengths_hash;
  DlpFileHash *documents_hash;
};

void
dlp_megatron_paths_init (DlpMegatronPaths *self, const char *location)
{
  self->bin = g_strconcat (location, ".bin", NULL);
  self->idx = g_strconcat (location, ".idx", NULL);
  self->lengths = g_strconcat (location, ".idx.lengths", NULL);
  self->documents = g_strconcat (location, ".idx.documents", NULL);
  self->manifest = g_strconcat (location, ".manifest.json", NULL);
}

void
dlp_megatron_paths_clear (DlpMegatronPaths *self)
{
  g_clear_pointer (&self->bin, g_free);
  g_clear_pointer (&self->idx, g_free);
  g_clear_pointer (&self->lengths, g_free);
  g_clear_pointer (&self->documents, g_free);
  g_clear_pointer (&self->manifest, g_free);
}

DlpMegatronWriter *
dlp_megatron_writer_create (const char *location,
                            const char *run_id,
                            guint width,
                            guint attempt,
                            GError **error)
{
  g_autoptr (DlpMegatronWriter) self = g_new0 (DlpMegatronWriter, 1);

  g_return_val_if_fail (width == 2 || width == 4, NULL);

  dlp_megatron_paths_init (&self->paths, location);
  self->run_id = g_strdup (run_id);
  self->state.width = width;
  self->state.attempt = attempt;
  self->hash = dlp_file_hash_new ();
  self->lengths_hash = dlp_file_hash_new ();
  self->documents_hash = dlp_file_hash_new ();
  self->bin = dlp_output_file_create (self->paths.bin, run_id, attempt, error);
  if (self->bin == NULL)
    return NULL;
  self->lengths = dlp_output_file_create (self->paths.lengths, run_id, attempt, error);
  if (self->lengths == NULL)
    return NULL;
  self->documents = dlp_output_file_create (self->paths.documents, run_id, attempt, error);
  if (self->documents == NULL)
    return NULL;
  return g_steal_pointer (&self);
}

/* What was written before is still there. */
static gboolean
resume_hashes (DlpMegatronWriter *self, GCancellable *cancellable, GError **error)
{
  const DlpMegatronState *state = &self->state;

  self->hash = dlp_file_hash_resume (dlp_output_file_get_partial_path (self->bin),
                                     state->tokens * state->width, state->bin_chain,
                                     state->bin_hash, cancellable, error);
  if (self->hash == NULL)
    return FALSE;
  self->lengths_hash = dlp_file_hash_resume (
      dlp_output_file_get_partial_path (self->lengths), state->sequences * sizeof (gint32),
      state->lengths_chain, state->lengths_hash, cancellable, error);
  if (self->lengths_hash == NULL)
    return FALSE;
  self->documents_hash = dlp_file_hash_resume (
      dlp_output_file_get_partial_path (self->documents), state->documents * sizeof (gint64),
      state->documents_chain, state->documents_hash, cancellable, error);
  return self->documents_hash != NULL;
}

DlpMegatronWriter *
dlp_megatron_writer_resume (const char *location,
                            const char *run_id,
                            const DlpMegatronState *state,
                            guint attempt,
                            gboolean former_is_dead,
                            GCancellable *cancellable,
                            GError **error)
{
  g_autoptr (DlpMegatronWriter) self = g_new0 (DlpMegatronWriter, 1);
  guint former = (guint) state->attempt;

  g_return_val_if_fail (!state->finished, NULL);

  dlp_megatron_paths_init (&self->paths, location);
  self->run_id = g_strdup (run_id);
  self->state = *state;
  self->state.attempt = attempt;
  self->bin = dlp_output_file_resume (self->paths.bin, run_id, attempt, former, former_is_dead,
                                      state->tokens * state->width, error);
  if (self->bin == NULL)
    return NULL;
  self->lengths =
      dlp_output_file_resume (self->paths.lengths, run_id, attempt, former, former_is_dead,
                              state->sequences * sizeof (gint32), error);
  if (self->lengths == NULL)
    return NULL;
  self->documents =
      dlp_output_file_resume (self->paths.documents, run_id, attempt, former, former_is_dead,
                              state->documents * sizeof (gint64), error);
  if (self->documents == NULL)
    return NULL;
  return resume_hashes (self, cancellable, error) ? g_steal_pointer (&self) : NULL;
}

void
dlp_megatron_writer_free (DlpMegatronWriter *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->bin, dlp_output_file_free);
  g_clear_pointer (&self->lengths, dlp_output_file_free);
  g_clear_pointer (&self->documents, dlp_output_file_free);
  g_clear_pointer (&self->idx, dlp_output_file_free);
  g_clear_pointer (&self->hash, dlp_file_hash_free);
  g_clear_pointer (&self->lengths_hash, dlp_file_hash_free);
  g_clear_pointer (&self->documents_hash, dlp_file_hash_free);
  dlp_megatron_paths_clear (&self->paths);
  g_free (self->run_id);
  g_free (self);
}

/* ---- writing ---- */

static gboolean
add_bytes (DlpMegatronWriter *self, gconstpointer data, gsize size, GError **error)
{
  dlp_file_hash_update (self->hash, data, size);
  return dlp_output_file_write (self->bin, data, size, error);
}

static gboolean
add_converted (DlpMegatronWriter *self, const guint8 *tokens, guint width, gsize n, GError **error)
{
  guint to = (guint) self->state.width;

  for (gsize i = 0; i < n; i += PIECE)
    {
      gsize k = MIN (n - i, PIECE);
      gpointer room = dlp_output_file_reserve (self->bin, k * to, error);

      if (room == NULL)
        return FALSE;
      dlp_megatron_tokens_convert (tokens + i * width, width, k, room, to);
      dlp_file_hash_update (self->hash, room, k * to);
      dlp_output_file_commit (self->bin, k * to);
    }
  return TRUE;
}

gboolean
dlp_megatron_writer_add_tokens (DlpMegatronWriter *self,
                                gconstpointer tokens,
                                guint width,
                                gsize n,
                                GError **error)
{
  self->state.tokens += n;
  if (width == self->state.width)
    return add_bytes (self, tokens, n * width, error);
  return add_converted (self, tokens, width, n, error);
}

gboolean
dlp_megatron_writer_add_documents (DlpMegatronWriter *self,
                                   const guint32 *lengths,
                                   guint n,
                                   GError **error)
{
  gint32 *length = dlp_output_file_reserve (self->lengths, n * sizeof (gint32), error);
  gint64 *end;
  guint sequences = 0;

  if (length == NULL)
    return FALSE;
  end = dlp_output_file_reserve (self->documents, n * sizeof (gint64), error);
  if (end == NULL)
    return FALSE;

  for (guint i = 0; i < n; i++)
    {
      if (lengths[i] > G_MAXINT32)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
                       "document %" G_GUINT64_FORMAT
                       " has %u tokens; at most 2147483647 are allowed",
                       self->state.documents + i, lengths[i]);
          return FALSE;
        }
      if (lengths[i] > 0)
        length[sequences++] = (gint32) lengths[i];
      end[i] = (gint64) (self->state.sequences + sequences);
    }

  dlp_file_hash_update (self->lengths_hash, length, sequences * sizeof (gint32));
  dlp_file_hash_update (self->documents_hash, end, n * sizeof (gint64));
  dlp_output_file_commit (self->lengths, sequences * sizeof (gint32));
  dlp_output_file_commit (self->documents, n * sizeof (gint64));
  self->state.sequences += sequences;
  self->state.documents += n;
  return TRUE;
}

gboolean
dlp_megatron_writer_flush (DlpMegatronWriter *self, GError **error)
{
  return dlp_output_file_flush (self->bin, error) && dlp_output_file_flush (self->lengths, error) &&
         dlp_output_file_flush (self->documents, error);
}

gboolean
dlp_megatron_writer_sync (DlpMegatronWriter *self, const DlpMegatronState *state, GError **error)
{
  if (!dlp_output_file_sync (self->bin, error))
    return FALSE;
  if (state->finished)
    return state->sequences == 0 || dlp_output_file_sync (self->idx, error);
  return dlp_output_file_sync (self->lengths, error) &&
         dlp_output_file_sync (self->documents, error);
}

/* ---- the end ---- */

/* The system's word on it, not the sum of what was handed over. */
static gboolean
check_bin (DlpMegatronWriter *self, GError **error)
{
  const char *path = dlp_output_file_get_partial_path (self->bin);
  guint64 wanted = self->state.tokens * self->state.width;
  struct stat st;

  if (stat (path, &st) != 0)
    g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (errno), "%s: cannot read: %s",
                 path, g_strerror (errno));
  else if ((guint64) st.st_size != wanted)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "%s: has %" G_GINT64_FORMAT " bytes, but %" G_GUINT64_FORMAT
                 " tokens of %" G_GUINT64_FORMAT " bytes were written",
                 path, (gint64) st.st_size, self->state.tokens, self->state.width);
  else
    return TRUE;
  return FALSE;
}

static gboolean
write_index (DlpMegatronWriter *self, GCancellable *cancellable, GError **error)
{
  const DlpMegatronStreams streams = {
    dlp_output_file_get_partial_path (self->lengths),
    dlp_output_file_get_partial_path (self->documents),
    (guint) self->state.width,
    self->state.tokens,
    self->state.sequences,
    self->state.documents,
  };
  g_autoptr (DlpOutputFile) idx =
      dlp_output_file_create (self->paths.idx, self->run_id, (guint) self->state.attempt, error);

  if (idx == NULL ||
      !dlp_megatron_index_write (idx, &streams, &self->state.idx_hash, cancellable, error) ||
      !dlp_output_file_flush (idx, error))
    return FALSE;

  self->idx = g_steal_pointer (&idx);
  return TRUE;
}

gboolean
dlp_megatron_writer_finish (DlpMegatronWriter *self, GCancellable *cancellable, GError **error)
{
  guint64 length;

  if (self->state.finished)
    return TRUE;

  if (!dlp_megatron_index_get_length ((guint) self->state.width, self->state.tokens,
                                      self->state.sequences, self->state.documents, &length))
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
                   "%s: %" G_GUINT64_FORMAT " tokens in %" G_GUINT64_FORMAT
                   " sequences are more than 2^63 - 1 bytes",
                   self->paths.bin, self->state.tokens, self->state.sequences);
      return FALSE;
    }
  if (!dlp_megatron_writer_flush (self, error) || !check_bin (self, error))
    return FALSE;
  if (self->state.sequences > 0 && !write_index (self, cancellable, error))
    return FALSE;

  self->state.finished = TRUE;
  return TRUE;
}

void
dlp_megatron_writer_get_state (DlpMegatronWriter *self, DlpMegatronState *state)
{
  *state = self->state;
  state->bin_hash = dlp_file_hash_get (self->hash);
  state->bin_chain = dlp_file_hash_get_chain (self->hash);
  state->lengths_hash = dlp_file_hash_get (self->lengths_hash);
  state->lengths_chain = dlp_file_hash_get_chain (self->lengths_hash);
  state->documents_hash = dlp_file_hash_get (self->documents_hash);
  state->documents_chain = dlp_file_hash_get_chain (self->documents_hash);
  if (!state->finished)
    state->idx_hash = 0;
}

gboolean
dlp_megatron_publish (const char *location,
                      const char *run_id,
                      const DlpMegatronState *state,
                      GError **error)
{
  g_auto (DlpMegatronPaths) paths = { NULL };
  guint attempt = (guint) state->attempt;
  guint64 length;

  g_return_val_if_fail (state->finished, FALSE);

  dlp_megatron_paths_init (&paths, location);
  if (!dlp_megatron_index_get_length ((guint) state->width, state->tokens, state->sequences,
                                      state->documents, &length))
    g_return_val_if_reached (FALSE);

  /* A .bin without its .idx is of no use to anybody: nobody takes it for the whole. */
  if (state->sequences > 0 &&
      (!dlp_output_file_publish (paths.bin, run_id, attempt, state->tokens * state->width, error) ||
       !dlp_output_file_publish (paths.idx, run_id, attempt, length, error)))
    return FALSE;
  return dlp_megatron_clean (location, run_id, error);
}

gboolean
dlp_megatron_clean (const char *location, const char *run_id, GError **error)
{
  g_auto (DlpMegatronPaths) paths = { NULL };
  const char *unfinished[4];

  dlp_megatron_paths_init (&paths, location);
  unfinished[0] = paths.bin;
  unfinished[1] = paths.idx;
  unfinished[2] = paths.lengths;
  unfinished[3] = paths.documents;
  for (guint i = 0; i < G_N_ELEMENTS (unfinished); i++)
    if (!dlp_output_file_clean (unfinished[i], run_id, 0, error))
      return FALSE;
  return TRUE;
}
