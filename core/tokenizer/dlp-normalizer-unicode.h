/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-unicode.h"

#include <string.h>

#define DLP_PAGE 64u

/* Which of ASCII may be in a set. */
typedef enum
{
  DLP_ASCII_NONE,
  DLP_ASCII_CONTROLS,
  DLP_ASCII_ANY,
} DlpAscii;

/* Characters, by pages of 64; none is in it behind the last page. */
typedef struct
{
  guint n_pages;
  DlpAscii ascii;
  const guint8 *index;
  const guint64 *masks;
} DlpPageSet;

/* A value for each character, 0 behind the last page. Here: the combining class, with
 * DLP_MAPPING_MAYBE if the character may compose with one before it; from DLP_FIRST_MAPPING on
 * there is a decomposition instead, at that place of dlp_mappings: its length, then its UTF-8. */
typedef struct
{
  guint n_pages;
  const guint8 *index;
  const guint16 *pages;
} DlpPageTable;

#define DLP_MAPPING_MAYBE 256u
#define DLP_FIRST_MAPPING 512u

/* Grapheme_Cluster_Break; the order is that of unicode/make-normalizer-table.py. */
typedef enum
{
  DLP_GRAPHEME_OTHER,
  DLP_GRAPHEME_CONTROL,
  DLP_GRAPHEME_CR,
  DLP_GRAPHEME_LF,
  DLP_GRAPHEME_EXTEND,
  DLP_GRAPHEME_ZWJ,
  DLP_GRAPHEME_SPACING_MARK,
  DLP_GRAPHEME_PREPEND,
  DLP_GRAPHEME_REGIONAL_INDICATOR,
  DLP_GRAPHEME_L,
  DLP_GRAPHEME_V,
  DLP_GRAPHEME_T,
  DLP_GRAPHEME_LV,
  DLP_GRAPHEME_LVT,
  /* Added to one of the above. */
  DLP_GRAPHEME_PICTOGRAPHIC = 16,
  DLP_GRAPHEME_CONSONANT = 32,
  DLP_GRAPHEME_LINKER = 64,
  DLP_GRAPHEME_NON_JOINER = 128,
} DlpGrapheme;

/* What a form may change: all else stays as it is and separates what comes before it from what
 * comes behind. */
extern const DlpPageSet dlp_nfc_set, dlp_nfd_set, dlp_nfkc_set, dlp_nfkd_set;
extern const DlpPageTable dlp_canonical_table, dlp_compatible_table;
extern const guint8 dlp_mappings[];
extern const guint64 dlp_pairs[];
extern const guint8 dlp_nfc_boxes[10][16];

extern const DlpPageSet dlp_mark_set;       /* Mn Mc Me of Unicode 9.0 */
extern const DlpPageSet dlp_nonspacing_set; /* Mn of Unicode 8.0 */
extern const DlpPageSet dlp_unclean_set, dlp_nmt_set, dlp_chinese_set;

extern const guint dlp_lower_n;
extern const guint8 *const dlp_lower_index;
extern const guint8 *const dlp_lower_pages;
extern const gint32 dlp_lower_deltas[];

extern const guint dlp_grapheme_n;
extern const guint8 *const dlp_grapheme_index;
extern const guint8 *const dlp_grapheme_pages;

/* The character at @p of valid UTF-8; returns what is behind it. */
static DLP_INLINE const guint8 *
dlp_utf8_read (const guint8 *p, gunichar *c)
{
  guint lead = p[0];

  if (lead < 0x80)
    {
      *c = lead;
      return p + 1;
    }
  if (lead < 0xe0)
    {
      *c = (lead & 0x1f) << 6 | (p[1] & 0x3f);
      return p + 2;
    }
  if (lead < 0xf0)
    {
      *c = (lead & 0x0f) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3f);
      return p + 3;
    }
  *c = (lead & 0x07) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3f);
  return p + 4;
}

