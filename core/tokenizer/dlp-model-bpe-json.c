/* SPDX-License-Identifier: MIT */
#include "dlp-letters.h"
#include "dlp-model-bpe.h"
#include "dlp-vocabulary-json.h"

#define SIDE_MAX G_MAXUINT16
#define MERGES_MAX (DLP_ID_LIMIT - 2)

typedef struct
{
  const char *p;
  gsize len;
} Side;

typedef struct
{
  const DlpBpeModel *model;
  Side prefix; /* as it is written, of each right side */
  GArray *pairs;
  GArray *results; /* by merge */
  guint8 *room;    /* for two sides */
} Reader;

static const char *const known_fields[] = { "type",
                                            "dropout",
                                            "unk_token",
                                            "continuing_subword_prefix",
                                            "end_of_word_suffix",
                                            "fuse_unk",
                                            "byte_fallback",
                                            "ignore_merges",
                                            "vocab",
                                            "merges",
                                            NULL };

static guint32
lookup (const Reader *self, const char *content, gsize len)
{
  const DlpModel *model = &self->model->parent;

  return dlp_vocabulary_lookup_content (model->vocabulary, model->byte_level, content, len);
}

static gboolean
fail_missing (DlpJsonNode node, guint merge, const char *content, gsize len, GError **error)
{
  return dlp_json_fail (node, error, "merge %u needs \"%.*s\", which is no entry of \"vocab\"",
                        merge, (int) MIN (len, 60), content);
}

/* Looks up both sides and what they make. */
static gboolean
find_ids (Reader *self, DlpJsonNode node, Side left, Side right, guint32 ids[3], GError **error)
{
  gsize prefix_len = self->prefix.len;
  guint merge = self->results->len;
  char *both = (char *) self->room;
  gsize len;

  ids[0] = lookup (self, left.p, left.len);
  if (ids[0] == DLP_ID_NONE)
    return fail_missing (node, merge, left.p, left.len, error);
  ids[1] = lookup (self, right.p, right.len);
  if (ids[1] == DLP_ID_NONE)
    return fail_missing (node, merge, right.p, right.len, error);
  if (prefix_len > 0 &&
      (right.len < prefix_len || memcmp (right.p, self->prefix.p, prefix_len) != 0))
    return dlp_json_fail (node, error,
                          "the right side of merge %u does not begin with the "
                          "continuing_subword_prefix",
                          merge);

  len = left.len + right.len - prefix_len;
  memcpy (both, left.p, left.len);
  memcpy (both + left.len, right.p + prefix_len, right.len - prefix_len);
  ids[2] = lookup (self, both, len);
  return ids[2] != DLP_ID_NONE || fail_missing (node, merge, both, len, error);
}

/* One of what is no text's cannot come about. */
static gboolean
can_happen (const Reader *self, const guint32 ids[3])
{
  for (guint i = 0; i < 3; i++)
    if (!dlp_vocabulary_is_text (self->model->parent.vocabulary, ids[i]))
      return FALSE;
  return TRUE;
}

static gboolean
add_merge (Reader *self, DlpJsonNode node, Side left, Side right, GError **error)
{
  guint32 ids[3];

  if (self->results->len == MERGES_MAX)
    return dlp_json_fail (node, error, "more than %u merges", MERGES_MAX);
  if (left.len > SIDE_MAX || right.len > SIDE_MAX)
    return dlp_json_fail (node, error, "a side of a merge of more than %u bytes", SIDE_MAX);
  if (!find_ids (self, node, left, right, ids, error))
    return FALSE;

  if (can_happen (self, ids))
    {
      guint64 pair = DLP_PAIR (ids[0], ids[1], self->results->len);

      g_array_append_val (self->pairs, pair);
    }
  g_array_append_val (self->results, ids[2]);
  return TRUE;
}

static gboolean
read_string (Reader *self, DlpJsonNode node, GError **error)
{
  gsize len;
  const char *text = dlp_json_get_string (node, &len);
  const char *space = memchr (text, ' ', len), *rest;

  /* A line of the older files of merges, which is none. */
  if (g_str_has_prefix (text, "#version"))
    return TRUE;
  if (space == NULL || memchr (space + 1, ' ', text + len - space - 1) != NULL)
    return dlp_json_fail (node, error, "merge %u is \"%.60s\", not two entries and one space",
                          self->results->len, text);
  rest = space + 1;
  return add_merge (self, node, (Side){ text, space - text }, (Side){ rest, text + len - rest },
                    error);
}

