/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

typedef struct
{
  const char *content;
  guint32 id;
} DlpSpecial;

/* An encoding that OpenAI has published. */
typedef struct
{
  const char *name;
  const char *alias;
  const char *sha256; /* of its rank file */
  const char *pattern;
  DlpSpecial specials[6]; /* up to a content of NULL */
} DlpEncoding;

typedef enum
{
  DLP_MODEL_FILE_RANKS, /* lines of base64 and rank, as tiktoken has them */
  DLP_MODEL_FILE_JSON,  /* Hugging Face's tokenizer.json, or Mistral's tekken.json */
  DLP_MODEL_FILE_SENTENCEPIECE,
} DlpModelFileKind;

/* What a model name or path stands for. */
typedef struct
{
  DlpModelFileKind kind;
  GBytes *file;
  char *where; /* for messages */
  char *name;
  char *path; /* (nullable): absolute, of a model that was not opened by a known name */
  const DlpEncoding *encoding; /* NULL: a rank file that nothing is known about */
  gboolean guessed;            /* by the name of the file alone */
} DlpModelFile;

gboolean dlp_model_file_open (DlpModelFile *self, const char *model, GError **error);
void dlp_model_file_clear (DlpModelFile *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpModelFile, dlp_model_file_clear)
