/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <string.h>

DlpTokenizer *
dataset_open_model (const DatasetLocation *location, const DatasetOptions *options, GError **error)
{
  const char *named = NULL;
  const char *wanted = NULL;
  const char *found;
  DlpTokenizer *tokenizer;

  if (location->manifest != NULL)
    {
      named = dlp_manifest_get_string (location->manifest, "tokenizer");
      wanted = dlp_manifest_get_string (location->manifest, "tokenizer-fingerprint");
    }
  if (options->model == NULL && named == NULL)
    return NULL;

  tokenizer =
      dlp_tokenizer_new (options->model != NULL ? options->model : named, options->pattern, error);
  if (tokenizer == NULL)
    {
      if (options->model == NULL)
        g_prefix_error (error,
                        "the tokenizer that the manifest names (another: --model; none: --ids): ");
      return NULL;
    }

  found = dlp_tokenizer_get_fingerprint (tokenizer);
  if (wanted == NULL || strcmp (wanted, found) == 0)
    return tokenizer;
  if (options->model != NULL)
    {
      g_printerr (
          "dlpipe-dataset: warning: model %s is not the one of the dataset: fingerprint %s, "
          "the manifest has %s\n",
          options->model, found, wanted);
      return tokenizer;
    }

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
               "%s: names tokenizer %s with fingerprint %s; the one of that name here has %s; "
               "another: --model; none: --ids",
               location->manifest_path, named, wanted, found);
  g_object_unref (tokenizer);
  return NULL;
}
