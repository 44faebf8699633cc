/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-json.h>

#include "launch.h"

#define BAR_INTERVAL (G_USEC_PER_SEC / 4)
#define PLAIN_INTERVAL (30 * G_USEC_PER_SEC)
#define JSON_INTERVAL G_USEC_PER_SEC
/* The slowest element is that of the last seconds, and so is the rate. */
#define WINDOW (5 * G_USEC_PER_SEC)

struct _LaunchProgress
{
  DlpPipeline *pipeline;
  LaunchProgressKind kind;
  gint64 interval;
  gint64 due;

  /* The beginning of the window that rates are of. */
  GVariant *base;
  gint64 base_time;
  double rate; /* bytes/s; < 0: not known yet */
  /* At the start, before which an attempt that goes on has read nothing itself. */
  GVariant *start;
  char *slowest;
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

static void
begin_window (LaunchProgress *self, GVariant *report, gint64 now)
{
  g_clear_pointer (&self->base, g_variant_unref);
  self->base = g_variant_ref (report);
  self->base_time = now;
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
  self->due = self->kind == LAUNCH_PROGRESS_NONE ? G_MAXINT64 :
              self->kind == LAUNCH_PROGRESS_JSON ? now :
                                                   now + self->interval;
  self->rate = -1;
  self->start = g_variant_ref (report);
  begin_window (self, report, now);
  return self;
}

void
launch_progress_free (LaunchProgress *self)
{
  launch_show_bar (NULL);
  g_clear_pointer (&self->base, g_variant_unref);
  g_clear_pointer (&self->start, g_variant_unref);
  g_free (self->slowest);
  g_free (self);
}

/* What an element has read since the window began. With its first records an attempt that goes on
 * takes up, in one leap, where the one before was: that was not read now. Negative: not known yet.
 */
static double
count_read (const LaunchElement *now, const LaunchElement *base, const LaunchElement *start)
{
  bool goes_on = start->records_out > 0;

  if (goes_on && base->records_out == start->records_out)
    return now->records_out == start->records_out ? 0 : -1;
  return (double) now->input_bytes - (double) MIN (base->input_bytes, now->input_bytes);
}

/* False: nothing is known yet, the window begins now. */
static bool
sum_read (LaunchProgress *self, GArray *now, GArray *base, double *sum)
{
  g_autoptr (GArray) start = launch_get_elements (self->start);
  bool goes_on = false, any = false;

  *sum = 0;
  for (guint i = 0; i < now->len && i < base->len && i < start->len; i++)
    {
      const LaunchElement *first = &g_array_index (start, LaunchElement, i);
      const LaunchElement *last = &g_array_index (now, LaunchElement, i);
      double n = count_read (last, &g_array_index (base, LaunchElement, i), first);

      if (n < 0)
        return false;
      goes_on |= first->records_out > 0;
      any |= last->records_out > first->records_out;
      *sum += n;
    }
  return any || !goes_on;
}

static void
measure (LaunchProgress *self, GVariant *report, gint64 now)
{
  double seconds = (double) (now - self->base_time) / G_USEC_PER_SEC;
  LaunchMachine machine = launch_get_machine (report, seconds);
  g_autoptr (GArray) elements = launch_get_elements (report);
  g_autoptr (GArray) before = launch_get_elements (self->base);
  g_autoptr (GArray) since = launch_subtract_elements (elements, before);
  const LaunchElement *slowest;
  double sum;

  if (!sum_read (self, elements, before, &sum))
    {
      begin_window (self, report, now);
      return;
    }
  if (seconds <= 0)
    return;
  self->rate = sum / seconds;
  slowest = launch_find_bottleneck (since, &machine);
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
  g_autofree char *rate = self->rate >= 0 ? launch_format_bytes (self->rate) : g_strdup ("?");
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
  double fraction = -1;
  g_autofree char *line = NULL;

  g_variant_lookup (report, "fraction", "d", &fraction);
  line = launch_format_bar (fraction, text);
  launch_show_bar (line);
}

static void
add_known (GVariantDict *dict, const char *key, double value)
{
  if (value >= 0)
    g_variant_dict_insert (dict, key, "d", value);
  else
    g_variant_dict_insert_value (dict, key, g_variant_new_maybe (G_VARIANT_TYPE_VARIANT, NULL));
}

/* The same keys in each, null where it is not known. */
static GVariantDict *
make_json (LaunchProgress *self, GVariant *report)
{
  static const char *const keys[] = { "status", "files-done", "files-total", "records",
                                      "tokens", "bytes",      "elapsed" };
  static const char *const unknown[] = { "fraction", "eta" };
  GVariantDict *dict = g_variant_dict_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (report, keys[i], NULL);

      if (value != NULL)
        g_variant_dict_insert_value (dict, keys[i], value);
    }
  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
    add_known (dict, unknown[i], launch_get_double (report, unknown[i], -1));
  add_known (dict, "bytes-per-second", self->rate);
  if (self->slowest != NULL)
    g_variant_dict_insert (dict, "slowest", "s", self->slowest);
  return dict;
}

static void
write_json (GVariantDict *dict)
{
  g_autoptr (GVariant) object = g_variant_ref_sink (g_variant_dict_end (dict));
  g_autofree char *text = dlp_json_print (object, FALSE);
  g_autofree char *line = g_strconcat (g_strchomp (text), "\n", NULL);

  launch_write (line);
  g_variant_dict_unref (dict);
}

static void
show_json (LaunchProgress *self, GVariant *report)
{
  write_json (make_json (self, report));
}

/* Its rate is that of the whole run. */
void
launch_progress_end (LaunchProgress *self, GVariant *summary)
{
  static const char *const keys[] = { "exit-code", "exit-reason", "bad-records", "damaged-files",
                                      "error" };
  double seconds = launch_get_double (summary, "elapsed", 0);
  GVariantDict *dict;

  if (self->kind != LAUNCH_PROGRESS_JSON)
    return;
  self->rate = seconds > 0 ? launch_get_double (summary, "bytes", 0) / seconds : -1;
  dict = make_json (self, summary);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (GVariant) value = g_variant_lookup_value (summary, keys[i], NULL);

      if (value != NULL)
        g_variant_dict_insert_value (dict, keys[i], value);
    }
  write_json (dict);
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

void
launch_progress_tick (LaunchProgress *self)
{
  gint64 now = g_get_monotonic_time ();
  g_autoptr (GVariant) report = NULL;

  if (now < self->due)
    return;
  report = dlp_pipeline_get_report (self->pipeline);
  self->due = now + self->interval;
  measure (self, report, now);
  show (self, report);
}
