/* SPDX-License-Identifier: MIT */
#include "dlp-tokenizer-private.h"

#include <string.h>

static const DlpAddedToken *
get_special (DlpTokenizer *self, guint index)
{
  return &self->added.items[g_array_index (self->specials, guint32, index)];
}

guint
dlp_tokenizer_get_n_specials (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), 0);

  return self->specials->len;
}

const char *
dlp_tokenizer_get_special (DlpTokenizer *self, guint index, guint32 *id)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);
  g_return_val_if_fail (index < self->specials->len, NULL);

  if (id)
    *id = get_special (self, index)->id;
  return get_special (self, index)->content;
}

gboolean
dlp_tokenizer_lookup_special (DlpTokenizer *self, const char *content, guint32 *id)
{
  const DlpAddedToken *token;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);
  g_return_val_if_fail (content != NULL, FALSE);

  token = dlp_added_tokens_lookup (&self->added, content, strlen (content));
  if (token == NULL || !token->special)
    return FALSE;
  if (id)
    *id = token->id;
  return TRUE;
}

guint
dlp_tokenizer_count_specials (DlpTokenizer *self, const char *text, gsize len)
{
  const char *end;
  guint32 index;
  guint n = 0;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), 0);

  if (len == 0)
    return 0;
  end = text + len;

  while ((text = dlp_token_set_find (&self->added.specials, text, end, &len, &index)) != NULL)
    {
      text += len;
      n++;
    }
  return n;
}

static gboolean
is_eod (const char *content)
{
  static const char *const known[] = { "<|endoftext|>", "<|end_of_text|>",
                                       "<|im_end|>",    "</s>",
                                       "<eos>",         "<EOT>",
                                       "[EOS]",         "<｜end▁of▁sentence｜>" };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (known[i], content) == 0)
      return TRUE;
  return FALSE;
}

/* Says which special tokens there are, or which of them could be meant. */
static void
set_eod_error (DlpTokenizer *self, gboolean several, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < self->specials->len; i++)
    {
      const DlpAddedToken *token = get_special (self, i);

      if (!several || is_eod (token->content))
        g_string_append_printf (list, "%s%s (%u)", list->len ? ", " : "", token->content,
                                token->id);
    }
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NO_EOD,
               several ? "%s: which token ends a document? It may be %s" :
                         "%s: no known token ends a document; the special tokens are: %s",
               dlp_tokenizer_get_name (self), list->len ? list->str : "none");
}

gboolean
dlp_tokenizer_get_eod (DlpTokenizer *self, guint32 *id, GError **error)
{
  guint found = 0;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);

  for (guint i = 0; i < self->specials->len; i++)
    if (is_eod (get_special (self, i)->content))
      {
        found++;
        if (id)
          *id = get_special (self, i)->id;
      }
  if (found == 1)
    return TRUE;
  set_eod_error (self, found > 1, error);
  return FALSE;
}
