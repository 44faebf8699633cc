/* SPDX-License-Identifier: MIT */
#include "dlp-model-private.h"

/* A piece is an entry, or unknown. */

static const char *const known_fields[] = { "type", "unk_token", "vocab", NULL };

static gsize
encode (const DlpModel *self, DlpModelScratch *scratch, const guint8 *p, gsize len, guint32 *ids)
{
  guint32 id = dlp_vocabulary_lookup (self->vocabulary, p, len);

  ids[0] = id != DLP_ID_NONE ? id : self->unknown_id;
  return 1;
}

static void
hash_model (const DlpModel *self, GChecksum *checksum)
{
  dlp_model_hash_entries (self, "WordLevel", checksum);
}

static void
free_model (DlpModel *self)
{
  g_free (self);
}

static const DlpModelClass word_level_class = {
  .encode = encode,
  .get_token = dlp_model_get_entry,
  .lookup = dlp_model_lookup_entry,
  .hash = hash_model,
  .free = free_model,
};

DlpModel *
dlp_model_new_word_level (DlpJsonNode node, gboolean byte_level, GError **error)
{
  g_autoptr (DlpModel) self = g_new0 (DlpModel, 1);

  self->klass = &word_level_class;
  self->byte_level = byte_level;
  if (!dlp_json_check_members (node, known_fields, error) ||
      !dlp_model_read_vocabulary (self, node, DLP_JSON_OBJECT, error) ||
      !dlp_model_read_unknown (self, node, TRUE, error))
    return NULL;
  return g_steal_pointer (&self);
}
