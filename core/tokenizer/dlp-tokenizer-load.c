/* SPDX-License-Identifier: MIT */
#include "dlp-tokenizer-private.h"

#include <string.h>

static void
hash_uint32 (GChecksum *checksum, guint32 value)
{
  guint32 bytes = GUINT32_TO_LE (value);

  g_checksum_update (checksum, (const guchar *) &bytes, sizeof bytes);
}

static void
hash_string (GChecksum *checksum, gconstpointer data, gsize len)
{
  hash_uint32 (checksum, len);
  g_checksum_update (checksum, data, len);
}

/* Over all that decides what a text is encoded to, and over nothing else: of a rank file. */
static void
hash_ranks (DlpTokenizer *self, GChecksum *checksum)
{
  const DlpVocabulary *vocabulary = self->model->vocabulary;

  hash_string (checksum, "dlpipe tokenizer 1", strlen ("dlpipe tokenizer 1"));
  hash_string (checksum, self->pattern->text, strlen (self->pattern->text));
  hash_uint32 (checksum, self->added.n);
  for (guint i = 0; i < self->added.n; i++)
    {
      hash_uint32 (checksum, self->added.items[i].id);
      hash_string (checksum, self->added.items[i].content, self->added.items[i].len);
    }
  hash_uint32 (checksum, vocabulary->n_ids);
  for (guint32 id = 0; id < vocabulary->n_ids; id++)
    hash_string (checksum, vocabulary->bytes + vocabulary->starts[id], vocabulary->lengths[id]);
}

static void
hash_all (DlpTokenizer *self, GChecksum *checksum)
{
  hash_string (checksum, "dlpipe tokenizer 2", strlen ("dlpipe tokenizer 2"));
  dlp_added_tokens_hash (&self->added, checksum);
  hash_uint32 (checksum, self->normalizer != NULL);
  if (self->normalizer)
    dlp_normalizer_hash (self->normalizer, checksum);
  dlp_splitter_hash (self->splitter, checksum);
  self->model->klass->hash (self->model, checksum);
}

static char *
make_fingerprint (DlpTokenizer *self)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

  if (self->splitter)
    hash_all (self, checksum);
  else
    hash_ranks (self, checksum);
  return g_strdup (g_checksum_get_string (checksum));
}

static char *
normalize_content (gpointer data, const char *content, gsize len, gsize *out_len)
{
  DlpNormalizerScratch scratch;
  const guint8 *text = (const guint8 *) content;
  char *copy;

  memset (&scratch, 0, sizeof scratch);
  dlp_normalizer_run (data, &scratch, &text, &len);
  copy = g_memdup2 (text, len);
  *out_len = len;
  dlp_normalizer_scratch_clear (&scratch);
  return copy;
}

void
dlp_tokenizer_set_added (DlpTokenizer *self, const DlpAddedToken *items, guint n)
{
  dlp_added_tokens_init (&self->added, items, n, self->normalizer ? normalize_content : NULL,
                         self->normalizer);
  self->vocab_size = self->model->n_ids;
  for (guint32 i = 0; i < n; i++)
    {
      self->vocab_size = MAX (self->vocab_size, self->added.items[i].id + 1);
      if (self->added.items[i].special)
        g_array_append_val (self->specials, i);
    }
}

static DlpPattern *
choose_pattern (const DlpModelFile *file, const char *pattern, GError **error)
{
  if (pattern)
    return dlp_pattern_new (pattern, error);
  if (file->encoding)
    return dlp_pattern_new (file->encoding->pattern, error);

  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
               "%s does not say how text is cut: a pattern is needed, one of %s, or a regular "
               "expression",
               file->where, dlp_pattern_names);
  return NULL;
}

static gboolean
check_special (DlpTokenizer *self,
               const DlpModelFile *file,
               const DlpSpecial *special,
               GError **error)
{
  gsize len;

  if (self->model->klass->get_token (self->model, special->id, &len) == NULL)
    return TRUE;
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
               "%s is named like %s, but has an entry of its own for the id %u of its special "
               "token %s; rename it and give a pattern",
               file->where, file->encoding->name, special->id, special->content);
  return FALSE;
}

