/* SPDX-License-Identifier: MIT */

/* Datasets of Megatron-LM: ids in one file, and where sequences and documents are in another one.
 */

#include <dlpipe/dlp-error.h>

#include "token-rows-private.h"

static gboolean
check_borders (TokenRows *self, GCancellable *cancellable, GError **error)
{
  TokenIndex *index = &self->index;
  gint64 first, last;

  if (index->n_borders == 0)
    return self->settings->unit == TOKEN_UNIT_SEQUENCE || index->n_sequences == 0 ||
           token_file_damaged (&self->borders.file,
                               g_strdup_printf ("it has %" G_GUINT64_FORMAT
                                                " sequences, and does not say of which documents "
                                                "they are; unit=sequence reads them",
                                                index->n_sequences),
                               error);
  if (!token_column_get (&self->borders, 0, &first, cancellable, error) ||
      !token_column_get (&self->borders, index->n_borders - 1, &last, cancellable, error))
    return FALSE;
  if (first == 0 && last == (gint64) index->n_sequences)
    return TRUE;
  return token_file_damaged (&self->borders.file,
                             g_strdup_printf ("its documents are sequences %" G_GINT64_FORMAT
                                              " to %" G_GINT64_FORMAT
                                              ", where there are 0 to %" G_GUINT64_FORMAT,
                                              first, last, index->n_sequences),
                             error);
}

gboolean
token_index_open (TokenRows *self, DlpFile *file, GCancellable *cancellable, GError **error)
{
  TokenIndex *index = &self->index;
  guint8 head[TOKEN_INDEX_HEADER_BYTES];
  gsize size;
  char *why = NULL;

  if (!token_file_init (&self->lengths.file, file, error))
    return FALSE;
  size = (gsize) MIN (self->lengths.file.size, sizeof head);
  if (!token_file_read (&self->lengths.file, 0, head, size, cancellable, error))
    return FALSE;
  if (!token_header_read_index (head, size, self->lengths.file.size, index, &why))
    return token_file_damaged (&self->lengths.file, why, error);

  token_column_clear (&self->lengths);
  self->layout = TOKEN_LAYOUT_INDEX;
  self->dtype = index->dtype;
  if (!token_column_init (&self->lengths, file, index->lengths_at, 4, index->n_sequences, error) ||
      !token_column_init (&self->offsets, file, index->offsets_at, 8, index->n_sequences, error) ||
      !token_column_init (&self->borders, file, index->borders_at, 8, index->n_borders, error))
    return FALSE;
  if (self->settings->unit == TOKEN_UNIT_SEQUENCE)
    self->n_rows = index->n_sequences;
  else
    self->n_rows = index->n_borders > 0 ? index->n_borders - 1 : 0;
  return check_borders (self, cancellable, error);
}

static gboolean
fail_sequence (TokenRows *self, guint64 sequence, gint64 offset, gint64 n, GError **error)
{
  return token_file_damaged (&self->lengths.file,
                             g_strdup_printf ("sequence %" G_GUINT64_FORMAT " has %" G_GINT64_FORMAT
                                              " ids from byte %" G_GINT64_FORMAT
                                              " on, which are not within the %" G_GUINT64_FORMAT
                                              " bytes of %s",
                                              sequence, n, offset, self->ids.size, self->ids.name),
                             error);
}

static gboolean
find_sequence (TokenRows *self,
               guint64 sequence,
               TokenRun *run,
               guint64 *n,
               GCancellable *cancellable,
               GError **error)
{
  gint64 length, offset;

  if (!token_column_get (&self->lengths, sequence, &length, cancellable, error) ||
      !token_column_get (&self->offsets, sequence, &offset, cancellable, error))
    return FALSE;
  if (length < 0 || offset < 0 || (guint64) offset > self->ids.size ||
      (guint64) length > (self->ids.size - (guint64) offset) / self->width)
    return fail_sequence (self, sequence, offset, length, error);
  *n = (guint64) length;
  *run = (TokenRun){ (guint64) offset, *n * self->width };
  return TRUE;
}

static gboolean
find_document (TokenRows *self,
               guint64 document,
               gint64 *first,
               gint64 *last,
               GCancellable *cancellable,
               GError **error)
{
  if (!token_column_get (&self->borders, document, first, cancellable, error) ||
      !token_column_get (&self->borders, document + 1, last, cancellable, error))
    return FALSE;
  if (*first >= 0 && *last >= *first && (guint64) *last <= self->index.n_sequences)
    return TRUE;
  return token_file_damaged (
      &self->borders.file,
      g_strdup_printf ("document %" G_GUINT64_FORMAT " has sequences %" G_GINT64_FORMAT
                       " to %" G_GINT64_FORMAT ", where there are 0 to %" G_GUINT64_FORMAT,
                       document, *first, *last, self->index.n_sequences),
      error);
}

gboolean
token_index_find_row (TokenRows *self,
                      guint64 row,
                      GArray *runs,
                      guint64 *n,
                      GCancellable *cancellable,
                      GError **error)
{
  gint64 first = (gint64) row;
  gint64 last = first + 1;
  guint before = runs->len;

  *n = 0;
  if (self->settings->unit == TOKEN_UNIT_DOCUMENT &&
      !find_document (self, row, &first, &last, cancellable, error))
    return FALSE;
  for (gint64 i = first; i < last && !token_rows_is_too_long (self, *n); i++)
    {
      TokenRun run;
      guint64 length = 0;

      if (!find_sequence (self, (guint64) i, &run, &length, cancellable, error))
        return FALSE;
      *n += length;
      if (length > 0)
        g_array_append_val (runs, run);
    }
  if (token_rows_is_too_long (self, *n))
    g_array_set_size (runs, before);
  return TRUE;
}
