/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <string.h>

static const char *const format_names[] = { "empty", "megatron", "jsonl" };

const char *
dataset_format_to_string (DatasetFormat format)
{
  return format_names[format];
}

void
dataset_location_clear (DatasetLocation *self)
{
  g_clear_pointer (&self->location, g_free);
  g_clear_pointer (&self->manifest_path, g_free);
  g_clear_pointer (&self->manifest, g_variant_unref);
  g_clear_pointer (&self->data_path, g_free);
  g_clear_pointer (&self->index_path, g_free);
}

static gboolean
is_file (const char *path)
{
  return g_file_test (path, G_FILE_TEST_IS_REGULAR);
}

/* What a sink would have been given. */
static char *
strip (const char *text)
{
  static const char *const suffixes[] = { ".manifest.json", ".bin", ".idx" };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (text, suffixes[i]) && strlen (text) > strlen (suffixes[i]) &&
        is_file (text))
      return g_strndup (text, strlen (text) - strlen (suffixes[i]));
  return g_strdup (text);
}

static gboolean
choose_format (DatasetLocation *self, GError **error)
{
  const char *format =
      self->manifest != NULL ? dlp_manifest_get_string (self->manifest, "format") : NULL;

  if (self->manifest != NULL && dlp_manifest_get_n_files (self->manifest) == 0)
    self->format = DATASET_EMPTY;
  else if (format != NULL && strcmp (format, "megatron") == 0)
    self->format = DATASET_MEGATRON;
  else if (format != NULL && strcmp (format, "jsonl") == 0)
    self->format = DATASET_JSONL;
  else if (format != NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   "%s: format “%s” is not known here; known are megatron and jsonl",
                   self->manifest_path, format);
      return FALSE;
    }
  else
    {
      g_autofree char *bin = g_strconcat (self->location, ".bin", NULL);
      g_autofree char *idx = g_strconcat (self->location, ".idx", NULL);

      if (is_file (bin) || is_file (idx))
        self->format = DATASET_MEGATRON;
      else if (is_file (self->location))
        self->format = DATASET_JSONL;
      else
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                       "%s: nothing there: neither %s, nor %s and .idx, nor a file of that name",
                       self->location, self->manifest_path, bin);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
dataset_location_find (DatasetLocation *self, const char *text, GError **error)
{
  g_autoptr (GError) local = NULL;

  self->location = strip (text);
  self->manifest_path = g_strconcat (self->location, ".manifest.json", NULL);
  self->manifest = dlp_manifest_load (self->manifest_path, &local);
  if (local != NULL && !g_error_matches (local, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (!choose_format (self, error))
    return FALSE;

  if (self->format == DATASET_MEGATRON)
    {
      self->data_path = g_strconcat (self->location, ".bin", NULL);
      self->index_path = g_strconcat (self->location, ".idx", NULL);
    }
  else
    self->data_path = g_strdup (self->location);
  return TRUE;
}
