/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "dedup-filter.h"
#include "dedup-set.h"
#include "spread.h"

/* ---- keys ---- */

/* All at one place, and in no order. */
static DedupKey
crowd (guint64 number)
{
  return dedup_key (G_GUINT64_CONSTANT (0x123456789abcdef0), spread (number).low);
}

/* All behind the last place. */
static DedupKey
push_to_end (guint64 number)
{
  return dedup_key (G_MAXUINT64, number * 977 % 5003);
}

static DedupKey
push_to_begin (guint64 number)
{
  return dedup_key (number % 7 == 0 ? 0 : number, number % 3);
}

/* ---- files ---- */

typedef struct
{
  guint n_opened;
  int last; /* of the last one, another descriptor */
  const char *instead;
} Files;

static int
open_file (gpointer data, GError **error)
{
  Files *self = data;
  g_autofree char *name = NULL;
  int fd;

  self->n_opened++;
  if (self->instead != NULL)
    return open (self->instead, O_RDWR | O_CLOEXEC);
  fd = g_file_open_tmp ("dedup-XXXXXX", &name, error);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (g_unlink (name), ==, 0);
  if (self->last > 0)
    close (self->last);
  self->last = dup (fd);
  return fd;
}

static void
files_clear (Files *self)
{
  if (self->last > 0)
    close (self->last);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Files, files_clear)

/* ---- against a set of GLib ---- */

static guint
hash_key (gconstpointer data)
{
  const DedupKey *key = data;

  return (guint) (key->high ^ key->low);
}

static gboolean
are_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (DedupKey)) == 0;
}

typedef struct
{
  const char *name;
  DedupKey (*make) (guint64 number);
  guint n_added, n_numbers;
  gsize memory;
  gboolean on_disk;
} Case;

static const Case cases[] = {
  { "memory", spread, 200000, 100000, (gsize) 64 << 20, FALSE },
  { "disk", spread, 200000, 100000, 64 * 1024, TRUE },
  { "disk/few-again", spread, 100000, 100000000, 64 * 1024, TRUE },
  { "disk/most-again", spread, 200000, 20000, 64 * 1024, TRUE },
  { "disk/half-a-megabyte", spread, 300000, 200000, 512 * 1024, TRUE },
  { "one-place", crowd, 6000, 4000, 64 * 1024, TRUE },
  { "end", push_to_end, 12000, 6000, 64 * 1024, TRUE },
  { "begin", push_to_begin, 12000, 9000, 64 * 1024, TRUE },
};

/* Repeated at all distances: numbers are drawn from a window that moves and from all that were. */
static guint64
draw (GRand *rand, const Case *of, guint i)
{
  guint limit = (guint) MAX ((guint64) of->n_numbers * (i + 1) / of->n_added, 1);

  switch (g_rand_int_range (rand, 0, 3))
    {
    case 0:
      return (guint64) g_rand_int_range (rand, (gint32) (limit - MIN (limit, 1 + i % 5000)),
                                         (gint32) limit);
    case 1:
      return (guint64) g_rand_int_range (rand, 0, (gint32) limit);
    default:
      return limit - 1;
    }
}

static void
test_model (gconstpointer data)
{
  const Case *of = data;
  g_auto (Files) files = { 0 };
  g_autoptr (DedupSet) set = dedup_set_new (of->memory, open_file, &files);
  g_autoptr (GHashTable) model = g_hash_table_new_full (hash_key, are_equal, g_free, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());

  for (guint i = 0; i < of->n_added; i++)
    {
      DedupKey key = of->make (draw (rand, of, i));
      gboolean is_new, expected = !g_hash_table_contains (model, &key);
      g_autoptr (GError) error = NULL;

      if (expected)
        g_hash_table_add (model, g_memdup2 (&key, sizeof key));
      if (i % 7 == 0)
        dedup_set_look_ahead (set, &key, 1);
      dedup_set_add (set, &key, &is_new, &error);
      g_assert_no_error (error);
      g_assert_cmpint (is_new, ==, expected);
      if (i % 1000 == 999)
        {
          dedup_set_maintain (set, &error);
          g_assert_no_error (error);
        }
    }
  g_assert_cmpuint (dedup_set_get_length (set), ==, g_hash_table_size (model));
  g_assert_true ((files.n_opened > 0) == of->on_disk);
}

