/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <dlpipe/dlp-json.h>

#include "launch.h"

#define BAR_INTERVAL (G_USEC_PER_SEC / 4)
#define PLAIN_INTERVAL (30 * G_USEC_PER_SEC)
#define JSON_INTERVAL G_USEC_PER_SEC
#define BAR_CELLS 20
/* The slowest element is that of the last seconds, and so is the rate. */
#define WINDOW (5 * G_USEC_PER_SEC)
#define STALL_CHECK G_USEC_PER_SEC
#define STALL_SECONDS 60

struct _LaunchProgress
{
  DlpPipeline *pipeline;
  LaunchProgressKind kind;
  gint64 interval;
  gint64 due;

  /* The beginning of the window that rates are of. */
  GVariant *base;
  gint64 base_time;
  guint64 base_bytes;
  double rate; /* bytes/s; < 0: not known yet */
  char *slowest;

  gint64 stall_due;
  gint64 moved_at;
  guint64 moved_sum;
  guint stalls; /* said since the last movement */
};

static LaunchProgressKind
choose_kind (const LaunchOptions *options)
{
  if (options->quiet)
    return LAUNCH_PROGRESS_NONE;
  if (options->progress != LAUNCH_PROGRESS_AUTO)
    return options->progress;
  return isatty (STDERR_FILENO) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0 ?
             LAUNCH_PROGRESS_BAR :
             LAUNCH_PROGRESS_PLAIN;
}

static gint64
get_interval (LaunchProgressKind kind)
{
  switch (kind)
    {
    case LAUNCH_PROGRESS_BAR:
      return BAR_INTERVAL;
    case LAUNCH_PROGRESS_JSON:
      return JSON_INTERVAL;
    case LAUNCH_PROGRESS_AUTO:
    case LAUNCH_PROGRESS_PLAIN:
      return PLAIN_INTERVAL;
    case LAUNCH_PROGRESS_NONE:
      break;
    }
  return G_MAXINT64;
}

static guint64
get_bytes (GVariant *report)
{
  guint64 bytes = 0;

  g_variant_lookup (report, "bytes", "t", &bytes);
  return bytes;
}

static void
begin_window (LaunchProgress *self, GVariant *report, gint64 now)
{
  g_clear_pointer (&self->base, g_variant_unref);
  self->base = g_variant_ref (report);
  self->base_time = now;
  self->base_bytes = get_bytes (report);
}

LaunchProgress *
launch_progress_new (DlpPipeline *pipeline, const LaunchOptions *options)
{
  LaunchProgress *self = g_new0 (LaunchProgress, 1);
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  gint64 now = g_get_monotonic_time ();

  self->pipeline = pipeline;
  self->kind = choose_kind (options);
  self->interval = get_interval (self->kind);
  self->due = self->kind == LAUNCH_PROGRESS_NONE ? G_MAXINT64 : now + self->interval;
  self->rate = -1;
  self->moved_at = now;
  begin_window (self, report, now);
  return self;
}

void
launch_progress_free (LaunchProgress *self)
{
  launch_show_bar (NULL);
  g_clear_pointer (&self->base, g_variant_unref);
  g_free (self->slowest);
  g_free (self);
}

static void
measure (LaunchProgress *self, GVariant *report, gint64 now)
{
  g_autoptr (GArray) elements = launch_get_elements (report);
  g_autoptr (GArray) before = launch_get_elements (self->base);
  g_autoptr (GArray) since = launch_subtract_elements (elements, before);
  const LaunchElement *slowest = launch_find_bottleneck (since);
  guint64 bytes = get_bytes (report);
  double seconds = (double) (now - self->base_time) / G_USEC_PER_SEC;

  if (seconds > 0)
    self->rate = (double) (bytes - MIN (self->base_bytes, bytes)) / seconds;
  g_free (self->slowest);
  self->slowest = slowest != NULL ? g_strdup (slowest->name) : NULL;
  if (now - self->base_time >= WINDOW)
    begin_window (self, report, now);
}

/* ---- the forms ---- */

static char *
describe (LaunchProgress *self, GVariant *report)
{
  GString *text = g_string_new (NULL);
  guint64 records = 0, tokens = 0;
  guint files = 0, of_files = 0;
  double eta = -1, fraction = -1;
  g_autofree char *rate = launch_format_bytes (MAX (self->rate, 0));
  g_autofree char *record_text = NULL;

  g_variant_lookup (report, "records", "t", &records);
  g_variant_lookup (report, "tokens", "t", &tokens);
  g_variant_lookup (report, "files-done", "u", &files);
  g_variant_lookup (report, "files-total", "u", &of_files);
  g_variant_lookup (report, "eta", "d", &eta);
  g_variant_lookup (report, "fraction", "d", &fraction);

  record_text = launch_format_count ((double) records);
  g_string_append_printf (text, "%s/s, %s records", rate, record_text);
  if (tokens > 0)
    {
      g_autofree char *token_text = launch_format_count ((double) tokens);

      g_string_append_printf (text, ", %s tokens", token_text);
    }
  if (of_files > 0)
    g_string_append_printf (text, ", %u/%u files", files, of_files);
  if (eta >= 0 && fraction < 1)
    {
      g_autofree char *left = launch_format_seconds (eta);

      g_string_append_printf (text, ", %s left", left);
    }
  if (self->slowest != NULL)
    g_string_append_printf (text, ", slowest %s", self->slowest);
  return g_string_free (text, FALSE);
}

