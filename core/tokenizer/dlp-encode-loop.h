/* SPDX-License-Identifier: MIT */
/* The loops of dlp-encode.h for one kind of processor, as the function named by DLP_ENCODE_NAME. */

#include "dlp-encode.h"

#ifndef DLP_ENCODE_NAME
#error "DLP_ENCODE_NAME is not defined"
#endif

/* One copy of this loop is made for each scanner and width. A text of n bytes makes at most n ids,
 * so that behind a piece that ends DLP_TAIL bytes before the end there is always room. */
static DLP_INLINE gsize
encode_loop (DlpTokenizerContext *self,
             const guint8 *text,
             gsize len,
             gpointer out,
             DlpCutFunc cut,
             DlpScanFunc scan,
             gboolean wide)
{
  const guint8 *p = text, *end = text + len;
  DlpSpan spans[DLP_BATCH + DLP_BLOCK_LEN];
  guint count = 0;
  gsize n = 0;

  /* Cut many, then look all of them up: so that their cache lines are fetched at the same time. */
  while (end - p >= DLP_BLOCK_ROOM + DLP_TAIL)
    {
      guint64 places = cut (p);
      guint start = 0;

      if (G_UNLIKELY (places == 0))
        {
          const guint8 *stop = scan (p, end);

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
          for (guint i = 0; i < count; i++)
            n = dlp_encode_span (self, &spans[i], out, n, wide);
          count = 0;
        }
    }
  for (guint i = 0; i < count; i++)
    n = dlp_encode_span (self, &spans[i], out, n, wide);

  while (end - p >= DLP_TAIL)
    {
      const guint8 *stop = scan (p, end);

      n = dlp_encode_piece (self, p, stop - p, out, n, wide);
      p = stop;
    }
  return p < end ? dlp_encode_tail (self, p, end - p, out, n, scan, wide) : n;
}

static DLP_INLINE const guint8 *
scan_cl100k (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k (p, end, TRUE);
}

static DLP_INLINE const guint8 *
scan_cl100k_old (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k (p, end, FALSE);
}

#define ENCODE_WITH(cut, scan)                                                                     \
  (wide ? encode_loop (self, text, len, ids, cut, scan, TRUE) :                                    \
          encode_loop (self, text, len, ids, cut, scan, FALSE))

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
      return ENCODE_WITH (dlp_cut_gpt2, dlp_scan_gpt2);

    case DLP_PATTERN_CL100K:
      return ENCODE_WITH (dlp_cut_cl100k, scan_cl100k);

    case DLP_PATTERN_CL100K_OLD:
      return ENCODE_WITH (dlp_cut_cl100k, scan_cl100k_old);

    case DLP_PATTERN_QWEN2:
      return ENCODE_WITH (dlp_cut_qwen2, dlp_scan_qwen2);

    case DLP_PATTERN_QWEN35:
      return ENCODE_WITH (dlp_cut_qwen35, dlp_scan_qwen35);

    case DLP_PATTERN_TEKKEN:
      return ENCODE_WITH (dlp_cut_tekken, dlp_scan_tekken);

    case DLP_PATTERN_KIMI_K2:
      return ENCODE_WITH (dlp_cut_nothing, dlp_scan_kimi_k2);

    case DLP_PATTERN_DEEPSEEK:
      return ENCODE_WITH (dlp_cut_nothing, dlp_scan_deepseek);

    case DLP_PATTERN_DIGITS:
      return ENCODE_WITH (dlp_cut_nothing, dlp_scan_digits);

    case DLP_PATTERN_O200K:
    default:
      return ENCODE_WITH (dlp_cut_o200k, dlp_scan_o200k);
    }
}
