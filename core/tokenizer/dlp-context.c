/* SPDX-License-Identifier: MIT */
#include "dlp-context.h"
#include "dlp-encode.h"

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

/* A piece that is not in the cache; one that is too long for it has no @key. */
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

  n = self->model->klass->encode (self->model, &self->scratch, p, len, ids);
  if (key)
    dlp_piece_cache_add (&self->cache, *key, p, ids, n);
  dlp_copy_ids (out, at, ids, n, wide);
  release_large_ids (self);
  return at + n;
}

static gssize
encode_regex (DlpTokenizerContext *self, const guint8 *text, gsize len, gpointer out, gboolean wide)
{
  gsize start = 0, stop = 0, n = 0;
  DlpSpan spans[DLP_BATCH];
  guint count = 0;

  if (self->matcher == NULL)
    self->matcher = dlp_matcher_new (self->pattern);

  for (;;)
    {
      gsize last = stop;
      int rc = dlp_matcher_next (self->matcher, text, len, &start, &stop);

      if (rc < 0)
        return DLP_ENCODE_GAVE_UP;
      if (rc == 0 || count == DLP_BATCH || len - start < DLP_TAIL)
        {
          for (guint i = 0; i < count; i++)
            n = dlp_encode_span (self, &spans[i], out, n, wide);
          count = 0;
        }

      self->dropped += (rc == 0 ? len : start) - last;
      if (rc == 0)
        return n;
      if (len - start >= DLP_TAIL)
        spans[count++] = dlp_make_span (self, text + start, stop - start);
      else
        n = dlp_encode_last (self, text + start, stop - start, out, n, wide);
    }
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

  if ((any || strcmp (wanted, "avx512") == 0) && __builtin_cpu_supports ("avx512bw") &&
      __builtin_cpu_supports ("avx512vl") && __builtin_cpu_supports ("bmi2"))
    return dlp_encode_avx512;
  if ((any || strcmp (wanted, "base") != 0) && __builtin_cpu_supports ("avx2") &&
      __builtin_cpu_supports ("bmi2"))
    return dlp_encode_avx2;
#endif
  return dlp_encode_base;
}

typedef struct
{
  DlpTokenizerContext *context;
  gpointer out;
  gsize n;
  gboolean wide;
  DlpSpan spans[DLP_BATCH];
  guint n_spans;
} Batch;

static void
flush (Batch *self)
{
  for (guint i = 0; i < self->n_spans; i++)
    self->n = dlp_encode_span (self->context, &self->spans[i], self->out, self->n, self->wide);
  self->n_spans = 0;
}

/* @end is that of the text which the piece is in. */
static inline void
add_piece (Batch *self, const guint8 *p, gsize len, const guint8 *end)
{
  if (self->n_spans == DLP_BATCH || end - p < DLP_TAIL)
    flush (self);
  if (end - p >= DLP_TAIL)
    self->spans[self->n_spans++] = dlp_make_span (self->context, p, len);
  else
    self->n = dlp_encode_last (self->context, p, len, self->out, self->n, self->wide);
}

/* One piece may be a whole document: it is cut where that changes nothing, so that its parts are
 * found in the cache. */
static void
add_parts (Batch *self, const guint8 *p, gsize len, const guint8 *end)
{
  const DlpModel *model = self->context->model;

  while (model->can_cut && len > DLP_KEY_MAX_LEN)
    {
      gsize part = dlp_model_find_cut (model, p, len, 1);

      add_piece (self, p, part, end);
      p += part;
      len -= part;
    }
  if (len > 0)
    add_piece (self, p, len, end);
}

gsize
dlp_context_encode_pieces (DlpTokenizerContext *self, gpointer ids, gboolean wide)
{
  const DlpPieces *pieces = &self->pieces;
  Batch batch;

  batch.context = self;
  batch.out = ids;
  batch.n = 0;
  batch.wide = wide;
  batch.n_spans = 0;
  for (gsize i = 0; i < pieces->n; i++)
    add_parts (&batch, pieces->text + pieces->items[i].start, pieces->items[i].len,
               pieces->text + pieces->text_len);
  flush (&batch);
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

guint64
dlp_tokenizer_context_get_dropped (DlpTokenizerContext *context)
{
  return context->dropped;
}
