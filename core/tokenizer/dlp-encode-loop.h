/* SPDX-License-Identifier: MIT */
/* The loops that cut blocks, for one kind of processor, as the function named by DLP_ENCODE_NAME.
 */

#include "dlp-cut.h"
#include "dlp-encode-ahead.h"

G_STATIC_ASSERT (DLP_SPANS_MAX >= DLP_BATCH + DLP_BLOCK_LEN);

#ifndef DLP_ENCODE_NAME
#error "DLP_ENCODE_NAME is not defined"
#endif

typedef guint64 (*CutFunc) (const guint8 *p);

/* One copy of this loop is made for each pattern. A text of n bytes makes at most n ids, so that
 * behind a piece that ends DLP_TAIL bytes before the end there is always room. */
static DLP_INLINE gsize
encode_blocks (DlpTokenizerContext *self,
               const guint8 *text,
               gsize len,
               gpointer out,
               CutFunc cut,
               gboolean wide)
{
  const guint8 *p = text, *end = text + len;
  DlpSpan spans[DLP_SPANS_MAX];
  guint count = 0;
  gsize n = 0;

  /* Cut many, then look all of them up: so that their cache lines are fetched at the same time. */
  while (end - p >= DLP_BLOCK_ROOM + DLP_TAIL)
    {
      guint64 places = cut (p);
      guint start = 0;

      if (G_UNLIKELY (places == 0))
        {
          const guint8 *stop = self->scan (p, end);

          if (end - stop < DLP_TAIL)
            break;
          spans[count++] = dlp_make_span (self, p, stop - p);
          p = stop;
        }
      for (; places; places &= places - 1)
        {
          guint stop = __builtin_ctzll (places);

          spans[count++] = dlp_make_span (self, p + start, stop - start);
          start = stop;
        }
      p += start;
      if (count >= DLP_BATCH)
        {
          n = dlp_encode_spans (self, spans, count, out, n, wide);
          count = 0;
        }
    }
  n = dlp_encode_spans (self, spans, count, out, n, wide);
  return dlp_encode_scanned (self, p, end - p, out, n, wide);
}

/* gpt2 is the only one of these whose ids are narrow in practice. */
gsize
DLP_ENCODE_NAME (DlpTokenizerContext *self,
                 const guint8 *text,
                 gsize len,
                 gpointer ids,
                 gboolean wide)
{
  switch (self->pattern->kind)
    {
    case DLP_PATTERN_GPT2:
      return wide ? encode_blocks (self, text, len, ids, dlp_cut_gpt2, TRUE) :
                    encode_blocks (self, text, len, ids, dlp_cut_gpt2, FALSE);

    case DLP_PATTERN_CL100K:
    case DLP_PATTERN_CL100K_OLD:
      return encode_blocks (self, text, len, ids, dlp_cut_cl100k, wide);

    case DLP_PATTERN_O200K:
      return encode_blocks (self, text, len, ids, dlp_cut_o200k, wide);

    case DLP_PATTERN_QWEN2:
      return encode_blocks (self, text, len, ids, dlp_cut_qwen2, wide);

    case DLP_PATTERN_QWEN35:
      return encode_blocks (self, text, len, ids, dlp_cut_qwen35, wide);

    case DLP_PATTERN_TEKKEN:
      return encode_blocks (self, text, len, ids, dlp_cut_tekken, wide);

    default:
      return dlp_encode_scanned (self, text, len, ids, 0, wide);
    }
}
