/* SPDX-License-Identifier: MIT */
#include "dlp-tokenizer-private.h"

#include <string.h>

/* The file of Mistral's tokenizers from Nemo on: ranks of byte-level BPE behind special tokens.
 *   {"config": {"pattern", "default_vocab_size", "default_num_special_tokens", ...},
 *    "vocab": [{"rank", "token_bytes": base64, "token_str"}, ...],
 *    "special_tokens": [{"rank", "token_str", "is_control"}, ...]}
 * The entries that are used are the first "default_vocab_size" less the special tokens; the id of
 * one is its rank and the number of special tokens. Files without a list of special tokens have the
 * first of those below (mistral_common, which numbers the others "<SPECIAL_20>" and so on). */
static const char *const default_specials[] = {
  "<unk>",
  "<s>",
  "</s>",
  "[INST]",
  "[/INST]",
  "[AVAILABLE_TOOLS]",
  "[/AVAILABLE_TOOLS]",
  "[TOOL_RESULTS]",
  "[/TOOL_RESULTS]",
  "[TOOL_CALLS]",
  "[IMG]",
  "<pad>",
  "[IMG_BREAK]",
  "[IMG_END]",
  "[PREFIX]",
  "[MIDDLE]",
  "[SUFFIX]",
  "[SYSTEM_PROMPT]",
  "[/SYSTEM_PROMPT]",
  "[TOOL_CONTENT]",
};

typedef struct
{
  DlpJsonNode config;
  DlpJsonNode vocab;
  DlpJsonNode specials; /* may be missing */
  guint64 n_specials;
  guint64 vocab_size; /* special tokens included */
} Tekken;

gboolean
dlp_tokenizer_is_tekken (DlpJsonNode root)
{
  return dlp_json_get_type (dlp_json_get_member (root, "config")) == DLP_JSON_OBJECT &&
         dlp_json_get_type (dlp_json_get_member (root, "vocab")) == DLP_JSON_ARRAY;
}

static gboolean
read_config (Tekken *self, DlpJsonNode root, GError **error)
{
  self->config = dlp_json_get_member (root, "config");
  self->vocab = dlp_json_get_member (root, "vocab");
  self->specials = dlp_json_get_member (root, "special_tokens");
  if (!dlp_json_check_type (dlp_json_get_member (self->config, "pattern"), DLP_JSON_STRING,
                            "\"pattern\" of the config", error) ||
      !dlp_json_read_uint (dlp_json_get_member (self->config, "default_num_special_tokens"),
                           DLP_ID_LIMIT - 2, &self->n_specials, error) ||
      !dlp_json_read_uint (dlp_json_get_member (self->config, "default_vocab_size"),
                           DLP_ID_LIMIT - 2, &self->vocab_size, error))
    return FALSE;
  if (self->vocab_size <= self->n_specials ||
      self->vocab_size - self->n_specials > dlp_json_get_n_children (self->vocab))
    return dlp_json_fail (self->config, error,
                          "a vocabulary of %" G_GUINT64_FORMAT " with %" G_GUINT64_FORMAT
                          " special tokens does not fit %u entries",
                          self->vocab_size, self->n_specials,
                          dlp_json_get_n_children (self->vocab));
  return TRUE;
}

/* As lines of a rank file, with the ids as ranks. */
static gboolean
write_ranks (const Tekken *self, GString *lines, GError **error)
{
  DlpJsonNode at = dlp_json_get_first (self->vocab);

  for (guint64 i = 0; i < self->vocab_size - self->n_specials; i++)
    {
      DlpJsonNode bytes = dlp_json_get_member (at, "token_bytes");
      guint64 rank;

      if (!dlp_json_check_type (bytes, DLP_JSON_STRING, "\"token_bytes\" of an entry", error) ||
          !dlp_json_read_uint (dlp_json_get_member (at, "rank"), DLP_ID_LIMIT - 2, &rank, error))
        return FALSE;
      if (rank != i)
        return dlp_json_fail (at, error,
                              "an entry of rank %" G_GUINT64_FORMAT " at place %" G_GUINT64_FORMAT,
                              rank, i);
      g_string_append_printf (lines, "%s %" G_GUINT64_FORMAT "\n",
                              dlp_json_get_string (bytes, NULL), rank + self->n_specials);
      at = dlp_json_get_next (at);
    }
  return TRUE;
}

static gboolean
read_special (const Tekken *self, DlpJsonNode node, DlpAddedToken *token, GError **error)
{
  DlpJsonNode content = dlp_json_get_member (node, "token_str");
  guint64 id;

  if (!dlp_json_check_type (content, DLP_JSON_STRING, "\"token_str\" of a special token", error) ||
      !dlp_json_read_uint (dlp_json_get_member (node, "rank"), self->n_specials - 1, &id, error))
    return FALSE;
  token->content = (char *) dlp_json_get_string (content, &token->len);
  token->id = id;
  token->special = TRUE;
  return token->len > 0 || dlp_json_fail (content, error, "a special token without content");
}

static gboolean
read_specials (const Tekken *self, GArray *items, GError **error)
{
  DlpJsonNode at = dlp_json_get_first (self->specials);

  if (dlp_json_get_type (self->specials) != DLP_JSON_ARRAY)
    {
      for (guint32 i = 0; i < MIN (G_N_ELEMENTS (default_specials), self->n_specials); i++)
        {
          DlpAddedToken token = { (char *) default_specials[i], strlen (default_specials[i]), i };

          token.special = TRUE;
          g_array_append_val (items, token);
        }
      return TRUE;
    }
  for (guint n = dlp_json_get_n_children (self->specials); n > 0; n--)
    {
      DlpAddedToken token = { NULL };

      if (self->n_specials == 0)
        return dlp_json_fail (at, error,
                              "a special token where the config says that there is none");
      if (!read_special (self, at, &token, error))
        return FALSE;
      g_array_append_val (items, token);
      at = dlp_json_get_next (at);
    }
  return TRUE;
}

gboolean
dlp_tokenizer_read_tekken (DlpTokenizer *self, DlpJsonNode root, const char *where, GError **error)
{
  Tekken tekken = { { NULL } };
  g_autoptr (GString) lines = g_string_new (NULL);
  g_autoptr (GArray) items = g_array_new (FALSE, TRUE, sizeof (DlpAddedToken));
  g_autoptr (GBytes) ranks = NULL;
  DlpVocabulary *vocabulary;

  if (!read_config (&tekken, root, error) || !write_ranks (&tekken, lines, error) ||
      !read_specials (&tekken, items, error))
    return FALSE;
  self->kind = DLP_TOKENIZER_KIND_TEKKEN;
  self->own_pattern = dlp_pattern_new (
      dlp_json_get_string (dlp_json_get_member (tekken.config, "pattern"), NULL), error);
  if (self->own_pattern == NULL)
    return FALSE;
  self->pattern = self->own_pattern;

  ranks = g_bytes_new (lines->str, lines->len);
  vocabulary = dlp_vocabulary_get (ranks, where, error);
  if (vocabulary == NULL)
    return FALSE;
  self->model = dlp_model_new_ranks (vocabulary);
  dlp_tokenizer_set_added (self, (DlpAddedToken *) (gpointer) items->data, items->len);
  return TRUE;
}
