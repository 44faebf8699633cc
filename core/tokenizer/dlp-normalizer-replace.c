/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer-step.h"

/* Appends what is from @p to @end with the content, of DLP_SHORT_CONTENT bytes at most, in the
 * place of each @byte. No branch depends on the text. */
void
dlp_text_append_replaced (DlpNormalizerText *self,
                          const guint8 *p,
                          const guint8 *end,
                          guint8 byte,
                          const char *content,
                          gsize content_len)
{
  guint8 room[DLP_SHORT_CONTENT] = { 0 };
  guint8 *to;

  memcpy (room, content, content_len);
  while (p < end)
    {
      const guint8 *stop = p + MIN (end - p, 4096);

      to = dlp_text_reserve (self, (stop - p) * MAX (content_len, 1) + sizeof room);
      for (; p < stop; p++)
        {
          memcpy (to, room, sizeof room);
          to[0] = *p == byte ? room[0] : *p;
          to += *p == byte ? content_len : 1;
        }
      self->len = to - self->bytes;
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
      if (self->pattern_len == 1 && self->content_len <= DLP_SHORT_CONTENT)
        {
          dlp_text_append_replaced (out, p, edit.end, *p, self->content, self->content_len);
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
