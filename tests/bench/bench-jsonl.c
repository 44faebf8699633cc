/* SPDX-License-Identifier: MIT */

/* JSON lines to records: `file-source ! jsonl-reader ! null-sink`, and a program around simdjson
 * that reads the same file in pieces and makes the same checks: every document to its end, UTF-8,
 * the text without its escapes. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench-json.h"
#include "bench-source.h"
#include "bench.h"

#define PIECE (1024 * 1024)
#define PADDING 64

static void
read_ours (gpointer data)
{
  g_autofree char *graph = g_strdup_printf (
      "file-source location=%s ! jsonl-reader ! null-sink digest=false", (const char *) data);

  bench_run_graph (graph);
}

/* The lines that are whole are given away, the rest is moved to the front. */
static void
read_simdjson (gpointer data)
{
  gsize capacity = PIECE;
  gsize size = 0;
  char *buffer = g_malloc (capacity + PADDING);
  int fd = open (data, O_RDONLY);
  gssize n;

  g_assert_cmpint (fd, >=, 0);
  while ((n = read (fd, buffer + size, capacity - size)) > 0)
    {
      const char *end;

      size += (gsize) n;
      end = memrchr (buffer, '\n', size);
      if (end != NULL)
        {
          gsize used = (gsize) (end + 1 - buffer);

          g_assert_cmpuint (bench_simdjson_dom (buffer, used).bad, ==, 0);
          memmove (buffer, buffer + used, size - used);
          size -= used;
        }
      else if (size == capacity)
        {
          capacity *= 2;
          buffer = g_realloc (buffer, capacity + PADDING);
        }
    }
  g_assert_cmpint (n, ==, 0);
  if (size > 0)
    g_assert_cmpuint (bench_simdjson_dom (buffer, size).bad, ==, 0);
  close (fd);
  g_free (buffer);
}

static double
size_in_mb (const char *path)
{
  int fd = open (path, O_RDONLY);
  off_t size;

  g_assert_cmpint (fd, >=, 0);
  size = lseek (fd, 0, SEEK_END);
  close (fd);
  return (double) size * 1e-6;
}

int
main (void)
{
  g_autofree char *path = bench_make_file ();
  const Bench bench = { .name = "jsonl",
                        .ours = read_ours,
                        .reference = read_simdjson,
                        .data = path,
                        .amount = size_in_mb (path),
                        .unit = "MB",
                        .bar = 1 / 0.7 };
  gboolean passed;

  printf ("simdjson kernel: %s\n", bench_simdjson_get_name ());
  passed = bench_run (&bench);
  bench_remove_file (path);
  return passed ? 0 : 1;
}
