/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-json.h>

#include "fanout.h"

#define BAR_INTERVAL (G_USEC_PER_SEC / 4)
#define PLAIN_INTERVAL (30 * G_USEC_PER_SEC)
#define JSON_INTERVAL G_USEC_PER_SEC
/* The rate is that of the last seconds. */
#define WINDOW (5 * G_USEC_PER_SEC)

struct _FanoutProgress
{
  GListModel *workers; /* (nullable): none are known of a job that is only watched */
  FanoutProgressKind kind;
  gint64 interval;
  gint64 due;

  /* The beginning of the window that the rate is of; 0: there is none yet. */
  gint64 base_time;
  guint64 base_bytes;
  double base_fraction;
  double rate;  /* bytes/s; < 0: not known yet */
  double speed; /* of the fraction, 1/s; the same */
};

static FanoutProgressKind
choose_kind (const FanoutOptions *options)
{
  if (options->quiet)
    return FANOUT_PROGRESS_NONE;
  if (options->progress != FANOUT_PROGRESS_AUTO)
    return options->progress;
  return isatty (STDERR_FILENO) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0 ?
             FANOUT_PROGRESS_BAR :
             FANOUT_PROGRESS_PLAIN;
}

static gint64
get_interval (FanoutProgressKind kind)
{
  switch (kind)
    {
    case FANOUT_PROGRESS_BAR:
    case FANOUT_PROGRESS_FULL:
      return BAR_INTERVAL;
    case FANOUT_PROGRESS_JSON:
      return JSON_INTERVAL;
    case FANOUT_PROGRESS_AUTO:
    case FANOUT_PROGRESS_PLAIN:
      return PLAIN_INTERVAL;
    case FANOUT_PROGRESS_NONE:
      break;
    }
  return 0;
}

FanoutProgress *
fanout_progress_new (GListModel *workers, const FanoutOptions *options)
{
  FanoutProgress *self = g_new0 (FanoutProgress, 1);

  self->workers = workers;
  self->kind = choose_kind (options);
  self->interval = get_interval (self->kind);
  self->rate = self->speed = -1;
  return self;
}

void
fanout_progress_free (FanoutProgress *self)
{
  launch_show_bar (NULL);
  g_free (self);
}

static void
measure (FanoutProgress *self, GVariant *report, gint64 now)
{
  guint64 bytes = launch_get_number (report, "bytes");
  double fraction = launch_get_double (report, "fraction", 0);
  double seconds = (double) (now - self->base_time) / G_USEC_PER_SEC;

  if (self->base_time != 0 && seconds > 0)
    {
      self->rate = (double) (bytes - MIN (bytes, self->base_bytes)) / seconds;
      self->speed = (fraction - self->base_fraction) / seconds;
    }
  if (self->base_time != 0 && now - self->base_time < WINDOW)
    return;
  self->base_time = now;
  self->base_bytes = bytes;
  self->base_fraction = fraction;
}

/* ---- the forms ---- */

static double
get_eta (FanoutProgress *self, double fraction)
{
  return self->speed > 0 && fraction < 1 ? (1 - fraction) / self->speed : -1;
}

static void
append_count (GString *text, const char *separator, guint64 n, const char *noun)
{
  g_autofree char *count = launch_format_count ((double) n);

  g_string_append_printf (text, "%s%s %s", separator, count, noun);
}

static char *
describe (FanoutProgress *self, GVariant *report)
{
  GString *text = g_string_new (NULL);
  double fraction = launch_get_double (report, "fraction", 0);
  double eta = get_eta (self, fraction);
  g_autofree char *rate = self->rate >= 0 ? launch_format_bytes (self->rate) : g_strdup ("?");
  guint64 tokens = launch_get_number (report, "tokens");
  guint64 failed = launch_get_number (report, "tasks-failed");
  guint64 retries = launch_get_number (report, "retries");

  g_string_append_printf (text, "%s/s", rate);
  append_count (text, ", ", launch_get_number (report, "records"), "records");
  if (tokens > 0)
    append_count (text, ", ", tokens, "tokens");
  g_string_append_printf (text, ", %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT " tasks",
                          launch_get_number (report, "tasks-done"),
                          launch_get_number (report, "tasks"));
  if (failed > 0)
    g_string_append_printf (text, " (%" G_GUINT64_FORMAT " failed)", failed);
  if (retries > 0)
    g_string_append_printf (text, ", %" G_GUINT64_FORMAT " begun again", retries);
  if (eta >= 0)
    {
      g_autofree char *left = launch_format_seconds (eta);

      g_string_append_printf (text, ", %s left", left);
    }
  return g_string_free (text, FALSE);
}

