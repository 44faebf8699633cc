/* SPDX-License-Identifier: MIT */

#include "dlp-megatron-index.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file-hash.h>

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);

#define MAGIC "MMIDIDX\0"
#define CODE_INT32 4
#define CODE_UINT16 8
#define PIECE 8192 /* entries */

void
dlp_megatron_index_fill_header (guint8 header[DLP_MEGATRON_HEADER_SIZE],
                                guint width,
                                guint64 sequences,
                                guint64 documents)
{
  const guint64 version = 1;
  const guint64 entries = documents + 1;

  memcpy (header, MAGIC, 9);
  memcpy (header + 9, &version, 8);
  header[17] = width == 2 ? CODE_UINT16 : CODE_INT32;
  memcpy (header + 18, &sequences, 8);
  memcpy (header + 26, &entries, 8);
}

gboolean
dlp_megatron_index_get_length (guint width,
                               guint64 tokens,
                               guint64 sequences,
                               guint64 documents,
                               guint64 *length)
{
  guint64 bin, pointers, ends;

  return !__builtin_mul_overflow (tokens, width, &bin) && bin <= G_MAXINT64 &&
         !__builtin_mul_overflow (sequences, 12, &pointers) &&
         !__builtin_add_overflow (documents, 1, &ends) &&
         !__builtin_mul_overflow (ends, 8, &ends) &&
         !__builtin_add_overflow (pointers, ends, length) &&
         !__builtin_add_overflow (*length, DLP_MEGATRON_HEADER_SIZE, length) &&
         *length <= G_MAXINT64;
}

gboolean
dlp_megatron_index_fill_pointers (const gint32 *lengths,
                                  gsize n,
                                  guint width,
                                  gint64 *next,
                                  gint64 *pointers,
                                  GError **error)
{
  for (gsize i = 0; i < n; i++)
    {
      gint64 size;

      pointers[i] = *next;
      if (lengths[i] < 0 || __builtin_mul_overflow ((gint64) lengths[i], (gint64) width, &size) ||
          __builtin_add_overflow (*next, size, next))
        {
          g_set_error (
              error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
              "a sequence of %d tokens of %u bytes at byte %" G_GINT64_FORMAT
              " does not fit; allowed are 0 to 2147483647 tokens, and 2^63 - 1 bytes in all",
              lengths[i], width, pointers[i]);
          return FALSE;
        }
    }
  return TRUE;
}

/* ---- writing ---- */

typedef struct
{
  DlpOutputFile *out;
  const DlpMegatronStreams *streams;
  DlpFileHash *hash;
  GCancellable *cancellable;
  union
  {
    gint32 lengths[PIECE];
    gint64 ends[PIECE];
  };
  gint64 pointers[PIECE];
} Merge;

static gboolean
emit (Merge *self, gconstpointer data, gsize size, GError **error)
{
  dlp_file_hash_update (self->hash, data, size);
  return dlp_output_file_write (self->out, data, size, error);
}

static int
open_stream (const char *path, GError **error)
{
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC));

  if (fd < 0)
    g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (errno), "%s: cannot open: %s",
                 path, g_strerror (errno));
  return fd;
}

static gboolean
read_entries (int fd, const char *path, gpointer data, gsize size, GError **error)
{
  for (gsize done = 0; done < size;)
    {
      gssize n = TEMP_FAILURE_RETRY (read (fd, (char *) data + done, size - done));

      if (n < 0)
        {
          g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (errno),
                       "%s: cannot read: %s", path, g_strerror (errno));
          return FALSE;
        }
      if (n == 0)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                       "%s: ends early: was it changed by somebody else?", path);
          return FALSE;
        }
      done += (gsize) n;
    }
  return TRUE;
}

typedef gboolean (*PieceFunc) (Merge *self, gsize n, gpointer data, GError **error);

/* Reads @total entries of @size bytes in pieces. */
static gboolean
merge_stream (Merge *self,
              const char *path,
              guint64 total,
              gsize size,
              PieceFunc func,
              gpointer data,
              GError **error)
{
  int fd = open_stream (path, error);
  gboolean ok = fd >= 0;

  while (ok && total > 0)
    {
      gsize n = (gsize) MIN (total, PIECE);

      ok = !g_cancellable_set_error_if_cancelled (self->cancellable, error) &&
           read_entries (fd, path, self->ends, n * size, error) && func (self, n, data, error);
      total -= n;
    }

  if (fd >= 0)
    close (fd);
  return ok;
}

static gboolean
emit_lengths (Merge *self, gsize n, gpointer data, GError **error)
{
  return emit (self, self->lengths, n * sizeof (gint32), error);
}

static gboolean
emit_pointers (Merge *self, gsize n, gpointer data, GError **error)
{
  return dlp_megatron_index_fill_pointers (self->lengths, n, self->streams->width, data,
                                           self->pointers, error) &&
         emit (self, self->pointers, n * sizeof (gint64), error);
}

static gboolean
emit_ends (Merge *self, gsize n, gpointer data, GError **error)
{
  gint64 *last = data;

  for (gsize i = 0; i < n; i++)
    {
      if (self->ends[i] < *last || self->ends[i] > *last + 1)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                       "%s: a document ends with sequence %" G_GINT64_FORMAT
                       ", the one before it with %" G_GINT64_FORMAT,
                       self->streams->documents, self->ends[i], *last);
          return FALSE;
        }
      *last = self->ends[i];
    }
  return emit (self, self->ends, n * sizeof (gint64), error);
}

static gboolean
check_sums (const DlpMegatronStreams *streams, gint64 bytes, gint64 last, GError **error)
{
  if ((guint64) bytes != streams->tokens * streams->width)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "%s: the sequences have %" G_GINT64_FORMAT " bytes, but %" G_GUINT64_FORMAT
                 " tokens of %u bytes were written",
                 streams->lengths, bytes, streams->tokens, streams->width);
  else if ((guint64) last != streams->n_sequences)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "%s: the last document ends with sequence %" G_GINT64_FORMAT
                 " of %" G_GUINT64_FORMAT,
                 streams->documents, last, streams->n_sequences);
  else
    return TRUE;
  return FALSE;
}

static gboolean
merge (Merge *self, GError **error)
{
  const DlpMegatronStreams *streams = self->streams;
  guint8 header[DLP_MEGATRON_HEADER_SIZE];
  const gint64 first = 0;
  gint64 next = 0;
  gint64 last = 0;

  dlp_megatron_index_fill_header (header, streams->width, streams->n_sequences,
                                  streams->n_documents);
  return emit (self, header, sizeof header, error) &&
         merge_stream (self, streams->lengths, streams->n_sequences, sizeof (gint32), emit_lengths,
                       NULL, error) &&
         merge_stream (self, streams->lengths, streams->n_sequences, sizeof (gint32), emit_pointers,
                       &next, error) &&
         emit (self, &first, sizeof first, error) &&
         merge_stream (self, streams->documents, streams->n_documents, sizeof (gint64), emit_ends,
                       &last, error) &&
         check_sums (streams, next, last, error);
}

gboolean
dlp_megatron_index_write (DlpOutputFile *out,
                          const DlpMegatronStreams *streams,
                          guint64 *hash,
                          GCancellable *cancellable,
                          GError **error)
{
  g_autofree Merge *self = g_new (Merge, 1);
  gboolean ok;

  self->out = out;
  self->streams = streams;
  self->hash = dlp_file_hash_new ();
  self->cancellable = cancellable;
  ok = merge (self, error);
  *hash = dlp_file_hash_get (self->hash);
  dlp_file_hash_free (self->hash);

  return ok;
}
