/* SPDX-License-Identifier: MIT */
#include "dlp-byte-letters.h"
#include "dlp-normalizer-step.h"

/* Steps that look at one character at a time. */

/* Drops each character of the set, or puts a space in its place if @becomes_space says so. */
static void
drop_set (const DlpPageSet *set,
          gboolean (*becomes_space) (gunichar c),
          DlpNormalizerText *out,
          const guint8 **text,
          gsize *len)
{
  DlpEdit edit = dlp_edit_begin (*text, *len, out);
  const guint8 *p = *text, *next;
  gunichar c;

  for (; (p = dlp_page_set_find (set, p, edit.end)) < edit.end; p = next)
    {
      next = dlp_utf8_read (p, &c);
      dlp_edit_cut (&edit, p, next);
      if (becomes_space && becomes_space (c))
        dlp_text_append (out, " ", 1);
    }
  dlp_edit_end (&edit, text, len);
}

static gboolean
run_strip_accents (const DlpNormalizerStep *self,
                   DlpNormalizerScratch *scratch,
                   DlpNormalizerText *out,
                   const guint8 **text,
                   gsize *len)
{
  drop_set (&dlp_mark_set, NULL, out, text, len);
  return TRUE;
}

gboolean
dlp_normalizer_run_nonspacing (const DlpNormalizerStep *self,
                               DlpNormalizerScratch *scratch,
                               DlpNormalizerText *out,
                               const guint8 **text,
                               gsize *len)
{
  drop_set (&dlp_nonspacing_set, NULL, out, text, len);
  return TRUE;
}

