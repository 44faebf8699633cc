/* SPDX-License-Identifier: MIT */

/* dlpipe-fanout status: how far a job is. */

#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-json.h>

#include "fanout.h"

static void
print_json (GVariant *report, GVariant *job)
{
  static const char *const keys[] = { "tasks-done",    "tasks-failed", "tasks-running",
                                      "tasks-waiting", "fraction",     "records",
                                      "tokens",        "task-list" };
  g_autoptr (GVariant) object = NULL;
  g_autofree char *text = NULL;
  GVariantDict dict;

  g_variant_dict_init (&dict, job);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (report, keys[i], NULL);

      g_variant_dict_insert_value (&dict, keys[i], value);
    }
  g_variant_dict_insert (&dict, "bytes-read", "t", launch_get_number (report, "bytes"));
  object = g_variant_ref_sink (g_variant_dict_end (&dict));
  text = dlp_json_print (object, TRUE);
  fputs (text, stdout);
}

/* A task that is done, or of which there is nothing yet, has no line of its own. */
static void
print_task (GVariant *task)
{
  guint64 number = launch_get_number (task, "task");
  const char *status = "", *error;

  g_variant_lookup (task, "status", "&s", &status);
  if (g_variant_lookup (task, "error", "&s", &error))
    printf ("task %" G_GUINT64_FORMAT ": %s: %s\n", number, status, error);
  else if (strcmp (status, "done") != 0 && g_variant_lookup (task, "fraction", "d", NULL))
    printf ("task %" G_GUINT64_FORMAT ": %s, %.0f %%, %" G_GUINT64_FORMAT " records\n", number,
            status, launch_get_double (task, "fraction", 0) * 100,
            launch_get_number (task, "records"));
}

static void
print_text (GVariant *report, GVariant *job)
{
  g_autofree char *bytes = launch_format_bytes ((double) launch_get_number (job, "bytes"));
  g_autoptr (GVariant) tasks =
      g_variant_lookup_value (report, "task-list", G_VARIANT_TYPE ("aa{sv}"));
  guint64 tokens = launch_get_number (report, "tokens");

  printf ("%" G_GUINT64_FORMAT " tasks of %" G_GUINT64_FORMAT " files (%s): %" G_GUINT64_FORMAT
          " done, %" G_GUINT64_FORMAT " running, %" G_GUINT64_FORMAT " waiting, %" G_GUINT64_FORMAT
          " failed\n",
          launch_get_number (job, "tasks"), launch_get_number (job, "files"), bytes,
          launch_get_number (report, "tasks-done"), launch_get_number (report, "tasks-running"),
          launch_get_number (report, "tasks-waiting"), launch_get_number (report, "tasks-failed"));
  printf ("%" G_GUINT64_FORMAT " records", launch_get_number (report, "records"));
  if (tokens > 0)
    printf (", %" G_GUINT64_FORMAT " tokens", tokens);
  printf ("\n");
  for (gsize i = 0; i < g_variant_n_children (tasks); i++)
    {
      g_autoptr (GVariant) task = g_variant_get_child_value (tasks, i);

      print_task (task);
    }
}

int
fanout_show_status (const FanoutOptions *options, GError **error)
{
  FanoutFolder *folder = fanout_folder_open (options->folder, error);
  g_autoptr (GVariant) report = NULL;

  if (folder == NULL)
    return LAUNCH_EXIT_USAGE;
  report = fanout_folder_look (folder);
  if (options->json)
    print_json (report, fanout_folder_get_job (folder));
  else
    print_text (report, fanout_folder_get_job (folder));
  fanout_folder_free (folder);
  return launch_get_number (report, "tasks-failed") > 0 ? LAUNCH_EXIT_FAILED : LAUNCH_EXIT_FINISHED;
}
