/* SPDX-License-Identifier: MIT */

#include "token-file.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* What lies between two reads is read rather than the file opened once more. */
#define MAX_GAP (64 * 1024)
#define BLOCK_BYTES (64 * 1024)

gboolean
token_file_init (TokenFile *self, DlpFile *file, GError **error)
{
  g_autofree char *redacted = dlp_uri_redact (dlp_file_get_uri (file));

  *self = (TokenFile){ .file = g_object_ref (file), .name = dlp_uri_escape_for_display (redacted) };
  if (dlp_file_get_size (file) >= 0)
    {
      self->size = (guint64) dlp_file_get_size (file);
      return TRUE;
    }
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: a pipe, or of no known size; files of ids are read at offsets, and have to be "
               "files",
               self->name);
  return FALSE;
}

void
token_file_clear (TokenFile *self)
{
  g_clear_object (&self->stream);
  g_clear_object (&self->file);
  g_clear_pointer (&self->name, g_free);
}

gboolean
token_file_damaged (const TokenFile *self, char *why, GError **error)
{
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "%s: %s", self->name, why);
  g_free (why);
  return FALSE;
}

static gboolean
fail_short (const TokenFile *self, guint64 end, guint64 wanted, GError **error)
{
  return token_file_damaged (self,
                             g_strdup_printf ("it ends at byte %" G_GUINT64_FORMAT
                                              ", where %" G_GUINT64_FORMAT " were expected",
                                              end, wanted),
                             error);
}

/* TRUE where the stream is there, or nowhere near: then it is opened anew. */
static gboolean
skip_gap (TokenFile *self, guint64 offset, GCancellable *cancellable, GError **error)
{
  if (self->stream == NULL || offset < self->position || offset - self->position > MAX_GAP)
    return TRUE;
  while (self->position < offset)
    {
      gssize n =
          g_input_stream_skip (self->stream, (gsize) (offset - self->position), cancellable, error);

      if (n < 0)
        return FALSE;
      if (n == 0)
        return fail_short (self, self->position, offset, error);
      self->position += (guint64) n;
    }
  return TRUE;
}

static gboolean
go_to (TokenFile *self, guint64 offset, GCancellable *cancellable, GError **error)
{
  if (!skip_gap (self, offset, cancellable, error))
    return FALSE;
  if (self->stream != NULL && self->position == offset)
    return TRUE;
  g_clear_object (&self->stream);
  self->stream = dlp_file_open (self->file, (gint64) offset, cancellable, error);
  self->position = offset;
  return self->stream != NULL;
}

gboolean
token_file_read (TokenFile *self,
                 guint64 offset,
                 gpointer to,
                 gsize size,
                 GCancellable *cancellable,
                 GError **error)
{
  gsize n = 0;

  if (size == 0)
    return TRUE;
  if (offset > self->size || size > self->size - offset)
    return fail_short (self, self->size, offset + size, error);
  if (!go_to (self, offset, cancellable, error) ||
      !g_input_stream_read_all (self->stream, to, size, &n, cancellable, error))
    {
      g_clear_object (&self->stream);
      return FALSE;
    }
  self->position += n;
  return n == size || fail_short (self, self->position, offset + size, error);
}

/* ---- columns ---- */

gboolean
token_column_init (TokenColumn *self,
                   DlpFile *file,
                   guint64 start,
                   guint width,
                   guint64 n,
                   GError **error)
{
  *self = (TokenColumn){ .start = start, .width = width, .n = n };
  return token_file_init (&self->file, file, error);
}

void
token_column_clear (TokenColumn *self)
{
  token_file_clear (&self->file);
  g_clear_pointer (&self->block, g_free);
}

static gboolean
read_block (TokenColumn *self, guint64 index, GCancellable *cancellable, GError **error)
{
  guint64 count = MIN (self->n - index, BLOCK_BYTES / self->width);

  if (self->block == NULL)
    self->block = g_malloc (BLOCK_BYTES);
  self->count = 0;
  if (!token_file_read (&self->file, self->start + index * self->width, self->block,
                        (gsize) (count * self->width), cancellable, error))
    return FALSE;
  self->first = index;
  self->count = count;
  return TRUE;
}

gboolean
token_column_get (TokenColumn *self,
                  guint64 index,
                  gint64 *number,
                  GCancellable *cancellable,
                  GError **error)
{
  const guint8 *p;
  gint32 narrow;

  g_return_val_if_fail (index < self->n, FALSE);

  if ((index < self->first || index - self->first >= self->count) &&
      !read_block (self, index, cancellable, error))
    return FALSE;
  p = self->block + (index - self->first) * self->width;
  if (self->width == sizeof narrow)
    {
      memcpy (&narrow, p, sizeof narrow);
      *number = GINT32_FROM_LE (narrow);
      return TRUE;
    }
  memcpy (number, p, sizeof *number);
  *number = GINT64_FROM_LE (*number);
  return TRUE;
}
