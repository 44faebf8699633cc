/* SPDX-License-Identifier: MIT */

/* What is said of a job at its beginning and at its end, and its exit code. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-output-file.h>

#include "fanout.h"

/* Of those that failed: the others are in the summary. */
#define MOST_NAMED 10

bool
fanout_is_prepared (GVariant *report)
{
  const char *id;

  return g_variant_lookup (report, "job-id", "&s", &id);
}

void
fanout_say_begin (GVariant *report)
{
  g_autofree char *tasks = launch_format_number (launch_get_number (report, "tasks"), "task");
  g_autofree char *files = launch_format_number (launch_get_number (report, "files-total"), "file");
  g_autofree char *bytes = launch_format_bytes ((double) launch_get_number (report, "bytes-total"));
  g_autofree char *workers = launch_format_number (launch_get_number (report, "workers"), "worker");
  guint64 done = launch_get_number (report, "tasks-done-before");
  guint64 world_size = launch_get_number (report, "world-size");
  const char *job = "";

  g_variant_lookup (report, "state-dir", "&s", &job);
  if (world_size > 1)
    launch_say ("rank %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
                launch_get_number (report, "rank"), world_size);
  launch_say ("%s of %s (%s), %s, seed %" G_GUINT64_FORMAT ", job %s%s", tasks, files, bytes,
              launch_get_flag (report, "in-process") ? "one after the other in this process" :
                                                       workers,
              launch_get_number (report, "seed"), job,
              launch_get_flag (report, "state-dir-temporary") ?
                  ", which is gone with this run, as no file is written" :
                  "");
  if (done > 0)
    launch_say ("%" G_GUINT64_FORMAT " of them done before", done);
}

void
fanout_say_job (GVariant *report)
{
  g_autofree char *tasks = launch_format_number (launch_get_number (report, "tasks"), "task");
  g_autofree char *files = launch_format_number (launch_get_number (report, "files-total"), "file");
  g_autofree char *bytes = launch_format_bytes ((double) launch_get_number (report, "bytes-total"));
  const char *job = "";

  g_variant_lookup (report, "state-dir", "&s", &job);
  launch_say ("%s of %s (%s), seed %" G_GUINT64_FORMAT ", job %s", tasks, files, bytes,
              launch_get_number (report, "seed"), job);
}

static void
append_number (GString *text, GVariant *report, const char *key, const char *noun, bool always)
{
  guint64 n = launch_get_number (report, key);
  g_autofree char *number = launch_format_number (n, noun);

  if (n > 0 || always)
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", number);
}

static char *
format_totals (GVariant *report)
{
  GString *text = g_string_new (NULL);
  double seconds = launch_get_double (report, "elapsed", -1);

  append_number (text, report, "records", "record", true);
  append_number (text, report, "tokens", "token", false);
  append_number (text, report, "bad-records", "bad record", true);
  if (seconds >= 0)
    g_string_append_printf (text, ", %.1f s", seconds);
  return g_string_free (text, FALSE);
}

/* Each of them is one of these. */
static char *
format_files (GVariant *report)
{
  static const char *const kinds[][2] = { { "files-done", "done" },
                                          { "files-damaged", "damaged" },
                                          { "files-failed", "failed" },
                                          { "files-left", "left" } };
  g_autofree char *files = launch_format_number (launch_get_number (report, "files-total"), "file");
  GString *text = g_string_new (files);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      guint64 n = launch_get_number (report, kinds[i][0]);

      if (n > 0)
        g_string_append_printf (text, ", %" G_GUINT64_FORMAT " %s", n, kinds[i][1]);
    }
  return g_string_free (text, FALSE);
}

static bool
has_status (GVariant *task, const char *wanted)
{
  const char *status = "";

  g_variant_lookup (task, "status", "&s", &status);
  return strcmp (status, wanted) == 0;
}

