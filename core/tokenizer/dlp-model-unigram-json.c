/* SPDX-License-Identifier: MIT */
#include "dlp-model-unigram.h"

static const char *const known_fields[] = { "type", "unk_id", "byte_fallback", "vocab", NULL };

/* The lowest score of all, also of entries that a later one replaces, is what the unknown one's
 * goes by. */
static gboolean
read_scores (DlpUnigramModel *self, DlpJsonNode vocab, GError **error)
{
  guint n = dlp_json_get_n_children (vocab);
  DlpJsonNode at = dlp_json_get_first (vocab);
  double lowest = G_MAXDOUBLE;

  self->scores = g_new (double, n);
  for (guint i = 0; i < n; i++)
    {
      DlpJsonNode score = dlp_json_get_next (dlp_json_get_first (at));

      if (!dlp_json_read_double (score, &self->scores[i], error))
        return FALSE;
      lowest = MIN (lowest, self->scores[i]);
      at = dlp_json_get_next (at);
    }
  self->unknown_score = lowest - DLP_UNIGRAM_UNKNOWN_PENALTY;
  return TRUE;
}

static gboolean
read_unknown_id (DlpUnigramModel *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode unknown = dlp_json_get_member (node, "unk_id");
  DlpJsonType type = dlp_json_get_type (unknown);
  guint64 id;

  if (self->parent.n_ids == 0)
    return dlp_json_fail (node, error, "\"vocab\" has no entries");
  if (type == DLP_JSON_NONE || type == DLP_JSON_NULL)
    return dlp_json_fail (node, error,
                          "no \"unk_id\": a character that is in no entry could not be encoded; "
                          "give the id of the entry for what is unknown");
  if (!dlp_json_read_uint (unknown, self->parent.n_ids - 1, &id, error))
    return FALSE;
  self->parent.unknown_id = id;
  return TRUE;
}

static gboolean
read_byte_fallback (DlpUnigramModel *self, DlpJsonNode node, GError **error)
{
  dlp_model_find_byte_tokens (&self->parent, self->byte_tokens);
  if (!dlp_json_read_boolean (node, "byte_fallback", FALSE, &self->byte_fallback, error))
    return FALSE;
  return !(self->byte_fallback && self->parent.byte_level) ||
         dlp_json_fail (node, error, "\"byte_fallback\" together with ByteLevel is not supported");
}

DlpModel *
dlp_model_new_unigram (DlpJsonNode node, gboolean byte_level, GError **error)
{
  DlpUnigramModel *self = g_new0 (DlpUnigramModel, 1);
  g_autoptr (DlpModel) model = &self->parent;

  model->klass = &dlp_unigram_model_class;
  model->byte_level = byte_level;
  if (!dlp_json_check_members (node, known_fields, error) ||
      !dlp_model_read_vocabulary (model, node, DLP_JSON_ARRAY, error) ||
      !read_unknown_id (self, node, error) || !read_byte_fallback (self, node, error) ||
      !read_scores (self, dlp_json_get_member (node, "vocab"), error))
    return NULL;
  self->trie = dlp_model_make_trie (model);
  return g_steal_pointer (&model);
}
