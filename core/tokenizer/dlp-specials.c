/* SPDX-License-Identifier: MIT */
#include "dlp-specials.h"

#include <string.h>

void
dlp_specials_init (DlpSpecials *self, const DlpSpecial *items)
{
  self->items = items;
  for (self->n = 0; self->n < DLP_MAX_SPECIALS && items[self->n].content; self->n++)
    self->lengths[self->n] = strlen (items[self->n].content);

  self->prefix = self->n ? self->lengths[0] : 0;
  for (guint i = 1; i < self->n; i++)
    {
      gsize common = 0;

      while (common < self->prefix && items[i].content[common] == items[0].content[common])
        common++;
      self->prefix = common;
    }

  self->rare = 0;
  for (gsize i = 0; i < self->prefix; i++)
    if (items[0].content[i] == '|')
      self->rare = i;
}

/* A single byte is looked for five times as fast as a string; not where every line has it, as in
 * tables. */
static const char *
find_prefix (const DlpSpecials *self, const char *text, const char *end)
{
  const char *content = self->items[0].content;
  gsize in_vain = 0;
  const char *p;

  if (self->prefix == 0)
    return text;
  if ((gsize) (end - text) < self->prefix)
    return NULL;
  for (p = text + self->rare; in_vain * 64 <= (gsize) (p - text) + 256; p++, in_vain++)
    {
      p = memchr (p, content[self->rare], end - p);
      if (p == NULL || (gsize) (end - p) < self->prefix - self->rare)
        return NULL;
      if (memcmp (p - self->rare, content, self->prefix) == 0)
        return p - self->rare;
    }
  p -= self->rare;
  return memmem (p, end - p, content, self->prefix);
}

/* The first special token in the text, the longest of those at one place; NULL if there is none. */
const char *
dlp_specials_find (const DlpSpecials *self, const char *text, const char *end, guint *index)
{
  if (self->n == 0)
    return NULL;

  for (const char *p = text; p < end; p++)
    {
      gsize best = 0;

      p = find_prefix (self, p, end);
      if (p == NULL)
        return NULL;
      for (guint i = 0; i < self->n; i++)
        if (self->lengths[i] > best && self->lengths[i] <= (gsize) (end - p) &&
            memcmp (p, self->items[i].content, self->lengths[i]) == 0)
          {
            best = self->lengths[i];
            *index = i;
          }
      if (best > 0)
        return p;
    }
  return NULL;
}

guint
dlp_tokenizer_get_n_specials (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), 0);

  return dlp_tokenizer_peek_specials (self)->n;
}

const char *
dlp_tokenizer_get_special (DlpTokenizer *self, guint index, guint32 *id)
{
  const DlpSpecials *specials;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  specials = dlp_tokenizer_peek_specials (self);
  g_return_val_if_fail (index < specials->n, NULL);

  if (id)
    *id = specials->items[index].id;
  return specials->items[index].content;
}

gboolean
dlp_tokenizer_lookup_special (DlpTokenizer *self, const char *content, guint32 *id)
{
  const DlpSpecials *specials;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);
  g_return_val_if_fail (content != NULL, FALSE);

  specials = dlp_tokenizer_peek_specials (self);
  for (guint i = 0; i < specials->n; i++)
    if (strcmp (specials->items[i].content, content) == 0)
      {
        if (id)
          *id = specials->items[i].id;
        return TRUE;
      }
  return FALSE;
}

guint
dlp_tokenizer_count_specials (DlpTokenizer *self, const char *text, gsize len)
{
  const DlpSpecials *specials;
  const char *end;
  guint n = 0, index;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), 0);

  if (len == 0)
    return 0;
  end = text + len;

  specials = dlp_tokenizer_peek_specials (self);
  while ((text = dlp_specials_find (specials, text, end, &index)) != NULL)
    {
      text += specials->lengths[index];
      n++;
    }
  return n;
}

static gboolean
is_eod (const char *content)
{
  static const char *const known[] = { "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>" };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (known[i], content) == 0)
      return TRUE;
  return FALSE;
}

/* Says which special tokens there are, or which of them could be meant. */
static void
set_eod_error (DlpTokenizer *self, gboolean several, GError **error)
{
  const DlpSpecials *specials = dlp_tokenizer_peek_specials (self);
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < specials->n; i++)
    if (!several || is_eod (specials->items[i].content))
      g_string_append_printf (list, "%s%s (%u)", list->len ? ", " : "", specials->items[i].content,
                              specials->items[i].id);
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NO_EOD,
               several ? "%s: which token ends a document? It may be %s" :
                         "%s: no known token ends a document; the special tokens are: %s",
               dlp_tokenizer_get_name (self), list->len ? list->str : "none");
}

gboolean
dlp_tokenizer_get_eod (DlpTokenizer *self, guint32 *id, GError **error)
{
  const DlpSpecials *specials;
  guint found = 0;

  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);

  specials = dlp_tokenizer_peek_specials (self);
  for (guint i = 0; i < specials->n; i++)
    if (is_eod (specials->items[i].content))
      {
        found++;
        if (id)
          *id = specials->items[i].id;
      }
  if (found == 1)
    return TRUE;
  set_eod_error (self, found > 1, error);
  return FALSE;
}
