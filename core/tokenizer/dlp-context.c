/* SPDX-License-Identifier: MIT */
#include "dlp-context.h"
#include "dlp-encode-ahead.h"

#define DEFAULT_CACHE_BYTES (32 * 1024 * 1024)
#define IDS_KEPT (1u << 18)

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

gsize __attribute__ ((noinline)) dlp_encode_miss (DlpTokenizerContext *self,
                                                  const DlpKey *key,
                                                  const guint8 *p,
                                                  gsize len,
                                                  gpointer out,
                                                  gsize at,
                                                  gboolean wide)
{
  guint32 few[DLP_KEY_MAX_LEN];
  guint32 *ids = len <= DLP_KEY_MAX_LEN ? few : reserve_ids (self, len);
  gsize n;

  self->n_misses++;
  n = self->model->klass->encode (self->model, &self->scratch, p, len, ids);
  if (key)
    dlp_piece_cache_add (&self->cache, *key, p, ids, n);
  dlp_copy_ids (out, at, ids, n, wide);
  release_large_ids (self);
  return at + n;
}

gsize
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

/* A piece that begins less than DLP_TAIL bytes before the end, behind which nothing may be read or
 * written. */
static gsize
encode_last (DlpTokenizerContext *self,
             const guint8 *p,
             gsize len,
             gpointer out,
             gsize at,
             gboolean wide)
{
  guint8 padded[DLP_TAIL + 16] = { 0 };
  guint32 ids[DLP_TAIL + DLP_SHORT_MAX_IDS];
  DlpSpan span;
  gsize n;

  memcpy (padded, p, len);
  span = dlp_make_span (self, padded, len);
  n = dlp_encode_span (self, &span, ids, 0, TRUE);
  self->n_pieces++;
  dlp_copy_ids (out, at, ids, n, wide);
  return at + n;
}

/* Pieces of one text that are looked up together. */
typedef struct
{
  DlpTokenizerContext *context;
  const guint8 *end; /* of what can be read; as many ids as bytes before it can be written */
  gpointer out;
  gsize n;
  gboolean wide;
  guint n_spans;
  DlpSpan spans[DLP_BATCH];
} Batch;

static void
batch_init (Batch *self,
            DlpTokenizerContext *context,
            const guint8 *end,
            gpointer out,
            gsize at,
            gboolean wide)
{
  self->context = context;
  self->end = end + MIN (context->spare, DLP_TAIL);
  self->out = out;
  self->n = at;
  self->wide = wide;
  self->n_spans = 0;
}

static void
batch_flush (Batch *self)
{
  self->n =
      dlp_encode_spans (self->context, self->spans, self->n_spans, self->out, self->n, self->wide);
  self->n_spans = 0;
}

static inline void
batch_add (Batch *self, const guint8 *p, gsize len)
{
  gboolean is_last = self->end - p < DLP_TAIL;

  if (self->n_spans == DLP_BATCH || is_last)
    batch_flush (self);
  if (is_last)
    self->n = encode_last (self->context, p, len, self->out, self->n, self->wide);
  else
    self->spans[self->n_spans++] = dlp_make_span (self->context, p, len);
}

gsize
dlp_encode_scanned (DlpTokenizerContext *self,
                    const guint8 *text,
                    gsize len,
                    gpointer out,
                    gsize at,
                    gboolean wide)
{
  const guint8 *end = text + len;
  Batch batch;

  batch_init (&batch, self, end, out, at, wide);
  while (text < end)
    {
      const guint8 *stop = self->scan (text, end);

      batch_add (&batch, text, stop - text);
      text = stop;
    }
  batch_flush (&batch);
  return batch.n;
}

static gssize
encode_regex (DlpTokenizerContext *self, const guint8 *text, gsize len, gpointer out, gboolean wide)
{
  gsize start = 0, stop = 0, last;
  Batch batch;
  int rc;

  if (self->matcher == NULL)
    self->matcher = dlp_matcher_new (self->pattern);

  batch_init (&batch, self, text + len, out, 0, wide);
  for (last = 0; (rc = dlp_matcher_next (self->matcher, text, len, &start, &stop)) > 0; last = stop)
    {
      self->dropped += start - last;
      batch_add (&batch, text + start, stop - start);
    }
  if (rc < 0)
    return DLP_ENCODE_GAVE_UP;
  self->dropped += len - last;
  batch_flush (&batch);
  return batch.n;
}