/* A rank file as tiktoken has them. */
gboolean
dlp_tokenizer_read_ranks (DlpTokenizer *self,
                          DlpModelFile *file,
                          const char *pattern,
                          GError **error)
{
  const DlpEncoding *encoding = file->guessed && pattern ? NULL : file->encoding;
  DlpAddedToken items[G_N_ELEMENTS (encoding->specials)] = { { NULL } };
  DlpVocabulary *vocabulary;
  guint n = 0;

  self->own_pattern = choose_pattern (file, pattern, error);
  if (self->own_pattern == NULL)
    return FALSE;
  self->pattern = self->own_pattern;
  vocabulary = dlp_vocabulary_get (file->file, file->where, error);
  if (vocabulary == NULL)
    return FALSE;
  self->model = dlp_model_new_ranks (vocabulary);

  for (const DlpSpecial *special = encoding ? encoding->specials : NULL;
       special && special->content; special++)
    {
      if (!check_special (self, file, special, error))
        return FALSE;
      items[n].content = (char *) special->content;
      items[n].len = strlen (special->content);
      items[n].id = special->id;
      items[n++].special = TRUE;
    }
  dlp_tokenizer_set_added (self, items, n);
  return TRUE;
}

static gboolean
refuse_pattern (const DlpModelFile *file, const char *pattern, GError **error)
{
  if (pattern == NULL)
    return TRUE;
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
               "%s says itself how text is cut: a pattern is for rank files only", file->where);
  return FALSE;
}

/* Each byte is an id: 256 of them behind @offset others. */
DlpTokenizer *
dlp_tokenizer_new_bytes (guint32 offset)
{
  DlpTokenizer *self;

  g_return_val_if_fail (offset < DLP_ID_LIMIT - 257, NULL);

  self = g_object_new (DLP_TYPE_TOKENIZER, NULL);
  self->kind = DLP_TOKENIZER_KIND_BYTES;
  self->splitter = dlp_splitter_new ((DlpJsonNode){ NULL, G_MAXUINT32 }, FALSE, NULL);
  self->model = dlp_model_new_bytes (offset);
  dlp_tokenizer_set_added (self, NULL, 0);
  self->name = g_strdup ("bytes");
  self->fingerprint = make_fingerprint (self);
  dlp_tokenizer_find_traits (self);
  return self;
}

static gboolean
read_file (DlpTokenizer *self, DlpModelFile *file, const char *pattern, GError **error)
{
  switch (file->kind)
    {
    case DLP_MODEL_FILE_JSON:
      return refuse_pattern (file, pattern, error) && dlp_tokenizer_read_json (self, file, error);

    case DLP_MODEL_FILE_SENTENCEPIECE:
      return refuse_pattern (file, pattern, error) &&
             dlp_tokenizer_read_sentencepiece (self, file, error);

    case DLP_MODEL_FILE_RANKS:
    default:
      return dlp_tokenizer_read_ranks (self, file, pattern, error);
    }
}

DlpTokenizer *
dlp_tokenizer_new (const char *model, const char *pattern, GError **error)
{
  g_autoptr (DlpTokenizer) self = NULL;
  g_auto (DlpModelFile) file = { DLP_MODEL_FILE_RANKS };

  g_return_val_if_fail (model != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (strcmp (model, "bytes") == 0 && pattern == NULL)
    return dlp_tokenizer_new_bytes (0);
  if (!dlp_model_file_open (&file, model, error))
    return NULL;

  self = g_object_new (DLP_TYPE_TOKENIZER, NULL);
  if (!read_file (self, &file, pattern, error))
    return NULL;
  self->name = g_steal_pointer (&file.name);
  self->file = g_steal_pointer (&file.path);
  self->fingerprint = make_fingerprint (self);
  dlp_tokenizer_find_traits (self);
  return g_steal_pointer (&self);
}
