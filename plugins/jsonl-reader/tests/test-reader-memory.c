/* SPDX-License-Identifier: MIT */

/* One line of 200 MB costs less than three times its size and 64 MiB. */

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "reader-fixture.h"

#define LINE_BYTES (200 * 1000 * 1000)

static gsize
get_peak (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (gsize) usage.ru_maxrss * 1024;
}

/* Without holding it in memory. */
static void
write_line (const char *path, const char *piece)
{
  FILE *file = fopen (path, "w");
  gsize length = strlen (piece);

  fputs ("{\"text\":\"first\"}\n{\"text\":\"", file);
  for (gsize n = 0; n < LINE_BYTES; n += length)
    fwrite (piece, 1, length, file);
  fputs ("\"}\n{\"text\":\"last\"}\n", file);
  g_assert_cmpint (fclose (file), ==, 0);
}

static void
check (const char *piece)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "a.jsonl");
  gsize limit = (gsize) 3 * LINE_BYTES + 64 * 1024 * 1024;
  GError *error = NULL;
  g_autoptr (Rig) rig = NULL;

  write_line (path, piece);
  fixture->config.workers = 2;
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (rig_drain (rig, &error), ==, 3);
  g_assert_no_error (error);
  g_test_message ("peak of %zu MiB, %.2f times the line", get_peak () / 1024 / 1024,
                  (double) get_peak () / LINE_BYTES);
  g_assert_cmpuint (get_peak (), <, limit);
}

static void
test_plain (void)
{
  check ("0123456789abcdef");
}

/* Decoded, such a line is in memory once more. */
static void
test_escaped (void)
{
  check ("0123456789\\n\\u00e9");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_test_add_func ("/reader/memory/plain", test_plain);
  g_test_add_func ("/reader/memory/escaped", test_escaped);
  return g_test_run ();
}
