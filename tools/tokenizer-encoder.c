/* SPDX-License-Identifier: MIT */

#include "tokenizer.h"

#include <string.h>

gboolean
tokenizer_encoder_open (TokenizerEncoder *self,
                        const char *model,
                        const char *pattern,
                        GError **error)
{
  self->tokenizer = dlp_tokenizer_new (model, pattern, error);
  if (self->tokenizer == NULL)
    return FALSE;
  self->context = dlp_tokenizer_context_new (self->tokenizer, 0);
  return TRUE;
}

void
tokenizer_encoder_clear (TokenizerEncoder *self)
{
  g_clear_pointer (&self->context, dlp_tokenizer_context_free);
  g_clear_object (&self->tokenizer);
  g_clear_pointer (&self->ids, g_free);
}

static gboolean fail (const TokenizerDocument *document, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail (const TokenizerDocument *document, GError **error, const char *format, ...)
{
  g_autofree char *where = tokenizer_document_to_string (document);
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s", where, what);
  return FALSE;
}

/* GLib does not take a nul for text. */
static gboolean
check_text (const TokenizerDocument *document, GError **error)
{
  const char *p = document->text, *end = p + document->len, *stop = p;

  while (!g_utf8_validate_len (p, (gsize) (end - p), &stop) && *stop == '\0')
    p = stop + 1;
  if (stop == end)
    return TRUE;
  return fail (document, error,
               "the byte 0x%02x at byte %" G_GSIZE_FORMAT
               " is not UTF-8; convert the text first, such as with iconv",
               (guint8) *stop, (gsize) (stop - document->text));
}

/* The first one: the longest of those that begin there. */
static gboolean
check_specials (TokenizerEncoder *self, const TokenizerDocument *document, GError **error)
{
  const char *first = NULL, *token = NULL;

  if (dlp_tokenizer_count_specials (self->tokenizer, document->text, document->len) == 0)
    return TRUE;
  for (guint i = 0; i < dlp_tokenizer_get_n_specials (self->tokenizer); i++)
    {
      const char *content = dlp_tokenizer_get_special (self->tokenizer, i, NULL);
      const char *found = memmem (document->text, document->len, content, strlen (content));

      if (found == NULL || (first != NULL && found > first) ||
          (found == first && strlen (content) < strlen (token)))
        continue;
      first = found;
      token = content;
    }
  return fail (document, error,
               "the text of the special token %s is at byte %" G_GSIZE_FORMAT
               "; --special-tokens=text makes ordinary ids of it, allow its own",
               token, first != NULL ? (gsize) (first - document->text) : 0);
}

static DlpTokenizerFlags
get_flags (const TokenizerOptions *options)
{
  DlpTokenizerFlags flags = DLP_TOKENIZER_FLAGS_NONE;

  if (options->specials == TOKENIZER_SPECIALS_ALLOW)
    flags |= DLP_TOKENIZER_FLAGS_SPECIALS;
  if (options->post_processor)
    flags |= DLP_TOKENIZER_FLAGS_POST_PROCESSOR;
  return flags;
}

static gssize
encode (TokenizerEncoder *self, const TokenizerOptions *options, const TokenizerDocument *document)
{
  gsize wanted = document->len + 64;
  gint64 start = g_get_monotonic_time ();
  gssize n;

  for (;;)
    {
      if (wanted > self->capacity)
        {
          g_free (self->ids);
          self->ids = g_new (guint32, wanted);
          self->capacity = wanted;
        }
      n = dlp_tokenizer_encode_full (self->tokenizer, self->context, document->text, document->len,
                                     get_flags (options), self->ids, self->capacity);
      if (n != -1)
        break;
      wanted = 2 * self->capacity;
    }
  self->time += g_get_monotonic_time () - start;
  return n;
}

gboolean
tokenizer_encoder_run (TokenizerEncoder *self,
                       const TokenizerOptions *options,
                       const TokenizerDocument *document,
                       GError **error)
{
  gssize n;

  if (!check_text (document, error))
    return FALSE;
  if (options->specials == TOKENIZER_SPECIALS_ERROR && !check_specials (self, document, error))
    return FALSE;
  n = encode (self, options, document);
  if (n < 0)
    return fail (document, error,
                 "%s: the engine for regular expressions exceeded its limits on this text",
                 dlp_tokenizer_get_name (self->tokenizer));
  self->n = (gsize) n;
  return TRUE;
}