static gboolean
read_pair (Reader *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode left = dlp_json_get_first (node), right;
  Side sides[2];

  if (dlp_json_get_n_children (node) != 2)
    return dlp_json_fail (node, error, "merge %u has %u sides, not two", self->results->len,
                          dlp_json_get_n_children (node));
  right = dlp_json_get_next (left);
  if (!dlp_json_check_type (left, DLP_JSON_STRING, "the left side of a merge", error) ||
      !dlp_json_check_type (right, DLP_JSON_STRING, "the right side of a merge", error))
    return FALSE;
  sides[0].p = dlp_json_get_string (left, &sides[0].len);
  sides[1].p = dlp_json_get_string (right, &sides[1].len);
  return add_merge (self, left, sides[0], sides[1], error);
}

static gboolean
read_each (Reader *self, DlpJsonNode node, GError **error)
{
  guint n = dlp_json_get_n_children (node);
  DlpJsonNode at = dlp_json_get_first (node);

  for (guint i = 0; i < n; i++)
    {
      gboolean ok;

      if (dlp_json_get_type (at) == DLP_JSON_ARRAY)
        ok = read_pair (self, at, error);
      else
        ok = dlp_json_check_type (at, DLP_JSON_STRING, "a merge", error) &&
             read_string (self, at, error);
      if (!ok)
        return FALSE;
      if (i + 1 < n)
        at = dlp_json_get_next (at);
    }
  return TRUE;
}

static gboolean
read_merges (DlpBpeModel *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode merges = dlp_json_get_member (node, "merges");
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint8 *room = g_malloc (2 * SIDE_MAX);
  Reader reader = { self, { NULL, 0 }, pairs, results, room };
  DlpVocabulary *vocabulary = self->parent.vocabulary;

  if (dlp_json_get_type (merges) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "no field \"merges\" in the model");
  if (self->prefix_len > 0)
    reader.prefix.p = dlp_json_get_string (dlp_json_get_member (node, "continuing_subword_prefix"),
                                           &reader.prefix.len);
  if (!dlp_json_check_type (merges, DLP_JSON_ARRAY, "\"merges\"", error) ||
      !read_each (&reader, merges, error))
    return FALSE;

  dlp_vocabulary_set_pairs (vocabulary, pairs, self->parent.byte_level);
  vocabulary->merge_ids = g_memdup2 (results->data, results->len * sizeof (guint32));
  self->n_merges = results->len;
  return TRUE;
}

static gboolean
read_affix (DlpBpeModel *self,
            DlpJsonNode node,
            const char *key,
            guint8 **affix,
            gsize *len,
            GError **error)
{
  DlpJsonNode value = dlp_json_get_member (node, key);
  DlpJsonType type = dlp_json_get_type (value);
  const char *content;
  gsize content_len;
  gssize n;

  if (type == DLP_JSON_NONE || type == DLP_JSON_NULL)
    return TRUE;
  if (!dlp_json_check_type (value, DLP_JSON_STRING, key, error))
    return FALSE;
  content = dlp_json_get_string (value, &content_len);
  if (content_len > DLP_BPE_AFFIX_MAX)
    return dlp_json_fail (value, error,
                          "\"%s\" has %" G_GSIZE_FORMAT " bytes; at most %u are allowed", key,
                          content_len, DLP_BPE_AFFIX_MAX);

  *affix = g_memdup2 (content, content_len);
  *len = content_len;
  if (!self->parent.byte_level)
    return TRUE;
  n = dlp_letters_decode (content, content_len, *affix);
  *len = MAX (n, 0);
  return n >= 0 || dlp_json_fail (value, error,
                                  "\"%s\" is \"%s\", which is not written with the letters of "
                                  "byte-level BPE, as the entries are",
                                  key, content);
}

static gboolean
check_dropout (DlpJsonNode node, GError **error)
{
  DlpJsonNode dropout = dlp_json_get_member (node, "dropout");
  DlpJsonType type = dlp_json_get_type (dropout);
  double value;

  if (type == DLP_JSON_NONE || type == DLP_JSON_NULL)
    return TRUE;
  if (!dlp_json_read_double (dropout, &value, error))
    return FALSE;
  return value == 0 || dlp_json_fail (dropout, error,
                                      "\"dropout\" is %g: ids would depend on chance; null or 0 "
                                      "is allowed",
                                      value);
}

static gboolean
read_options (DlpBpeModel *self, DlpJsonNode node, GError **error)
{
  return dlp_json_check_members (node, known_fields, error) && check_dropout (node, error) &&
         read_affix (self, node, "continuing_subword_prefix", &self->prefix, &self->prefix_len,
                     error) &&
         read_affix (self, node, "end_of_word_suffix", &self->suffix, &self->suffix_len, error) &&
         dlp_json_read_boolean (node, "fuse_unk", FALSE, &self->fuse_unknown, error) &&
         dlp_json_read_boolean (node, "byte_fallback", FALSE, &self->byte_fallback, error) &&
         dlp_json_read_boolean (node, "ignore_merges", FALSE, &self->ignore_merges, error);
}

