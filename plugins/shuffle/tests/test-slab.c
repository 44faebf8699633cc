/* SPDX-License-Identifier: MIT */

#include <stdlib.h>
#include <string.h>

#include "dlp-slab.h"

#define MIB ((gsize) 1024 * 1024)

typedef struct
{
  guint8 *data;
  gsize size;
  guint8 filled;
} Block;

static guint
scaled (guint n)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  double scaled = n * (scale == NULL ? 1.0 : g_ascii_strtod (scale, NULL));

  return (guint) CLAMP (scaled, 1.0, 1e9);
}

static void
check_block (const Block *block)
{
  for (gsize i = 0; i < block->size; i++)
    g_assert_cmpuint (block->data[i], ==, block->filled);
}

static void
give (DlpSlab *slab, GArray *blocks, guint i)
{
  Block *block = &g_array_index (blocks, Block, i);

  check_block (block);
  dlp_slab_give (slab, block->data, block->size);
  g_array_remove_index_fast (blocks, i);
}

/* Mostly small, some at the borders of the sizes that are told apart, a few large. */
static gsize
draw_size (GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 10))
    {
    case 0:
      return (gsize) 1 << g_rand_int_range (rand, 0, 16);
    case 1:
      return ((gsize) 1 << g_rand_int_range (rand, 1, 16)) + 1;
    case 2:
      return (gsize) g_rand_int_range (rand, 16000, 100000);
    default:
      return (gsize) g_rand_int_range (rand, 1, 3000);
    }
}

/* Whatever comes and goes, no block changes another, and all is aligned for numbers. */
static void
test_random (gconstpointer data)
{
  gsize limit = *(const gsize *) data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (GArray) blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  DlpSlab *slab = dlp_slab_new (limit);
  guint refused = 0;

  for (guint i = 0; i < scaled (200000); i++)
    {
      Block block = { NULL, draw_size (rand), (guint8) i };

      if (blocks->len > 0 && g_rand_int_range (rand, 0, 100) < 49)
        {
          give (slab, blocks, (guint) g_rand_int_range (rand, 0, (gint32) blocks->len));
          continue;
        }
      block.data = dlp_slab_take (slab, block.size);
      if (block.data == NULL)
        {
          refused++;
          continue;
        }
      g_assert_cmpuint ((gsize) block.data % 8, ==, 0);
      memset (block.data, block.filled, block.size);
      g_array_append_val (blocks, block);
    }
  if (limit < MIB)
    g_assert_cmpuint (refused, >, 0);
  while (blocks->len > 0)
    give (slab, blocks, blocks->len - 1);
  dlp_slab_free (slab);
}

/* As much as there is goes out, not more, and again after it came back: of another size, too. */
static void
test_limit (void)
{
  DlpSlab *slab = dlp_slab_new (4 * MIB);
  g_autoptr (GPtrArray) blocks = g_ptr_array_new ();
  static const gsize sizes[] = { 300, 2000, 300 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      gpointer block;

      while ((block = dlp_slab_take (slab, sizes[i])) != NULL)
        g_ptr_array_add (blocks, block);
      g_assert_cmpuint (blocks->len * sizes[i], <=, 4 * MIB);
      g_assert_cmpuint (blocks->len * sizes[i], >, 4 * MIB * 8 / 10);
      g_assert_null (dlp_slab_take (slab, 1024 * 1024));
      for (guint k = 0; k < blocks->len; k++)
        dlp_slab_give (slab, blocks->pdata[k], sizes[i]);
      g_ptr_array_set_size (blocks, 0);
    }

  /* A lower limit is for what comes. */
  g_ptr_array_add (blocks, dlp_slab_take (slab, MIB));
  g_assert_null (blocks->pdata[0]);
  dlp_slab_free (slab);

  slab = dlp_slab_new (4 * MIB);
  blocks->pdata[0] = dlp_slab_take (slab, 3 * MIB);
  g_assert_nonnull (blocks->pdata[0]);
  dlp_slab_set_limit (slab, MIB);
  g_assert_null (dlp_slab_take (slab, 100));
  dlp_slab_give (slab, blocks->pdata[0], 3 * MIB);
  blocks->pdata[0] = dlp_slab_take (slab, 100);
  g_assert_nonnull (blocks->pdata[0]);
  dlp_slab_free (slab);
}

static void
test_resize (void)
{
  gsize sizes[] = { 100, 5 * MIB, 9 * MIB, 3 * MIB, 10 };
  guint8 *data = NULL;
  gsize before = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      data = dlp_slab_resize (data, before, sizes[i]);
      for (gsize k = 0; k < MIN (before, sizes[i]); k++)
        g_assert_cmpuint (data[k], ==, (guint8) (k * 7));
      for (gsize k = 0; k < sizes[i]; k++)
        data[k] = (guint8) (k * 7);
      before = sizes[i];
    }
  g_free (data);
}

int
main (int argc, char **argv)
{
  static const gsize limits[] = { 256 * 1024, 64 * MIB, (gsize) 1 << 40 };

  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/slab/random/small", &limits[0], test_random);
  g_test_add_data_func ("/slab/random/middle", &limits[1], test_random);
  g_test_add_data_func ("/slab/random/unlimited", &limits[2], test_random);
  g_test_add_func ("/slab/limit", test_limit);
  g_test_add_func ("/slab/resize", test_resize);
  return g_test_run ();
}
