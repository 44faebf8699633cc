/* SPDX-License-Identifier: MIT */

/* A job as its folder shows it: needs neither a scheduler nor the process that runs it. */

#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-checkpoint.h>
#include <dlpipe/dlp-json.h>

#include "fanout.h"

typedef struct
{
  guint64 done, failed, running, waiting;
  guint64 records, tokens, bytes;
  GVariantBuilder tasks; /* aa{sv} */
  GString *lines;
} Status;

static GVariant *
load_json (const char *folder, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GVariant) value = NULL;
  gsize size;

  if (!g_file_get_contents (path, &text, &size, error))
    return NULL;
  value = dlp_json_parse (text, size, error);
  if (value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT))
    return g_steal_pointer (&value);
  g_clear_error (error);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "%s: this is no JSON object", path);
  return NULL;
}

/* Whether its state's lock is held, as far as this host can tell. */
static bool
is_running (const char *state)
{
  g_autoptr (GVariant) described = dlp_checkpoint_describe_folder (state, NULL);
  gboolean running = FALSE;

  return described != NULL && g_variant_lookup (described, "running", "b", &running) && running;
}

static void
add_task (Status *self, guint64 number, const char *status, GVariant *source, const char *error)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "task", "t", number);
  g_variant_dict_insert (&dict, "status", "s", status);
  if (source != NULL)
    {
      double fraction =
          launch_get_double (source, "fraction", strcmp (status, "done") == 0 ? 1 : 0);

      g_variant_dict_insert (&dict, "records", "t", launch_get_number (source, "records"));
      g_variant_dict_insert (&dict, "tokens", "t", launch_get_number (source, "tokens"));
      g_variant_dict_insert (&dict, "bytes", "t", launch_get_number (source, "bytes"));
      g_variant_dict_insert (&dict, "fraction", "d", fraction);
      self->records += launch_get_number (source, "records");
      self->tokens += launch_get_number (source, "tokens");
      self->bytes += launch_get_number (source, "bytes");
      if (strcmp (status, "done") != 0 && strcmp (status, "failed") != 0)
        g_string_append_printf (
            self->lines, "task %" G_GUINT64_FORMAT ": %s, %.0f %%, %" G_GUINT64_FORMAT " records\n",
            number, status, fraction * 100, launch_get_number (source, "records"));
    }
  if (error != NULL)
    {
      g_variant_dict_insert (&dict, "error", "s", error);
      g_string_append_printf (self->lines, "task %" G_GUINT64_FORMAT ": %s: %s\n", number, status,
                              error);
    }
  g_variant_builder_add_value (&self->tasks, g_variant_dict_end (&dict));
}

/* What is recorded of it, else what its state says. */
static void
look_at_task (Status *self, const char *job, guint64 number)
{
  g_autofree char *name = g_strdup_printf ("%05" G_GUINT64_FORMAT, number);
  g_autofree char *folder = g_build_filename (job, "tasks", name, NULL);
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  g_autoptr (GVariant) outcome = load_json (folder, "task.json", NULL);
  g_autoptr (GVariant) progress = NULL;
  const char *status = "";
  const char *error = NULL;
  bool running;

  if (outcome != NULL)
    g_variant_lookup (outcome, "status", "&s", &status);
  running = strcmp (status, "done") != 0 && is_running (state);
  if (running || outcome == NULL)
    {
      progress = load_json (state, "status.json", NULL);
      self->running += running;
      self->waiting += !running;
      add_task (self, number,
                running          ? "running" :
                progress != NULL ? "stopped" :
                                   "waiting",
                progress, NULL);
      return;
    }
  self->done += strcmp (status, "done") == 0;
  self->failed += strcmp (status, "failed") == 0;
  if (strcmp (status, "failed") == 0)
    g_variant_lookup (outcome, "error", "&s", &error);
  add_task (self, number, status, outcome, error);
}

static void
print_json (Status *self, GVariant *job)
{
  g_autoptr (GVariant) object = NULL;
  g_autofree char *text = NULL;
  GVariantDict dict;

  g_variant_dict_init (&dict, job);
  g_variant_dict_insert (&dict, "tasks-done", "t", self->done);
  g_variant_dict_insert (&dict, "tasks-failed", "t", self->failed);
  g_variant_dict_insert (&dict, "tasks-running", "t", self->running);
  g_variant_dict_insert (&dict, "tasks-waiting", "t", self->waiting);
  g_variant_dict_insert (&dict, "records", "t", self->records);
  g_variant_dict_insert (&dict, "tokens", "t", self->tokens);
  g_variant_dict_insert (&dict, "bytes-read", "t", self->bytes);
  g_variant_dict_insert_value (&dict, "task-list", g_variant_builder_end (&self->tasks));
  object = g_variant_ref_sink (g_variant_dict_end (&dict));
  text = dlp_json_print (object, TRUE);
  fputs (text, stdout);
}

static void
print_text (Status *self, GVariant *job)
{
  g_autofree char *bytes = launch_format_bytes ((double) launch_get_number (job, "bytes"));

  printf ("%" G_GUINT64_FORMAT " tasks of %" G_GUINT64_FORMAT " files (%s): %" G_GUINT64_FORMAT
          " done, %" G_GUINT64_FORMAT " running, %" G_GUINT64_FORMAT " waiting, %" G_GUINT64_FORMAT
          " failed\n",
          launch_get_number (job, "tasks"), launch_get_number (job, "files"), bytes, self->done,
          self->running, self->waiting, self->failed);
  printf ("%" G_GUINT64_FORMAT " records", self->records);
  if (self->tokens > 0)
    printf (", %" G_GUINT64_FORMAT " tokens", self->tokens);
  printf ("\n%s", self->lines->str);
}

int
fanout_show_status (const FanoutOptions *options, GError **error)
{
  g_autoptr (GVariant) job = load_json (options->status, "job.json", error);
  Status self = { 0 };

  if (job == NULL)
    {
      g_prefix_error (error, "there is no job: ");
      return LAUNCH_EXIT_USAGE;
    }
  self.lines = g_string_new (NULL);
  g_variant_builder_init (&self.tasks, G_VARIANT_TYPE ("aa{sv}"));
  for (guint64 i = 0; i < launch_get_number (job, "tasks"); i++)
    look_at_task (&self, options->status, i);
  if (options->json)
    print_json (&self, job);
  else
    print_text (&self, job);
  g_variant_builder_clear (&self.tasks);
  g_string_free (self.lines, TRUE);
  return self.failed > 0 ? LAUNCH_EXIT_FAILED : LAUNCH_EXIT_FINISHED;
}