static gboolean
has_all_bytes (const DlpVocabulary *vocabulary)
{
  for (guint i = 0; i < 256; i++)
    if (vocabulary->byte_ids[i] == DLP_ID_NONE)
      return FALSE;
  return TRUE;
}

/* Whether any character can be written with the tokens of its bytes. One of ASCII that is an entry
 * needs none. */
static gboolean
has_needed_byte_tokens (const DlpBpeModel *self)
{
  for (guint i = 0; i < 256; i++)
    if (self->byte_tokens[i] == DLP_ID_NONE &&
        (i >= 128 || self->parent.vocabulary->byte_ids[i] == DLP_ID_NONE))
      return FALSE;
  return TRUE;
}

/* Whether anything can be unknown, and whether that can be done as the file says. */
static gboolean
check_unknown (DlpBpeModel *self, DlpJsonNode node, GError **error)
{
  gboolean has_affix = self->prefix_len + self->suffix_len > 0;
  DlpJsonNode unknown = dlp_json_get_member (node, "unk_token");

  dlp_model_find_byte_tokens (&self->parent, self->byte_tokens);
  if (!self->parent.byte_level)
    self->all_bytes = self->byte_fallback && has_needed_byte_tokens (self);
  else if (!has_affix)
    self->all_bytes = has_all_bytes (self->parent.vocabulary);

  if (self->all_bytes && !has_affix)
    return TRUE;
  if (self->byte_fallback && (has_affix || self->parent.byte_level))
    return dlp_json_fail (node, error, "\"byte_fallback\" together with %s is not supported",
                          has_affix ? "a prefix or a suffix" :
                                      "ByteLevel and a \"vocab\" without some of its letters");
  return self->parent.unknown_id != DLP_ID_NONE || dlp_json_get_type (unknown) != DLP_JSON_STRING ||
         dlp_json_fail (unknown, error,
                        "the unk_token \"%.60s\" is no entry of \"vocab\": what is unknown could "
                        "not be encoded",
                        dlp_json_get_string (unknown, NULL));
}

static void
hash_merges (const DlpVocabulary *vocabulary, gsize n, GChecksum *checksum)
{
  g_autofree guint64 *merges = g_new0 (guint64, n);

  for (guint32 i = 0; i <= vocabulary->pairs_mask; i++)
    if (vocabulary->pairs[i] != DLP_PAIR_EMPTY)
      merges[DLP_PAIR_MERGE (vocabulary->pairs[i])] = vocabulary->pairs[i];
  for (gsize i = 0; i < n; i++)
    {
      dlp_checksum_add_uint (checksum, merges[i]);
      dlp_checksum_add_uint (checksum, vocabulary->merge_ids[i]);
    }
}

static void
hash_model (const DlpModel *model, GChecksum *checksum)
{
  const DlpBpeModel *self = (const DlpBpeModel *) model;

  dlp_model_hash_entries (model, "BPE", checksum);
  dlp_checksum_add_uint (checksum, self->fuse_unknown);
  dlp_checksum_add_uint (checksum, self->byte_fallback);
  dlp_checksum_add_uint (checksum, self->ignore_merges);
  dlp_checksum_add_uint (checksum, self->prefix_len);
  g_checksum_update (checksum, self->prefix, self->prefix_len);
  dlp_checksum_add_uint (checksum, self->suffix_len);
  g_checksum_update (checksum, self->suffix, self->suffix_len);
  hash_merges (model->vocabulary, self->n_merges, checksum);
}

static const DlpModelClass bpe_class = {
  .encode = dlp_bpe_model_encode,
  .get_token = dlp_model_get_entry,
  .lookup = dlp_model_lookup_entry,
  .find_cut = dlp_bpe_model_find_cut,
  .hash = hash_model,
  .free = dlp_bpe_model_free,
};

DlpModel *
dlp_model_new_bpe (DlpJsonNode node, gboolean byte_level, GError **error)
{
  DlpBpeModel *self = g_new0 (DlpBpeModel, 1);
  g_autoptr (DlpModel) model = &self->parent;

  model->klass = &bpe_class;
  model->byte_level = byte_level;
  if (!read_options (self, node, error) ||
      !dlp_model_read_vocabulary (model, node, DLP_JSON_OBJECT, error) ||
      !dlp_model_read_unknown (model, node, FALSE, error) || !check_unknown (self, node, error) ||
      !read_merges (self, node, error))
    return NULL;

  dlp_bpe_model_prepare (self);
  return g_steal_pointer (&model);
}
