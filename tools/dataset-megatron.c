/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <string.h>

#define HEADER_SIZE 34
#define VERSION 1

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);

static const struct
{
  guint width; /* 0: no ids */
  const char *name;
} dtypes[] = {
  { 0, "" },      { 1, "uint8" },   { 1, "int8" },    { 2, "int16" },  { 4, "int32" },
  { 8, "int64" }, { 0, "float64" }, { 0, "float32" }, { 2, "uint16" },
};

void
dataset_megatron_clear (DatasetMegatron *self)
{
  dataset_file_clear (&self->bin);
  dataset_file_clear (&self->idx);
}

const char *
dataset_megatron_get_dtype (const DatasetMegatron *self)
{
  return dtypes[self->code].name;
}

static gboolean
read_header (DatasetMegatron *self, GError **error)
{
  guint8 header[HEADER_SIZE];
  guint64 version, entries;

  if (!dataset_file_read (&self->idx, 0, header, sizeof header, error))
    return FALSE;

  memcpy (&version, header + 9, 8);
  self->code = header[17];
  memcpy (&self->sequences, header + 18, 8);
  memcpy (&entries, header + 26, 8);
  if (memcmp (header, "MMIDIDX\0", 9) != 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%s: does not begin with the magic “MMIDIDX”", self->idx.path);
  else if (version != VERSION)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%s: version %" G_GUINT64_FORMAT " at byte 9; allowed is %d", self->idx.path,
                 version, VERSION);
  else if (self->code >= G_N_ELEMENTS (dtypes) || dtypes[self->code].width == 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%s: dtype code %u at byte 17 is not one of ids; allowed are 1 to 5 and 8",
                 self->idx.path, self->code);
  else if (entries == 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%s: no document_indices at byte 26; at least 1 is needed", self->idx.path);
  else
    {
      self->width = dtypes[self->code].width;
      self->documents = entries - 1;
      return TRUE;
    }
  return FALSE;
}

static gboolean
find_arrays (DatasetMegatron *self, GError **error)
{
  guint64 size, rest;

  self->lengths_at = HEADER_SIZE;
  if (self->sequences <= self->idx.size / 12 && self->documents < self->idx.size / 8)
    {
      self->pointers_at = self->lengths_at + 4 * self->sequences;
      self->documents_at = self->pointers_at + 8 * self->sequences;
      size = self->documents_at + 8 * (self->documents + 1);
      rest = self->idx.size - size;
      /* A byte for the mode of each sequence may follow. */
      if (self->idx.size >= size && (rest == 0 || rest == self->sequences))
        return TRUE;
    }

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
               "%s: has %" G_GUINT64_FORMAT " bytes, which is not what %" G_GUINT64_FORMAT
               " sequences and %" G_GUINT64_FORMAT " document_indices take",
               self->idx.path, self->idx.size, self->sequences, self->documents + 1);
  return FALSE;
}

gboolean
dataset_megatron_open (DatasetMegatron *self, const DatasetLocation *location, GError **error)
{
  self->bin.fd = self->idx.fd = -1;
  return dataset_file_open (&self->idx, location->index_path, error) &&
         dataset_file_open (&self->bin, location->data_path, error) && read_header (self, error) &&
         find_arrays (self, error);
}

static gboolean
read_id (const DatasetMegatron *self, const guint8 *data, guint32 *id)
{
  gint64 value = 0;

  memcpy (&value, data, self->width);
  if (self->code == 2)
    value = (gint8) value;
  else if (self->code == 3)
    value = (gint16) value;
  else if (self->code == 4)
    value = (gint32) value;

  *id = (guint32) value;
  return value >= 0 && value <= G_MAXUINT32;
}

/* Appends at most @limit tokens of a sequence, and gives its length. */
static gboolean
read_sequence (DatasetMegatron *self,
               guint64 sequence,
               guint64 limit,
               GArray *tokens,
               guint64 *n,
               GError **error)
{
  g_autofree guint8 *data = NULL;
  gint32 length;
  gint64 pointer;
  guint64 wanted;

  if (!dataset_file_read (&self->idx, self->lengths_at + 4 * sequence, &length, 4, error) ||
      !dataset_file_read (&self->idx, self->pointers_at + 8 * sequence, &pointer, 8, error))
    return FALSE;
  if (length < 0 || pointer < 0 || (guint64) pointer > self->bin.size ||
      (guint64) length > (self->bin.size - (guint64) pointer) / self->width)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "%s: sequence %" G_GUINT64_FORMAT
                   " is said to have %d tokens at byte %" G_GINT64_FORMAT
                   ", but %s has %" G_GUINT64_FORMAT " bytes",
                   self->idx.path, sequence, length, pointer, self->bin.path, self->bin.size);
      return FALSE;
    }

  *n = (guint64) length;
  wanted = MIN (*n, limit);
  data = g_malloc (wanted * self->width + 1);
  if (!dataset_file_read (&self->bin, (guint64) pointer, data, wanted * self->width, error))
    return FALSE;
  for (guint64 i = 0; i < wanted; i++)
    {
      guint32 id;

      if (!read_id (self, data + i * self->width, &id))
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "%s: token %" G_GUINT64_FORMAT " of sequence %" G_GUINT64_FORMAT
                       " is no id: negative, or above 2^32 - 1",
                       self->bin.path, i, sequence);
          return FALSE;
        }
      g_array_append_val (tokens, id);
    }
  return TRUE;
}

GArray *
dataset_megatron_read_document (DatasetMegatron *self,
                                guint64 document,
                                guint64 limit,
                                guint64 *n,
                                GError **error)
{
  g_autoptr (GArray) tokens = g_array_new (FALSE, FALSE, sizeof (guint32));
  gint64 range[2];

  *n = 0;
  if (!dataset_file_read (&self->idx, self->documents_at + 8 * document, range, sizeof range,
                          error))
    return NULL;
  if (range[0] < 0 || range[1] < range[0] || (guint64) range[1] > self->sequences)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "%s: document %" G_GUINT64_FORMAT " is said to be sequences %" G_GINT64_FORMAT
                   " up to %" G_GINT64_FORMAT ", of %" G_GUINT64_FORMAT,
                   self->idx.path, document, range[0], range[1], self->sequences);
      return NULL;
    }

  for (guint64 i = (guint64) range[0]; i < (guint64) range[1]; i++)
    {
      guint64 length;

      if (!read_sequence (self, i, limit - tokens->len, tokens, &length, error))
        return NULL;
      *n += length;
    }
  return g_steal_pointer (&tokens);
}
