/* SPDX-License-Identifier: MIT */

#include "dlp-utf8-private.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"
#define HIGH_BITS G_GUINT64_CONSTANT (0x8080808080808080)

/* How many bytes at p are a well-formed sequence, or, with *valid false, the beginning of one as
 * long as it can be (at least one byte). */
static guint
measure (const guint8 *p, gsize n, bool *valid)
{
  guint size = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
  guint8 low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
  guint8 high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
  guint i = 1;

  if (size == 0 || p[0] > 0xf4)
    {
      *valid = false;
      return 1;
    }
  for (; i < size && i < n && p[i] >= low && p[i] <= high; i++)
    {
      low = 0x80;
      high = 0xbf;
    }
  *valid = i == size;
  return i;
}

/* ASCII is most of what there is: passed over by two vectors at once, then by words. */
static gsize
skip_ascii (const guint8 *text, gsize at, gsize size)
{
  typedef guint64 Words __attribute__ ((vector_size (16)));

  for (; size - at >= 2 * sizeof (Words); at += 2 * sizeof (Words))
    {
      Words one, two;

      memcpy (&one, text + at, sizeof one);
      memcpy (&two, text + at + sizeof one, sizeof two);
      one |= two;
      if (((one[0] | one[1]) & HIGH_BITS) != 0)
        break;
    }
  for (; size - at >= sizeof (guint64); at += sizeof (guint64))
    {
      guint64 word;

      memcpy (&word, text + at, sizeof word);
      word &= HIGH_BITS;
      if (word != 0)
        return G_BYTE_ORDER == G_LITTLE_ENDIAN ? at + __builtin_ctzll (word) / 8 : at;
    }
  return at;
}

/* Sequences of three bytes, of which most text is that is neither ASCII nor Latin; but for e0 and
 * ed, behind which not all continuations are right. Returns how many bytes they are. */
static gsize
skip_three (const guint8 *text, gsize size)
{
  gsize at = 0;

  for (; size - at >= sizeof (guint32); at += 3)
    {
      guint32 word;

      memcpy (&word, text + at, sizeof word);
      if ((GUINT32_FROM_LE (word) & 0xc0c0f0) != 0x8080e0 || text[at] == 0xe0 || text[at] == 0xed)
        break;
    }
  return at;
}

gsize
dlp_utf8_measure_valid (const guint8 *text, gsize size)
{
  gsize at = 0;

  while (at < size)
    {
      bool valid;
      gsize n;

      if (text[at] < 0x80)
        {
          at = MAX (skip_ascii (text, at, size), at + 1);
          continue;
        }
      n = skip_three (text + at, size - at);
      if (n > 0)
        {
          at += n;
          continue;
        }
      n = measure (text + at, size - at, &valid);
      if (!valid)
        break;
      at += n;
    }
  return at;
}

bool
dlp_utf8_is_valid (const guint8 *text, gsize size)
{
  return dlp_utf8_measure_valid (text, size) == size;
}

gsize
dlp_utf8_append_repaired (GString *to, const guint8 *text, gsize size)
{
  gsize n_repaired = 0;

  while (size > 0)
    {
      gsize n = dlp_utf8_measure_valid (text, size);
      bool valid;

      g_string_append_len (to, (const char *) text, (gssize) n);
      text += n;
      size -= n;
      if (size == 0)
        break;
      n = measure (text, size, &valid);
      g_string_append (to, REPLACEMENT);
      n_repaired++;
      text += n;
      size -= n;
    }
  return n_repaired;
}

/* ---- of a record batch ---- */

static bool
is_string (DlpSchema *schema, guint field)
{
  return dlp_schema_get_field_type (schema, field) == DLP_FIELD_STRING;
}

static bool
is_valid_value (DlpRecordBatch *batch, guint field, guint row)
{
  gsize size;
  const guint8 *value;

  if (dlp_record_batch_is_null (batch, field, row))
    return true;
  value = dlp_record_batch_get_value (batch, field, row, &size);
  return dlp_utf8_is_valid (value, size);
}

static bool
is_valid_batch (DlpRecordBatch *batch)
{
  DlpSchema *schema = dlp_record_batch_get_schema (batch);

  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    for (guint row = 0; is_string (schema, i) && row < dlp_record_batch_get_length (batch); row++)
      if (!is_valid_value (batch, i, row))
        return false;
  return true;
}

static void
repair_row (DlpRecordBatchBuilder *builder,
            DlpRecordBatch *batch,
            guint row,
            GString *room,
            guint64 *n_repaired)
{
  DlpSchema *schema = dlp_record_batch_get_schema (batch);

  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    {
      const guint8 *value;
      gsize size;

      if (!is_string (schema, i) || is_valid_value (batch, i, row))
        {
          dlp_record_batch_builder_append_field (builder, i, batch, i, row);
          continue;
        }
      value = dlp_record_batch_get_value (batch, i, row, &size);
      g_string_truncate (room, 0);
      *n_repaired += dlp_utf8_append_repaired (room, value, size);
      dlp_record_batch_builder_append_value (builder, i, room->str, room->len);
    }
  dlp_record_batch_builder_end_record (builder, dlp_record_batch_get_coordinate (batch, row));
}

DlpRecordBatch *
dlp_utf8_repair_batch (DlpRecordBatch *batch, guint64 *n_repaired, GError **error)
{
  g_autoptr (DlpRecordBatchBuilder) builder = NULL;
  g_autoptr (GString) room = NULL;

  *n_repaired = 0;
  if (is_valid_batch (batch))
    return dlp_record_batch_ref (batch);
  builder = dlp_record_batch_builder_new (dlp_record_batch_get_schema (batch));
  room = g_string_new (NULL);
  for (guint row = 0; row < dlp_record_batch_get_length (batch); row++)
    repair_row (builder, batch, row, room, n_repaired);
  return dlp_record_batch_builder_finish (builder, error);
}
