/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <string.h>

#define MAX_FAULTS 100

void
dataset_report_add (DatasetReport *self, const char *format, ...)
{
  va_list args;

  self->n_faults++;
  if (self->faults->len == MAX_FAULTS)
    return;

  va_start (args, format);
  g_ptr_array_add (self->faults, g_strdup_vprintf (format, args));
  va_end (args);
}

void
dataset_verify_file (const DatasetLocation *location,
                     DatasetReport *report,
                     const char *path,
                     guint64 bytes,
                     guint64 hash)
{
  g_autofree char *wanted = g_path_get_basename (path);

  if (location->manifest == NULL)
    return;

  for (guint i = 0; i < dlp_manifest_get_n_files (location->manifest); i++)
    {
      const char *name;
      guint64 listed_bytes, listed_hash;

      dlp_manifest_get_file (location->manifest, i, &name, &listed_bytes, &listed_hash);
      if (strcmp (name, wanted) != 0)
        continue;
      if (bytes != listed_bytes)
        dataset_report_add (
            report, "%s: has %" G_GUINT64_FORMAT " bytes, the manifest says %" G_GUINT64_FORMAT,
            path, bytes, listed_bytes);
      else if (hash != listed_hash)
        dataset_report_add (report,
                            "%s: has hash %016" G_GINT64_MODIFIER
                            "x, the manifest says %016" G_GINT64_MODIFIER "x",
                            path, hash, listed_hash);
      return;
    }
  dataset_report_add (report, "%s: is not listed in the manifest", path);
}

void
dataset_verify_count (const DatasetLocation *location,
                      DatasetReport *report,
                      const char *key,
                      guint64 found)
{
  guint64 said;

  g_variant_dict_insert (&report->facts, key, "t", found);
  if (location->manifest != NULL && dlp_manifest_get_uint64 (location->manifest, key, &said) &&
      said != found)
    dataset_report_add (report,
                        "%s: says “%s” is %" G_GUINT64_FORMAT ", the files have %" G_GUINT64_FORMAT,
                        location->manifest_path, key, said, found);
}

static void
verify_empty (const DatasetLocation *location, DatasetReport *report)
{
  static const char *const suffixes[] = { ".bin", ".idx" };
  guint64 tokens;

  if (dlp_manifest_get_uint64 (location->manifest, "tokens", &tokens) && tokens != 0)
    dataset_report_add (report, "%s: lists no files, but says %" G_GUINT64_FORMAT " tokens",
                        location->manifest_path, tokens);
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autofree char *path = g_strconcat (location->location, suffixes[i], NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        dataset_report_add (report, "%s: is not listed in the manifest", path);
    }
}

static void
verify_manifest (const DatasetLocation *location, DatasetReport *report)
{
  g_autoptr (GError) error = NULL;
  gboolean has_hash = FALSE;

  if (!dlp_manifest_check_hash (location->manifest_path, &has_hash, &error))
    dataset_report_add (report, "%s", error->message);
  g_variant_dict_insert (&report->facts, "manifest-hash", "b", has_hash);
}

static void
print_report (const DatasetLocation *location, DatasetReport *report, gboolean json)
{
  g_autofree char *shown = dlp_uri_escape_for_display (location->location);
  g_autoptr (GVariant) facts = NULL;
  g_autofree char *text = NULL;
  gboolean has_hash;

  g_variant_dict_insert (&report->facts, "location", "s", shown);
  g_variant_dict_insert (&report->facts, "format", "s",
                         dataset_format_to_string (location->format));
  g_variant_dict_insert (&report->facts, "manifest", "b", location->manifest != NULL);
  g_variant_dict_insert (&report->facts, "ok", "b", report->n_faults == 0);
  g_variant_dict_insert (&report->facts, "n-faults", "t", report->n_faults);
  g_variant_dict_insert_value (
      &report->facts, "faults",
      g_variant_new_strv ((const char *const *) report->faults->pdata, report->faults->len));
  facts = g_variant_ref_sink (g_variant_dict_end (&report->facts));

  if (json)
    {
      text = dlp_json_print (facts, TRUE);
      g_print ("%s", text);
      return;
    }

  for (guint i = 0; i < report->faults->len; i++)
    g_print ("fault: %s\n", (char *) report->faults->pdata[i]);
  if (report->n_faults > report->faults->len)
    g_print ("... and %" G_GUINT64_FORMAT " more\n", report->n_faults - report->faults->len);
  if (report->n_faults > 0)
    {
      g_print ("%s: %" G_GUINT64_FORMAT " faults\n", shown, report->n_faults);
      return;
    }
  g_print ("%s: ok", shown);
  for (guint i = 0; i < 3; i++)
    {
      static const char *const keys[] = { "documents", "sequences", "tokens" };
      guint64 n;

      if (g_variant_lookup (facts, keys[i], "t", &n))
        g_print (", %" G_GUINT64_FORMAT " %s", n, keys[i]);
    }
  if (location->manifest == NULL)
    g_print ("; there is no manifest: hashes were not compared");
  else if (!g_variant_lookup (facts, "manifest-hash", "b", &has_hash) || !has_hash)
    g_print ("; the manifest has no hash of its own content: it was not checked");
  if (report->vocabulary == 0 && location->format == DATASET_MEGATRON)
    g_print ("; the vocabulary is not known (--tokenizer)");
  g_print ("\n");
}

int
dataset_verify (const DatasetLocation *location, const DatasetOptions *options, GError **error)
{
  g_autoptr (GPtrArray) faults = g_ptr_array_new_with_free_func (g_free);
  DatasetReport report = { .faults = faults };

  if (options->model != NULL)
    {
      g_autoptr (DlpTokenizer) tokenizer =
          dlp_tokenizer_new (options->model, options->pattern, error);

      if (tokenizer == NULL)
        return DATASET_EXIT_USAGE;
      report.vocabulary = dlp_tokenizer_get_vocab_size (tokenizer);
    }
  else if (location->manifest != NULL)
    dlp_manifest_get_uint64 (location->manifest, "vocab-size", &report.vocabulary);

  g_variant_dict_init (&report.facts, NULL);
  if (location->manifest != NULL)
    verify_manifest (location, &report);
  if (location->format == DATASET_MEGATRON)
    dataset_verify_megatron (location, &report);
  else if (location->format == DATASET_JSONL)
    dataset_verify_jsonl (location, &report);
  else
    verify_empty (location, &report);
  print_report (location, &report, options->json);
  return report.n_faults == 0 ? DATASET_EXIT_OK : DATASET_EXIT_FAULTS;
}