static void
say_failed (GVariant *report)
{
  g_autoptr (GVariant) tasks =
      g_variant_lookup_value (report, "task-list", G_VARIANT_TYPE ("aa{sv}"));
  const char *job = "";
  guint64 n = 0;

  g_variant_lookup (report, "state-dir", "&s", &job);
  for (gsize i = 0; tasks != NULL && i < g_variant_n_children (tasks); i++)
    {
      g_autoptr (GVariant) task = g_variant_get_child_value (tasks, i);
      guint64 number = launch_get_number (task, "task");
      g_autofree char *files = launch_format_number (launch_get_number (task, "files"), "file");
      const char *error = "";

      if (!has_status (task, "failed") || n++ >= MOST_NAMED)
        continue;
      g_variant_lookup (task, "error", "&s", &error);
      launch_say ("failed, with %s: %s; its log is %s/tasks/%05" G_GUINT64_FORMAT "/log", files,
                  error, job, number);
    }
  if (n > MOST_NAMED)
    launch_say ("and %" G_GUINT64_FORMAT " more; --summary and status name all of them",
                n - MOST_NAMED);
}

static void
say_merged (GVariant *report)
{
  g_autoptr (GVariant) merged =
      g_variant_lookup_value (report, "merged", G_VARIANT_TYPE_STRING_ARRAY);

  for (gsize i = 0; merged != NULL && i < g_variant_n_children (merged); i++)
    {
      g_autoptr (GVariant) location = g_variant_get_child_value (merged, i);

      launch_say ("merged: %s", g_variant_get_string (location, NULL));
    }
}

void
fanout_say_end (GVariant *report, const GError *error, bool resumable)
{
  g_autofree char *totals = NULL;
  g_autofree char *files = NULL;

  if (!fanout_is_prepared (report))
    {
      launch_error (error->message);
      return;
    }
  totals = format_totals (report);
  files = format_files (report);
  say_failed (report);
  launch_say ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " tasks done; %s; %s",
              launch_get_number (report, "tasks-done"), launch_get_number (report, "tasks"), files,
              totals);
  say_merged (report);
  if (error == NULL)
    return;
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED) ||
      g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED))
    launch_say ("%s%s", error->message, resumable ? "; the same command goes on" : "");
  else
    launch_error (error->message);
}

static int
exit_for_state (const GError *error)
{
  if (g_error_matches (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED))
    return LAUNCH_EXIT_STATE;
  if (error->domain != DLP_STATE_ERROR)
    return 0;
  switch ((DlpStateError) error->code)
    {
    case DLP_STATE_ERROR_CORRUPT:
    case DLP_STATE_ERROR_CHANGED:
    case DLP_STATE_ERROR_VERSION:
      return LAUNCH_EXIT_STATE;
    case DLP_STATE_ERROR_FENCED:
      return LAUNCH_EXIT_FENCED;
    case DLP_STATE_ERROR_LOCKED:
    case DLP_STATE_ERROR_FOREIGN_OUTPUT:
      break;
    }
  return 0;
}

int
fanout_exit_for (const GError *error, bool prepared, int signal_number, GVariant *report)
{
  int code;

  if (error == NULL)
    return launch_get_number (report, "files-damaged") > 0 ? LAUNCH_EXIT_DAMAGED :
                                                             LAUNCH_EXIT_FINISHED;
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    return LAUNCH_EXIT_STOPPED;
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED))
    return LAUNCH_EXIT_SIGNAL + signal_number;
  code = exit_for_state (error);
  if (code != 0)
    return code;
  return prepared ? LAUNCH_EXIT_FAILED : LAUNCH_EXIT_USAGE;
}

bool
fanout_write_summary (const char *name, GVariant *report, int code, GError **error)
{
  g_autoptr (GVariant) summary = NULL;
  g_autofree char *text = NULL;
  GVariantDict dict;

  g_variant_dict_init (&dict, report);
  g_variant_dict_insert (&dict, "exit-code", "i", code);
  summary = g_variant_ref_sink (g_variant_dict_end (&dict));
  text = dlp_json_print (summary, TRUE);
  if (strcmp (name, "-") != 0)
    {
      if (dlp_write_file_durably (name, text, strlen (text), error))
        return true;
      g_prefix_error (error, "--summary: ");
      return false;
    }
  if (fputs (text, stdout) >= 0 && fflush (stdout) == 0)
    return true;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
               "cannot write to the standard output: %s", g_strerror (errno));
  return false;
}
