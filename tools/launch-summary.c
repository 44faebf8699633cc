/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-output-file.h>

#include "launch.h"

#define STATE_NAME "report.json"

static GVariant *
make_tallies (GHashTable *tallies)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (tallies), (GCompareFunc) g_strcmp0);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{st}"));
  for (GList *name = names; name != NULL; name = name->next)
    g_variant_builder_add (&builder, "{st}", name->data,
                           *(guint64 *) g_hash_table_lookup (tallies, name->data));
  return g_variant_builder_end (&builder);
}

static GVariant *
make_digests (GVariant *report)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{ss}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      const char *name, *digest;

      if (g_variant_lookup (element, "name", "&s", &name) &&
          g_variant_lookup (element, "digest", "&s", &digest))
        g_variant_builder_add (&builder, "{ss}", name, digest);
    }
  return g_variant_builder_end (&builder);
}

static const char *
name_exit (int code)
{
  switch (code)
    {
    case LAUNCH_EXIT_FINISHED:
      return "finished";
    case LAUNCH_EXIT_FAILED:
      return "failed";
    case LAUNCH_EXIT_USAGE:
      return "refused";
    case LAUNCH_EXIT_STATE:
      return "state";
    case LAUNCH_EXIT_DAMAGED:
      return "finished with damage";
    case LAUNCH_EXIT_FENCED:
      return "fenced out";
    case LAUNCH_EXIT_STOPPED:
      return "stopped";
    default:
      return "aborted";
    }
}

GVariant *
launch_make_summary (GVariant *report, const GError *error, int code)
{
  GVariantDict dict;
  double seconds = 0;
  LaunchFaults faults;

  g_variant_dict_init (&dict, report);
  g_variant_lookup (report, "elapsed", "d", &seconds);
  launch_faults_collect (&faults, report);
  g_variant_dict_insert (&dict, "seconds", "d", seconds);
  g_variant_dict_insert (&dict, "bad-records", "t", faults.bad);
  g_variant_dict_insert_value (&dict, "bad-records-by-kind", make_tallies (faults.kinds));
  g_variant_dict_insert_value (&dict, "bad-records-by-file", make_tallies (faults.files));
  g_variant_dict_insert (&dict, "damaged-files", "t", faults.damaged);
  g_variant_dict_insert_value (&dict, "digests", make_digests (report));
  g_variant_dict_insert (&dict, "exit-code", "i", code);
  g_variant_dict_insert (&dict, "exit-reason", "s", name_exit (code));
  if (error != NULL)
    {
      g_autofree char *message = g_utf8_make_valid (error->message, -1);

      g_variant_dict_insert (&dict, "error", "s", message);
    }
  launch_faults_clear (&faults);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

static char *
get_stored_name (DlpPipeline *pipeline)
{
  g_autofree char *dir = NULL;

  g_object_get (pipeline, "state-dir", &dir, NULL);
  return dir != NULL ? g_build_filename (dir, STATE_NAME, NULL) : NULL;
}

/* Whole or not at all, but for a pipe or a device. */
static bool
write_text (const char *name, const char *text, GError **failure)
{
  FILE *file;
  bool ok;

  if (!g_file_test (name, G_FILE_TEST_EXISTS) || g_file_test (name, G_FILE_TEST_IS_REGULAR))
    return dlp_output_file_clean (name, NULL, 0, failure) &&
           dlp_write_file_durably (name, text, strlen (text), failure);

  file = fopen (name, "we");
  ok = file != NULL && fputs (text, file) >= 0;
  ok = (file == NULL || fclose (file) == 0) && ok;
  if (!ok)
    g_set_error (failure, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: cannot write: %s",
                 name, g_strerror (errno));
  return ok;
}

/* A run that was finished before has the same summary as then. */
bool
launch_write_summary (DlpPipeline *pipeline,
                      const LaunchOptions *options,
                      const GError *error,
                      int code,
                      bool was_complete,
                      GError **failure)
{
  g_autofree char *stored = get_stored_name (pipeline);
  g_autofree char *text = NULL;

  if (!was_complete || stored == NULL || !g_file_get_contents (stored, &text, NULL, NULL))
    {
      g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
      g_autoptr (GVariant) summary = launch_make_summary (report, error, code);

      text = dlp_json_print (summary, TRUE);
      if (dlp_pipeline_is_complete (pipeline) && stored != NULL &&
          !write_text (stored, text, failure))
        return false;
    }
  if (options->summary == NULL || write_text (options->summary, text, failure))
    return true;
  g_prefix_error (failure, "--summary: ");
  return false;
}

bool
launch_write_dot (DlpPipeline *pipeline, const LaunchOptions *options, GError **error)
{
  g_autofree char *dot = NULL;

  if (options->dot == NULL)
    return true;
  dot = dlp_pipeline_to_dot (pipeline);
  if (write_text (options->dot, dot, error))
    return true;
  g_prefix_error (error, "--dot: ");
  return false;
}
