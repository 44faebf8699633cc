/* SPDX-License-Identifier: MIT */

#include "jsonl-output.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-manifest.h>
#include <dlpipe/dlp-output-file.h>
#include <dlpipe/dlp-state.h>

/* A pipe that has room takes so much without waiting. */
#define PIPE_PIECE ((gsize) 4096)

struct _JsonlOutput
{
  JsonlState state;
  DlpOutputFile *file; /* NULL: the standard output */
  gboolean may_wait;   /* the standard output may have a slow reader */
  DlpFileHash *hash;   /* of the file */
};

/* ---- state ---- */

static const struct
{
  gsize offset;
  guint64 max;
} members[] = {
  { G_STRUCT_OFFSET (JsonlState, attempt), G_MAXUINT32 },
  { G_STRUCT_OFFSET (JsonlState, lines), G_MAXINT64 },
  { G_STRUCT_OFFSET (JsonlState, bytes), G_MAXINT64 },
  { G_STRUCT_OFFSET (JsonlState, finished), 1 },
  { G_STRUCT_OFFSET (JsonlState, hash), G_MAXUINT64 },
  { G_STRUCT_OFFSET (JsonlState, chain), G_MAXUINT64 },
};

const char *const jsonl_state_keys[] = { "attempt", "lines", "bytes", "finished",
                                         "hash",    "chain", NULL };

void
jsonl_state_describe (const JsonlState *self, GVariantDict *dict)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    g_variant_dict_insert (dict, jsonl_state_keys[i], "t",
                           *(const guint64 *) ((const guint8 *) self + members[i].offset));
}

gboolean
jsonl_state_load (JsonlState *self, GVariant *described, GError **error)
{
  JsonlState state;

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (!dlp_state_get_uint64 (described, jsonl_state_keys[i], members[i].max,
                               (guint64 *) ((guint8 *) &state + members[i].offset), error))
      return FALSE;
  if (state.lines > state.bytes)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "there are more “lines” than “bytes”");
      return FALSE;
    }

  *self = state;
  return TRUE;
}

/* ---- the file ---- */

JsonlOutput *
jsonl_output_create (const char *path, const char *run_id, guint attempt, GError **error)
{
  g_autoptr (JsonlOutput) self = g_new0 (JsonlOutput, 1);

  self->state.attempt = attempt;
  self->hash = dlp_file_hash_new ();
  self->file = dlp_output_file_create (path, run_id, attempt, error);
  return self->file != NULL ? g_steal_pointer (&self) : NULL;
}

JsonlOutput *
jsonl_output_resume (const char *path,
                     const char *run_id,
                     const JsonlState *state,
                     guint attempt,
                     gboolean former_is_dead,
                     GCancellable *cancellable,
                     GError **error)
{
  g_autoptr (JsonlOutput) self = g_new0 (JsonlOutput, 1);

  g_return_val_if_fail (!state->finished, NULL);

  self->state = *state;
  self->state.attempt = attempt;
  self->file = dlp_output_file_resume (path, run_id, attempt, (guint) state->attempt,
                                       former_is_dead, state->bytes, error);
  if (self->file == NULL)
    return NULL;
  self->hash = dlp_file_hash_resume (dlp_output_file_get_partial_path (self->file), state->bytes,
                                     state->chain, state->hash, cancellable, error);
  return self->hash != NULL ? g_steal_pointer (&self) : NULL;
}

JsonlOutput *
jsonl_output_stdout (GError **error)
{
  int flags = fcntl (STDOUT_FILENO, F_GETFL);
  JsonlOutput *self;
  struct stat st;

  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED,
                   "location=-: the standard output is %s; is it closed (>&-)?",
                   flags < 0 ? "not there" : "not open for writing");
      return NULL;
    }

  self = g_new0 (JsonlOutput, 1);
  self->may_wait = fstat (STDOUT_FILENO, &st) != 0 || !S_ISREG (st.st_mode);
  return self;
}

void
jsonl_output_free (JsonlOutput *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->file, dlp_output_file_free);
  g_clear_pointer (&self->hash, dlp_file_hash_free);
  g_free (self);
}

static gboolean
fail_stdout (gsize size, GError **error)
{
  int code = errno;

  g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (code),
               "standard output: cannot write %" G_GSIZE_FORMAT " bytes: %s", size,
               g_strerror (code));
  return FALSE;
}

static gboolean
wait_for_reader (GCancellable *cancellable, GError **error)
{
  GPollFD fds[2] = { { STDOUT_FILENO, G_IO_OUT | G_IO_ERR | G_IO_HUP, 0 } };
  gboolean has_fd = g_cancellable_make_pollfd (cancellable, &fds[1]);
  int n;

  do
    n = g_poll (fds, has_fd ? 2 : 1, -1);
  while (n < 0 && errno == EINTR && !g_cancellable_is_cancelled (cancellable));

  if (has_fd)
    g_cancellable_release_fd (cancellable);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static gboolean
write_stdout (JsonlOutput *self,
              const char *data,
              gsize size,
              GCancellable *cancellable,
              GError **error)
{
  while (size > 0)
    {
      gssize n;

      if (self->may_wait && !wait_for_reader (cancellable, error))
        return FALSE;
      n = write (STDOUT_FILENO, data, self->may_wait ? MIN (size, PIPE_PIECE) : size);
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (n < 0)
        return fail_stdout (size, error);
      data += n;
      size -= (gsize) n;
    }
  return TRUE;
}

gboolean
jsonl_output_write (gpointer data_self,
                    gconstpointer data,
                    gsize size,
                    GCancellable *cancellable,
                    GError **error)
{
  JsonlOutput *self = data_self;

  self->state.bytes += size;
  if (self->file == NULL)
    return write_stdout (self, data, size, cancellable, error);

  dlp_file_hash_update (self->hash, data, size);
  return dlp_output_file_write (self->file, data, size, error);
}

void
jsonl_output_add_lines (JsonlOutput *self, guint n)
{
  self->state.lines += n;
}

gboolean
jsonl_output_flush (JsonlOutput *self, GError **error)
{
  return self->file == NULL || dlp_output_file_flush (self->file, error);
}

gboolean
jsonl_output_sync (JsonlOutput *self, GError **error)
{
  return self->file == NULL || dlp_output_file_sync (self->file, error);
}

gboolean
jsonl_output_finish (JsonlOutput *self, GError **error)
{
  if (self->state.finished)
    return TRUE;

  if (!jsonl_output_flush (self, error))
    return FALSE;
  self->state.finished = TRUE;
  return TRUE;
}

void
jsonl_output_get_state (JsonlOutput *self, JsonlState *state)
{
  *state = self->state;
  if (self->hash == NULL)
    return;
  state->hash = dlp_file_hash_get (self->hash);
  state->chain = dlp_file_hash_get_chain (self->hash);
}

const char *
jsonl_output_get_partial_path (JsonlOutput *self)
{
  return self->file != NULL ? dlp_output_file_get_partial_path (self->file) : NULL;
}

gboolean
jsonl_output_publish (const char *path, const char *run_id, const JsonlState *state, GError **error)
{
  g_return_val_if_fail (state->finished, FALSE);

  return dlp_output_file_publish (path, run_id, (guint) state->attempt, state->bytes, error) &&
         dlp_output_file_clean (path, run_id, 0, error);
}
