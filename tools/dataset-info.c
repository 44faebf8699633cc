/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <string.h>

/* What the files say, where there is no manifest. */
static gboolean
add_facts (const DatasetLocation *location, GVariantDict *dict, GError **error)
{
  g_auto (DatasetMegatron) megatron = { .bin.fd = -1, .idx.fd = -1 };
  g_auto (DatasetLines) lines = { .file.fd = -1 };
  g_autoptr (GError) local = NULL;
  guint64 n = 0;

  if (location->format == DATASET_MEGATRON)
    {
      if (!dataset_megatron_open (&megatron, location, error))
        return FALSE;
      g_variant_dict_insert (dict, "documents", "t", megatron.documents);
      g_variant_dict_insert (dict, "sequences", "t", megatron.sequences);
      g_variant_dict_insert (dict, "tokens", "t", megatron.bin.size / megatron.width);
      g_variant_dict_insert (dict, "dtype", "s", dataset_megatron_get_dtype (&megatron));
      g_variant_dict_insert (dict, "bytes", "t", megatron.bin.size + megatron.idx.size);
      return TRUE;
    }

  if (!dataset_lines_open (&lines, location->data_path, error))
    return FALSE;
  while (dataset_lines_next (&lines, &local))
    n++;
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  g_variant_dict_insert (dict, "documents", "t", n);
  g_variant_dict_insert (dict, "bytes", "t", lines.file.size);
  return TRUE;
}

/* Whether the files are there, as long as the manifest says. */
static gboolean
check_files (const DatasetLocation *location, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (location->manifest_path);

  for (guint i = 0; i < dlp_manifest_get_n_files (location->manifest); i++)
    {
      g_auto (DatasetFile) file = DATASET_FILE_INIT;
      g_autofree char *path = NULL;
      const char *name;
      guint64 size, hash;

      dlp_manifest_get_file (location->manifest, i, &name, &size, &hash);
      path = g_build_filename (folder, name, NULL);
      if (!dataset_file_open (&file, path, error))
        return FALSE;
      if (file.size != size)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "%s: has %" G_GUINT64_FORMAT " bytes, the manifest says %" G_GUINT64_FORMAT,
                       path, file.size, size);
          return FALSE;
        }
    }
  return TRUE;
}

static void
copy_manifest (const DatasetLocation *location, GVariantDict *dict)
{
  static const char *const left_out[] = { "dlpipe-manifest", "format", "files", NULL };
  GVariantIter iter;
  const char *key;
  GVariant *value;
  guint64 bytes = 0;

  g_variant_iter_init (&iter, location->manifest);
  while (g_variant_iter_loop (&iter, "{&sv}", &key, &value))
    if (!g_strv_contains (left_out, key))
      g_variant_dict_insert_value (dict, key, value);

  for (guint i = 0; i < dlp_manifest_get_n_files (location->manifest); i++)
    {
      const char *name;
      guint64 size, hash;

      dlp_manifest_get_file (location->manifest, i, &name, &size, &hash);
      bytes += size;
    }
  g_variant_dict_insert (dict, "bytes", "t", bytes);
}

/* In an order for people; what else there is follows. */
static void
print_facts (GVariant *facts)
{
  static const char *const first[] = { "location", "format", "documents", "sequences",  "tokens",
                                       "dtype",    "bytes",  "tokenizer", "vocab-size", NULL };
  GVariantIter iter;
  const char *key;
  GVariant *value;

  for (guint i = 0; first[i] != NULL; i++)
    {
      g_autoptr (GVariant) found = g_variant_lookup_value (facts, first[i], NULL);
      g_autofree char *text = found != NULL ? dlp_json_print (found, FALSE) : NULL;

      if (found != NULL && g_variant_is_of_type (found, G_VARIANT_TYPE_STRING))
        g_print ("%-22s %s\n", first[i], g_variant_get_string (found, NULL));
      else if (found != NULL)
        g_print ("%-22s %s\n", first[i], text);
    }
  g_variant_iter_init (&iter, facts);
  while (g_variant_iter_loop (&iter, "{&sv}", &key, &value))
    if (!g_strv_contains (first, key))
      {
        g_autofree char *text = dlp_json_print (value, FALSE);

        g_print ("%-22s %s\n", key, text);
      }
}

int
dataset_info (const DatasetLocation *location, const DatasetOptions *options, GError **error)
{
  g_autofree char *shown = dlp_uri_escape_for_display (location->location);
  g_autoptr (GVariant) facts = NULL;
  GVariantDict dict;

  if (location->manifest != NULL && !check_files (location, error))
    return DATASET_EXIT_FAULTS;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "location", "s", shown);
  g_variant_dict_insert (&dict, "format", "s", dataset_format_to_string (location->format));
  g_variant_dict_insert (&dict, "manifest", "b", location->manifest != NULL);
  if (location->manifest != NULL)
    copy_manifest (location, &dict);
  else if (!add_facts (location, &dict, error))
    {
      g_variant_dict_clear (&dict);
      return DATASET_EXIT_FAULTS;
    }

  facts = g_variant_ref_sink (g_variant_dict_end (&dict));
  if (options->json)
    {
      g_autofree char *text = dlp_json_print (facts, TRUE);

      g_print ("%s", text);
    }
  else
    print_facts (facts);
  return DATASET_EXIT_OK;
}
