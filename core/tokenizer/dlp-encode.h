/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-context.h"
#include "dlp-cut.h"
#include "dlp-scan-known.h"
#include "dlp-scan.h"

/* From a text to ids. What is here is compiled once for each kind of processor: see
 * dlp-encode-loop.h. */
#define DLP_BATCH 256
#define DLP_TAIL 32
#define DLP_PADDED (DLP_TAIL + 16)

typedef guint64 (*DlpCutFunc) (const guint8 *p);

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

gsize dlp_encode_miss (DlpTokenizerContext *self,
                       const DlpKey *key,
                       const guint8 *p,
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

static inline gsize
dlp_encode_logged (DlpTokenizerContext *self,
                   const DlpSpan *span,
                   const DlpPieceSlot *slot,
                   gpointer out,
                   gsize at,
                   gboolean wide)
{
  gsize n;
  const guint32 *ids = dlp_piece_cache_read_log (&self->cache, slot, span->p, &n);

  if (ids == NULL)
    return dlp_encode_miss (self, &span->key, span->p, dlp_key_len (span->key), out, at, wide);
  dlp_copy_ids (out, at, ids, n, wide);
  return at + n;
}

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

/* 16 bytes at @p can be read */
static inline gsize
dlp_encode_piece (DlpTokenizerContext *self,
                  const guint8 *p,
                  gsize len,
                  gpointer out,
                  gsize at,
                  gboolean wide)
{
  DlpSpan span = dlp_make_span (self, p, len);

  return dlp_encode_span (self, &span, out, at, wide);
}

/* The last bytes of a text, where nothing may be read or written behind the end. */
static DLP_INLINE gsize
dlp_encode_tail (DlpTokenizerContext *self,
                 const guint8 *p,
                 gsize len,
                 gpointer out,
                 gsize at,
                 DlpScanFunc scan,
                 gboolean wide)
{
  guint8 text[DLP_PADDED] = { 0 };
  guint32 ids[DLP_TAIL + DLP_SHORT_MAX_IDS];
  const guint8 *q = text, *end = text + len;
  gsize n = 0;

  memcpy (text, p, len);
  while (q < end)
    {
      const guint8 *stop = scan (q, end);

      n = dlp_encode_piece (self, q, stop - q, ids, n, TRUE);
      q = stop;
    }
  dlp_copy_ids (out, at, ids, n, wide);
  return at + n;
}

/* A piece that begins less than DLP_TAIL bytes before the end of the text. */
static inline gsize
dlp_encode_last (DlpTokenizerContext *self,
                 const guint8 *p,
                 gsize len,
                 gpointer out,
                 gsize at,
                 gboolean wide)
{
  guint8 padded[DLP_PADDED] = { 0 };
  guint32 ids[DLP_TAIL + DLP_SHORT_MAX_IDS];
  gsize n;

  memcpy (padded, p, len);
  n = dlp_encode_piece (self, padded, len, ids, 0, TRUE);
  dlp_copy_ids (out, at, ids, n, wide);
  return at + n;
}
