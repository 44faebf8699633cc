/* SPDX-License-Identifier: MIT */

#include "launch.h"

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

static void
add_tallies (GHashTable *sums, GVariant *state, const char *key, guint64 *total)
{
  g_autoptr (GVariant) tallies = g_variant_lookup_value (state, key, G_VARIANT_TYPE ("a{st}"));
  GVariantIter iter;
  const char *name;
  guint64 n;

  if (tallies == NULL)
    return;
  g_variant_iter_init (&iter, tallies);
  while (g_variant_iter_next (&iter, "{&st}", &name, &n))
    {
      guint64 *sum = g_hash_table_lookup (sums, name);

      if (sum == NULL)
        {
          sum = g_new0 (guint64, 1);
          g_hash_table_insert (sums, g_strdup (name), sum);
        }
      *sum += n;
      if (total != NULL)
        *total += n;
    }
}

void
launch_faults_collect (LaunchFaults *self, GVariant *report)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));

  *self = (LaunchFaults){ 0 };
  self->kinds = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state =
          g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
      guint64 damaged = 0;

      if (state == NULL)
        continue;
      add_tallies (self->kinds, state, "bad", &self->bad);
      add_tallies (self->files, state, "bad-files", NULL);
      g_variant_lookup (state, "damaged", "t", &damaged);
      self->damaged += damaged;
    }
}

void
launch_faults_clear (LaunchFaults *self)
{
  g_clear_pointer (&self->kinds, g_hash_table_unref);
  g_clear_pointer (&self->files, g_hash_table_unref);
}

/* ---- elements ---- */

static void
read_element (LaunchElement *self, GVariant *entry)
{
  g_variant_lookup (entry, "name", "&s", &self->name);
  g_variant_lookup (entry, "factory", "&s", &self->factory);
  g_variant_lookup (entry, "waits-for", "&s", &self->waits_for);
  g_variant_lookup (entry, "status", "&s", &self->status);
  g_variant_lookup (entry, "ended", "b", &self->ended);
  g_variant_lookup (entry, "stateless", "b", &self->stateless);
  g_variant_lookup (entry, "records-in", "t", &self->records_in);
  g_variant_lookup (entry, "records-out", "t", &self->records_out);
  g_variant_lookup (entry, "bytes-in", "t", &self->bytes_in);
  g_variant_lookup (entry, "bytes", "t", &self->bytes_out);
  g_variant_lookup (entry, "replay", "t", &self->replay);
  g_variant_lookup (entry, "queued-bytes", "t", &self->queued_bytes);
  g_variant_lookup (entry, "queued-batches", "u", &self->queued_batches);
  g_variant_lookup (entry, "busy", "d", &self->busy);
  g_variant_lookup (entry, "cpu", "d", &self->cpu);
  g_variant_lookup (entry, "work", "d", &self->work);
  g_variant_lookup (entry, "wait-in", "d", &self->wait_in);
  g_variant_lookup (entry, "wait-out", "d", &self->wait_out);
  g_variant_lookup (entry, "wait-work", "d", &self->wait_work);
  g_variant_lookup (entry, "io-wait", "d", &self->io_wait);
}

GArray *
launch_get_elements (GVariant *report)
{
  GArray *elements = g_array_new (FALSE, TRUE, sizeof (LaunchElement));
  g_autoptr (GVariant) entries = NULL;

  /* In its serialised form its strings stay where they are. */
  g_variant_get_data (report);
  entries = g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (entries); i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (entries, i);
      LaunchElement element = { .name = "", .factory = "", .waits_for = "" };

      read_element (&element, entry);
      g_array_append_val (elements, element);
    }
  return elements;
}

GArray *
launch_subtract_elements (GArray *now, GArray *before)
{
  GArray *since = g_array_copy (now);

  for (guint i = 0; i < since->len && i < before->len; i++)
    {
      LaunchElement *element = &g_array_index (since, LaunchElement, i);
      const LaunchElement *old = &g_array_index (before, LaunchElement, i);

      element->records_in -= old->records_in;
      element->records_out -= old->records_out;
      element->busy -= old->busy;
      element->cpu -= old->cpu;
      element->work -= old->work;
      element->wait_in -= old->wait_in;
      element->wait_out -= old->wait_out;
      element->wait_work -= old->wait_work;
      element->io_wait -= old->io_wait;
    }
  return since;
}

double
launch_get_seconds (GVariant *report)
{
  double seconds = 0;

  g_variant_lookup (report, "attempt-elapsed", "d", &seconds);
  return MAX (seconds, 1e-6);
}

char *
launch_format_totals (GVariant *report)
{
  guint64 records = 0, tokens = 0, bytes = 0;
  double seconds = 0;
  LaunchFaults faults;
  GString *text = g_string_new (NULL);

  g_variant_lookup (report, "records", "t", &records);
  g_variant_lookup (report, "tokens", "t", &tokens);
  g_variant_lookup (report, "bytes", "t", &bytes);
  g_variant_lookup (report, "elapsed", "d", &seconds);
  launch_faults_collect (&faults, report);
  append_number (text, records, "record");
  if (tokens > 0)
    append_number (text, tokens, "token");
  append_number (text, faults.bad, "bad record");
  if (faults.damaged > 0)
    append_number (text, faults.damaged, "damaged file");
  g_string_append_printf (text, ", %.1f s", seconds);
  if (seconds > 0)
    g_string_append_printf (text, ", %.1f MB/s", (double) bytes / 1e6 / seconds);
  launch_faults_clear (&faults);
  return g_string_free (text, FALSE);
}
