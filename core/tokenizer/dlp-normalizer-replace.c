/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer-step.h"

#define SHORT 8

/* Of one byte, for not more than SHORT: no branch depends on the text. */
static void
replace_byte (const DlpNormalizerStep *self,
              DlpNormalizerText *out,
              const guint8 *p,
              const guint8 *end)
{
  const guint8 byte = self->pattern[0];
  const gsize content_len = self->content_len;
  guint8 content[SHORT] = { 0 };
  guint8 *to;

  memcpy (content, self->content, content_len);
  while (p < end)
    {
      const guint8 *stop = p + MIN (end - p, 4096);

      to = dlp_text_reserve (out, (stop - p) * MAX (content_len, 1) + SHORT);
      for (; p < stop; p++)
        {
          memcpy (to, content, SHORT);
          to[0] = *p == byte ? content[0] : *p;
          to += *p == byte ? content_len : 1;
        }
      out->len = to - out->bytes;
    }
}

gboolean
dlp_normalizer_run_replace (const DlpNormalizerStep *self,
                            DlpNormalizerScratch *scratch,
                            DlpNormalizerText *out,
                            const guint8 **text,
                            gsize *len)
{
  DlpEdit edit = dlp_edit_begin (*text, *len, out);
  const guint8 *p = *text;

  while ((p = memmem (p, edit.end - p, self->pattern, self->pattern_len)) != NULL)
    {
      dlp_edit_cut (&edit, p, p + self->pattern_len);
      if (self->pattern_len == 1 && self->content_len <= SHORT)
        {
          dlp_text_append (out, self->content, self->content_len);
          replace_byte (self, out, p + 1, edit.end);
          edit.done = edit.end;
          break;
        }
      dlp_text_append (out, self->content, self->content_len);
      p += self->pattern_len;
    }
  dlp_edit_end (&edit, text, len);
  return TRUE;
}

/* An empty string is found before each character and at the end, but not in an empty text. */
gboolean
dlp_normalizer_run_between (const DlpNormalizerStep *self,
                            DlpNormalizerScratch *scratch,
                            DlpNormalizerText *out,
                            const guint8 **text,
                            gsize *len)
{
  const guint8 *p = *text, *end = p + *len, *next;
  gunichar c;

  if (*len == 0 || self->content_len == 0)
    return TRUE;
  for (; p < end; p = next)
    {
      next = dlp_utf8_read (p, &c);
      dlp_text_append (out, self->content, self->content_len);
      dlp_text_append (out, p, next - p);
    }
  dlp_text_append (out, self->content, self->content_len);
  *text = out->bytes;
  *len = out->len;
  return TRUE;
}
