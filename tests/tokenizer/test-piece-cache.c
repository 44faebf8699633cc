/* SPDX-License-Identifier: MIT */
#include "dlp-piece-cache.h"

static const DlpPieceSlot *
find (const DlpPieceCache *cache, DlpKey key)
{
  const DlpPieceLine *line = dlp_piece_cache_line (cache, key);
  const DlpPieceSlot *slot = dlp_piece_line_find (line, key);

  if (slot == NULL)
    slot = dlp_piece_line_find (dlp_piece_cache_other_line (cache, line, key), key);
  return slot;
}

static void
test_keys (void)
{
  static const char *const pieces[] = {
    "a", "aa", "a\1", "\1", " the", "abcdefgh", "abcdefghijklmno"
  };
  DlpKey keys[G_N_ELEMENTS (pieces)];

  for (guint i = 0; i < G_N_ELEMENTS (pieces); i++)
    {
      guint8 room[32];

      memset (room, 0xee, sizeof room);
      memcpy (room, pieces[i], strlen (pieces[i]));
      keys[i] = dlp_key_load (room, strlen (pieces[i]));
      g_assert_true (dlp_key_equal (
          keys[i], dlp_key_load_short ((const guint8 *) pieces[i], strlen (pieces[i]))));
      g_assert_cmpuint (dlp_key_len (keys[i]), ==, strlen (pieces[i]));
      g_assert_false (dlp_key_is_long (keys[i]));
      for (guint k = 0; k < i; k++)
        g_assert_false (dlp_key_equal (keys[i], keys[k]));
    }
}

static void
test_short (void)
{
  DlpPieceCache cache;
  guint32 ids[] = { 7, 8, 9, 10 };
  DlpKey key = dlp_key_load_short ((const guint8 *) "piece", 5);
  const DlpPieceSlot *slot;

  dlp_piece_cache_init (&cache, 1);
  g_assert_null (find (&cache, key));
  dlp_piece_cache_add (&cache, key, (const guint8 *) "piece", ids, 3);
  slot = find (&cache, key);
  g_assert_nonnull (slot);
  g_assert_cmpuint (slot->ids[0] >> DLP_COUNT_SHIFT, ==, 3);
  g_assert_cmpuint (slot->ids[0] & DLP_COUNT_MASK, ==, 7);
  g_assert_cmpuint (slot->ids[2], ==, 9);
  dlp_piece_cache_clear (&cache);
}

/* Where two long pieces have one key, the bytes decide. */
static void
test_shared_key (void)
{
  DlpPieceCache cache;
  guint8 piece[100], other[100];
  guint32 ids[] = { 1, 2 };
  const guint32 *found;
  DlpKey key;
  gsize n = 0;

  memset (piece, 'x', sizeof piece);
  memcpy (other, piece, sizeof piece);
  other[99] = 'y';
  dlp_piece_cache_init (&cache, 1);
  key = dlp_key_of_long (piece, sizeof piece);
  g_assert_true (dlp_key_is_long (key));
  g_assert_cmpuint (dlp_key_len (key), ==, sizeof piece);
  dlp_piece_cache_add (&cache, key, piece, ids, 2);

  found = dlp_piece_cache_read_log (&cache, find (&cache, key), piece, &n);
  g_assert_cmpmem (found, n * sizeof *found, ids, sizeof ids);
  g_assert_null (dlp_piece_cache_read_log (&cache, find (&cache, key), other, &n));
  dlp_piece_cache_clear (&cache);
}

