/* SPDX-License-Identifier: MIT */

/* Which element the others wait for, and the table of all of them. */

#include <string.h>

#include "launch.h"

/* From here on something counts as used up: what is left goes away in changes from one to another.
 */
#define USED_UP 0.8

typedef struct
{
  double seconds;
  double work; /* of the pool */
  double cpu;  /* of everything */
  guint workers, cpus;
} Usage;

/* Time in which its own thread had something to do. What it waits for links and for the pool is
 * others' time. */
static double
get_thread_time (const LaunchElement *element)
{
  return MAX (element->busy, element->cpu);
}

/* The same of the threads that read and decode for it, for each stream that it reads in turn. Those
 * look ahead: what its consumers do not take does not hold it up. */
static double
get_reading_time (const LaunchElement *element, double seconds)
{
  if (element->io_lanes == 0)
    return 0;
  return MIN (element->io_busy / element->io_lanes, MAX (seconds - element->wait_out, 0));
}

static double
get_own_time (const LaunchElement *element, double seconds)
{
  return MAX (get_thread_time (element), get_reading_time (element, seconds));
}

static double
get_all_cpu (const LaunchElement *element)
{
  return MAX (element->cpu, 0) + element->work + element->io_cpu;
}

static Usage
get_usage (GArray *elements, const LaunchMachine *machine)
{
  Usage usage = { .seconds = MAX (machine->seconds, 1e-6),
                  .workers = MAX (machine->workers, 1),
                  .cpus = MAX (machine->cpus, 1) };

  for (guint i = 0; i < elements->len; i++)
    {
      usage.work += g_array_index (elements, LaunchElement, i).work;
      usage.cpu += get_all_cpu (&g_array_index (elements, LaunchElement, i));
    }
  return usage;
}

typedef enum
{
  HELD_BY_CPUS,   /* all of them are busy */
  HELD_BY_POOL,   /* what it gives to the pool */
  HELD_BY_INPUT,  /* reading and decoding */
  HELD_BY_THREAD, /* its own thread, which computes or writes */
} Hold;

static const LaunchElement *
find_most (GArray *elements, double (*get) (const LaunchElement *, double), double seconds)
{
  const LaunchElement *found = NULL;
  double most = 0;

  for (guint i = 0; i < elements->len; i++)
    {
      const LaunchElement *element = &g_array_index (elements, LaunchElement, i);

      if (get (element, seconds) <= most)
        continue;
      most = get (element, seconds);
      found = element;
    }
  return found;
}

static double
get_cpu_of (const LaunchElement *element, double seconds)
{
  return get_all_cpu (element);
}

static double
get_work_of (const LaunchElement *element, double seconds)
{
  return element->work;
}

/* What is used up most: the CPUs, the pool, or a thread of an element's own. */
static const LaunchElement *
find_hold (GArray *elements, const LaunchMachine *machine, Hold *hold)
{
  Usage usage = get_usage (elements, machine);
  const LaunchElement *own = find_most (elements, get_own_time, usage.seconds);
  double own_time = own != NULL ? get_own_time (own, usage.seconds) : 0;

  if (usage.cpus > 1 && usage.cpu >= USED_UP * usage.cpus * usage.seconds)
    {
      *hold = HELD_BY_CPUS;
      return find_most (elements, get_cpu_of, usage.seconds);
    }
  if (usage.work / usage.workers > own_time)
    {
      *hold = HELD_BY_POOL;
      return find_most (elements, get_work_of, usage.seconds);
    }
  *hold = own != NULL && get_reading_time (own, usage.seconds) > get_thread_time (own) ?
              HELD_BY_INPUT :
              HELD_BY_THREAD;
  return own;
}

const LaunchElement *
launch_find_bottleneck (GArray *elements, const LaunchMachine *machine)
{
  Hold hold;

  return find_hold (elements, machine, &hold);
}

/* ---- what helps ---- */

static char *
advise_pool (const Usage *usage)
{
  g_autofree char *busy = NULL;

  if (usage->work < USED_UP * usage->workers * usage->seconds)
    return g_strdup_printf (
        "its work got %.1f of %u CPUs: is the machine busy with something else?",
        usage->work / usage->seconds, usage->workers);
  busy = usage->workers == 1 ? g_strdup ("the one worker is busy") :
                               g_strdup_printf ("all %u workers are busy", usage->workers);
  if (usage->workers < usage->cpus)
    return g_strdup_printf ("%s: --workers=%u makes it faster", busy, usage->cpus);
  return g_strdup_printf ("%s: more CPUs make it faster", busy);
}

