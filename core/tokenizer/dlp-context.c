/* SPDX-License-Identifier: MIT */
#include "dlp-context.h"
#include "dlp-scan-known.h"
#include "dlp-scan.h"

#define DEFAULT_CACHE_BYTES (32 * 1024 * 1024)
#define IDS_KEPT (1u << 18)
#define BATCH 64
#define TAIL 32
#define PADDED (TAIL + 16)

typedef const guint8 *(*ScanFunc) (const guint8 *p, const guint8 *end);

static guint32 *
reserve_ids (DlpTokenizerContext *self, gsize n)
{
  if (self->ids_capacity < n)
    {
      g_free (self->ids);
      self->ids = g_new (guint32, n);
      self->ids_capacity = n;
    }
  return self->ids;
}

static void
release_large_ids (DlpTokenizerContext *self)
{
  if (self->ids_capacity > IDS_KEPT)
    {
      g_clear_pointer (&self->ids, g_free);
      self->ids_capacity = 0;
    }
}

static void
copy_ids (gpointer out, gsize at, const guint32 *ids, gsize n, gboolean wide)
{
  if (wide)
    memcpy ((guint32 *) out + at, ids, n * sizeof *ids);
  else
    for (gsize i = 0; i < n; i++)
      ((guint16 *) out)[at + i] = ids[i];
}

/* A piece that is not in the cache; one that is too long for it has no @key. */
static gsize __attribute__ ((noinline)) encode_miss (DlpTokenizerContext *self,
                                                     const DlpKey *key,
                                                     const guint8 *p,
                                                     gsize len,
                                                     gpointer out,
                                                     gsize at,
                                                     gboolean wide)
{
  guint32 few[DLP_KEY_MAX_LEN];
  guint32 *ids = len <= DLP_KEY_MAX_LEN ? few : reserve_ids (self, len);
  gsize n = 1;

  ids[0] = len <= DLP_KEY_MAX_LEN ? dlp_vocabulary_lookup_key (self->vocabulary, *key) :
                                    dlp_vocabulary_lookup (self->vocabulary, p, len);
  if (ids[0] == DLP_ID_NONE)
    n = dlp_bpe_encode (self->vocabulary, &self->scratch, p, len, ids);

  if (key)
    dlp_piece_cache_add (&self->cache, *key, p, ids, n);
  copy_ids (out, at, ids, n, wide);
  release_large_ids (self);
  return at + n;
}

static DLP_INLINE gsize
emit_slot (const DlpPieceSlot *slot, gpointer out, gsize at, gboolean wide)
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
} Span;