/* When the log starts over, what it held before is gone. */
static void
test_generations (void)
{
  DlpPieceCache cache;
  guint32 ids[DLP_LONG_MAX_LEN] = { 5 };
  DlpKey key = dlp_key_load_short ((const guint8 *) "many ids", 8);
  const DlpPieceSlot *slot;
  gsize n = 0;

  dlp_piece_cache_init (&cache, 1);
  dlp_piece_cache_add (&cache, key, (const guint8 *) "many ids", ids, 8);
  slot = find (&cache, key);
  g_assert_cmpuint (slot->ids[0] >> DLP_COUNT_SHIFT, ==, DLP_COUNT_IN_LOG);
  g_assert_nonnull (dlp_piece_cache_read_log (&cache, slot, (const guint8 *) "many ids", &n));
  g_assert_cmpuint (n, ==, 8);

  for (guint32 i = 0; cache.generation == 0; i++)
    {
      guint8 piece[DLP_LONG_MAX_LEN] = { i };

      g_assert_cmpuint (i, <, 1000);
      dlp_piece_cache_add (&cache, dlp_key_of_long (piece, sizeof piece), piece, ids,
                           DLP_LONG_MAX_LEN);
      g_assert_cmpuint (cache.log_len, <=, cache.log_capacity);
    }
  slot = find (&cache, key);
  g_assert_nonnull (slot);
  g_assert_null (dlp_piece_cache_read_log (&cache, slot, (const guint8 *) "many ids", &n));
  dlp_piece_cache_clear (&cache);
}

#define RING_IDS 60
#define RING_ENTRIES 2000

/* What was written last stays until the log comes to its place again, and is what was written. */
static void
test_ring (void)
{
  g_autofree DlpPieceSlot *slots = g_new0 (DlpPieceSlot, RING_ENTRIES);
  DlpPieceCache cache;
  gsize kept;

  dlp_piece_cache_init (&cache, 1);
  kept = cache.log_capacity / (RING_IDS + 1) - 1;
  g_assert_cmpuint (kept * 3, <, RING_ENTRIES);
  for (guint i = 0; i < RING_ENTRIES; i++)
    {
      const guint8 *piece = (const guint8 *) &i;
      DlpKey key = dlp_key_load_short (piece, sizeof i);
      guint32 ids[RING_IDS];

      for (guint k = 0; k < RING_IDS; k++)
        ids[k] = i + k;
      dlp_piece_cache_add (&cache, key, piece, ids, RING_IDS);
      slots[i] = *find (&cache, key);
      for (guint old = 0; old <= i; old++)
        {
          gsize n = 0;
          const guint32 *found = dlp_piece_cache_read_log (&cache, &slots[old], piece, &n);

          g_assert_true (found != NULL || old + kept <= i);
          g_assert_true (found == NULL ||
                         (n == RING_IDS && found[0] == old && found[n - 1] == old + n - 1));
        }
    }
  g_assert_cmpuint (cache.generation, >=, 3);
  dlp_piece_cache_clear (&cache);
}

/* Of pieces for two thirds of the slots nearly all are there, and those that came first are where
 * they are found at once. */
static void
test_crowded (void)
{
  DlpPieceCache cache;
  guint n, n_found = 0, n_at_once = 0;

  dlp_piece_cache_init (&cache, 1 << 20);
  n = (guint) ((2u << (64 - cache.lines_shift)) * 2 / 3);
  for (guint i = 0; i < n; i++)
    {
      guint32 ids[] = { i };

      dlp_piece_cache_add (&cache, dlp_key_load_short ((guint8 *) &i, sizeof i), (guint8 *) &i, ids,
                           1);
    }
  for (guint i = 0; i < n; i++)
    {
      DlpKey key = dlp_key_load_short ((guint8 *) &i, sizeof i);
      const DlpPieceSlot *slot = find (&cache, key);

      if (slot == NULL)
        continue;
      if (i < n / 10)
        n_at_once += dlp_piece_line_find (dlp_piece_cache_line (&cache, key), key) != NULL;
      g_assert_cmpuint (slot->ids[0], ==, i | 1u << DLP_COUNT_SHIFT);
      n_found++;
    }
  g_test_message ("%u of %u pieces are there; of the first %u, %u in their own line", n_found, n,
                  n / 10, n_at_once);
  g_assert_cmpuint (n_found, >, n * 95 / 100);
  g_assert_cmpuint (n_at_once, >, n / 10 * 8 / 10);
  dlp_piece_cache_clear (&cache);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/piece-cache/keys", test_keys);
  g_test_add_func ("/tokenizer/piece-cache/short", test_short);
  g_test_add_func ("/tokenizer/piece-cache/shared-key", test_shared_key);
  g_test_add_func ("/tokenizer/piece-cache/generations", test_generations);
  g_test_add_func ("/tokenizer/piece-cache/ring", test_ring);
  g_test_add_func ("/tokenizer/piece-cache/crowded", test_crowded);
  return g_test_run ();
}
