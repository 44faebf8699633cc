/* SPDX-License-Identifier: MIT */
#include "dlp-vocabulary-json.h"
#include "dlp-letters.h"

#define LENGTH_MAX G_MAXUINT16

typedef struct
{
  DlpJsonNode key;
  guint32 id;
  gboolean foreign; /* not written with letters alone */
} Entry;

typedef struct
{
  gboolean byte_level;
  GArray *entries;
  guint32 n_ids;
  gsize n_bytes;
  DlpVocabulary *vocabulary;
} Reader;

static gboolean
add_entry (Reader *self, DlpJsonNode key, guint32 id, GError **error)
{
  Entry entry = { key, id, FALSE };
  gsize len;

  dlp_json_get_string (key, &len);
  if (len > LENGTH_MAX)
    return dlp_json_fail (key, error,
                          "an entry of %" G_GSIZE_FORMAT " bytes; at most %u are allowed", len,
                          LENGTH_MAX);

  self->n_ids = MAX (self->n_ids, id + 1);
  self->n_bytes += len;
  /* An empty one can be written, but stands for nothing that could come up. */
  if (len > 0)
    g_array_append_val (self->entries, entry);
  return TRUE;
}

static gboolean
find_members (Reader *self, DlpJsonNode node, GError **error)
{
  guint n = dlp_json_get_n_children (node);
  DlpJsonNode at = dlp_json_get_first (node);

  for (guint i = 0; i < n; i++)
    {
      DlpJsonNode value = dlp_json_get_next (at);
      guint64 id;

      if (!dlp_json_read_uint (value, DLP_ID_LIMIT - 2, &id, error) ||
          !add_entry (self, at, id, error))
        return FALSE;
      at = dlp_json_get_next (value);
    }
  return TRUE;
}

static gboolean
find_elements (Reader *self, DlpJsonNode node, GError **error)
{
  guint n = dlp_json_get_n_children (node);
  DlpJsonNode at = dlp_json_get_first (node);

  if (n > DLP_ID_LIMIT - 2)
    return dlp_json_fail (node, error, "%u entries; at most %u are allowed", n, DLP_ID_LIMIT - 2);
  for (guint i = 0; i < n; i++)
    {
      DlpJsonNode content = dlp_json_get_first (at);

      if (!dlp_json_check_type (at, DLP_JSON_ARRAY, "an entry of \"vocab\"", error))
        return FALSE;
      if (dlp_json_get_n_children (at) != 2)
        return dlp_json_fail (at, error, "an entry of \"vocab\" has %u elements, not two",
                              dlp_json_get_n_children (at));
      if (!dlp_json_check_type (content, DLP_JSON_STRING, "the content of an entry", error) ||
          !add_entry (self, content, i, error))
        return FALSE;
      at = dlp_json_get_next (at);
    }
  return TRUE;
}

static void
add_foreign (DlpVocabulary *self, const char *content, gsize len, guint32 id)
{
  if (self->foreign == NULL)
    self->foreign =
        g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  g_hash_table_insert (self->foreign, g_bytes_new (content, len), GUINT_TO_POINTER (id + 1));
}

static gboolean
store_entry (Reader *self, Entry *entry, GError **error)
{
  DlpVocabulary *vocabulary = self->vocabulary;
  guint8 *out = vocabulary->bytes + self->n_bytes;
  gsize len;
  const char *content = dlp_json_get_string (entry->key, &len);
  gssize n = self->byte_level ? dlp_letters_decode (content, len, out) : -1;

  if (vocabulary->lengths[entry->id] > 0)
    return dlp_json_fail (entry->key, error,
                          "the entry \"%.60s\" has id %u, which another one has too", content,
                          entry->id);
  if (n < 0)
    {
      memcpy (out, content, len);
      n = len;
      entry->foreign = self->byte_level;
    }
  if (entry->foreign)
    add_foreign (vocabulary, content, len, entry->id);

  vocabulary->starts[entry->id] = self->n_bytes;
  vocabulary->lengths[entry->id] = n;
  vocabulary->n_tokens++;
  self->n_bytes += n;
  return TRUE;
}

/* From the last one on: of two elements that are alike it is the last that counts. */
static gboolean
index_entries (Reader *self, gboolean may_repeat, GError **error)
{
  dlp_vocabulary_reserve (self->vocabulary);
  for (guint i = self->entries->len; i-- > 0;)
    {
      const Entry *entry = &g_array_index (self->entries, Entry, i);

      if (!entry->foreign && !dlp_vocabulary_insert (self->vocabulary, entry->id) && !may_repeat)
        return dlp_json_fail (entry->key, error, "the entry \"%.60s\" is given twice",
                              dlp_json_get_string (entry->key, NULL));
    }
  dlp_vocabulary_find_byte_ids (self->vocabulary);
  return TRUE;
}

DlpVocabulary *
dlp_vocabulary_read (DlpJsonNode node, DlpJsonType type, gboolean byte_level, GError **error)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_autoptr (DlpVocabulary) vocabulary = NULL;
  gboolean is_array = type == DLP_JSON_ARRAY;
  Reader self = { byte_level, entries };

  if (!dlp_json_check_type (node, type, "\"vocab\"", error) ||
      !(is_array ? find_elements : find_members) (&self, node, error))
    return NULL;

  vocabulary = self.vocabulary = dlp_vocabulary_new (self.n_ids, self.n_bytes);
  self.n_bytes = 0;
  for (guint i = 0; i < entries->len; i++)
    if (!store_entry (&self, &g_array_index (entries, Entry, i), error))
      return NULL;
  return index_entries (&self, is_array, error) ? g_steal_pointer (&vocabulary) : NULL;
}

gboolean
dlp_vocabulary_is_text (const DlpVocabulary *self, guint32 id)
{
  return self->lengths[id] > 0 &&
         (self->foreign == NULL ||
          dlp_vocabulary_lookup (self, self->bytes + self->starts[id], self->lengths[id]) == id);
}

guint32
dlp_vocabulary_lookup_content (const DlpVocabulary *self,
                               gboolean byte_level,
                               const char *content,
                               gsize len)
{
  guint8 bytes[LENGTH_MAX];
  gssize n;

  if (len == 0 || len > LENGTH_MAX)
    return DLP_ID_NONE;
  if (self->foreign)
    {
      g_autoptr (GBytes) key = g_bytes_new_static (content, len);
      guint32 id = GPOINTER_TO_UINT (g_hash_table_lookup (self->foreign, key)) - 1;

      if (id != DLP_ID_NONE)
        return id;
    }
  if (!byte_level)
    return dlp_vocabulary_lookup (self, (const guint8 *) content, len);

  n = dlp_letters_decode (content, len, bytes);
  return n < 0 ? DLP_ID_NONE : dlp_vocabulary_lookup (self, bytes, n);
}