/* 16 bytes at @p can be read */
static DLP_INLINE Span
make_span (const DlpTokenizerContext *self, const guint8 *p, gsize len)
{
  Span span = { p, NULL, { len, 0 } };

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

static gsize
encode_logged (DlpTokenizerContext *self,
               const Span *span,
               const DlpPieceSlot *slot,
               gpointer out,
               gsize at,
               gboolean wide)
{
  gsize n;
  const guint32 *ids = dlp_piece_cache_read_log (&self->cache, slot, span->p, &n);

  if (ids == NULL)
    return encode_miss (self, &span->key, span->p, dlp_key_len (span->key), out, at, wide);
  copy_ids (out, at, ids, n, wide);
  return at + n;
}

/* DLP_SHORT_MAX_IDS ids can be written at @at, or as many as the piece has bytes. */
static DLP_INLINE gsize
encode_span (DlpTokenizerContext *self, const Span *span, gpointer out, gsize at, gboolean wide)
{
  const DlpPieceSlot *slot;

  if (G_UNLIKELY (span->line == NULL))
    return encode_miss (self, NULL, span->p, span->key.lo, out, at, wide);

  slot = span->line->slots + !dlp_key_equal (span->line->slots[0].key, span->key);
  if (G_UNLIKELY (!dlp_key_equal (slot->key, span->key)))
    return encode_miss (self, &span->key, span->p, dlp_key_len (span->key), out, at, wide);
  if (G_UNLIKELY (slot->ids[0] >> DLP_COUNT_SHIFT == DLP_COUNT_IN_LOG))
    return encode_logged (self, span, slot, out, at, wide);
  return emit_slot (slot, out, at, wide);
}

/* 16 bytes at @p can be read */
static gsize
encode_piece (DlpTokenizerContext *self,
              const guint8 *p,
              gsize len,
              gpointer out,
              gsize at,
              gboolean wide)
{
  Span span = make_span (self, p, len);

  return encode_span (self, &span, out, at, wide);
}

/* The last bytes of a text, where nothing may be read or written behind the end. */
static DLP_INLINE gsize
encode_tail (DlpTokenizerContext *self,
             const guint8 *p,
             gsize len,
             gpointer out,
             gsize at,
             ScanFunc scan,
             gboolean wide)
{
  guint8 text[PADDED] = { 0 };
  guint32 ids[TAIL + DLP_SHORT_MAX_IDS];
  const guint8 *q = text, *end = text + len;
  gsize n = 0;

  memcpy (text, p, len);
  while (q < end)
    {
      const guint8 *stop = scan (q, end);

      n = encode_piece (self, q, stop - q, ids, n, TRUE);
      q = stop;
    }
  copy_ids (out, at, ids, n, wide);
  return at + n;
}

/* One copy of this loop is made for each scanner and width. A text of n bytes makes at most n ids,
 * so that behind a piece that ends TAIL bytes before the end there is always room. */
static DLP_INLINE gsize
encode_loop (DlpTokenizerContext *self,
             const guint8 *text,
             gsize len,
             gpointer out,
             ScanFunc scan,
             gboolean wide)
{
  const guint8 *p = text, *end = text + len;
  Span spans[BATCH];
  gsize n = 0;

  /* Cut many, then look all of them up: so that their cache lines are fetched at the same time. */
  while (end - p >= TAIL)
    {
      guint count = 0;

      while (count < BATCH && end - p >= TAIL)
        {
          const guint8 *stop = scan (p, end);

          spans[count++] = make_span (self, p, stop - p);
          p = stop;
        }
      for (guint i = 0; i < count; i++)
        n = encode_span (self, &spans[i], out, n, wide);
    }
  return p < end ? encode_tail (self, p, end - p, out, n, scan, wide) : n;
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

/* A piece that begins less than TAIL bytes before the end of the text. */
static gsize
encode_last (DlpTokenizerContext *self,
             const guint8 *p,
             gsize len,
             gpointer out,
             gsize at,
             gboolean wide)
{
  guint8 padded[PADDED] = { 0 };
  guint32 ids[TAIL + DLP_SHORT_MAX_IDS];
  gsize n;

  memcpy (padded, p, len);
  n = encode_piece (self, padded, len, ids, 0, TRUE);
  copy_ids (out, at, ids, n, wide);
  return at + n;
}

static gssize
encode_regex (DlpTokenizerContext *self, const guint8 *text, gsize len, gpointer out, gboolean wide)
{
  gsize start = 0, stop = 0, n = 0;
  Span spans[BATCH];
  guint count = 0;

  if (self->matcher == NULL)
    self->matcher = dlp_matcher_new (self->pattern);

  for (;;)
    {
      gsize last = stop;
      int rc = dlp_matcher_next (self->matcher, text, len, &start, &stop);

      if (rc < 0)
        return DLP_ENCODE_GAVE_UP;
      if (rc == 0 || count == BATCH || len - start < TAIL)
        {
          for (guint i = 0; i < count; i++)
            n = encode_span (self, &spans[i], out, n, wide);
          count = 0;
        }

      self->dropped += (rc == 0 ? len : start) - last;
      if (rc == 0)
        return n;
      if (len - start >= TAIL)
        spans[count++] = make_span (self, text + start, stop - start);
      else
        n = encode_last (self, text + start, stop - start, out, n, wide);
    }
}

#define ENCODE_WITH(scan)                                                                          \
  (wide ? encode_loop (self, text, len, ids, scan, TRUE) :                                         \
          encode_loop (self, text, len, ids, scan, FALSE))

gssize
dlp_context_encode (DlpTokenizerContext *self,
                    const guint8 *text,
                    gsize len,
                    gpointer ids,
                    gboolean wide)
{
  switch (self->pattern->kind)
    {
    case DLP_PATTERN_GPT2:
      return ENCODE_WITH (dlp_scan_gpt2);

    case DLP_PATTERN_CL100K:
      return ENCODE_WITH (scan_cl100k);

    case DLP_PATTERN_CL100K_OLD:
      return ENCODE_WITH (scan_cl100k_old);

    case DLP_PATTERN_O200K:
      return ENCODE_WITH (dlp_scan_o200k);

    case DLP_PATTERN_QWEN2:
      return ENCODE_WITH (dlp_scan_qwen2);

    case DLP_PATTERN_QWEN35:
      return ENCODE_WITH (dlp_scan_qwen35);

    case DLP_PATTERN_TEKKEN:
      return ENCODE_WITH (dlp_scan_tekken);

    case DLP_PATTERN_KIMI_K2:
      return ENCODE_WITH (dlp_scan_kimi_k2);

    case DLP_PATTERN_DEEPSEEK:
      return ENCODE_WITH (dlp_scan_deepseek);

    case DLP_PATTERN_DIGITS:
      return ENCODE_WITH (dlp_scan_digits);

    case DLP_PATTERN_REGEX:
    default:
      return encode_regex (self, text, len, ids, wide);
    }
}

DlpTokenizerContext *
dlp_tokenizer_context_new (DlpTokenizer *tokenizer, gsize cache_bytes)
{
  DlpTokenizerContext *self;

  g_return_val_if_fail (DLP_IS_TOKENIZER (tokenizer), NULL);

  self = g_new0 (DlpTokenizerContext, 1);
  self->tokenizer = g_object_ref (tokenizer);
  self->vocabulary = dlp_tokenizer_peek_vocabulary (tokenizer);
  self->pattern = dlp_tokenizer_peek_pattern (tokenizer);
  dlp_piece_cache_init (&self->cache, cache_bytes ? cache_bytes : DEFAULT_CACHE_BYTES);
  return self;
}

void
dlp_tokenizer_context_free (DlpTokenizerContext *context)
{
  if (context == NULL)
    return;
  dlp_piece_cache_clear (&context->cache);
  dlp_bpe_scratch_clear (&context->scratch);
  g_clear_pointer (&context->matcher, dlp_matcher_free);
  g_free (context->ids);
  g_object_unref (context->tokenizer);
  g_free (context);
}

guint64
dlp_tokenizer_context_get_dropped (DlpTokenizerContext *context)
{
  return context->dropped;
}
