/* SPDX-License-Identifier: MIT */
#include "dlp-grapheme.h"

#include "dlp-normalizer-unicode.h"

/* Extended grapheme clusters of Unicode 17.0 (UAX 29). What the rules want to know of all that is
 * before a border: */
typedef struct
{
  guint last;          /* the kind of the character before it */
  guint n_indicators;  /* regional indicators right before it */
  gboolean pictograph; /* Extended_Pictographic Extend*, and a ZWJ if that is the last */
  gboolean conjunct;   /* a consonant, then marks */
  gboolean has_linker; /* among these */
} Before;

#define KIND(entry) ((entry) &15)

static void
add (Before *self, guint entry)
{
  guint kind = KIND (entry);
  gboolean is_mark = kind == DLP_GRAPHEME_EXTEND || kind == DLP_GRAPHEME_ZWJ;

  self->pictograph = entry & DLP_GRAPHEME_PICTOGRAPHIC ||
                     (is_mark && self->pictograph && KIND (self->last) != DLP_GRAPHEME_ZWJ);
  if (entry & DLP_GRAPHEME_CONSONANT)
    {
      self->conjunct = TRUE;
      self->has_linker = FALSE;
    }
  else if (is_mark && !(entry & DLP_GRAPHEME_NON_JOINER))
    self->has_linker |= (entry & DLP_GRAPHEME_LINKER) != 0;
  else
    self->conjunct = FALSE;
  self->n_indicators = kind == DLP_GRAPHEME_REGIONAL_INDICATOR ? self->n_indicators + 1 : 0;
  self->last = entry;
}

static gboolean
joins_hangul (guint last, guint kind)
{
  switch (last)
    {
    case DLP_GRAPHEME_L:
      return kind == DLP_GRAPHEME_L || kind == DLP_GRAPHEME_V || kind == DLP_GRAPHEME_LV ||
             kind == DLP_GRAPHEME_LVT;
    case DLP_GRAPHEME_LV:
    case DLP_GRAPHEME_V:
      return kind == DLP_GRAPHEME_V || kind == DLP_GRAPHEME_T;
    case DLP_GRAPHEME_LVT:
    case DLP_GRAPHEME_T:
      return kind == DLP_GRAPHEME_T;
    default:
      return FALSE;
    }
}

static gboolean
joins (const Before *before, guint entry)
{
  guint last = KIND (before->last), kind = KIND (entry);

  if (last == DLP_GRAPHEME_CR && kind == DLP_GRAPHEME_LF)
    return TRUE;
  if (last == DLP_GRAPHEME_CONTROL || last == DLP_GRAPHEME_CR || last == DLP_GRAPHEME_LF ||
      kind == DLP_GRAPHEME_CONTROL || kind == DLP_GRAPHEME_CR || kind == DLP_GRAPHEME_LF)
    return FALSE;
  if (kind == DLP_GRAPHEME_EXTEND || kind == DLP_GRAPHEME_ZWJ ||
      kind == DLP_GRAPHEME_SPACING_MARK || last == DLP_GRAPHEME_PREPEND ||
      joins_hangul (last, kind))
    return TRUE;
  if (entry & DLP_GRAPHEME_CONSONANT && before->conjunct && before->has_linker)
    return TRUE;
  if (entry & DLP_GRAPHEME_PICTOGRAPHIC && before->pictograph && last == DLP_GRAPHEME_ZWJ)
    return TRUE;
  return kind == DLP_GRAPHEME_REGIONAL_INDICATOR && before->n_indicators % 2 == 1;
}

/* The end of the cluster that begins at @p, which is before @end, in valid UTF-8. */
const guint8 *
dlp_grapheme_next (const guint8 *p, const guint8 *end)
{
  Before before = { 0 };
  gunichar c;

  p = dlp_utf8_read (p, &c);
  add (&before, dlp_grapheme_get (c));
  while (p < end)
    {
      const guint8 *next = dlp_utf8_read (p, &c);
      guint entry = dlp_grapheme_get (c);

      if (!joins (&before, entry))
        break;
      add (&before, entry);
      p = next;
    }
  return p;
}
