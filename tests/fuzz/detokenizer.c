/* SPDX-License-Identifier: MIT */
#include "dlp-detokenizer.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* The input is the "decoder" of a tokenizer.json and, behind a nul, tokens with line feeds between.
 * What loads makes UTF-8 of them, and the same again. */

static void
add_tokens (DlpTokenList *tokens, const guint8 *p, gsize len, gboolean as_bytes)
{
  g_autofree char *valid = g_utf8_make_valid ((const char *) p, len);
  g_auto (GStrv) words = g_strsplit (valid, "\n", -1);
  static const guint32 ids[1];

  for (guint i = 0; words[i]; i++)
    {
      if (as_bytes)
        dlp_token_list_append_letters (tokens, (const guint8 *) words[i], strlen (words[i]));
      else
        g_string_append (tokens->text, words[i]);
      dlp_token_list_end (tokens);
    }
  tokens->ids = ids;
}

static gboolean
run (const DlpDetokenizer *detokenizer, const guint8 *p, gsize len, GString *out)
{
  g_auto (DlpTokenList) tokens = { NULL };

  dlp_token_list_init (&tokens);
  add_tokens (&tokens, p, len, dlp_detokenizer_wants_bytes (detokenizer));
  return dlp_detokenizer_run (detokenizer, &tokens, out);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const guint8 *nul = size > 0 ? memchr (data, 0, size) : NULL;
  gsize json = nul ? (gsize) (nul - data) : size;
  const guint8 *text = nul ? nul + 1 : data;
  gsize len = nul ? size - json - 1 : size;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new ((const char *) data, json, "input", NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GString) again = g_string_new (NULL);
  g_autoptr (DlpDetokenizer) detokenizer = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *valid = NULL;
  gboolean ok;

  if (tree == NULL)
    return 0;
  detokenizer = dlp_detokenizer_new (dlp_json_tree_get_root (tree), &error);
  g_assert_true ((detokenizer == NULL) == (error != NULL));
  if (detokenizer == NULL)
    return 0;

  ok = run (detokenizer, text, len, out);
  g_assert_true (run (detokenizer, text, len, again) == ok);
  g_assert_true (g_string_equal (out, again));
  for (gsize i = 0; i < out->len; i++)
    if (out->str[i] == '\0')
      out->str[i] = ' ';
  g_assert_true (g_utf8_validate_len (out->str, out->len, NULL));
  return 0;
}
