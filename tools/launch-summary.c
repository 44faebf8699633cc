/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
  /* There are none where it hung while it was prepared. */
  for (gsize i = 0; elements != NULL && i < g_variant_n_children (elements); i++)
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
name_exit (int code, const GError *error, bool early)
{
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED))
    return "stalled";
  switch (code)
    {
    case LAUNCH_EXIT_FINISHED:
      return early ? "finished early" : "finished";
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
  g_variant_dict_insert (&dict, "dropped-records", "t", faults.dropped);
  g_variant_dict_insert (&dict, "skipped-batches", "t", faults.skipped);
  g_variant_dict_insert_value (&dict, "digests", make_digests (report));
  g_variant_dict_insert (&dict, "exit-code", "i", code);
  g_variant_dict_insert (&dict, "exit-reason", "s",
                         name_exit (code, error, launch_get_flag (report, "finished-early")));
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

/* Whole or not at all, but for a pipe or a device; - is the standard output. */
static bool
write_text (const char *name, const char *text, GError **failure)
{
  FILE *file;
  bool ok;

  if (g_str_equal (name, "-"))
    {
      if (fputs (text, stdout) >= 0 && fflush (stdout) == 0)
        return true;
      g_set_error (failure, G_FILE_ERROR, g_file_error_from_errno (errno),
                   "cannot write to the standard output: %s", g_strerror (errno));
      return false;
    }
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

GVariant *
launch_load_summary (DlpPipeline *pipeline)
{
  g_autofree char *name = get_stored_name (pipeline);
  g_autofree char *text = NULL;
  g_autoptr (GVariant) summary = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  if (name == NULL)
    return NULL;
  if (!g_file_get_contents (name, &text, &size, &error))
    {
      if (!g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        launch_warn ("what the run reported when it finished is not known: %s", error->message);
      return NULL;
    }
  summary = dlp_json_parse (text, size, NULL);
  if (summary == NULL || !g_variant_is_of_type (summary, G_VARIANT_TYPE_VARDICT))
    return NULL;
  return g_steal_pointer (&summary);
}

/* One that could not publish what is complete says so itself, and not to whoever comes after it. */
static bool
is_to_be_stored (DlpPipeline *pipeline, GVariant *summary)
{
  int code;

  return dlp_pipeline_is_complete (pipeline) &&
         g_variant_lookup (summary, "exit-code", "i", &code) &&
         (code == LAUNCH_EXIT_FINISHED || code == LAUNCH_EXIT_DAMAGED);
}

/* A run that was finished before has the same summary as then. */
bool
launch_write_summary (DlpPipeline *pipeline,
                      const LaunchOptions *options,
                      GVariant *summary,
                      GVariant *stored,
                      GError **failure)
{
  g_autofree char *name = get_stored_name (pipeline);
  g_autofree char *text = NULL;

  if (stored == NULL || name == NULL || !g_file_get_contents (name, &text, NULL, NULL))
    {
      text = dlp_json_print (summary, TRUE);
      if (name != NULL && is_to_be_stored (pipeline, summary) && !write_text (name, text, failure))
        return false;
    }
  if (options->summary == NULL || write_text (options->summary, text, failure))
    return true;
  g_prefix_error (failure, "--summary: ");
  return false;
}

static bool
check_output (const char *option, const char *name, GError **error)
{
  g_autofree char *folder = NULL;

  if (name == NULL || g_str_equal (name, "-"))
    return true;
  folder = g_path_get_dirname (name);
  if (g_file_test (name, G_FILE_TEST_IS_DIR))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s %s: that is a folder", option,
                 name);
  else if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s %s: there is no folder %s",
                 option, name, folder);
  else if (access (g_file_test (name, G_FILE_TEST_EXISTS) ? name : folder, W_OK) != 0)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s %s: cannot be written: %s",
                 option, name, g_strerror (errno));
  else
    return true;
  return false;
}

bool
launch_check_outputs (const LaunchOptions *options, GError **error)
{
  return check_output ("--summary", options->summary, error) &&
         check_output ("--dot", options->dot, error);
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
