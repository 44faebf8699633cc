/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <string.h>

/* What the manifest says of the tokenizer; all nullable. */
typedef struct
{
  const char *name;
  const char *fingerprint;
  const char *file; /* where it was made of a file */
  const char *pattern;
} Named;

static const char *
get_string (const DatasetLocation *location, const char *key)
{
  return location->manifest != NULL ? dlp_manifest_get_string (location->manifest, key) : NULL;
}

/* (transfer full) (nullable): that model, if it is the one that was used. */
static DlpTokenizer *
try_model (const char *model, const char *pattern, const char *fingerprint)
{
  g_autoptr (DlpTokenizer) tokenizer = NULL;

  if (model == NULL)
    return NULL;
  tokenizer = dlp_tokenizer_new (model, pattern, NULL);
  if (tokenizer == NULL || strcmp (dlp_tokenizer_get_fingerprint (tokenizer), fingerprint) != 0)
    return NULL;
  return g_steal_pointer (&tokenizer);
}

/* A name says little: my.tiktoken is called “my”. The fingerprint decides, whatever has it. */
static DlpTokenizer *
find_by_fingerprint (const Named *named)
{
  static const char *const known[] = { "gpt2", "cl100k_base", "o200k_base" };
  DlpTokenizer *found = try_model (named->name, NULL, named->fingerprint);

  if (found == NULL)
    found = try_model (named->file, NULL, named->fingerprint);
  if (found == NULL && named->pattern != NULL)
    found = try_model (named->file, named->pattern, named->fingerprint);
  for (guint i = 0; i < G_N_ELEMENTS (known) && found == NULL; i++)
    found = try_model (known[i], NULL, named->fingerprint);
  return found;
}

static DlpTokenizer *
open_named (const DatasetLocation *location, const Named *named, GError **error)
{
  DlpTokenizer *found;

  if (named->fingerprint == NULL)
    {
      found = dlp_tokenizer_new (named->name, NULL, error);
      if (found == NULL)
        g_prefix_error (error, "the tokenizer that the manifest names (another: --tokenizer; none: "
                               "--ids): ");
      return found;
    }

  found = find_by_fingerprint (named);
  if (found == NULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                 "%s: its tokenizer is “%s” with fingerprint %s; no known model has that "
                 "fingerprint%s%s%s; name it with --tokenizer MODEL (and --pattern PATTERN), or "
                 "see the ids with --ids",
                 location->manifest_path, named->name, named->fingerprint,
                 named->file != NULL ? ", nor has the file that was used, " : "",
                 named->file != NULL ? named->file : "",
                 named->file == NULL                               ? "" :
                 g_file_test (named->file, G_FILE_TEST_IS_REGULAR) ? "" :
                                                                     " (it is not there)");
  return found;
}

DlpTokenizer *
dataset_open_model (const DatasetLocation *location, const DatasetOptions *options, GError **error)
{
  const Named named = { get_string (location, "tokenizer"),
                        get_string (location, "tokenizer-fingerprint"),
                        get_string (location, "tokenizer-file"),
                        get_string (location, "tokenizer-pattern") };
  DlpTokenizer *tokenizer;
  const char *pattern;

  if (options->model == NULL)
    return named.name != NULL ? open_named (location, &named, error) : NULL;

  tokenizer = dlp_tokenizer_new (options->model, options->pattern, NULL);
  pattern = options->pattern == NULL && tokenizer == NULL ? named.pattern : options->pattern;
  if (tokenizer == NULL)
    tokenizer = dlp_tokenizer_new (options->model, pattern, error);
  if (tokenizer != NULL && named.fingerprint != NULL &&
      strcmp (named.fingerprint, dlp_tokenizer_get_fingerprint (tokenizer)) != 0)
    g_printerr ("dlpipe-dataset: warning: %s is not the tokenizer of the dataset: its fingerprint "
                "is %s, the manifest has %s\n",
                options->model, dlp_tokenizer_get_fingerprint (tokenizer), named.fingerprint);
  return tokenizer;
}
