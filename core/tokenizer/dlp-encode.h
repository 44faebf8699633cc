/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-context.h"
#include "dlp-unicode.h"

/* From a text to ids. What is here is compiled once for each kind of processor: see
 * dlp-encode-loop.h. */
#define DLP_BATCH 256
#define DLP_SPANS_MAX (DLP_BATCH + 64) /* a block more */
#define DLP_TAIL 32
#define DLP_PADDED (DLP_TAIL + 16)

/* The ways to encode a text that a scanner cuts; @ids has room for @len of the given width. */
typedef gsize (*DlpEncodeFunc) (DlpTokenizerContext *self,
                                const guint8 *text,
                                gsize len,
                                gpointer ids,
                                gboolean wide);

gsize dlp_encode_base (DlpTokenizerContext *self,
                       const guint8 *text,
                       gsize len,
                       gpointer ids,
                       gboolean wide);
#ifdef __x86_64__
/* What the loops are compiled for: see meson.build. */
static inline gboolean
dlp_cpu_has_avx2 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("bmi") &&
         __builtin_cpu_supports ("bmi2");
}

static inline gboolean
dlp_cpu_has_avx512 (void)
{
  return dlp_cpu_has_avx2 () && __builtin_cpu_supports ("avx512f") &&
         __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512vl");
}

gsize dlp_encode_avx2 (DlpTokenizerContext *self,
                       const guint8 *text,
                       gsize len,
                       gpointer ids,
                       gboolean wide);
gsize dlp_encode_avx512 (DlpTokenizerContext *self,
                         const guint8 *text,
                         gsize len,
                         gpointer ids,
                         gboolean wide);
#endif

/* A piece that is not in the cache; one that is too long for it has no @key. */
gsize dlp_encode_miss (DlpTokenizerContext *self,
                       const DlpKey *key,
                       const guint8 *p,
                       gsize len,
                       gpointer out,
                       gsize at,
                       gboolean wide);

/* The text by the context's scanner alone, piece by piece; its ids go to @at. */
gsize dlp_encode_scanned (DlpTokenizerContext *self,
                          const guint8 *text,
                          gsize len,
                          gpointer out,
                          gsize at,
                          gboolean wide);

static inline void
dlp_copy_ids (gpointer out, gsize at, const guint32 *ids, gsize n, gboolean wide)
{
  if (wide)
    memcpy ((guint32 *) out + at, ids, n * sizeof *ids);
  else
    for (gsize i = 0; i < n; i++)
      ((guint16 *) out)[at + i] = ids[i];
}

static DLP_INLINE gsize
dlp_emit_slot (const DlpPieceSlot *slot, gpointer out, gsize at, gboolean wide)
{
  guint32 first = slot->ids[0];

  /* All four places are written, also those past the last id: that is cheaper than to choose. */
  if (wide)
    {
      guint32 *ids = (guint32 *) out + at;

      memcpy (ids, slot->ids, sizeof slot->ids);
      ids[0] = first & DLP_COUNT_MASK;
    }
  else
    {
      guint16 *ids = (guint16 *) out + at;

      ids[0] = first;
      ids[1] = slot->ids[1];
      ids[2] = slot->ids[2];
      ids[3] = slot->ids[3];
    }
  return at + (first >> DLP_COUNT_SHIFT);
}

/* A piece that has been cut off; one that is too long for the cache has no line. */
typedef struct
{
  const guint8 *p;
  const DlpPieceLine *line;
  DlpKey key;
} DlpSpan;

/* 16 bytes at @p can be read */
static DLP_INLINE DlpSpan
dlp_make_span (const DlpTokenizerContext *self, const guint8 *p, gsize len)
{
  DlpSpan span = { p, NULL, { len, 0 } };

  if (G_LIKELY (len <= DLP_KEY_MAX_LEN))
    span.key = dlp_key_load (p, len);
  else if (len <= DLP_LONG_MAX_LEN)
    span.key = dlp_key_of_long (p, len);
  else
    return span;

  span.line = dlp_piece_cache_line (&self->cache, span.key);
  __builtin_prefetch (span.line);
  return span;
}

/* A piece whose ids @slot does not hold but refers to. */
gsize dlp_encode_logged (DlpTokenizerContext *self,
                         const DlpSpan *span,
                         const DlpPieceSlot *slot,
                         gpointer out,
                         gsize at,
                         gboolean wide);

/* DLP_SHORT_MAX_IDS ids can be written at @at, or as many as the piece has bytes. */
static DLP_INLINE gsize
dlp_encode_span (DlpTokenizerContext *self,
                 const DlpSpan *span,
                 gpointer out,
                 gsize at,
                 gboolean wide)
{
  const DlpPieceSlot *slot;

  if (G_UNLIKELY (span->line == NULL))
    return dlp_encode_miss (self, NULL, span->p, span->key.lo, out, at, wide);

  slot = span->line->slots + !dlp_key_equal (span->line->slots[0].key, span->key);
  if (G_UNLIKELY (!dlp_key_equal (slot->key, span->key)))
    {
      slot = dlp_piece_line_find (dlp_piece_cache_other_line (&self->cache, span->line, span->key),
                                  span->key);
      if (slot == NULL)
        return dlp_encode_miss (self, &span->key, span->p, dlp_key_len (span->key), out, at, wide);
    }
  if (G_UNLIKELY (slot->ids[0] >> DLP_COUNT_SHIFT == DLP_COUNT_IN_LOG))
    return dlp_encode_logged (self, span, slot, out, at, wide);
  return dlp_emit_slot (slot, out, at, wide);
}
