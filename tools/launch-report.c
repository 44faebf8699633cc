/* SPDX-License-Identifier: MIT */

#include <sys/ioctl.h>
#include <unistd.h>

#include "launch.h"

#define BAR_CELLS 20

char *
launch_format_bytes (double bytes)
{
  static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
  guint unit = 0;

  for (; bytes >= 999.95 && unit + 1 < G_N_ELEMENTS (units); unit++)
    bytes /= 1000;
  return g_strdup_printf (unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

char *
launch_format_count (double count)
{
  static const char *const units[] = { "", " k", " M", " G", " T" };
  guint unit = 0;

  if (count < 1e5)
    return g_strdup_printf ("%.0f", count);
  for (; count >= 999.95 && unit + 1 < G_N_ELEMENTS (units); unit++)
    count /= 1000;
  return g_strdup_printf ("%.1f%s", count, units[unit]);
}

char *
launch_format_number (guint64 n, const char *noun)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT " %s%s", n, noun, n == 1 ? "" : "s");
}

static void
append_number (GString *text, guint64 n, const char *noun)
{
  g_autofree char *number = launch_format_number (n, noun);

  if (text->len > 0)
    g_string_append (text, ", ");
  g_string_append (text, number);
}

char *
launch_format_seconds (double seconds)
{
  guint64 whole = (guint64) (seconds + 0.5);

  if (seconds < 100)
    return g_strdup_printf ("%.1f s", seconds);
  if (whole < 3600)
    return g_strdup_printf ("%" G_GUINT64_FORMAT ":%02" G_GUINT64_FORMAT " min", whole / 60,
                            whole % 60);
  return g_strdup_printf ("%" G_GUINT64_FORMAT ":%02" G_GUINT64_FORMAT " h", whole / 3600,
                          whole % 3600 / 60);
}

char *
launch_format_bar (double fraction, const char *text)
{
  struct winsize size = { 0 };
  GString *line = g_string_new (NULL);

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
  return g_string_free (line, FALSE);
}

char *
launch_format_totals (GVariant *report)
{
  guint64 records = launch_get_number (report, "records");
  guint64 tokens = launch_get_number (report, "tokens");
  double seconds = launch_get_double (report, "elapsed", 0);
  LaunchFaults faults;
  GString *text = g_string_new (NULL);

  launch_faults_collect (&faults, report);
  append_number (text, records, "record");
  if (tokens > 0)
    append_number (text, tokens, "token");
  append_number (text, faults.bad, "bad record");
  if (faults.dropped > 0)
    append_number (text, faults.dropped, "dropped record");
  if (faults.skipped > 0)
    g_string_append_printf (text, ", %" G_GUINT64_FORMAT " skipped batch%s", faults.skipped,
                            faults.skipped == 1 ? "" : "es");
  if (faults.damaged > 0)
    append_number (text, faults.damaged, "damaged file");
  g_string_append_printf (text, ", %.1f s", seconds);
  if (seconds > 0)
    g_string_append_printf (text, ", %.1f MB/s",
                            (double) launch_get_number (report, "bytes") / 1e6 / seconds);
  launch_faults_clear (&faults);
  return g_string_free (text, FALSE);
}
