/* SPDX-License-Identifier: MIT */
#include "dlp-grapheme.h"
#include "dlp-normalizer-step.h"

/* Precompiled as the reference does it. Of a grapheme cluster of fewer than 6 bytes the shortest
 * string that it begins with decides: all of it is replaced. Else, or where there is none, each of
 * its characters is looked up by itself. So only strings of one character and clusters of several
 * can change anything. */

#define SHORT 6

/* By itself, and together with what is beside it, as long as that does not join either. */
static inline gboolean
is_quiet (const DlpPageSet *single, gunichar c)
{
  guint kind = dlp_grapheme_get (c) & 15;

  return (kind <= DLP_GRAPHEME_CONTROL || kind >= DLP_GRAPHEME_REGIONAL_INDICATOR) &&
         !dlp_page_set_has (single, c);
}

static const guint8 *
find_loud (const DlpPageSet *single, const guint8 *p, const guint8 *end)
{
  const guint8 *next;
  gunichar c;

  for (; p < end; p = next)
    {
      if (single->ascii != DLP_ASCII_ANY)
        {
          p = dlp_skip_ascii (p, end, TRUE);
          if (p == end)
            break;
        }
      next = dlp_utf8_read (p, &c);
      if (!is_quiet (single, c))
        break;
    }
  return p;
}

/* Where to begin so that clusters are seen as they are: at @from, which is between two, or at a
 * character that always begins one behind a quiet one. */
static const guint8 *
find_start (const guint8 *from, const guint8 *p)
{
  while (p > from)
    {
      gunichar c;

      p = dlp_utf8_previous (p);
      dlp_utf8_read (p, &c);
      if (dlp_grapheme_get (c) <= DLP_GRAPHEME_LF)
        break;
    }
  return p;
}

static void
replace_chars (const DlpCharsmap *charsmap, DlpEdit *edit, const guint8 *p, const guint8 *stop)
{
  const DlpPageSet *single = dlp_charsmap_get_single (charsmap);
  const guint8 *next;
  gunichar c;

  for (; p < stop; p = next)
    {
      const char *string;

      next = dlp_utf8_read (p, &c);
      if (!dlp_page_set_has (single, c))
        continue;
      string = dlp_charsmap_find_shortest (charsmap, p, next - p);
      if (string == NULL)
        continue;
      dlp_edit_cut (edit, p, next);
      dlp_text_append (edit->out, string, strlen (string));
    }
}

static void
replace_cluster (const DlpCharsmap *charsmap, DlpEdit *edit, const guint8 *p, const guint8 *stop)
{
  if (stop - p < SHORT)
    {
      const char *string = dlp_charsmap_find_shortest (charsmap, p, stop - p);

      if (string)
        {
          dlp_edit_cut (edit, p, stop);
          dlp_text_append (edit->out, string, strlen (string));
          return;
        }
    }
  replace_chars (charsmap, edit, p, stop);
}

gboolean
dlp_normalizer_run_precompiled (const DlpNormalizerStep *self,
                                DlpNormalizerScratch *scratch,
                                DlpNormalizerText *out,
                                const guint8 **text,
                                gsize *len)
{
  const DlpPageSet *single = dlp_charsmap_get_single (self->charsmap);
  DlpEdit edit = dlp_edit_begin (*text, *len, out);
  const guint8 *from = *text;
  const guint8 *loud;

  while ((loud = find_loud (single, from, edit.end)) < edit.end)
    {
      const guint8 *p = find_start (from, loud);

      while (p <= loud)
        {
          const guint8 *stop = dlp_grapheme_next (p, edit.end);

          replace_cluster (self->charsmap, &edit, p, stop);
          p = stop;
        }
      from = p;
    }
  dlp_edit_end (&edit, text, len);
  return TRUE;
}
