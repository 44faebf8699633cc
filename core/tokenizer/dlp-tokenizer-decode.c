/* SPDX-License-Identifier: MIT */
#include "dlp-letters.h"
#include "dlp-tokenizer-private.h"
#include "dlp-vocabulary-json.h"

const guint8 *
dlp_tokenizer_get_token (DlpTokenizer *self, guint32 id, gsize *len)
{
  const DlpAddedToken *added;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);
  g_return_val_if_fail (len != NULL, NULL);

  *len = 0;
  added = dlp_added_tokens_lookup_id (&self->added, id);
  if (added)
    {
      *len = added->len;
      return (const guint8 *) added->content;
    }
  return self->model->klass->get_token (self->model, id, len);
}

static gboolean
set_bad_id (DlpTokenizer *self, guint32 id, gsize position, GError **error)
{
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_ID,
               "%s: id %u at position %" G_GSIZE_FORMAT " is not in the vocabulary (size %u)",
               self->name, id, position, self->vocab_size);
  return FALSE;
}

static gboolean
decode_bytes (DlpTokenizer *self, const guint32 *ids, gsize n_ids, GString *out, GError **error)
{
  for (gsize i = 0; i < n_ids; i++)
    {
      gsize len;
      const guint8 *token = dlp_tokenizer_get_token (self, ids[i], &len);

      if (token == NULL)
        return set_bad_id (self, ids[i], i, error);
      g_string_append_len (out, (const char *) token, len);
    }
  return TRUE;
}

static void
append_letters (GString *out, const guint8 *p, gsize len)
{
  for (gsize i = 0; i < len; i++)
    {
      char letter[2];

      g_string_append_len (out, letter, dlp_letters_encode (p[i], letter));
    }
}

/* Whether an entry was written with the letters of byte-level BPE, and is kept as bytes. */
static gboolean
is_bytes (DlpTokenizer *self, guint32 id, const guint8 *token, gsize len)
{
  const DlpVocabulary *vocabulary = self->model->vocabulary;
  g_autoptr (GBytes) content = NULL;

  if (!self->model->byte_level || dlp_added_tokens_lookup_id (&self->added, id))
    return FALSE;
  if (dlp_vocabulary_is_text (vocabulary, id))
    return TRUE;
  content = g_bytes_new_static (token, len);
  return !g_hash_table_contains (vocabulary->foreign, content);
}

/* A token as the file writes it, or as bytes. */
static gboolean
append_token (DlpTokenizer *self, DlpTokenList *tokens, guint32 id, gboolean wants_bytes)
{
  gsize len;
  const guint8 *token = dlp_tokenizer_get_token (self, id, &len);
  gboolean has_bytes;

  if (token == NULL)
    return FALSE;
  has_bytes = is_bytes (self, id, token, len);
  if (wants_bytes && !has_bytes)
    dlp_token_list_append_letters (tokens, token, len);
  else if (has_bytes && !wants_bytes)
    append_letters (tokens->text, token, len);
  else
    g_string_append_len (tokens->text, (const char *) token, len);
  dlp_token_list_end (tokens);
  return TRUE;
}

static gboolean
decode_tokens (DlpTokenizer *self, const guint32 *ids, gsize n_ids, GString *out, GError **error)
{
  gboolean wants_bytes = dlp_detokenizer_wants_bytes (self->detokenizer);
  g_auto (DlpTokenList) tokens = { NULL };
  gsize n = 0;

  dlp_token_list_init (&tokens);
  tokens.ids = ids;
  while (n < n_ids && append_token (self, &tokens, ids[n], wants_bytes))
    n++;
  if (!dlp_detokenizer_run (self->detokenizer, &tokens, out))
    {
      g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
                   "%s: the engine for regular expressions exceeded its limits on the tokens that "
                   "its decoder is to change",
                   self->name);
      return FALSE;
    }
  return n == n_ids || set_bad_id (self, ids[n], n, error);
}

gboolean
dlp_tokenizer_decode (DlpTokenizer *self,
                      const guint32 *ids,
                      gsize n_ids,
                      GString *out,
                      GError **error)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);
  g_return_val_if_fail (ids != NULL || n_ids == 0, FALSE);
  g_return_val_if_fail (out != NULL, FALSE);

  if (n_ids == 0)
    return TRUE;
  return self->detokenizer ? decode_tokens (self, ids, n_ids, out, error) :
                             decode_bytes (self, ids, n_ids, out, error);
}