/* Streams that more places would read, as far as there are files and, to decode them, CPUs. */
static char *
advise_input (const LaunchElement *element, const LaunchMachine *machine, const Usage *usage)
{
  bool decodes = element->io_busy >= 2 * element->io_wait;
  guint most = decodes ? usage->cpus : MAX (usage->cpus, 4);
  guint more = MIN (most, machine->files);

  if (more > element->io_lanes)
    return g_strdup_printf ("%s: interleave=%u reads %u files in turn, in another order%s",
                            decodes ? "one CPU reads and decodes it all" : "it waits for its files",
                            more, more, decodes ? "" : "; or faster storage");
  if (!decodes)
    return g_strdup ("it waits for its files: faster storage");
  if (machine->files <= element->io_lanes && element->io_lanes < usage->cpus)
    return g_strdup (
        "one CPU reads and decodes it all: more and smaller files, with interleave=, use more");
  return g_strdup ("its files are decoded on all CPUs: more CPUs make it faster");
}

static char *
advise_thread (const LaunchElement *element)
{
  if (element->records_out == 0 && element->records_in > 0 && element->cpu < 0.5 * element->busy)
    return g_strdup ("it waits for its output: a faster disk");
  return g_strdup ("it fills one CPU: split the input with shard=I/N on the source");
}

static char *
advise (const LaunchElement *element, GArray *elements, const LaunchMachine *machine, Hold hold)
{
  Usage usage = get_usage (elements, machine);

  if (machine->sequential)
    return g_strdup ("one thread does everything: leave out --sequential");
  switch (hold)
    {
    case HELD_BY_CPUS:
      return g_strdup_printf ("all %u CPUs are busy: more CPUs make it faster", usage.cpus);
    case HELD_BY_POOL:
      return advise_pool (&usage);
    case HELD_BY_INPUT:
      return advise_input (element, machine, &usage);
    case HELD_BY_THREAD:
      break;
    }
  return advise_thread (element);
}

/* ---- the table ---- */

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
                          percent (get_own_time (element, seconds), seconds),
                          percent (get_all_cpu (element), seconds),
                          percent (element->wait_in, seconds), percent (element->wait_out, seconds),
                          percent (element->io_wait, seconds), element->queued_batches, queue);
}

static void
append_slowest (GString *table, GArray *elements, const LaunchMachine *machine)
{
  Hold hold;
  const LaunchElement *slowest = find_hold (elements, machine, &hold);
  g_autofree char *remedy = NULL;

  if (slowest == NULL)
    {
      g_string_append (table, "slowest: nothing ran\n");
      return;
    }
  remedy = advise (slowest, elements, machine, hold);
  if (hold == HELD_BY_CPUS || hold == HELD_BY_POOL)
    g_string_append_printf (table, "slowest: %s, %.1f CPUs of work; %s\n", slowest->name,
                            (get_all_cpu (slowest)) / machine->seconds, remedy);
  else
    g_string_append_printf (table, "slowest: %s, busy %.0f %% of the time; %s\n", slowest->name,
                            percent (get_own_time (slowest, machine->seconds), machine->seconds),
                            remedy);
}

/* Of one epoch, since only those are read in turn: as far as sources say it. */
static guint
count_files (GVariant *report)
{
  guint64 total = launch_get_number (report, "files-total");
  guint64 listed = launch_count_listed_files (report);

  return (guint) MIN (listed > 0 ? MIN (listed, total) : total, G_MAXUINT);
}

LaunchMachine
launch_get_machine (GVariant *report, double seconds)
{
  LaunchMachine machine = { .seconds = seconds,
                            .workers = (guint) launch_get_number (report, "workers"),
                            .cpus = (guint) launch_get_number (report, "cpus"),
                            .files = count_files (report) };

  machine.workers = MAX (machine.workers, 1);
  machine.cpus = machine.cpus > 0 ? machine.cpus : machine.workers;
  return machine;
}

char *
launch_format_stats (GVariant *report, bool sequential)
{
  g_autoptr (GArray) elements = launch_get_elements (report);
  LaunchMachine machine = launch_get_machine (report, launch_get_seconds (report));
  GString *table = g_string_new (NULL);
  int width = (int) strlen ("element");
  guint attempt = 1;

  machine.sequential = sequential;
  g_variant_lookup (report, "attempt", "u", &attempt);
  for (guint i = 0; i < elements->len; i++)
    width = MAX (width, (int) strlen (g_array_index (elements, LaunchElement, i).name));

  g_string_append_printf (table, "%-*s %12s %12s %9s %8s %7s %6s %6s %8s %8s %8s %s\n", width,
                          "element", "records in", "records out", "bytes", "MB/s", "workers",
                          "busy %", "cpu %", "wait in", "wait out", "io wait", "queue");
  for (guint i = 0; i < elements->len; i++)
    append_row (table, &g_array_index (elements, LaunchElement, i), width, machine.workers,
                machine.seconds);
  if (attempt > 1)
    g_string_append_printf (
        table, "records are those of all %u attempts, all else is of this one\n", attempt);
  append_slowest (table, elements, &machine);
  return g_string_free (table, FALSE);
}
