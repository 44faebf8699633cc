/* SPDX-License-Identifier: MIT */
#include "dlp-template.h"
#include "dlp-tokenizer-private.h"

static const char *const known_fields[] = {
  "version",       "truncation",     "padding", "added_tokens", "normalizer",
  "pre_tokenizer", "post_processor", "decoder", "model",        NULL
};
static const char *const known_token_fields[] = { "id",     "content",    "single_word", "lstrip",
                                                  "rstrip", "normalized", "special",     NULL };

static gboolean
read_added_token (DlpJsonNode node, DlpAddedToken *token, GError **error)
{
  DlpJsonNode content = dlp_json_get_member (node, "content");
  guint64 id;

  if (!dlp_json_check_type (node, DLP_JSON_OBJECT, "an added token", error) ||
      !dlp_json_check_members (node, known_token_fields, error) ||
      !dlp_json_check_type (content, DLP_JSON_STRING, "\"content\" of an added token", error) ||
      !dlp_json_read_uint (dlp_json_get_member (node, "id"), DLP_ID_LIMIT - 2, &id, error) ||
      !dlp_json_read_boolean (node, "single_word", FALSE, &token->single_word, error) ||
      !dlp_json_read_boolean (node, "lstrip", FALSE, &token->lstrip, error) ||
      !dlp_json_read_boolean (node, "rstrip", FALSE, &token->rstrip, error) ||
      !dlp_json_read_boolean (node, "special", FALSE, &token->special, error) ||
      !dlp_json_read_boolean (node, "normalized", !token->special, &token->normalized, error))
    return FALSE;

  token->content = (char *) dlp_json_get_string (content, &token->len);
  token->id = id;
  if (token->len == 0)
    return dlp_json_fail (content, error, "an added token without content");
  return TRUE;
}

/* The library that these files are made for does not take the id from the file: a content that is
 * an entry of the model has the id of that, others are numbered behind the entries and each other.
 * In a sound file both are the same. */
static void
choose_id (DlpTokenizer *self, DlpAddedToken *token, guint32 *next)
{
  token->id = self->model->klass->lookup (self->model, token->content, token->len);
  if (token->id == DLP_ID_NONE)
    token->id = *next;
  *next = MAX (*next, token->id + 1);
}

/* Of tokens with the same content the first counts. */
static gboolean
read_added_tokens (DlpTokenizer *self, DlpJsonNode list, GError **error)
{
  g_autoptr (GArray) items = g_array_new (FALSE, TRUE, sizeof (DlpAddedToken));
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  DlpJsonType type = dlp_json_get_type (list);
  DlpJsonNode at = dlp_json_get_first (list);
  guint32 next = self->model->vocabulary->n_tokens;

  if (type != DLP_JSON_NONE && type != DLP_JSON_NULL &&
      !dlp_json_check_type (list, DLP_JSON_ARRAY, "\"added_tokens\"", error))
    return FALSE;
  for (guint n = dlp_json_get_n_children (list); n > 0; n--)
    {
      DlpAddedToken token = { NULL };

      if (!read_added_token (at, &token, error))
        return FALSE;
      if (g_hash_table_add (seen, token.content))
        {
          choose_id (self, &token, &next);
          g_array_append_val (items, token);
        }
      at = dlp_json_get_next (at);
    }
  dlp_tokenizer_set_added (self, (DlpAddedToken *) (gpointer) items->data, items->len);
  return TRUE;
}

static gboolean
is_given (DlpJsonNode node)
{
  return dlp_json_get_type (node) != DLP_JSON_NONE && dlp_json_get_type (node) != DLP_JSON_NULL;
}

/* The file that Hugging Face's tokenizers library writes. What it says of truncation and padding is
 * for batches of a model, not for documents: it is not applied. */
static gboolean
read_stages (DlpTokenizer *self, DlpJsonNode root, GError **error)
{
  DlpJsonNode normalizer = dlp_json_get_member (root, "normalizer");

  if (!dlp_json_check_members (root, known_fields, error))
    return FALSE;
  self->kind = DLP_TOKENIZER_KIND_JSON;
  self->steps = dlp_tokenizer_describe_json (root);
  if (is_given (normalizer))
    {
      self->normalizer = dlp_normalizer_new (normalizer, error);
      if (self->normalizer == NULL)
        return FALSE;
    }
  self->splitter =
      dlp_splitter_new (dlp_json_get_member (root, "pre_tokenizer"),
                        self->normalizer && dlp_normalizer_is_byte_level (self->normalizer), error);
  if (self->splitter == NULL)
    return FALSE;
  self->pattern = dlp_splitter_get_pattern (self->splitter);
  self->model = dlp_model_new (dlp_json_get_member (root, "model"),
                               dlp_splitter_is_byte_level (self->splitter), error);
  if (self->model == NULL)
    return FALSE;
  self->detokenizer = dlp_detokenizer_new (dlp_json_get_member (root, "decoder"), error);
  return self->detokenizer != NULL &&
         read_added_tokens (self, dlp_json_get_member (root, "added_tokens"), error) &&
         dlp_template_read (&self->template, dlp_json_get_member (root, "post_processor"), error);
}

gboolean
dlp_tokenizer_read_json (DlpTokenizer *self, DlpModelFile *file, GError **error)
{
  g_autoptr (DlpJsonTree) tree = NULL;
  gconstpointer data;
  DlpJsonNode root;
  gsize size;

  data = g_bytes_get_data (file->file, &size);
  tree = dlp_json_tree_new (data, size, file->where, error);
  if (tree == NULL)
    return FALSE;
  root = dlp_json_tree_get_root (tree);
  if (!dlp_json_check_type (root, DLP_JSON_OBJECT, "the file", error))
    return FALSE;
  return dlp_tokenizer_is_tekken (root) ?
             dlp_tokenizer_read_tekken (self, root, file->where, error) :
             read_stages (self, root, error);
}
