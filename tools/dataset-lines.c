/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <string.h>

#define BUFFER_SIZE ((gsize) 1024 * 1024)

gboolean
dataset_lines_open (DatasetLines *self, const char *path, GError **error)
{
  memset (self, 0, sizeof *self);
  self->file.fd = -1;
  if (!dataset_file_open (&self->file, path, error))
    return FALSE;

  self->buffer = g_malloc (BUFFER_SIZE);
  self->line = g_string_new (NULL);
  self->hash = dlp_file_hash_new ();
  return TRUE;
}

void
dataset_lines_clear (DatasetLines *self)
{
  dataset_file_clear (&self->file);
  g_clear_pointer (&self->buffer, g_free);
  g_clear_pointer (&self->hash, dlp_file_hash_free);
  if (self->line != NULL)
    g_string_free (self->line, TRUE);
  self->line = NULL;
}

guint64
dataset_lines_get_hash (DatasetLines *self)
{
  return dlp_file_hash_get (self->hash);
}

static gboolean
fill (DatasetLines *self, GError **error)
{
  gsize n = (gsize) MIN (BUFFER_SIZE, self->file.size - self->offset);

  self->begin = 0;
  self->end = 0;
  if (!dataset_file_read (&self->file, self->offset, self->buffer, n, error))
    return FALSE;

  dlp_file_hash_update (self->hash, self->buffer, n);
  self->offset += n;
  self->end = n;
  return TRUE;
}

gboolean
dataset_lines_next (DatasetLines *self, GError **error)
{
  g_string_truncate (self->line, 0);
  self->has_end = FALSE;
  self->number++;
  while (!self->has_end)
    {
      const guint8 *begin, *end;
      gsize n;

      if (self->begin == self->end)
        {
          if (self->offset == self->file.size)
            return self->line->len > 0;
          if (!fill (self, error))
            return FALSE;
        }

      begin = self->buffer + self->begin;
      end = memchr (begin, '\n', self->end - self->begin);
      n = end != NULL ? (gsize) (end - begin) : self->end - self->begin;
      if (self->line->len + n > DATASET_MAX_LINE)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "%s: line %" G_GUINT64_FORMAT " is longer than %" G_GSIZE_FORMAT " bytes",
                       self->file.path, self->number, DATASET_MAX_LINE);
          return FALSE;
        }
      g_string_append_len (self->line, (const char *) begin, (gssize) n);
      self->begin += n + (end != NULL);
      self->has_end = end != NULL;
    }
  return TRUE;
}
