/* SPDX-License-Identifier: MIT */
#include "dlp-context.h"

#define TOO_MANY -1

/* One text on its way to ids. */
typedef struct
{
  DlpTokenizer *tokenizer;
  DlpTokenizerContext *context;
  gboolean allow_special;
  const char *end; /* of the document, or of what it was normalized to: so far it can be read */
  gpointer ids;
  gsize n;
  gsize capacity;
  gboolean wide;
} Encoding;

static gsize
get_width (const Encoding *self)
{
  return self->wide ? sizeof (guint32) : sizeof (guint16);
}

static gpointer
get_place (const Encoding *self)
{
  return (guint8 *) self->ids + self->n * get_width (self);
}

static gssize
put_id (Encoding *self, guint32 id)
{
  if (self->n == self->capacity)
    return TOO_MANY;
  if (self->wide)
    ((guint32 *) self->ids)[self->n++] = id;
  else
    ((guint16 *) self->ids)[self->n++] = id;
  return 0;
}

static gssize
put_ids (Encoding *self, GArray *ids)
{
  gssize rc = 0;

  for (guint i = 0; i < ids->len && rc == 0; i++)
    rc = put_id (self, g_array_index (ids, guint32, i));
  return rc;
}

/* @room has place for as many ids as the text or its pieces have bytes. */
static gssize
encode_into (Encoding *self, const char *text, gsize len, gpointer room)
{
  if (self->tokenizer->pattern)
    return dlp_context_encode (self->context, (const guint8 *) text, len, room, self->wide);
  return dlp_context_encode_pieces (self->context, room, self->wide);
}

/* What is between two added tokens is short, and most of it would be the end of a text. */
static gsize
get_spare (const Encoding *self, const char *text, gsize len, gsize wanted)
{
  if (self->tokenizer->pattern == NULL && self->context->pieces.text != (const guint8 *) text)
    return 0;
  return MIN ((gsize) (self->end - (text + len)), self->capacity - self->n - wanted);
}

/* A stretch of normalized text without added tokens in it. */
static gssize
encode_stretch (Encoding *self, const char *text, gsize len, gboolean is_first)
{
  DlpPieces *pieces = &self->context->pieces;
  g_autofree gpointer room = NULL;
  gsize wanted = len;
  gssize n;

  if (self->tokenizer->pattern == NULL)
    {
      if (!dlp_splitter_run (self->tokenizer->splitter, (const guint8 *) text, len, is_first,
                             pieces))
        return DLP_ENCODE_GAVE_UP;
      wanted = pieces->text_len;
    }

  if (wanted > self->capacity - self->n)
    room = g_malloc_n (wanted, get_width (self));
  self->context->spare = room ? 0 : get_spare (self, text, len, wanted);
  n = encode_into (self, text, len, room ? room : get_place (self));
  if (n < 0)
    return n;
  if (room)
    {
      if ((gsize) n > self->capacity - self->n)
        return TOO_MANY;
      memcpy (get_place (self), room, n * get_width (self));
    }
  self->n += n;
  return 0;
}

/* Text that holds added tokens of the second kind, those that are looked for once it is normalized.
 */
static gssize
encode_normalized (Encoding *self, const char *text, gsize len, gboolean is_first)
{
  const DlpAddedTokens *added = &self->tokenizer->added;
  DlpSegmenter segmenter;
  DlpSegment segment;
  gssize rc = 0;

  if (!dlp_added_tokens_matter (added, TRUE, self->allow_special))
    return encode_stretch (self, text, len, is_first);

  dlp_segmenter_init (&segmenter, added, TRUE, self->allow_special, text, len);
  while (rc == 0 && dlp_segmenter_next (&segmenter, &segment))
    rc = segment.token ? put_id (self, segment.token->id) :
                         encode_stretch (self, text + segment.start, segment.end - segment.start,
                                         is_first && segment.start == 0);
  return rc;
}

static gssize
encode_segment (Encoding *self, const char *text, gsize len, gboolean is_first)
{
  const guint8 *normalized = (const guint8 *) text;
  const char *end = self->end;
  gssize rc;

  if (self->tokenizer->normalizer &&
      !dlp_normalizer_run (self->tokenizer->normalizer, &self->context->normalizer, &normalized,
                           &len))
    return DLP_ENCODE_GAVE_UP;
  if (len == 0)
    return 0;
  if (normalized != (const guint8 *) text)
    self->end = (const char *) normalized + len + self->context->normalizer.spare;
  rc = encode_normalized (self, (const char *) normalized, len, is_first);
  self->end = end;
  return rc;
}

