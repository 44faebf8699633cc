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
