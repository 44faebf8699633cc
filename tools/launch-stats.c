/* SPDX-License-Identifier: MIT */

/* Which element the others wait for, and the table of all of them. */

#include <string.h>

#include "launch.h"

/* Time in which an element had something to do: its steps, and its work on the pool. What it waits
 * for links is the other elements' time. */
static double
get_activity (const LaunchElement *element)
{
  return element->busy + element->wait_work;
}

const LaunchElement *
launch_find_bottleneck (GArray *elements)
{
  const LaunchElement *found = NULL;
  double most = 0;

  for (guint i = 0; i < elements->len; i++)
    most = MAX (most, get_activity (&g_array_index (elements, LaunchElement, i)));
  /* Of those that are about as active, elements that share the pool wait for whoever works most. */
  for (guint i = 0; i < elements->len; i++)
    {
      const LaunchElement *element = &g_array_index (elements, LaunchElement, i);

      if (get_activity (element) <= 0 || get_activity (element) < 0.8 * most)
        continue;
      if (found == NULL || element->cpu + element->work > found->cpu + found->work)
        found = element;
    }
  return found;
}

static double
sum_work (GArray *elements)
{
  double sum = 0;

  for (guint i = 0; i < elements->len; i++)
    sum += g_array_index (elements, LaunchElement, i).work;
  return sum;
}

static char *
get_remedy (const LaunchElement *element,
            GArray *elements,
            guint workers,
            double seconds,
            const LaunchOptions *options)
{
  if (options->sequential)
    return g_strdup ("one thread does everything: leave out --sequential");
  if (element->work > element->cpu && sum_work (elements) > 0.8 * workers * seconds)
    return g_strdup_printf ("all %u workers are busy: more CPUs, or --workers, make it faster",
                            workers);
  if (element->work > element->cpu)
    return g_strdup_printf (
        "its work got %.1f of %u CPUs: is the machine busy with something else?",
        sum_work (elements) / seconds, workers);
  if (element->io_wait > 0.25 * seconds)
    return g_strdup ("it waits for its files: faster storage, or interleave=4 on the reader");
  if (element->records_out == 0 && element->records_in > 0)
    return g_strdup (element->cpu < 0.5 * element->busy ?
                         "it waits for its output: a faster disk" :
                         "it fills one CPU: split the input with shard=I/N on the source");
  if (g_str_has_suffix (element->factory, "-reader"))
    return g_strdup ("it reads one file at a time: interleave=4 reads several");
  return g_strdup ("it fills one thread: split the input with shard=I/N on the source");
}

static double
percent (double part, double whole)
{
  return 100.0 * part / whole;
}

static void
append_row (GString *table, const LaunchElement *element, int width, guint workers, double seconds)
{
  guint64 size = element->bytes_out > 0 ? element->bytes_out : element->bytes_in;
  g_autofree char *bytes = launch_format_bytes ((double) size);
  g_autofree char *queue = launch_format_bytes ((double) element->queued_bytes);

  g_string_append_printf (table,
                          "%-*s %12" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT
                          " %9s %8.1f %7u %6.1f %6.1f %8.1f %8.1f %8.1f %3u, %s\n",
                          width, element->name, element->records_in, element->records_out, bytes,
                          (double) size / 1e6 / seconds, element->work > 0 ? workers : 1,
                          percent (get_activity (element), seconds),
                          percent (element->cpu + element->work, seconds),
                          percent (element->wait_in, seconds), percent (element->wait_out, seconds),
                          percent (element->io_wait, seconds), element->queued_batches, queue);
}

char *
launch_format_stats (GVariant *report, const LaunchOptions *options)
{
  g_autoptr (GArray) elements = launch_get_elements (report);
  const LaunchElement *slowest = launch_find_bottleneck (elements);
  double seconds = launch_get_seconds (report);
  GString *table = g_string_new (NULL);
  guint workers = 1;
  int width = (int) strlen ("element");

  g_variant_lookup (report, "workers", "u", &workers);
  for (guint i = 0; i < elements->len; i++)
    width = MAX (width, (int) strlen (g_array_index (elements, LaunchElement, i).name));

  g_string_append_printf (table, "%-*s %12s %12s %9s %8s %7s %6s %6s %8s %8s %8s %s\n", width,
                          "element", "records in", "records out", "bytes", "MB/s", "workers",
                          "busy %", "cpu %", "wait in", "wait out", "io wait", "queue");
  for (guint i = 0; i < elements->len; i++)
    append_row (table, &g_array_index (elements, LaunchElement, i), width, workers, seconds);
  if (slowest != NULL)
    {
      g_autofree char *remedy = get_remedy (slowest, elements, workers, seconds, options);

      g_string_append_printf (table, "slowest: %s, busy %.0f %% of the time; %s\n", slowest->name,
                              percent (get_activity (slowest), seconds), remedy);
    }
  else
    g_string_append (table, "slowest: nothing ran\n");
  return g_string_free (table, FALSE);
}