static gssize
encode_text (Encoding *self, const char *text, gsize len)
{
  const DlpAddedTokens *added = &self->tokenizer->added;
  DlpSegmenter segmenter;
  DlpSegment segment;
  gssize rc = 0;

  if (!dlp_added_tokens_matter (added, FALSE, self->allow_special))
    return encode_segment (self, text, len, TRUE);

  dlp_segmenter_init (&segmenter, added, FALSE, self->allow_special, text, len);
  while (rc == 0 && dlp_segmenter_next (&segmenter, &segment))
    rc = segment.token ? put_id (self, segment.token->id) :
                         encode_segment (self, text + segment.start, segment.end - segment.start,
                                         segment.start == 0);
  return rc;
}

static gssize
encode_any (DlpTokenizer *self,
            DlpTokenizerContext *context,
            const char *text,
            gsize len,
            DlpTokenizerFlags flags,
            gpointer ids,
            gsize capacity,
            gboolean wide)
{
  gboolean around = (flags & DLP_TOKENIZER_FLAGS_POST_PROCESSOR) && self->template.before;
  Encoding encoding = { .tokenizer = self,
                        .context = context,
                        .allow_special = (flags & DLP_TOKENIZER_FLAGS_SPECIALS) != 0,
                        .end = text + len,
                        .ids = ids,
                        .capacity = capacity,
                        .wide = wide };
  gssize rc = 0;

  if (around)
    rc = put_ids (&encoding, self->template.before);
  if (rc == 0 && len > 0)
    rc = encode_text (&encoding, text, len);
  if (rc == 0 && around)
    rc = put_ids (&encoding, self->template.behind);
  return rc < 0 ? rc : (gssize) encoding.n;
}

gssize
dlp_tokenizer_encode_full (DlpTokenizer *self,
                           DlpTokenizerContext *context,
                           const char *text,
                           gsize len,
                           DlpTokenizerFlags flags,
                           guint32 *ids,
                           gsize capacity)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), -1);
  g_return_val_if_fail (context != NULL && context->tokenizer == self, -1);
  g_return_val_if_fail (len == 0 || (text != NULL && (ids != NULL || capacity == 0)), -1);

  return encode_any (self, context, text, len, flags, ids, capacity, TRUE);
}

gssize
dlp_tokenizer_encode (DlpTokenizer *self,
                      DlpTokenizerContext *context,
                      const char *text,
                      gsize len,
                      guint32 *ids,
                      gsize capacity)
{
  return dlp_tokenizer_encode_full (self, context, text, len, DLP_TOKENIZER_FLAGS_NONE, ids,
                                    capacity);
}

gssize
dlp_tokenizer_encode16_full (DlpTokenizer *self,
                             DlpTokenizerContext *context,
                             const char *text,
                             gsize len,
                             DlpTokenizerFlags flags,
                             guint16 *ids,
                             gsize capacity)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), -1);
  g_return_val_if_fail (dlp_tokenizer_get_vocab_size (self) <= 65536, -1);
  g_return_val_if_fail (context != NULL && context->tokenizer == self, -1);
  g_return_val_if_fail (len == 0 || (text != NULL && (ids != NULL || capacity == 0)), -1);

  return encode_any (self, context, text, len, flags, ids, capacity, FALSE);
}

gssize
dlp_tokenizer_encode16 (DlpTokenizer *self,
                        DlpTokenizerContext *context,
                        const char *text,
                        gsize len,
                        guint16 *ids,
                        gsize capacity)
{
  return dlp_tokenizer_encode16_full (self, context, text, len, DLP_TOKENIZER_FLAGS_NONE, ids,
                                      capacity);
}

guint32 *
dlp_tokenizer_encode_text (DlpTokenizer *self,
                           const char *text,
                           gssize len,
                           DlpTokenizerFlags flags,
                           gsize *n_ids)
{
  g_autoptr (DlpTokenizerContext) context = NULL;
  g_autofree guint32 *ids = NULL;
  gssize n = TOO_MANY;
  gsize size, capacity;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);
  g_return_val_if_fail (text != NULL && n_ids != NULL, NULL);

  size = len < 0 ? strlen (text) : (gsize) len;
  context = dlp_tokenizer_context_new (self, 1);
  for (capacity = size + 16; n == TOO_MANY; capacity *= 2)
    {
      ids = g_renew (guint32, ids, capacity);
      n = dlp_tokenizer_encode_full (self, context, text, size, flags, ids, capacity);
    }
  *n_ids = MAX (n, 0);
  if (n < 0)
    return NULL;
  return g_renew (guint32, g_steal_pointer (&ids), n + 1);
}
