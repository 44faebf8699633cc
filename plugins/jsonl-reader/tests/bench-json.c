/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "json-lines.h"
#include "json-record.h"

#ifdef HAVE_SIMDJSON
#include "bench-json.h"
#else
typedef struct
{
  guint64 records;
  guint64 bad;
  guint64 text_bytes;
} BenchResult;
#endif

/*
 * usage: bench-json [FILE.jsonl...]     without one: made-up records
 *
 * CPU time of one thread, in pairs of which each takes turns in going first; the median of the
 * pairs' ratios. Above 1: faster than simdjson.
 */

#define N_PAIRS 11

typedef BenchResult (*BenchFunc) (const char *data, gsize len);

static JsonPlan *plan;
static JsonScratch *scratch;

static BenchResult
bench_own (const char *data, gsize len)
{
  BenchResult result = { 0 };
  const guint8 *end = (const guint8 *) data + len;
  JsonCounts counts = { 0 };

  for (const guint8 *p = (const guint8 *) data; p < end;)
    {
      const guint8 *newline = json_find_newline (p, end - p);
      const guint8 *line_end = newline != NULL ? newline : end;
      JsonError error;
      JsonValue text;

      if (json_parse_record (plan, scratch, p, line_end - p, &text, &counts, &error) &&
          text.kind == JSON_VALUE_STRING)
        {
          result.records++;
          result.text_bytes += text.len;
        }
      else
        result.bad++;
      p = line_end + 1;
    }

  return result;
}

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Seconds of one pass, over enough passes to be measured. */
static double
measure (BenchFunc function, const char *data, gsize len, BenchResult *result)
{
  guint passes = MAX (1, (64 << 20) / MAX (len, 1));
  double start = cpu_seconds ();

  for (guint i = 0; i < passes; i++)
    *result = function (data, len);

  return (cpu_seconds () - start) / passes;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (double *values)
{
  qsort (values, N_PAIRS, sizeof *values, compare_doubles);
  return values[N_PAIRS / 2];
}

#ifdef HAVE_SIMDJSON

static void
compare (const char *name, BenchFunc theirs, const char *data, gsize len)
{
  double own_times[N_PAIRS], their_times[N_PAIRS], ratios[N_PAIRS];
  BenchResult own, other;

  for (guint i = 0; i < N_PAIRS; i++)
    {
      if (i % 2 == 0)
        own_times[i] = measure (bench_own, data, len, &own);
      their_times[i] = measure (theirs, data, len, &other);
      if (i % 2 != 0)
        own_times[i] = measure (bench_own, data, len, &own);
      ratios[i] = their_times[i] / own_times[i];
    }

  printf ("  %-7s own %6.2f GB/s, simdjson %s %6.2f GB/s, ratio %.2f%s\n",
          json_level_get_name (json_plan_get_level (plan)), len / median (own_times) * 1e-9, name,
          len / median (their_times) * 1e-9, median (ratios),
          memcmp (&own, &other, sizeof own) == 0 ? "" : "  RESULTS DIFFER");
}

#endif

static void
bench_data (const char *name, const char *data, gsize len)
{
  BenchResult result = bench_own (data, len);

  printf ("%s: %" G_GSIZE_FORMAT " bytes, %" G_GUINT64_FORMAT " records, %" G_GUINT64_FORMAT
          " bad, text %" G_GUINT64_FORMAT " bytes\n",
          name, len, result.records, result.bad, result.text_bytes);

  for (int level = JSON_N_LEVELS - 1; level >= 0; level--)
    {
      if (!json_plan_set_level (plan, level))
        continue;
#ifdef HAVE_SIMDJSON
      compare ("dom", bench_simdjson_dom, data, len);
#else
      double times[N_PAIRS];

      for (guint i = 0; i < N_PAIRS; i++)
        times[i] = measure (bench_own, data, len, &result);
      printf ("  %-7s %6.2f GB/s\n", json_level_get_name (level), len / median (times) * 1e-9);
#endif
      if (g_getenv ("BENCH_ALL_LEVELS") == NULL)
        break;
    }
#ifdef HAVE_SIMDJSON
  for (int level = JSON_N_LEVELS - 1; level >= 0; level--)
    if (json_plan_set_level (plan, level))
      break;
  compare ("on-demand", bench_simdjson_on_demand, data, len);
#endif
}

static void
bench_file (const char *path)
{
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  gsize len;

  if (!g_file_get_contents (path, &contents, &len, &error))
    g_error ("%s", error->message);
  contents = g_realloc (contents, len + JSON_PADDING);
  bench_data (path, contents, len);
}

/* Words from a fixed generator, so that each run measures the same. */
static void
append_words (GString *out, guint32 *seed, gsize len, gboolean escaped)
{
  gsize start = out->len;

  while (out->len - start < len)
    {
      *seed = *seed * 1664525 + 1013904223;
      for (guint i = 0; i < 2 + (*seed >> 24) % 9; i++)
        {
          if (escaped && i % 3 != 0)
            g_string_append_printf (out, "\\u%04x", 0x430 + ((*seed >> i) & 31));
          else
            g_string_append_c (out, 'a' + (*seed >> i) % 26);
        }
      g_string_append (out, (*seed >> 12) % 12 != 0 ? " " : escaped ? "\\u2019" : "\\n");
    }
}

static void
bench_made_up (const char *name, gsize text_len, gboolean escaped)
{
  g_autoptr (GString) data = g_string_new (NULL);
  guint32 seed = 1;

  while (data->len < 16 << 20)
    {
      g_string_append_printf (data, "{\"id\": \"doc-%u\", \"score\": 0.%u, \"text\": \"", seed,
                              seed % 9973);
      append_words (data, &seed, text_len, escaped);
      g_string_append (data, "\", \"meta\": {\"lang\": \"en\", \"tags\": [\"a\", 1, null]}}\n");
    }

  /* g_string_set_size() would write a NUL inside the padding only: its contents do not matter. */
  gsize len = data->len;
  g_string_set_size (data, len + JSON_PADDING);
  bench_data (name, data->str, len);
}

int
main (int argc, char **argv)
{
  const char *path = "text";

  plan = json_plan_new (&path, 1, JSON_FLAGS_NONE, NULL);
  scratch = json_scratch_new ();
#ifdef HAVE_SIMDJSON
  printf ("simdjson kernel: %s\n", bench_simdjson_get_name ());
#endif

  for (int i = 1; i < argc; i++)
    bench_file (argv[i]);

  if (argc == 1)
    {
      bench_made_up ("short", 60, FALSE);
      bench_made_up ("long", 4000, FALSE);
      bench_made_up ("escaped", 4000, TRUE);
    }

  json_scratch_free (scratch);
  json_plan_unref (plan);
  return 0;
}