static gboolean
nmt_becomes_space (gunichar c)
{
  return c >= 0x1680 || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static gboolean
run_nmt (const DlpNormalizerStep *self,
         DlpNormalizerScratch *scratch,
         DlpNormalizerText *out,
         const guint8 **text,
         gsize *len)
{
  drop_set (&dlp_nmt_set, nmt_becomes_space, out, text, len);
  return TRUE;
}

/* Of white space, other controls are dropped. */
static gboolean
clean_becomes_space (gunichar c)
{
  return c == '\t' || c == '\n' || c == '\r' ||
         (c >= 0xa0 && dlp_unicode_class (c) == DLP_CLASS_SPACE);
}

gboolean
dlp_normalizer_run_clean (const DlpNormalizerStep *self,
                          DlpNormalizerScratch *scratch,
                          DlpNormalizerText *out,
                          const guint8 **text,
                          gsize *len)
{
  drop_set (&dlp_unclean_set, clean_becomes_space, out, text, len);
  return TRUE;
}

gboolean
dlp_normalizer_run_chinese (const DlpNormalizerStep *self,
                            DlpNormalizerScratch *scratch,
                            DlpNormalizerText *out,
                            const guint8 **text,
                            gsize *len)
{
  DlpEdit edit = dlp_edit_begin (*text, *len, out);
  const guint8 *p = *text, *next;
  gunichar c;

  for (; (p = dlp_page_set_find (&dlp_chinese_set, p, edit.end)) < edit.end; p = next)
    {
      next = dlp_utf8_read (p, &c);
      dlp_edit_cut (&edit, p, next);
      dlp_text_append (out, " ", 1);
      dlp_text_append (out, p, next - p);
      dlp_text_append (out, " ", 1);
    }
  dlp_edit_end (&edit, text, len);
  return TRUE;
}

static gboolean
run_strip (const DlpNormalizerStep *self,
           DlpNormalizerScratch *scratch,
           DlpNormalizerText *out,
           const guint8 **text,
           gsize *len)
{
  const guint8 *p = *text, *end = p + *len, *next;
  gunichar c;

  for (; (self->flags & DLP_STRIP_LEFT) && p < end; p = next)
    {
      next = dlp_utf8_read (p, &c);
      if (dlp_unicode_class (c) != DLP_CLASS_SPACE)
        break;
    }
  for (; (self->flags & DLP_STRIP_RIGHT) && p < end; end = next)
    {
      next = dlp_utf8_previous (end);
      dlp_utf8_read (next, &c);
      if (dlp_unicode_class (c) != DLP_CLASS_SPACE)
        break;
    }
  *text = p;
  *len = end - p;
  return TRUE;
}

static gboolean
run_prepend (const DlpNormalizerStep *self,
             DlpNormalizerScratch *scratch,
             DlpNormalizerText *out,
             const guint8 **text,
             gsize *len)
{
  if (*len == 0 || self->content_len == 0)
    return TRUE;
  dlp_text_reserve (out, self->content_len + *len);
  dlp_text_append (out, self->content, self->content_len);
  dlp_text_append (out, *text, *len);
  *text = out->bytes;
  *len = out->len;
  return TRUE;
}

/* The first that is not its own lower case. */
static const guint8 *
find_upper (const guint8 *p, const guint8 *end)
{
  const guint8 *next;
  gunichar c;

  for (; p < end; p = next)
    {
      while (end - p >= 16)
        {
          guint8 found = 0;

          for (guint i = 0; i < 16; i++)
            found |= p[i] & 0x80 ? 0x80 : (guint8) (p[i] - 'A') < 26;
          if (found)
            break;
          p += 16;
        }
      if (p == end)
        break;
      next = dlp_utf8_read (p, &c);
      if (dlp_lower (c) != c)
        break;
    }
  return p;
}

/* In lower case up to the next character that is not ASCII. */
static const guint8 *
lower_ascii (const guint8 *p, const guint8 *end, guint8 **out)
{
  guint8 *to = *out;

  for (; end - p >= 16; p += 16, to += 16)
    {
      guint8 all = 0;

      for (guint i = 0; i < 16; i++)
        all |= p[i];
      if (all & 0x80)
        break;
      for (guint i = 0; i < 16; i++)
        to[i] = p[i] + ((guint8) (p[i] - 'A') < 26 ? 0x20 : 0);
    }
  for (; p < end && *p < 0x80; p++)
    *to++ = *p + ((guint8) (*p - 'A') < 26 ? 0x20 : 0);
  *out = to;
  return p;
}

static gboolean
run_lowercase (const DlpNormalizerStep *self,
               DlpNormalizerScratch *scratch,
               DlpNormalizerText *out,
               const guint8 **text,
               gsize *len)
{
  const guint8 *end = *text + *len;
  const guint8 *p = find_upper (*text, end);
  gsize same = p - *text;
  guint8 *to;
  gunichar c;

  if (p == end)
    return TRUE;
  /* Two bytes become three at most. */
  to = dlp_text_reserve (out, *len + *len / 2 + 16);
  memcpy (to, *text, same);
  to += same;
  while ((p = lower_ascii (p, end, &to)) < end)
    {
      p = dlp_utf8_read (p, &c);
      to = dlp_utf8_write (to, c == 0x130 ? 'i' : dlp_lower (c));
      if (c == 0x130)
        to = dlp_utf8_write (to, 0x307);
    }
  out->len = to - out->bytes;
  *text = out->bytes;
  *len = out->len;
  return TRUE;
}

static gboolean
run_byte_level (const DlpNormalizerStep *self,
                DlpNormalizerScratch *scratch,
                DlpNormalizerText *out,
                const guint8 **text,
                gsize *len)
{
  const guint8 *p = *text, *end = p + *len;
  guint8 *to;

  to = dlp_text_reserve (out, 2 * *len + 4);
  for (; p < end; p++)
    to = dlp_utf8_write (to, dlp_letter_of_byte (*p));
  out->len = to - out->bytes;
  *text = out->bytes;
  *len = out->len;
  return TRUE;
}

DlpNormalizerRun
dlp_normalizer_find_simple (const char *type)
{
  static const struct
  {
    const char *type;
    DlpNormalizerRun run;
  } simple[] = {
    { "Lowercase", run_lowercase },
    { "StripAccents", run_strip_accents },
    { "Strip", run_strip },
    { "Prepend", run_prepend },
    { "Nmt", run_nmt },
    { "ByteLevel", run_byte_level },
  };

  for (guint i = 0; i < G_N_ELEMENTS (simple); i++)
    if (strcmp (simple[i].type, type) == 0)
      return simple[i].run;
  return NULL;
}
