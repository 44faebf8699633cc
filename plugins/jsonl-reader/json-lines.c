/* SPDX-License-Identifier: MIT */

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "json-lines.h"

#define BLOCK 64
#define INLINE static inline __attribute__ ((always_inline))

/* One bit a byte, of BLOCK bytes. */
typedef struct
{
  guint64 newlines;
  guint64 text; /* what makes a line count */
} LineMasks;

typedef struct
{
  gsize lines;
  gsize max_lines;
  gboolean pending;
} LineCount;

static inline gboolean
is_blank (guint8 byte)
{
  return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Returns how many of @len bytes belong to the lines counted. */
INLINE gsize
count_in_block (LineCount *count, LineMasks masks, gsize len)
{
  while (masks.newlines != 0)
    {
      guint64 before = masks.newlines ^ (masks.newlines - 1);

      if (count->pending || (masks.text & before) != 0)
        {
          count->pending = FALSE;
          if (++count->lines == count->max_lines)
            return __builtin_ctzll (masks.newlines) + 1;
        }
      masks.text &= ~before;
      masks.newlines &= masks.newlines - 1;
    }

  count->pending |= masks.text != 0;
  return len;
}

INLINE gsize
count_tail (LineCount *count, const guint8 *data, gsize len)
{
  LineMasks masks = { 0 };

  for (gsize i = 0; i < len; i++)
    {
      masks.newlines |= (guint64) (data[i] == '\n') << i;
      masks.text |= (guint64) (data[i] != '\n' && !is_blank (data[i])) << i;
    }

  return count_in_block (count, masks, len);
}

INLINE gsize
count_blocks (LineCount *count,
              const guint8 *data,
              gsize len,
              LineMasks (*get_masks) (const guint8 *p))
{
  gsize at = 0;

  for (; len - at >= BLOCK; at += BLOCK)
    {
      gsize used = count_in_block (count, get_masks (data + at), BLOCK);

      if (G_UNLIKELY (count->lines == count->max_lines))
        return at + used;
    }

  return at < len ? at + count_tail (count, data + at, len - at) : at;
}

#if defined(__x86_64__)

INLINE LineMasks
get_masks_sse2 (const guint8 *p)
{
  LineMasks masks = { 0 };

  for (guint i = 0; i < BLOCK; i += 16)
    {
      __m128i v = _mm_loadu_si128 ((const __m128i *) (p + i));
      __m128i newlines = _mm_cmpeq_epi8 (v, _mm_set1_epi8 ('\n'));
      __m128i blanks =
          _mm_or_si128 (_mm_or_si128 (_mm_cmpeq_epi8 (v, _mm_set1_epi8 (' ')),
                                      _mm_cmpeq_epi8 (v, _mm_set1_epi8 ('\t'))),
                        _mm_or_si128 (_mm_cmpeq_epi8 (v, _mm_set1_epi8 ('\r')), newlines));

      masks.newlines |= (guint64) (guint16) _mm_movemask_epi8 (newlines) << i;
      masks.text |= (guint64) (guint16) ~_mm_movemask_epi8 (blanks) << i;
    }

  return masks;
}

#define AVX2 __attribute__ ((target ("avx2,bmi")))

INLINE AVX2 LineMasks
get_masks_avx2 (const guint8 *p)
{
  LineMasks masks = { 0 };

  for (guint i = 0; i < BLOCK; i += 32)
    {
      __m256i v = _mm256_loadu_si256 ((const __m256i *) (p + i));
      __m256i newlines = _mm256_cmpeq_epi8 (v, _mm256_set1_epi8 ('\n'));
      __m256i blanks = _mm256_or_si256 (
          _mm256_or_si256 (_mm256_cmpeq_epi8 (v, _mm256_set1_epi8 (' ')),
                           _mm256_cmpeq_epi8 (v, _mm256_set1_epi8 ('\t'))),
          _mm256_or_si256 (_mm256_cmpeq_epi8 (v, _mm256_set1_epi8 ('\r')), newlines));

      masks.newlines |= (guint64) (guint32) _mm256_movemask_epi8 (newlines) << i;
      masks.text |= (guint64) ~(guint32) _mm256_movemask_epi8 (blanks) << i;
    }

  return masks;
}

static AVX2 gsize
count_avx2 (LineCount *count, const guint8 *data, gsize len)
{
  return count_blocks (count, data, len, get_masks_avx2);
}

static gsize
count_lines (LineCount *count, const guint8 *data, gsize len)
{
  if (__builtin_cpu_supports ("avx2"))
    return count_avx2 (count, data, len);

  return count_blocks (count, data, len, get_masks_sse2);
}

#else

INLINE LineMasks
get_masks (const guint8 *p)
{
  LineMasks masks = { 0 };

  for (guint i = 0; i < BLOCK; i++)
    {
      masks.newlines |= (guint64) (p[i] == '\n') << i;
      masks.text |= (guint64) (p[i] != '\n' && !is_blank (p[i])) << i;
    }

  return masks;
}

static gsize
count_lines (LineCount *count, const guint8 *data, gsize len)
{
  return count_blocks (count, data, len, get_masks);
}

#endif

/* glibc's is as fast as any. */
const guint8 *
json_find_newline (const guint8 *data, gsize len)
{
  return len > 0 ? memchr (data, '\n', len) : NULL;
}

gboolean
json_line_is_blank (const guint8 *line, gsize len)
{
  for (gsize i = 0; i < len; i++)
    if (!is_blank (line[i]))
      return FALSE;

  return TRUE;
}

gsize
json_skip_lines (const guint8 *data, gsize len, gsize max_lines, gboolean *pending, gsize *consumed)
{
  LineCount count = { .max_lines = max_lines, .pending = *pending };

  *consumed = max_lines > 0 ? count_lines (&count, data, len) : 0;
  *pending = count.pending;
  return count.lines;
}

gsize
json_count_lines (const guint8 *data, gsize len)
{
  gboolean pending = FALSE;
  gsize consumed;
  gsize lines = json_skip_lines (data, len, G_MAXSIZE, &pending, &consumed);

  return lines + pending;
}
