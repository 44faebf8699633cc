/* SPDX-License-Identifier: MIT */

#include "dataset.h"

/* The ids of a member “tokens”; FALSE: it is no list. */
static gboolean
check_ids (const DatasetLocation *location,
           DatasetReport *report,
           guint64 line,
           GVariant *object,
           guint64 *tokens)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (object, "tokens", G_VARIANT_TYPE ("av"));

  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
      g_autoptr (GVariant) value = g_variant_get_variant (boxed);
      g_autofree char *shown = NULL;

      if (g_variant_is_of_type (value, G_VARIANT_TYPE_INT64) && g_variant_get_int64 (value) >= 0 &&
          (guint64) g_variant_get_int64 (value) < report->vocabulary)
        continue;
      shown = dlp_json_print (value, FALSE);
      dataset_report_add (report,
                          "%s: line %" G_GUINT64_FORMAT ": token %" G_GSIZE_FORMAT
                          " is %s; allowed are 0 to %" G_GUINT64_FORMAT,
                          location->data_path, line, i, shown, report->vocabulary - 1);
    }
  if (list != NULL)
    *tokens += g_variant_n_children (list);
  return list != NULL;
}

static void
check_line (const DatasetLocation *location,
            DatasetReport *report,
            DatasetLines *lines,
            gboolean *has_tokens,
            guint64 *tokens)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) object = NULL;

  if (!lines->has_end)
    dataset_report_add (report, "%s: line %" G_GUINT64_FORMAT ": is cut: there is no LF behind it",
                        location->data_path, lines->number);
  if (report->vocabulary > 0)
    object = dlp_json_parse (lines->line->str, lines->line->len, &error);
  else
    dlp_json_check (lines->line->str, lines->line->len, &error);

  if (error != NULL)
    dataset_report_add (report, "%s: line %" G_GUINT64_FORMAT ": %s", location->data_path,
                        lines->number, error->message);
  else if (object != NULL && g_variant_is_of_type (object, G_VARIANT_TYPE_VARDICT) &&
           check_ids (location, report, lines->number, object, tokens))
    *has_tokens = TRUE;
}

void
dataset_verify_jsonl (const DatasetLocation *location, DatasetReport *report)
{
  g_auto (DatasetLines) lines = { .file.fd = -1 };
  g_autoptr (GError) error = NULL;
  gboolean has_tokens = FALSE;
  guint64 tokens = 0;
  guint64 n = 0;

  if (dataset_lines_open (&lines, location->data_path, &error))
    for (; dataset_lines_next (&lines, &error); n++)
      check_line (location, report, &lines, &has_tokens, &tokens);
  if (error != NULL)
    {
      dataset_report_add (report, "%s", error->message);
      return;
    }

  dataset_verify_file (location, report, location->data_path, lines.file.size,
                       dataset_lines_get_hash (&lines));
  dataset_verify_count (location, report, "documents", n);
  if (has_tokens)
    dataset_verify_count (location, report, "tokens", tokens);
}
