/* SPDX-License-Identifier: MIT */

/* Which element is named the slowest, and what is said to help, from reports made up. */

#include <string.h>

#include <dlpipe/dlp-json.h>

#include "launch.h"

typedef struct
{
  const char *name, *factory;
  double busy, cpu, work, wait_out, wait_work, io_busy, io_cpu, io_wait;
  guint io_lanes;
  guint64 records_in, records_out;
} Element;

/* Over one second. */
static GVariant *
make_report (const Element *elements, guint n, guint workers, guint cpus, guint files)
{
  GVariantBuilder list;
  GVariantDict dict;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < n; i++)
    {
      const Element *from = &elements[i];

      g_variant_dict_init (&dict, NULL);
      g_variant_dict_insert (&dict, "name", "s", from->name);
      g_variant_dict_insert (&dict, "factory", "s", from->factory);
      g_variant_dict_insert (&dict, "records-in", "t", from->records_in);
      g_variant_dict_insert (&dict, "records-out", "t", from->records_out);
      g_variant_dict_insert (&dict, "busy", "d", from->busy);
      g_variant_dict_insert (&dict, "cpu", "d", from->cpu);
      g_variant_dict_insert (&dict, "work", "d", from->work);
      g_variant_dict_insert (&dict, "wait-out", "d", from->wait_out);
      g_variant_dict_insert (&dict, "wait-work", "d", from->wait_work);
      g_variant_dict_insert (&dict, "io-busy", "d", from->io_busy);
      g_variant_dict_insert (&dict, "io-cpu", "d", from->io_cpu);
      g_variant_dict_insert (&dict, "io-wait", "d", from->io_wait);
      g_variant_dict_insert (&dict, "io-lanes", "u", from->io_lanes);
      g_variant_builder_add_value (&list, g_variant_dict_end (&dict));
    }
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert_value (&dict, "elements", g_variant_builder_end (&list));
  g_variant_dict_insert (&dict, "attempt-elapsed", "d", 1.0);
  g_variant_dict_insert (&dict, "workers", "u", workers);
  g_variant_dict_insert (&dict, "cpus", "u", cpus);
  g_variant_dict_insert (&dict, "files-total", "u", files);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

static void
check (const Element *elements,
       guint n,
       guint workers,
       guint cpus,
       guint files,
       const char *slowest)
{
  g_autoptr (GVariant) report = make_report (elements, n, workers, cpus, files);
  g_autofree char *table = launch_format_stats (report, false);
  const char *line = strstr (table, "slowest: ");

  g_assert_nonnull (line);
  g_assert_cmpstr (line, ==, slowest);
}

/* A reader that waits for the pool, because another element fills it, is not the slowest. */
static void
test_pool (void)
{
  Element elements[] = {
    { "r", "jsonl-reader", .busy = 0.02, .cpu = 0.02, .work = 0.05, .wait_work = 0.96,
      .io_busy = 0.03, .io_cpu = 0.03, .io_lanes = 1, .records_in = 1, .records_out = 9 },
    { "t", "tokenizer", .busy = 0.03, .cpu = 0.03, .work = 1.05, .wait_work = 0.6, .records_in = 9,
      .records_out = 9 },
    { "s", "null-sink", .busy = 0.01, .cpu = 0.01, .records_in = 9 },
  };

  check (elements, 3, 2, 2, 1,
         "slowest: t, 1.1 CPUs of work; its work got 1.1 of 2 CPUs: is the machine busy with "
         "something else?\n");
  elements[1].work = 1.8;
  check (elements, 3, 2, 2, 1,
         "slowest: t, 1.8 CPUs of work; all 2 CPUs are busy: more CPUs make it faster\n");
  elements[1].work = 0.9;
  check (elements, 3, 1, 2, 1,
         "slowest: t, 0.9 CPUs of work; the one worker is busy: --workers=2 makes it faster\n");
  elements[1].work = 1.8;
  check (elements, 3, 2, 8, 1,
         "slowest: t, 1.8 CPUs of work; all 2 workers are busy: --workers=8 makes it faster\n");
  elements[1].work = 0.9;
  check (elements, 3, 1, 1, 1,
         "slowest: t, 0.9 CPUs of work; the one worker is busy: more CPUs make it faster\n");
}

/* The CPU of the threads that decode is their reader's. */
static void
test_decoding (void)
{
  Element elements[] = {
    { "r", "jsonl-reader", .busy = 0.02, .cpu = 0.02, .work = 0.14, .wait_work = 0.96,
      .io_busy = 0.97, .io_cpu = 0.9, .io_wait = 0.03, .io_lanes = 1, .records_in = 4,
      .records_out = 9 },
    { "s", "null-sink", .busy = 0.05, .cpu = 0.05, .records_in = 9 },
  };

  check (elements, 2, 2, 2, 4,
         "slowest: r, busy 97 % of the time; one CPU reads and decodes it all: interleave=2 reads "
         "2 files in turn, in another order\n");
  check (elements, 2, 8, 8, 4,
         "slowest: r, busy 97 % of the time; one CPU reads and decodes it all: interleave=4 reads "
         "4 files in turn, in another order\n");
  check (elements, 2, 2, 2, 1,
         "slowest: r, busy 97 % of the time; one CPU reads and decodes it all: more and smaller "
         "files, with interleave=, use more\n");
  elements[0].io_lanes = 2;
  elements[0].io_busy = 1.9;
  elements[0].io_cpu = 1.1;
  check (elements, 2, 2, 2, 4,
         "slowest: r, busy 95 % of the time; its files are decoded on all CPUs: more CPUs make it "
         "faster\n");
}

