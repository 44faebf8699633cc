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

/* What a sink would have been given; also of a file that is not there yet. */
static char *
strip (const char *text)
{
  static const char *const suffixes[] = { ".manifest.json", ".bin", ".idx", ".dlpipe" };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (text, suffixes[i]) && strlen (text) > strlen (suffixes[i]))
      {
        g_autofree char *stem = g_strndup (text, strlen (text) - strlen (suffixes[i]));
        g_autofree char *state = g_strconcat (stem, ".dlpipe", NULL);

        if (is_file (text) || g_file_test (state, G_FILE_TEST_IS_DIR))
          return g_steal_pointer (&stem);
      }
  return g_strdup (text);
}

/* ---- what is not a dataset ---- */

/* (nullable): what a file that begins so is, if it is no text. */
static const char *
recognize (const guint8 *head, gsize n)
{
  static const struct
  {
    const char *magic;
    gsize n;
    const char *what;
  } known[] = {
    { "\x1f\x8b", 2, "compressed with gzip" },
    { "\x28\xb5\x2f\xfd", 4, "compressed with zstd" },
    { "\xfd"
      "7zXZ",
      5, "compressed with xz" },
    { "BZh", 3, "compressed with bzip2" },
    { "PAR1", 4, "a Parquet file" },
    { "MMIDIDX", 7, "an index of Megatron-LM, whose name does not end in .idx" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (n >= known[i].n && memcmp (head, known[i].magic, known[i].n) == 0)
      return known[i].what;
  return memchr (head, '\0', n) != NULL ? "binary, not lines of JSON" : NULL;
}

static gboolean
check_text (const char *path, GError **error)
{
  g_auto (DatasetFile) file = DATASET_FILE_INIT;
  guint8 head[4096];
  const char *what;
  gsize n;

  if (!dataset_file_open (&file, path, error))
    return FALSE;
  n = (gsize) MIN (sizeof head, file.size);
  if (!dataset_file_read (&file, 0, head, n, error))
    return FALSE;
  what = recognize (head, n);
  if (what == NULL)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "%s: is %s; looked at are the outputs of sinks: .bin with .idx, and JSON lines that "
               "are not compressed%s",
               path, what,
               strstr (what, "compressed with") != NULL ?
                   " (decompress it first; dlpipe-launch reads it as it is)" :
                   "");
  return FALSE;
}

/* (transfer full) (nullable): a file of @path that a run is writing, or has left. */
static char *
find_unfinished (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *prefix = g_strconcat (".", base, ".", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, prefix) && g_str_has_suffix (name, ".partial"))
      return g_build_filename (folder, name, NULL);
  return NULL;
}

static void
set_nothing_error (const DatasetLocation *self, GError **error)
{
  g_autofree char *state = g_strconcat (self->location, ".dlpipe", NULL);
  g_autofree char *partial = find_unfinished (self->location);

  if (g_file_test (state, G_FILE_TEST_IS_DIR))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                 "%s: unfinished: the state of its run is in %s, and the same command goes on with "
                 "it%s%s",
                 self->location, state, partial != NULL ? "; what there is so far: " : "",
                 partial != NULL ? partial : "");
  else if (partial != NULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                 "%s: unfinished: a run is writing it, or has left it: %s", self->location,
                 partial);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                 "%s: nothing there: neither %s, nor %s.bin and .idx, nor a file of that name",
                 self->location, self->manifest_path, self->location);
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
        {
          self->format = DATASET_JSONL;
          return check_text (self->location, error);
        }
      else
        {
          set_nothing_error (self, error);
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
