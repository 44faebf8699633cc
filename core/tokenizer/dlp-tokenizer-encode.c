/* SPDX-License-Identifier: MIT */
#include "dlp-context.h"
#include "dlp-specials.h"

static gpointer
ids_at (gpointer ids, gsize n, gboolean wide)
{
  return wide ? (gpointer) ((guint32 *) ids + n) : (gpointer) ((guint16 *) ids + n);
}

/* Each segment between special tokens is a text of its own. */
static gssize
encode_segments (DlpTokenizer *self,
                 DlpTokenizerContext *context,
                 const char *text,
                 gsize len,
                 gpointer ids,
                 gboolean wide)
{
  const DlpSpecials *specials = dlp_tokenizer_peek_specials (self);
  const char *end = text + len;
  gsize n = 0;

  for (;;)
    {
      guint index = 0;
      const char *special = dlp_specials_find (specials, text, end, &index);
      const char *stop = special ? special : end;
      gssize count = dlp_context_encode (context, (const guint8 *) text, stop - text,
                                         ids_at (ids, n, wide), wide);

      if (count < 0)
        return count;
      n += count;
      if (special == NULL)
        return n;
      if (wide)
        ((guint32 *) ids)[n++] = specials->items[index].id;
      else
        ((guint16 *) ids)[n++] = specials->items[index].id;
      text = special + specials->lengths[index];
    }
}

static gssize
encode_fitting (DlpTokenizer *self,
                DlpTokenizerContext *context,
                const char *text,
                gsize len,
                DlpTokenizerFlags flags,
                gpointer ids,
                gboolean wide)
{
  if (len == 0)
    return 0;
  if (flags & DLP_TOKENIZER_FLAGS_SPECIALS)
    return encode_segments (self, context, text, len, ids, wide);
  return dlp_context_encode (context, (const guint8 *) text, len, ids, wide);
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
  gsize width = wide ? sizeof (guint32) : sizeof (guint16);
  g_autofree gpointer room = NULL;
  gssize n;

  if (capacity >= len)
    return encode_fitting (self, context, text, len, flags, ids, wide);

  room = g_malloc_n (len, width);
  n = encode_fitting (self, context, text, len, flags, room, wide);
  if (n < 0)
    return n;
  if ((gsize) n > capacity)
    return -1;
  memcpy (ids, room, n * width);
  return n;
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
  gsize size;
  gssize n;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);
  g_return_val_if_fail (text != NULL && n_ids != NULL, NULL);

  size = len < 0 ? strlen (text) : (gsize) len;
  context = dlp_tokenizer_context_new (self, 1);
  ids = g_new (guint32, size + 1);
  n = dlp_tokenizer_encode_full (self, context, text, size, flags, ids, size);
  *n_ids = MAX (n, 0);
  if (n < 0)
    return NULL;
  return g_renew (guint32, g_steal_pointer (&ids), n + 1);
}