/* What it takes does not grow with what is in it, nor do the files by more than its logarithm. */
static void
test_bounds (void)
{
  static const gsize memories[] = { 64 * 1024, 1024 * 1024, 4 * 1024 * 1024 };

  for (guint m = 0; m < G_N_ELEMENTS (memories); m++)
    {
      g_auto (Files) files = { 0 };
      g_autoptr (DedupSet) set = dedup_set_new (memories[m], open_file, &files);
      gsize most = 0;
      guint most_files = 0;

      for (guint i = 0; i < 500000; i++)
        {
          DedupKey key = spread (i);
          g_autoptr (GError) error = NULL;

          dedup_set_add_new (set, &key, &error);
          if (i % 500 == 0)
            dedup_set_maintain (set, &error);
          g_assert_no_error (error);
          if (i % 500 != 0)
            continue;
          most = MAX (most, dedup_set_get_bytes (set));
          most_files = MAX (most_files, dedup_set_get_n_files (set));
        }
      /* Buffers of five files for each size of runs, of 4 KiB at least. */
      g_assert_cmpuint (most, <=, memories[m] + 6 * 5 * 4096);
      g_assert_cmpuint (most_files, <=, 6 * 9);
      g_test_message ("%zu bytes: at most %zu, %u files of %u", memories[m], most, most_files,
                      files.n_opened);
    }
}

/* ---- filters ---- */

static double
count_wrong (const DedupFilter *filter, guint n)
{
  guint wrong = 0;

  for (guint i = 0; i < n; i++)
    {
      DedupKey there = spread (i), other = spread (i + 1000000000);

      g_assert_true (dedup_filter_may_contain (filter, &there));
      wrong += dedup_filter_may_contain (filter, &other);
    }
  return (double) wrong / n;
}

/* Halved again and again: never a key that is there, and no more of others than the theory of
 * Bloom says with a third on top for the blocks. */
static void
test_filter (void)
{
  const guint n = 100000;
  static const double bounds[] = { 0.01, 0.085, 0.40, 1.0 };
  DedupFilter filter;

  dedup_filter_init (&filter, n, G_MAXSIZE);
  for (guint i = 0; i < n; i++)
    {
      DedupKey key = spread (i);

      dedup_filter_add (&filter, &key);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bounds); i++)
    {
      double wrong = count_wrong (&filter, n);

      g_test_message ("%zu bytes: %.4f", dedup_filter_get_bytes (&filter), wrong);
      g_assert_cmpfloat (wrong, <=, bounds[i]);
      dedup_filter_halve (&filter, n);
    }
  g_assert_cmpuint (dedup_filter_get_bytes (&filter), ==, 0);
  dedup_filter_clear (&filter);
  dedup_filter_init (&filter, n, 1000);
  g_assert_cmpuint (dedup_filter_get_bytes (&filter), ==, 0);
}

/* ---- errors ---- */

static gboolean
add_many (DedupSet *set, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      DedupKey key = spread (i);
      gboolean is_new;

      if (!dedup_set_add (set, &key, &is_new, error) || !dedup_set_maintain (set, error))
        return FALSE;
    }
  return TRUE;
}

static void
test_full_disk (void)
{
  g_auto (Files) files = { .instead = "/dev/full" };
  g_autoptr (DedupSet) set = dedup_set_new (64 * 1024, open_file, &files);
  g_autoptr (GError) error = NULL;

  g_assert_false (add_many (set, 100000, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  g_assert_nonnull (strstr (error->message, "--memory"));
}

static void
test_lost_file (void)
{
  g_auto (Files) files = { 0 };
  g_autoptr (DedupSet) set = dedup_set_new (64 * 1024, open_file, &files);
  g_autoptr (GError) error = NULL;
  guint n = 0;

  while (files.n_opened == 0)
    {
      DedupKey key = spread (n++);

      g_assert_true (dedup_set_add_new (set, &key, &error));
    }
  g_assert_cmpint (ftruncate (files.last, 0), ==, 0);
  g_assert_false (add_many (set, n, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "cannot read"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/dedup-set/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_model);
    }
  g_test_add_func ("/dedup-set/bounds", test_bounds);
  g_test_add_func ("/dedup-set/filter", test_filter);
  g_test_add_func ("/dedup-set/full-disk", test_full_disk);
  g_test_add_func ("/dedup-set/lost-file", test_lost_file);
  return g_test_run ();
}
