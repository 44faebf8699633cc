/* SPDX-License-Identifier: MIT */
#include "dlp-byte-letters.h"
#include "dlp-splitter-private.h"
#include "dlp-utf8.h"

#include <string.h>

#define MIN_ROOM 64

/* Steps that change the text: each writes all pieces, one behind another, into the room for texts
 * that the pieces are not in. */

gboolean
dlp_step_rewrites (const DlpStep *self)
{
  return self->type >= DLP_STEP_PREFIX;
}

/* What is written; out->len is how much there is room for. */
typedef struct
{
  GByteArray *out;
  gsize used;
} Writer;

/* Room for @n bytes more. */
static guint8 *
reserve (Writer *self, gsize n)
{
  if (self->out->len - self->used < n)
    g_byte_array_set_size (self->out, self->used + n + self->out->len / 2);
  return self->out->data + self->used;
}

static inline guint8 *
put (guint8 *q, const void *text, gsize len)
{
  memcpy (q, text, len);
  return q + len;
}

static void
write_prefixed (Writer *self, const guint8 *p, gsize len)
{
  guint8 *q = reserve (self, len + 1);

  if (*p != ' ')
    *q++ = ' ';
  self->used = put (q, p, len) - self->out->data;
}

static gboolean
has_prefix (const DlpStep *step, const guint8 *p, gsize len)
{
  return *p == ' ' || (len >= step->text_len && memcmp (p, step->text, step->text_len) == 0);
}

static void
write_replaced (Writer *self, const DlpStep *step, const guint8 *p, gsize len, gboolean is_origin)
{
  guint8 *q = reserve (self, (len + 1) * step->text_len);
  const guint8 *end = p + len, *space;

  if (!has_prefix (step, p, len) &&
      (step->prepend == DLP_PREPEND_ALWAYS || (step->prepend == DLP_PREPEND_FIRST && is_origin)))
    q = put (q, step->text, step->text_len);
  for (; (space = memchr (p, ' ', end - p)) != NULL; p = space + 1)
    {
      q = put (q, p, space - p);
      q = put (q, step->text, step->text_len);
    }
  self->used = put (q, p, end - p) - self->out->data;
}

static void
write_letters (Writer *self, const guint8 *p, gsize len)
{
  guint8 *q = reserve (self, 2 * len);

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
  self->used = q - self->out->data;
}

/* What is no letter of a byte stays as it is. */
static void
write_bytes (Writer *self, const guint8 *p, gsize len)
{
  guint8 *q = reserve (self, len);
  guint n;

  for (const guint8 *end = p + len; p < end; p += n)
    {
      guint byte = dlp_byte_of_letter (dlp_utf8_get (p));

      n = dlp_utf8_len (*p);
      if (byte == DLP_LETTER_NONE)
        q = put (q, p, n);
      else
        *q++ = byte;
    }
  self->used = q - self->out->data;
}

static void
write_piece (Writer *self, const DlpStep *step, const guint8 *p, gsize len, gboolean is_origin)
{
  switch (step->type)
    {
    case DLP_STEP_PREFIX:
      write_prefixed (self, p, len);
      break;

    case DLP_STEP_REPLACE:
      write_replaced (self, step, p, len, is_origin);
      break;

    case DLP_STEP_MAP:
      write_letters (self, p, len);
      break;

    case DLP_STEP_UNMAP:
      write_bytes (self, p, len);
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
  const guint8 *text = pieces->text;
  Writer writer = { pieces->texts[which], 0 };

  if (writer.out == NULL)
    writer.out = pieces->texts[which] = g_byte_array_new ();
  reserve (&writer, pieces->text_len + pieces->n + MIN_ROOM);
  for (gsize i = 0; i < pieces->n; i++)
    {
      DlpPiece *piece = &pieces->items[i];
      gsize start = writer.used;

      write_piece (&writer, self, text + piece->start, piece->len, is_origin && i == 0);
      *piece = (DlpPiece){ start, writer.used - start };
    }
  pieces->text = writer.out->data;
  pieces->text_len = writer.used;
}
