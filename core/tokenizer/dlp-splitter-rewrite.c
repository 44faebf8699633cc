/* SPDX-License-Identifier: MIT */
#include "dlp-byte-letters.h"
#include "dlp-splitter-private.h"
#include "dlp-utf8.h"

#include <string.h>

/* Steps that change the text: each writes all pieces, one behind another, into the room for texts
 * that the pieces are not in. */

gboolean
dlp_step_rewrites (const DlpStep *self)
{
  return self->type >= DLP_STEP_PREFIX;
}

static void
append (GByteArray *out, const void *text, gsize len)
{
  g_byte_array_append (out, text, len);
}

static gboolean
starts_with (const guint8 *p, gsize len, const char *text, gsize text_len)
{
  return len >= text_len && memcmp (p, text, text_len) == 0;
}

static void
append_replaced (GByteArray *out,
                 const DlpStep *step,
                 const guint8 *p,
                 gsize len,
                 gboolean is_origin)
{
  const guint8 *end = p + len;
  gboolean has_prefix = *p == ' ' || starts_with (p, len, step->text, step->text_len);

  if (!has_prefix &&
      (step->prepend == DLP_PREPEND_ALWAYS || (step->prepend == DLP_PREPEND_FIRST && is_origin)))
    append (out, step->text, step->text_len);
  while (p < end)
    {
      const guint8 *space = memchr (p, ' ', end - p);

      append (out, p, (space ? space : end) - p);
      if (space == NULL)
        break;
      append (out, step->text, step->text_len);
      p = space + 1;
    }
}

static void
append_letters (GByteArray *out, const guint8 *p, gsize len)
{
  gsize at = out->len;
  guint8 *q;

  g_byte_array_set_size (out, at + 2 * len);
  q = out->data + at;
  for (const guint8 *end = p + len; p < end; p++)
    {
      gunichar c = dlp_letter_of_byte (*p);

      if (c < 0x80)
        *q++ = c;
      else
        {
          *q++ = 0xc0 | c >> 6;
          *q++ = 0x80 | (c & 0x3f);
        }
    }
  g_byte_array_set_size (out, q - out->data);
}

/* What is no letter of a byte stays as it is. */
static void
append_bytes (GByteArray *out, const guint8 *p, gsize len)
{
  gsize at = out->len;
  guint8 *q;

  g_byte_array_set_size (out, at + len);
  q = out->data + at;
  for (const guint8 *end = p + len; p < end;)
    {
      guint n = dlp_utf8_len (*p);
      guint byte = dlp_byte_of_letter (dlp_utf8_get (p));

      if (byte != DLP_LETTER_NONE)
        *q++ = byte;
      else
        {
          memcpy (q, p, n);
          q += n;
        }
      p += n;
    }
  g_byte_array_set_size (out, q - out->data);
}

static void
append_rewritten (GByteArray *out,
                  const DlpStep *step,
                  const guint8 *p,
                  gsize len,
                  gboolean is_origin)
{
  switch (step->type)
    {
    case DLP_STEP_PREFIX:
      if (*p != ' ')
        append (out, " ", 1);
      append (out, p, len);
      break;

    case DLP_STEP_REPLACE:
      append_replaced (out, step, p, len, is_origin);
      break;

    case DLP_STEP_MAP:
      append_letters (out, p, len);
      break;

    case DLP_STEP_UNMAP:
      append_bytes (out, p, len);
      break;

    case DLP_STEP_SCAN:
    case DLP_STEP_REGEX:
    case DLP_STEP_STRING:
    case DLP_STEP_SET:
    case DLP_STEP_SCRIPTS:
    case DLP_STEP_LENGTH:
    default:
      g_return_if_reached ();
    }
}

/* @is_origin: the first piece begins where the whole text does. */
void
dlp_step_rewrite (const DlpStep *self, DlpPieces *pieces, gboolean is_origin)
{
  guint which = pieces->texts[0] != NULL && pieces->text == pieces->texts[0]->data;
  GByteArray *out = pieces->texts[which];
  const guint8 *text = pieces->text;

  if (out == NULL)
    out = pieces->texts[which] = g_byte_array_sized_new (pieces->text_len + pieces->n + 64);
  g_byte_array_set_size (out, 0);
  for (gsize i = 0; i < pieces->n; i++)
    {
      DlpPiece *piece = &pieces->items[i];
      guint32 start = out->len;

      append_rewritten (out, self, text + piece->start, piece->len, is_origin && i == 0);
      piece->start = start;
      piece->len = out->len - start;
    }
  pieces->text = out->data;
  pieces->text_len = out->len;
}
