/* SPDX-License-Identifier: MIT */
#include "dlp-tokenizer-private.h"

#include <string.h>

#define MAX_LISTED 32

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

typedef gboolean (*IsWanted) (const char *content);

static gboolean
is_one_of (const char *content, const char *const *known)
{
  return g_strv_contains (known, content);
}

static gboolean
is_eod (const char *content)
{
  static const char *const known[] = {
    "<|endoftext|>", "<|end_of_text|>",       "<|im_end|>", "</s>", "<eos>", "<EOT>",
    "[EOS]",         "<｜end▁of▁sentence｜>", NULL
  };

  return is_one_of (content, known);
}

static gboolean
is_bos (const char *content)
{
  static const char *const known[] = {
    "<s>",   "<|begin_of_text|>",       "<bos>", "<|startoftext|>", "<BOS_TOKEN>",
    "[BOS]", "<｜begin▁of▁sentence｜>", NULL
  };

  return is_one_of (content, known);
}

/* Which special tokens there are, or which of them could be meant. */
static char *
list_specials (DlpTokenizer *self, IsWanted is_wanted)
{
  g_autoptr (GString) list = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < self->specials->len; i++)
    {
      const DlpAddedToken *token = get_special (self, i);

      if (is_wanted != NULL && !is_wanted (token->content))
        continue;
      if (n++ < MAX_LISTED)
        g_string_append_printf (list, "%s%s (%u)", list->len ? ", " : "", token->content,
                                token->id);
    }
  if (n > MAX_LISTED)
    g_string_append_printf (list, " and %u more", n - MAX_LISTED);
  return g_strdup (list->len ? list->str : "none");
}

static guint
count_wanted (DlpTokenizer *self, IsWanted is_wanted, guint32 *id)
{
  guint found = 0;

  for (guint i = 0; i < self->specials->len; i++)
    if (is_wanted (get_special (self, i)->content))
      {
        found++;
        if (id)
          *id = get_special (self, i)->id;
      }
  return found;
}

static gboolean
find_one (DlpTokenizer *self,
          IsWanted is_wanted,
          const char *does,
          DlpTokenizerError code,
          guint32 *id,
          GError **error)
{
  guint found = count_wanted (self, is_wanted, id);
  g_autofree char *list = NULL;

  if (found == 1)
    return TRUE;
  list = list_specials (self, found > 1 ? is_wanted : NULL);
  if (found > 1)
    g_set_error (error, DLP_TOKENIZER_ERROR, code, "%s: which token %s a document? It may be %s",
                 self->name, does, list);
  else
    g_set_error (error, DLP_TOKENIZER_ERROR, code,
                 "%s: no known token %s a document; the special tokens are: %s", self->name, does,
                 list);
  return FALSE;
}

gboolean
dlp_tokenizer_get_eod (DlpTokenizer *self, guint32 *id, GError **error)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);

  return find_one (self, is_eod, "ends", DLP_TOKENIZER_ERROR_NO_EOD, id, error);
}

/* The token that its file names, or puts before a text, else the one that is called so. */
gboolean
dlp_tokenizer_get_bos (DlpTokenizer *self, guint32 *id, GError **error)
{
  const GArray *before;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);

  before = self->template.before;
  if (self->bos_id == DLP_ID_NONE && (before == NULL || before->len != 1))
    return find_one (self, is_bos, "begins", DLP_TOKENIZER_ERROR_NO_BOS, id, error);
  if (id)
    *id = self->bos_id != DLP_ID_NONE ? self->bos_id : g_array_index (before, guint32, 0);
  return TRUE;
}
