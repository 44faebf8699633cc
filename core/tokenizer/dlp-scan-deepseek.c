/* SPDX-License-Identifier: MIT */
#include "dlp-char-set.h"
#include "dlp-scan-known.h"
#include "dlp-scan-parts.h"
#include "dlp-scan.h"

/* DeepSeek-V3 cuts in three stages, each of which sees the pieces of the one before by themselves:
 *
 *   \p{N}{1,3}
 *   [\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+
 *   [!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|
 *   \s*[\r\n]+|\s+(?!\S)|\s+
 *
 * What none of them matches, between two matches, is a piece too. Here the cuts of the first two
 * stages are borders that the third does not look across: a character of another kind is the end.
 */
typedef enum
{
  OTHER,
  NUMBER,
  CJK,
} Kind;

typedef enum
{
  END,
  WORD,        /* \p{L}\p{M} */
  PUNCTUATION, /* \p{P}\p{S} */
  SPACE,
  REST,
} Class;

static Kind
kind_of (gunichar c)
{
  if ((c >= 0x4e00 && c <= 0x9fa5) || (c >= 0x3040 && c <= 0x30ff))
    return CJK;
  return c < DLP_N_POINTS && dlp_unicode_class (c) == DLP_CLASS_NUMBER ? NUMBER : OTHER;
}

static Class
class_of (gunichar c)
{
  guint category;

  if (c >= DLP_N_POINTS)
    return REST;
  if (DLP_IN (DLP_SET_LETTER | DLP_SET (MARK), dlp_unicode_class (c)))
    return WORD;
  if (dlp_unicode_class (c) == DLP_CLASS_SPACE)
    return SPACE;
  category = dlp_unicode_category (c);
  return category >= DLP_CATEGORY_FIRST_P && category <= DLP_CATEGORY_LAST_S ? PUNCTUATION : REST;
}

static inline Class
ascii_class_of (guint8 c)
{
  if (g_ascii_isalpha (c))
    return WORD;
  if (g_ascii_ispunct (c))
    return PUNCTUATION;
  return dlp_ascii_class[c] == DLP_CLASS_SPACE ? SPACE : REST;
}

static inline Class
peek (const guint8 *p, const guint8 *end, Kind kind, guint *len)
{
  DlpScanned scanned;

  *len = 0;
  if (p == end)
    return END;
  if (*p < 0x80)
    {
      *len = 1;
      return kind == (g_ascii_isdigit (*p) ? NUMBER : OTHER) ? ascii_class_of (*p) : END;
    }
  scanned = dlp_scan_decode (p, end);
  *len = scanned.len;
  return kind_of (scanned.c) == kind ? class_of (scanned.c) : END;
}

static const guint8 *
run (const guint8 *p, const guint8 *end, Kind kind, Class class)
{
  guint len;

  while (peek (p, end, kind, &len) == class)
    p += len;
  return p;
}

static const guint8 *
scan_space (const guint8 *p, const guint8 *end, Kind kind)
{
  const guint8 *q = p, *last = p, *after_newline = NULL;
  guint len;

  for (; peek (q, end, kind, &len) == SPACE; q += len)
    {
      last = q;
      if (dlp_scan_is_newline (*q))
        after_newline = q + 1;
    }
  if (after_newline)
    return after_newline;
  return peek (q, end, kind, &len) == END || last == p ? q : last;
}

/* The first alternative, which only ASCII matches. */
static const guint8 *
scan_name (const guint8 *p, const guint8 *end)
{
  const guint8 *q = p + 1;

  if (!g_ascii_ispunct (*p))
    return NULL;
  while (q < end && g_ascii_isalpha (*q))
    q++;
  return q > p + 1 ? q : NULL;
}

/* What nothing matches goes on up to where something does: a character that can stand in front of a
 * word does. */
static const guint8 *
scan_gap (const guint8 *p, const guint8 *end, Kind kind)
{
  guint len, next;

  for (; peek (p, end, kind, &len) == REST; p += len)
    if (peek (p + len, end, kind, &next) == WORD)
      break;
  return p;
}

static const guint8 *
scan_punctuation (const guint8 *p, const guint8 *end, Kind kind)
{
  p = run (p, end, kind, PUNCTUATION);
  while (kind == OTHER && p < end && dlp_scan_is_newline (*p))
    p++;
  return p;
}

const guint8 *
dlp_scan_deepseek (const guint8 *p, const guint8 *end)
{
  Kind kind = kind_of (dlp_scan_decode (p, end).c);
  const guint8 *stop = scan_name (p, end);
  guint len, next;
  Class first, second;

  if (stop)
    return stop;
  if (kind == NUMBER)
    return dlp_scan_numbers (p, end, 3);

  first = peek (p, end, kind, &len);
  second = peek (p + len, end, kind, &next);
  if (first == WORD || (second == WORD && first != PUNCTUATION && !dlp_scan_is_newline (*p)))
    return run (p + len, end, kind, WORD);
  if (first == PUNCTUATION || (*p == ' ' && second == PUNCTUATION))
    return scan_punctuation (p + len, end, kind);
  return first == SPACE ? scan_space (p, end, kind) : scan_gap (p, end, kind);
}
