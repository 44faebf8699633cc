/* SPDX-License-Identifier: MIT */
#include "dlp-context.h"
#include "dlp-model-file.h"
#include "dlp-specials.h"

struct _DlpTokenizer
{
  GObject parent_instance;

  char *name;
  char *file; /* nullable */
  char *fingerprint;
  DlpVocabulary *vocabulary;
  DlpPattern *pattern;
  DlpSpecials specials;
  guint32 vocab_size;
};

G_DEFINE_ENUM_TYPE (DlpTokenizerError,
                    dlp_tokenizer_error,
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_NOT_FOUND, "not-found"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_BAD_VOCABULARY, "bad-vocabulary"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_BAD_PATTERN, "bad-pattern"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_NO_EOD, "no-eod"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_BAD_ID, "bad-id"))

G_DEFINE_FLAGS_TYPE (DlpTokenizerFlags,
                     dlp_tokenizer_flags,
                     G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_FLAGS_NONE, "none"),
                     G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_FLAGS_SPECIALS, "specials"))

G_DEFINE_FINAL_TYPE (DlpTokenizer, dlp_tokenizer, G_TYPE_OBJECT)

/* clang-format off */
G_DEFINE_QUARK (dlp-tokenizer-error-quark, dlp_tokenizer_error)
/* clang-format on */

static void
dlp_tokenizer_finalize (GObject *object)
{
  DlpTokenizer *self = DLP_TOKENIZER (object);

  g_free (self->name);
  g_free (self->file);
  g_free (self->fingerprint);
  g_clear_pointer (&self->vocabulary, dlp_vocabulary_unref);
  g_clear_pointer (&self->pattern, dlp_pattern_free);

  G_OBJECT_CLASS (dlp_tokenizer_parent_class)->finalize (object);
}

static void
dlp_tokenizer_class_init (DlpTokenizerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = dlp_tokenizer_finalize;
}

static void
dlp_tokenizer_init (DlpTokenizer *self)
{
}

const DlpVocabulary *
dlp_tokenizer_peek_vocabulary (DlpTokenizer *self)
{
  return self->vocabulary;
}

const DlpPattern *
dlp_tokenizer_peek_pattern (DlpTokenizer *self)
{
  return self->pattern;
}

const DlpSpecials *
dlp_tokenizer_peek_specials (DlpTokenizer *self)
{
  return &self->specials;
}

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

/* Over all that decides what a text is encoded to, and over nothing else. */
static char *
make_fingerprint (DlpTokenizer *self)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  const DlpVocabulary *vocabulary = self->vocabulary;

  hash_string (checksum, "dlpipe tokenizer 1", strlen ("dlpipe tokenizer 1"));
  hash_string (checksum, self->pattern->text, strlen (self->pattern->text));
  hash_uint32 (checksum, self->specials.n);
  for (guint i = 0; i < self->specials.n; i++)
    {
      const DlpSpecial *special = &self->specials.items[i];

      hash_uint32 (checksum, special->id);
      hash_string (checksum, special->content, strlen (special->content));
    }
  hash_uint32 (checksum, vocabulary->n_ids);
  for (guint32 id = 0; id < vocabulary->n_ids; id++)
    hash_string (checksum, vocabulary->bytes + vocabulary->starts[id], vocabulary->lengths[id]);
  return g_strdup (g_checksum_get_string (checksum));
}

static DlpPattern *
choose_pattern (const DlpModelFile *model, const char *pattern, GError **error)
{
  if (pattern)
    return dlp_pattern_new (pattern, error);
  if (model->encoding)
    return dlp_pattern_new (model->encoding->pattern, error);

  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
               "%s does not say how text is cut: a pattern is needed, one of %s, or a regular "
               "expression",
               model->where, dlp_pattern_names);
  return NULL;
}

static gboolean
add_specials (DlpTokenizer *self, const DlpModelFile *model, GError **error)
{
  const DlpSpecial *special;

  self->vocab_size = self->vocabulary->n_ids;
  for (special = model->encoding->specials; special->content; special++)
    {
      if (special->id < self->vocabulary->n_ids && self->vocabulary->lengths[special->id])
        {
          g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
                       "%s is named like %s, but has an entry of its own for the id %u of its "
                       "special token %s; rename it and give a pattern",
                       model->where, model->encoding->name, special->id, special->content);
          return FALSE;
        }
      self->vocab_size = MAX (self->vocab_size, special->id + 1);
    }
  dlp_specials_init (&self->specials, model->encoding->specials);
  return TRUE;
}

DlpTokenizer *
dlp_tokenizer_new (const char *model, const char *pattern, GError **error)
{
  g_autoptr (DlpTokenizer) self = NULL;
  g_auto (DlpModelFile) found = { NULL };

  g_return_val_if_fail (model != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!dlp_model_file_open (&found, model, error))
    return NULL;

  self = g_object_new (DLP_TYPE_TOKENIZER, NULL);
  self->pattern = choose_pattern (&found, pattern, error);
  if (self->pattern == NULL)
    return NULL;
  self->vocabulary = dlp_vocabulary_get (found.file, found.where, error);
  if (self->vocabulary == NULL)
    return NULL;

  self->vocab_size = self->vocabulary->n_ids;
  if (found.encoding && !(found.guessed && pattern) && !add_specials (self, &found, error))
    return NULL;
  self->name = g_steal_pointer (&found.name);
  self->file = g_steal_pointer (&found.path);
  self->fingerprint = make_fingerprint (self);
  return g_steal_pointer (&self);
}

const char *
dlp_tokenizer_get_name (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  return self->name;
}

const char *
dlp_tokenizer_get_file (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  return self->file;
}

const char *
dlp_tokenizer_get_pattern (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  return self->pattern->text;
}

const char *
dlp_tokenizer_get_fingerprint (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  return self->fingerprint;
}

guint32
dlp_tokenizer_get_vocab_size (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), 0);

  return self->vocab_size;
}

const guint8 *
dlp_tokenizer_get_token (DlpTokenizer *self, guint32 id, gsize *len)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);
  g_return_val_if_fail (len != NULL, NULL);

  *len = 0;
  if (id < self->vocabulary->n_ids && self->vocabulary->lengths[id])
    {
      *len = self->vocabulary->lengths[id];
      return self->vocabulary->bytes + self->vocabulary->starts[id];
    }
  for (guint i = 0; i < self->specials.n; i++)
    if (self->specials.items[i].id == id)
      {
        *len = self->specials.lengths[i];
        return (const guint8 *) self->specials.items[i].content;
      }
  return NULL;
}

gboolean
dlp_tokenizer_decode (DlpTokenizer *self,
                      const guint32 *ids,
                      gsize n_ids,
                      GString *out,
                      GError **error)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), FALSE);
  g_return_val_if_fail (ids != NULL || n_ids == 0, FALSE);
  g_return_val_if_fail (out != NULL, FALSE);

  for (gsize i = 0; i < n_ids; i++)
    {
      gsize len;
      const guint8 *token = dlp_tokenizer_get_token (self, ids[i], &len);

      if (token == NULL)
        {
          g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_ID,
                       "%s: id %u at position %" G_GSIZE_FORMAT
                       " is not in the vocabulary (size %u)",
                       self->name, ids[i], i, self->vocab_size);
          return FALSE;
        }
      g_string_append_len (out, (const char *) token, len);
    }
  return TRUE;
}