/* " | 0: task 3 45 %" for each worker. */
static void
append_workers (FanoutProgress *self, GString *line)
{
  for (guint i = 0; i < g_list_model_get_n_items (self->workers); i++)
    {
      g_autoptr (GObject) worker = g_list_model_get_item (self->workers, i);
      double fraction;
      int task;

      g_object_get (worker, "task", &task, "fraction", &fraction, NULL);
      if (task < 0)
        g_string_append_printf (line, " | %u: -", i);
      else
        g_string_append_printf (line, " | %u: task %d %.0f %%", i, task, MAX (fraction, 0) * 100);
    }
}

/* " | task 3 45 %" for each task that is run by whomever. */
static void
append_running (GString *line, GVariant *report)
{
  g_autoptr (GVariant) tasks =
      g_variant_lookup_value (report, "task-list", G_VARIANT_TYPE ("aa{sv}"));

  for (gsize i = 0; tasks != NULL && i < g_variant_n_children (tasks); i++)
    {
      g_autoptr (GVariant) task = g_variant_get_child_value (tasks, i);
      const char *status = "";

      g_variant_lookup (task, "status", "&s", &status);
      if (strcmp (status, "running") == 0)
        g_string_append_printf (line, " | task %" G_GUINT64_FORMAT " %.0f %%",
                                launch_get_number (task, "task"),
                                launch_get_double (task, "fraction", 0) * 100);
    }
}

static void
show_bar (FanoutProgress *self, GVariant *report, const char *text)
{
  g_autoptr (GString) line = g_string_new (text);
  g_autofree char *bar = NULL;

  if (self->kind == FANOUT_PROGRESS_FULL && self->workers != NULL)
    append_workers (self, line);
  else if (self->kind == FANOUT_PROGRESS_FULL)
    append_running (line, report);
  bar = launch_format_bar (launch_get_double (report, "fraction", -1), line->str);
  launch_show_bar (bar);
}

/* @code: of the last record; -1: it goes on. */
static void
show_json (FanoutProgress *self, GVariant *report, int code)
{
  static const char *const keys[] = { "status",        "fraction",    "records",    "tokens",
                                      "bytes",         "bytes-total", "elapsed",    "files-read",
                                      "files-total",   "tasks",       "tasks-done", "tasks-failed",
                                      "tasks-running", "retries",     "worker-list" };
  GVariantDict dict;
  g_autoptr (GVariant) object = NULL;
  g_autofree char *text = NULL;
  g_autofree char *line = NULL;

  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (report, keys[i], NULL);

      if (value != NULL)
        g_variant_dict_insert_value (&dict, keys[i], value);
    }
  if (code >= 0)
    g_variant_dict_insert (&dict, "exit-code", "i", code);
  object = g_variant_ref_sink (g_variant_dict_end (&dict));
  text = dlp_json_print (object, FALSE);
  line = g_strconcat (g_strchomp (text), "\n", NULL);
  launch_write (line);
}

static void
show (FanoutProgress *self, GVariant *report)
{
  g_autofree char *text = describe (self, report);

  switch (self->kind)
    {
    case FANOUT_PROGRESS_BAR:
    case FANOUT_PROGRESS_FULL:
      show_bar (self, report, text);
      break;
    case FANOUT_PROGRESS_JSON:
      show_json (self, report, -1);
      break;
    case FANOUT_PROGRESS_AUTO:
    case FANOUT_PROGRESS_PLAIN:
      launch_say ("%.0f %%, %s", launch_get_double (report, "fraction", 0) * 100, text);
      break;
    case FANOUT_PROGRESS_NONE:
      break;
    }
}

bool
fanout_progress_is_due (FanoutProgress *self)
{
  gint64 now = g_get_monotonic_time ();

  if (self->kind == FANOUT_PROGRESS_NONE || now < self->due)
    return false;
  /* A line of its own only when something has been done. */
  if (self->due != 0 || self->kind != FANOUT_PROGRESS_PLAIN)
    return true;
  self->due = now + self->interval;
  return false;
}

void
fanout_progress_show (FanoutProgress *self, GVariant *report)
{
  gint64 now = g_get_monotonic_time ();

  self->due = now + self->interval;
  measure (self, report, now);
  show (self, report);
}

void
fanout_progress_end (FanoutProgress *self, GVariant *report, int code)
{
  if (self->kind == FANOUT_PROGRESS_JSON)
    show_json (self, report, code);
}