gssize
dlp_context_encode (DlpTokenizerContext *self,
                    const guint8 *text,
                    gsize len,
                    gpointer ids,
                    gboolean wide)
{
  if (self->pattern->kind == DLP_PATTERN_REGEX)
    return encode_regex (self, text, len, ids, wide);
  return self->encode (self, text, len, ids, wide);
}

/* The fastest loop that this processor can run; DLPIPE_CPU=base, avx2 or avx512 asks for another.
 */
static DlpEncodeFunc
choose_encode (void)
{
#ifdef __x86_64__
  const char *wanted = g_getenv ("DLPIPE_CPU");
  gboolean any = wanted == NULL || *wanted == '\0';

  if ((any || strcmp (wanted, "avx512") == 0) && dlp_cpu_has_avx512 ())
    return dlp_encode_avx512;
  if ((any || strcmp (wanted, "base") != 0) && dlp_cpu_has_avx2 ())
    return dlp_encode_avx2;
#endif
  return dlp_encode_base;
}

/* One piece may be a whole document: it is cut where that changes nothing, so that its parts are
 * found in the cache. */
static void
add_parts (Batch *batch, const guint8 *p, gsize len)
{
  const DlpModel *model = batch->context->model;

  while (model->can_cut && len > DLP_KEY_MAX_LEN)
    {
      gsize part = dlp_model_find_cut (model, p, len, 1);

      batch_add (batch, p, part);
      p += part;
      len -= part;
    }
  if (len > 0)
    batch_add (batch, p, len);
}

gsize
dlp_context_encode_pieces (DlpTokenizerContext *self, gpointer ids, gboolean wide)
{
  const DlpPieces *pieces = &self->pieces;
  Batch batch;

  batch_init (&batch, self, pieces->text + pieces->text_len, ids, 0, wide);
  for (gsize i = 0; i < pieces->n; i++)
    add_parts (&batch, pieces->text + pieces->items[i].start, pieces->items[i].len);
  batch_flush (&batch);
  return batch.n;
}

DlpTokenizerContext *
dlp_tokenizer_context_new (DlpTokenizer *tokenizer, gsize cache_bytes)
{
  DlpTokenizerContext *self;

  g_return_val_if_fail (DLP_IS_TOKENIZER (tokenizer), NULL);

  self = g_new0 (DlpTokenizerContext, 1);
  self->tokenizer = g_object_ref (tokenizer);
  self->model = tokenizer->model;
  self->pattern = tokenizer->pattern;
  self->encode = choose_encode ();
  self->scan = self->pattern ? dlp_pattern_get_scanner (self->pattern->kind) : NULL;
  dlp_piece_cache_init (&self->cache, cache_bytes ? cache_bytes : DEFAULT_CACHE_BYTES);
  return self;
}

void
dlp_tokenizer_context_free (DlpTokenizerContext *context)
{
  if (context == NULL)
    return;
  dlp_piece_cache_clear (&context->cache);
  dlp_model_scratch_clear (&context->scratch);
  g_clear_pointer (&context->matcher, dlp_matcher_free);
  dlp_normalizer_scratch_clear (&context->normalizer);
  dlp_pieces_clear (&context->pieces);
  g_free (context->ids);
  g_object_unref (context->tokenizer);
  g_free (context);
}

void
dlp_tokenizer_context_get_stats (DlpTokenizerContext *context, guint64 *n_pieces, guint64 *n_misses)
{
  if (n_pieces)
    *n_pieces = context->n_pieces;
  if (n_misses)
    *n_misses = context->n_misses;
}

guint64
dlp_tokenizer_context_get_dropped (DlpTokenizerContext *context)
{
  return context->dropped;
}