static void
test_waiting_for_files (void)
{
  Element elements[] = {
    { "r", "jsonl-reader", .busy = 0.02, .cpu = 0.02, .wait_work = 0.9, .io_busy = 0.95,
      .io_cpu = 0.1, .io_wait = 0.85, .io_lanes = 1, .records_in = 4, .records_out = 9 },
    { "s", "null-sink", .busy = 0.05, .cpu = 0.05, .records_in = 9 },
  };

  check (elements, 2, 2, 2, 9,
         "slowest: r, busy 95 % of the time; it waits for its files: interleave=4 reads 4 files in "
         "turn, in another order; or faster storage\n");
  check (elements, 2, 2, 2, 1,
         "slowest: r, busy 95 % of the time; it waits for its files: faster storage\n");
}

/* What a reader decodes in advance does not make it the slowest. */
static void
test_thread (void)
{
  Element elements[] = {
    { "r", "jsonl-reader", .busy = 0.02, .cpu = 0.02, .wait_out = 0.9, .io_busy = 0.98,
      .io_cpu = 0.2, .io_lanes = 1, .records_in = 4, .records_out = 9 },
    { "s", "megatron-sink", .busy = 0.95, .cpu = 0.05, .records_in = 9 },
  };

  check (elements, 2, 2, 2, 9,
         "slowest: s, busy 95 % of the time; it waits for its output: a faster disk\n");
  elements[1].cpu = 0.95;
  check (elements, 2, 2, 2, 9,
         "slowest: s, busy 95 % of the time; it fills one CPU: split the input with shard=I/N on "
         "the source\n");
}

static void
test_sequential (void)
{
  const Element element = { "r", "jsonl-reader", .busy = 0.9, .cpu = 0.9 };
  g_autoptr (GVariant) report = make_report (&element, 1, 2, 2, 1);
  g_autoptr (GVariant) empty = make_report (NULL, 0, 2, 2, 1);
  g_autofree char *table = launch_format_stats (report, true);
  g_autofree char *nothing = launch_format_stats (empty, false);

  g_assert_nonnull (strstr (table, "slowest: r, busy 90 % of the time; one thread does "
                                   "everything: leave out --sequential\n"));
  g_assert_nonnull (strstr (nothing, "slowest: nothing ran\n"));
}

/* A stored report has the types of JSON. */
/* Of a run that was continued. */
static void
test_attempts (void)
{
  const Element element = { .name = "r", .factory = "jsonl-reader", .busy = 1, .cpu = 1 };
  g_autoptr (GVariant) first = make_report (&element, 1, 2, 2, 1);
  GVariantDict dict;
  g_autoptr (GVariant) second = NULL;
  g_autofree char *of_first = launch_format_stats (first, false);
  g_autofree char *of_second = NULL;

  g_variant_dict_init (&dict, first);
  g_variant_dict_insert (&dict, "attempt", "u", 2);
  second = g_variant_ref_sink (g_variant_dict_end (&dict));
  of_second = launch_format_stats (second, false);
  g_assert_null (strstr (of_first, "attempts"));
  g_assert_nonnull (strstr (of_second, "records are those of all 2 attempts, all else is of"));
}

static void
test_stored (void)
{
  const Element elements[] = {
    { "r", "jsonl-reader", .busy = 0.25, .cpu = 0.5, .work = 1, .records_out = 5 },
    { "s", "null-sink", .busy = 0.125, .records_in = 5 },
  };
  g_autoptr (GVariant) report = make_report (elements, 2, 2, 2, 1);
  g_autofree char *table = launch_format_stats (report, false);
  g_autofree char *text = dlp_json_print (report, TRUE);
  g_autoptr (GVariant) stored = dlp_json_parse (text, strlen (text), NULL);
  g_autofree char *again = launch_format_stats (stored, false);

  g_assert_cmpstr (again, ==, table);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launch-stats/pool", test_pool);
  g_test_add_func ("/launch-stats/decoding", test_decoding);
  g_test_add_func ("/launch-stats/waiting-for-files", test_waiting_for_files);
  g_test_add_func ("/launch-stats/thread", test_thread);
  g_test_add_func ("/launch-stats/sequential", test_sequential);
  g_test_add_func ("/launch-stats/attempts", test_attempts);
  g_test_add_func ("/launch-stats/stored", test_stored);
  return g_test_run ();
}
