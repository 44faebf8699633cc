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

/**
 * dlp_tokenizer_encode_full: (skip)
 * @self: a tokenizer
 * @context: a context that was made for @self
 * @text: a text in UTF-8
 * @len: its number of bytes
 * @flags: what special tokens in the text become
 * @ids: where the ids go
 * @capacity: how many ids there is room for; @len is always enough
 *
 * Encodes a text. A text that is not valid UTF-8 is safe, but what it is encoded to is not
 * specified: check it first. The places of @ids behind the last id, up to @capacity, may be
 * overwritten.
 *
 * Threads: any, but @context is used by one at a time.
 *
 * Returns: the number of ids; -1 if they are more than @capacity; -2 if the pattern is none of the
 *   known ones and the engine for regular expressions exceeded its limits on this text
 */
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

/**
 * dlp_tokenizer_encode: (skip)
 * @self: a tokenizer
 * @context: a context that was made for @self
 * @text: a text in UTF-8
 * @len: its number of bytes
 * @ids: where the ids go
 * @capacity: how many ids there is room for; @len is always enough
 *
 * dlp_tokenizer_encode_full() with special tokens as ordinary text.
 *
 * Returns: as dlp_tokenizer_encode_full()
 */
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

/**
 * dlp_tokenizer_encode16_full: (skip)
 * @self: a tokenizer with a vocabulary size of at most 65,536
 * @context: a context that was made for @self
 * @text: a text in UTF-8
 * @len: its number of bytes
 * @flags: what special tokens in the text become
 * @ids: where the ids go
 * @capacity: how many ids there is room for; @len is always enough
 *
 * dlp_tokenizer_encode_full() into ids of 16 bits.
 *
 * Returns: as dlp_tokenizer_encode_full()
 */
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

/**
 * dlp_tokenizer_encode16: (skip)
 * @self: a tokenizer with a vocabulary size of at most 65,536
 * @context: a context that was made for @self
 * @text: a text in UTF-8
 * @len: its number of bytes
 * @ids: where the ids go
 * @capacity: how many ids there is room for; @len is always enough
 *
 * dlp_tokenizer_encode16_full() with special tokens as ordinary text.
 *
 * Returns: as dlp_tokenizer_encode_full()
 */
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

/**
 * dlp_tokenizer_encode_text:
 * @self: a tokenizer
 * @text: a text in UTF-8
 * @len: its number of bytes, or -1 if it ends with a nul
 * @flags: what special tokens in the text become
 * @n_ids: (out): the number of ids
 *
 * Encodes one text, for programs and languages to which speed matters less: the context is made for
 * this call alone.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable) (array length=n_ids): the ids, or %NULL if the engine for
 * regular expressions exceeded its limits on this text
 */
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