static void
show_bar (GVariant *report, const char *text)
{
  struct winsize size = { 0 };
  double fraction = -1;
  GString *line = g_string_new (NULL);

  g_variant_lookup (report, "fraction", "d", &fraction);
  if (fraction >= 0)
    {
      guint full = (guint) (fraction * BAR_CELLS);

      g_string_append_printf (line, "%3.0f %% [", fraction * 100);
      for (guint i = 0; i < BAR_CELLS; i++)
        g_string_append_c (line, i < full ? '=' : i == full ? '>' : ' ');
      g_string_append (line, "] ");
    }
  g_string_append (line, text);
  if (ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    g_string_truncate (line, MIN (line->len, (gsize) size.ws_col - 1));
  launch_show_bar (line->str);
  g_string_free (line, TRUE);
}

static void
show_json (LaunchProgress *self, GVariant *report)
{
  static const char *const keys[] = { "fraction", "files-done", "files-total", "records",
                                      "tokens",   "bytes",      "elapsed",     "eta" };
  GVariantDict dict;
  g_autoptr (GVariant) object = NULL;
  g_autofree char *text = NULL;
  g_autofree char *line = NULL;

  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (report, keys[i], NULL);

      g_variant_dict_insert_value (&dict, keys[i], value);
    }
  g_variant_dict_insert (&dict, "bytes-per-second", "d", MAX (self->rate, 0));
  if (self->slowest != NULL)
    g_variant_dict_insert (&dict, "slowest", "s", self->slowest);
  object = g_variant_ref_sink (g_variant_dict_end (&dict));
  text = dlp_json_print (object, FALSE);
  line = g_strconcat (g_strchomp (text), "\n", NULL);
  launch_write (line);
}

static void
show (LaunchProgress *self, GVariant *report)
{
  g_autofree char *text = describe (self, report);
  double fraction = -1;

  switch (self->kind)
    {
    case LAUNCH_PROGRESS_BAR:
      show_bar (report, text);
      break;
    case LAUNCH_PROGRESS_JSON:
      show_json (self, report);
      break;
    case LAUNCH_PROGRESS_AUTO:
    case LAUNCH_PROGRESS_PLAIN:
      g_variant_lookup (report, "fraction", "d", &fraction);
      if (fraction >= 0)
        launch_say ("%.0f %%, %s", fraction * 100, text);
      else
        launch_say ("%s", text);
      break;
    case LAUNCH_PROGRESS_NONE:
      break;
    }
}

/* ---- stalls ---- */

/* Anything that moves changes this. */
static guint64
sum_movement (GArray *elements, GVariant *report)
{
  guint64 sum = get_bytes (report);

  for (guint i = 0; i < elements->len; i++)
    {
      const LaunchElement *element = &g_array_index (elements, LaunchElement, i);

      sum += element->records_in + element->records_out + element->replay + element->ended;
    }
  return sum;
}

static void
say_stall (GArray *elements, guint seconds)
{
  GString *text = g_string_new (NULL);
  bool any = false;

  /* Those in the middle of something hold up the others; if there is none, all wait. */
  for (guint pass = 0; pass < 2 && !any; pass++)
    for (guint i = 0; i < elements->len; i++)
      {
        const LaunchElement *element = &g_array_index (elements, LaunchElement, i);
        bool on_link =
            g_str_equal (element->waits_for, "input") || g_str_equal (element->waits_for, "output");

        if (element->ended || (pass == 0 && on_link))
          continue;
        any = true;
        g_string_append_printf (
            text, "%s%s %s%s", text->len > 0 ? "; " : "", element->name,
            element->waits_for[0] == '\0'              ? "is inside a step" :
            g_str_equal (element->waits_for, "work")   ? "waits for its work" :
            g_str_equal (element->waits_for, "output") ? "waits for room on its output pad" :
                                                         "waits for records on its input pad",
            element->queued_batches > 0 ? " with records queued before it" : "");
      }
  launch_warn ("nothing has moved for %u s: %s", seconds, text->str);
  g_string_free (text, TRUE);
}

static bool
has_declared_wait (GArray *elements)
{
  for (guint i = 0; i < elements->len; i++)
    if (g_array_index (elements, LaunchElement, i).status != NULL)
      return true;
  return false;
}

static void
watch_stall (LaunchProgress *self, GVariant *report, gint64 now)
{
  g_autoptr (GArray) elements = launch_get_elements (report);
  guint64 sum = sum_movement (elements, report);
  guint seconds;

  if (sum != self->moved_sum || has_declared_wait (elements) ||
      dlp_pipeline_get_status (self->pipeline) != DLP_PIPELINE_RUNNING)
    {
      self->moved_sum = sum;
      self->moved_at = now;
      self->stalls = 0;
      return;
    }
  seconds = (guint) ((now - self->moved_at) / G_USEC_PER_SEC);
  if (seconds < STALL_SECONDS * (self->stalls + 1))
    return;
  self->stalls++;
  say_stall (elements, seconds);
}

void
launch_progress_tick (LaunchProgress *self)
{
  gint64 now = g_get_monotonic_time ();
  g_autoptr (GVariant) report = NULL;

  if (now < self->due && now < self->stall_due)
    return;
  report = dlp_pipeline_get_report (self->pipeline);
  if (now >= self->stall_due)
    {
      self->stall_due = now + STALL_CHECK;
      watch_stall (self, report, now);
    }
  if (now >= self->due)
    {
      self->due = now + self->interval;
      measure (self, report, now);
      show (self, report);
    }
}
