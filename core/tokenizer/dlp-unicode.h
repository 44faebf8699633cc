/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#define DLP_INLINE inline __attribute__ ((always_inline))

/* The classes that the known patterns tell apart. The order is that of unicode/make-table.py. */
typedef enum
{
  DLP_CLASS_OTHER,
  DLP_CLASS_UPPER,    /* Lu Lt */
  DLP_CLASS_LOWER,    /* Ll */
  DLP_CLASS_CASELESS, /* Lm Lo */
  DLP_CLASS_MARK,     /* M */
  DLP_CLASS_NUMBER,   /* N */
  DLP_CLASS_SPACE,    /* White_Space */
  DLP_CLASS_NON_ASCII,
} DlpUnicodeClass;

#define DLP_IN(set, class) (((set) >> (class)) & 1u)
#define DLP_SET(class) (1u << DLP_CLASS_##class)
#define DLP_SET_LETTER (DLP_SET (UPPER) | DLP_SET (LOWER) | DLP_SET (CASELESS))
#define DLP_SET_PUNCT (DLP_SET (OTHER) | DLP_SET (MARK))

extern const char dlp_unicode_version[];
extern const guint16 dlp_unicode_index[];
extern const guint8 dlp_unicode_blocks[];
extern const guint8 dlp_ascii_class[256]; /* NON_ASCII from 0x80 on */
extern const guint dlp_unicode_n_han;
extern const gunichar dlp_unicode_han[][2];

/* General categories as unicode/make-table.py numbers them; those in between are in its order. */
#define DLP_CATEGORY_LU 1
#define DLP_CATEGORY_NL 10
#define DLP_CATEGORY_PC 12

/* class << 5 | general category */
static inline guint
dlp_unicode_entry (gunichar c)
{
  return dlp_unicode_blocks[dlp_unicode_index[c >> 7] * 128u + (c & 127)];
}

static inline DlpUnicodeClass
dlp_unicode_class (gunichar c)
{
  return dlp_unicode_entry (c) >> 5;
}

static inline guint
dlp_unicode_category (gunichar c)
{
  return dlp_unicode_entry (c) & 31;
}

/* One character of UTF-8 at @p < @end. What is not UTF-8 counts as one byte of class OTHER, so that
 * a scanner never reads past the end and always moves. */
static inline DlpUnicodeClass
dlp_unicode_next (const guint8 *p, const guint8 *end, guint *len)
{
  gunichar c = p[0];
  gsize left = end - p;

  *len = 1;
  if (c < 0x80)
    return dlp_ascii_class[c];

  if (c < 0xe0)
    {
      if (c < 0xc2 || left < 2 || (p[1] & 0xc0) != 0x80)
        return DLP_CLASS_OTHER;
      *len = 2;
      return dlp_unicode_class ((c & 0x1f) << 6 | (p[1] & 0x3f));
    }
  if (c < 0xf0)
    {
      if (left < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
        return DLP_CLASS_OTHER;
      *len = 3;
      return dlp_unicode_class ((c & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f));
    }

  if (c > 0xf4 || left < 4 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80 ||
      (p[3] & 0xc0) != 0x80)
    return DLP_CLASS_OTHER;
  c = (c & 0x07) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6 | (p[3] & 0x3f);
  if (c > 0x10ffff)
    return DLP_CLASS_OTHER;
  *len = 4;
  return dlp_unicode_class (c);
}
