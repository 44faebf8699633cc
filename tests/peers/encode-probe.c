/* SPDX-License-Identifier: MIT */
#include <dlpipe/dlp-tokenizer.h>

/* For peer_models.py: a tokenizer through its public API, many texts at a time. */

typedef struct
{
  DlpTokenizer *tokenizer;
  DlpTokenizerContext *context;
  guint32 *ids;
  gsize capacity;
} EncodeProbe;

DLP_API EncodeProbe *encode_probe_open (const char *model, char *message, gsize room);
DLP_API gint64 encode_probe_encode (EncodeProbe *self,
                                    const char *text,
                                    const guint64 *starts,
                                    gsize n,
                                    int specials,
                                    guint64 *counts);
DLP_API const guint32 *encode_probe_get_ids (EncodeProbe *self);
DLP_API void encode_probe_close (EncodeProbe *self);

/* NULL: @message says why. */
EncodeProbe *
encode_probe_open (const char *model, char *message, gsize room)
{
  g_autoptr (GError) error = NULL;
  DlpTokenizer *tokenizer = dlp_tokenizer_new (model, NULL, &error);
  EncodeProbe *self;

  if (tokenizer == NULL)
    {
      g_strlcpy (message, error->message, room);
      return NULL;
    }
  self = g_new0 (EncodeProbe, 1);
  self->tokenizer = tokenizer;
  self->context = dlp_tokenizer_context_new (tokenizer, 0);
  return self;
}

static gssize
encode_one (EncodeProbe *self, const char *text, gsize len, DlpTokenizerFlags flags, gsize at)
{
  gsize room = len + 64;
  gssize n;

  do
    {
      if (self->capacity < at + room)
        {
          self->capacity = 2 * self->capacity + room;
          self->ids = g_renew (guint32, self->ids, self->capacity);
        }
      n = dlp_tokenizer_encode_full (self->tokenizer, self->context, text, len, flags,
                                     self->ids + at, self->capacity - at);
      room *= 2;
    }
  while (n == -1);
  return n;
}

/* Text i is from starts[i] to starts[i + 1]. Returns how many ids all of them have, or -1 - i if
 * text i cannot be encoded. */
gint64
encode_probe_encode (EncodeProbe *self,
                     const char *text,
                     const guint64 *starts,
                     gsize n,
                     int specials,
                     guint64 *counts)
{
  DlpTokenizerFlags flags = specials ? DLP_TOKENIZER_FLAGS_SPECIALS : DLP_TOKENIZER_FLAGS_NONE;
  gsize total = 0;

  for (gsize i = 0; i < n; i++)
    {
      gssize one = encode_one (self, text + starts[i], starts[i + 1] - starts[i], flags, total);

      if (one < 0)
        return -1 - (gint64) i;
      counts[i] = one;
      total += one;
    }
  return total;
}

const guint32 *
encode_probe_get_ids (EncodeProbe *self)
{
  return self->ids;
}

void
encode_probe_close (EncodeProbe *self)
{
  dlp_tokenizer_context_free (self->context);
  g_object_unref (self->tokenizer);
  g_free (self->ids);
  g_free (self);
}