/* Needs room for four bytes; returns what is behind the character. */
static DLP_INLINE guint8 *
dlp_utf8_write (guint8 *p, gunichar c)
{
  if (c < 0x80)
    {
      p[0] = c;
      return p + 1;
    }
  if (c < 0x800)
    {
      p[0] = 0xc0 | c >> 6;
      p[1] = 0x80 | (c & 0x3f);
      return p + 2;
    }
  if (c < 0x10000)
    {
      p[0] = 0xe0 | c >> 12;
      p[1] = 0x80 | (c >> 6 & 0x3f);
      p[2] = 0x80 | (c & 0x3f);
      return p + 3;
    }
  p[0] = 0xf0 | c >> 18;
  p[1] = 0x80 | (c >> 12 & 0x3f);
  p[2] = 0x80 | (c >> 6 & 0x3f);
  p[3] = 0x80 | (c & 0x3f);
  return p + 4;
}

/* The start of the character before @p. */
static inline const guint8 *
dlp_utf8_previous (const guint8 *p)
{
  do
    p--;
  while ((*p & 0xc0) == 0x80);
  return p;
}

static DLP_INLINE gboolean
dlp_page_set_has (const DlpPageSet *self, gunichar c)
{
  guint page = c / DLP_PAGE;

  return page < self->n_pages && self->masks[self->index[page]] >> (c % DLP_PAGE) & 1;
}

static DLP_INLINE guint
dlp_page_table_get (const DlpPageTable *self, gunichar c)
{
  guint page = c / DLP_PAGE;

  return page < self->n_pages ? self->pages[self->index[page] * DLP_PAGE + c % DLP_PAGE] : 0;
}

static inline guint
dlp_grapheme_get (gunichar c)
{
  guint page = c / DLP_PAGE;

  return page < dlp_grapheme_n ?
             dlp_grapheme_pages[dlp_grapheme_index[page] * DLP_PAGE + c % DLP_PAGE] :
             DLP_GRAPHEME_OTHER;
}

/* Without U+0130, which becomes two characters. */
static DLP_INLINE gunichar
dlp_lower (gunichar c)
{
  guint page = c / DLP_PAGE;

  return page < dlp_lower_n ?
             c + dlp_lower_deltas[dlp_lower_pages[dlp_lower_index[page] * DLP_PAGE +
                                                  c % DLP_PAGE]] :
             c;
}

/* Behind the bytes at @p that are ASCII, and no controls if @printable. A block in which one is of
 * another kind is looked at byte by byte. */
static DLP_INLINE const guint8 *
dlp_skip_ascii (const guint8 *p, const guint8 *end, gboolean printable)
{
  const guint64 high = 0x8080808080808080u;
  const guint64 low = printable ? 0x2020202020202020u : 0;
  const guint64 one = printable ? 0x0101010101010101u : 0;

  while (end - p >= 32)
    {
      guint64 x[4], found = 0;

      memcpy (x, p, sizeof x);
      for (guint i = 0; i < 4; i++)
        found |= x[i] | (x[i] - low) | (x[i] + one);
      if (found & high)
        break;
      p += 32;
    }
  while (p < end && (printable ? *p - 0x20u < 0x5f : *p < 0x80))
    p++;
  return p;
}

/* Behind what NFC surely does not change, by whole blocks. */
const guint8 *dlp_nfc_skip (const guint8 *p, const guint8 *end);

/* The first character of the set from @p on, or @end. */
static DLP_INLINE const guint8 *
dlp_page_set_find (const DlpPageSet *self, const guint8 *p, const guint8 *end)
{
  const DlpAscii ascii = self->ascii;

  while (p < end)
    {
      const guint8 *next;
      gunichar c;

      if (*p < 0x80 && ascii != DLP_ASCII_ANY)
        {
          p = dlp_skip_ascii (p, end, ascii == DLP_ASCII_CONTROLS);
          if (p == end)
            break;
        }
      next = dlp_utf8_read (p, &c);
      if (dlp_page_set_has (self, c))
        break;
      p = next;
    }
  return p;
}
