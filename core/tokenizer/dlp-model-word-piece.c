/* SPDX-License-Identifier: MIT */
#include "dlp-letters.h"
#include "dlp-model-private.h"

/* The longest entry that a piece begins with, then the longest one with the prefix of continuing
 * ones, and so on; a piece that cannot be cut like that is unknown as a whole. */
typedef struct
{
  DlpModel parent;
  DlpTrie *trie;
  guint64 inside; /* where the prefix leads to in the trie */
  gboolean has_inside;
  guint64 max_chars;
  char *prefix;
  gsize prefix_len;
} WordPiece;

static const char *const known_fields[] = {
  "type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab", NULL
};

static guint64
count_chars (const WordPiece *self, const guint8 *p, gsize len)
{
  guint64 n = len;

  if (!self->parent.byte_level)
    for (gsize i = 0; i < len; i++)
      n -= (p[i] & 0xc0) == 0x80;
  return n;
}

/* Returns the end of the longest entry; 0 if there is none. */
static gsize
find_longest (const WordPiece *self, const guint8 *p, gsize len, gsize start, guint32 *id)
{
  guint64 node = start > 0 ? self->inside : dlp_trie_root (self->trie);
  gsize end = 0;

  if (start > 0 && !self->has_inside)
    return 0;
  for (gsize i = start; i < len && dlp_trie_step (self->trie, &node, p[i]); i++)
    if (dlp_trie_value (node) != DLP_TRIE_NONE)
      {
        *id = dlp_trie_value (node);
        end = i + 1;
      }
  return end;
}

static gsize
encode (const DlpModel *model, DlpModelScratch *scratch, const guint8 *p, gsize len, guint32 *ids)
{
  const WordPiece *self = (const WordPiece *) model;
  gboolean is_unknown = len > self->max_chars && count_chars (self, p, len) > self->max_chars;
  gsize n = 0;

  for (gsize start = 0, end; start < len && !is_unknown; start = end)
    {
      end = find_longest (self, p, len, start, &ids[n++]);
      is_unknown = end == 0;
    }
  if (!is_unknown)
    return n;
  ids[0] = model->unknown_id;
  return 1;
}

static void
hash_model (const DlpModel *model, GChecksum *checksum)
{
  const WordPiece *self = (const WordPiece *) model;

  dlp_model_hash_entries (model, "WordPiece", checksum);
  dlp_checksum_add_uint (checksum, self->max_chars);
  dlp_checksum_add_uint (checksum, self->prefix_len);
  g_checksum_update (checksum, (const guchar *) self->prefix, self->prefix_len);
}

static void
free_model (DlpModel *model)
{
  WordPiece *self = (WordPiece *) model;

  g_clear_pointer (&self->trie, dlp_trie_free);
  g_free (self->prefix);
  g_free (self);
}

static const DlpModelClass word_piece_class = {
  .encode = encode,
  .get_token = dlp_model_get_entry,
  .lookup = dlp_model_lookup_entry,
  .hash = hash_model,
  .free = free_model,
};

static gboolean
read_prefix (WordPiece *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode prefix = dlp_json_get_member (node, "continuing_subword_prefix");
  const char *content;

  if (dlp_json_get_type (prefix) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "no field \"continuing_subword_prefix\" in the model");
  if (!dlp_json_check_type (prefix, DLP_JSON_STRING, "\"continuing_subword_prefix\"", error))
    return FALSE;
  content = dlp_json_get_string (prefix, &self->prefix_len);
  self->prefix = g_memdup2 (content, self->prefix_len);
  return TRUE;
}

/* A prefix may be written with something else than the letters of byte-level entries; then no entry
 * that is text begins with it. */
static void
find_inside (WordPiece *self)
{
  g_autofree guint8 *prefix = g_malloc (self->prefix_len + 1);
  gssize n = self->prefix_len;

  if (self->parent.byte_level)
    n = dlp_letters_decode (self->prefix, self->prefix_len, prefix);
  else if (n > 0)
    memcpy (prefix, self->prefix, n);

  self->inside = dlp_trie_root (self->trie);
  self->has_inside = n >= 0;
  for (gssize i = 0; i < n && self->has_inside; i++)
    self->has_inside = dlp_trie_step (self->trie, &self->inside, prefix[i]);
}

static gboolean
read_max_chars (WordPiece *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode max = dlp_json_get_member (node, "max_input_chars_per_word");

  if (dlp_json_get_type (max) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "no field \"max_input_chars_per_word\" in the model");
  return dlp_json_read_uint (max, G_MAXUINT64, &self->max_chars, error);
}

DlpModel *
dlp_model_new_word_piece (DlpJsonNode node, gboolean byte_level, GError **error)
{
  WordPiece *self = g_new0 (WordPiece, 1);
  g_autoptr (DlpModel) model = &self->parent;

  model->klass = &word_piece_class;
  model->byte_level = byte_level;
  if (!dlp_json_check_members (node, known_fields, error) ||
      !dlp_model_read_vocabulary (model, node, DLP_JSON_OBJECT, error) ||
      !dlp_model_read_unknown (model, node, TRUE, error) || !read_prefix (self, node, error) ||
      !read_max_chars (self, node, error))
    return NULL;
  self->trie = dlp_model_make_trie (model);
  find_inside (self);
  return g_steal_pointer (&model);
}
