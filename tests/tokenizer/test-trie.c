/* SPDX-License-Identifier: MIT */
#include "dlp-trie.h"

#include <string.h>

#define MAX_LEN 12

static void
fill (GRand *rand, guint8 *p, gsize len, guint n_letters)
{
  for (gsize i = 0; i < len; i++)
    p[i] = n_letters < 256 ? 'a' + g_rand_int_range (rand, 0, n_letters) :
                             g_rand_int_range (rand, 0, 256);
}

/* Every byte string of the set and no other is found, with its value. */
static void
check (GRand *rand, guint n, guint n_letters)
{
  g_autoptr (GHashTable) set =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  g_autofree DlpTrieKey *keys = g_new (DlpTrieKey, n + 1);
  g_autoptr (DlpTrie) trie = NULL;
  gsize n_keys = 0;

  for (guint i = 0; i < n; i++)
    {
      guint8 text[MAX_LEN];
      gsize len = g_rand_int_range (rand, 1, MAX_LEN + 1);
      GBytes *bytes;

      fill (rand, text, len, n_letters);
      bytes = g_bytes_new (text, len);
      if (!g_hash_table_insert (set, bytes, GUINT_TO_POINTER (i + 1)))
        continue;
      keys[n_keys++] = (DlpTrieKey){ g_bytes_get_data (bytes, NULL), len, i };
    }
  /* A key that was given twice keeps its first value in the list, but its last one in the set. */
  for (gsize i = 0; i < n_keys; i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (keys[i].p, keys[i].len);

      keys[i].value = GPOINTER_TO_UINT (g_hash_table_lookup (set, bytes)) - 1;
    }
  trie = dlp_trie_new (keys, n_keys);

  for (gsize i = 0; i < n_keys; i++)
    g_assert_cmpuint (dlp_trie_lookup (trie, keys[i].p, keys[i].len), ==, keys[i].value);
  for (guint i = 0; i < 3 * n; i++)
    {
      guint8 text[MAX_LEN];
      gsize len = g_rand_int_range (rand, 1, MAX_LEN + 1);
      g_autoptr (GBytes) bytes = NULL;
      guint value;

      fill (rand, text, len, n_letters);
      bytes = g_bytes_new (text, len);
      value = GPOINTER_TO_UINT (g_hash_table_lookup (set, bytes)) - 1;
      g_assert_cmpuint (dlp_trie_lookup (trie, text, len), ==,
                        value == G_MAXUINT ? DLP_TRIE_NONE : value);
    }
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);

  for (guint i = 0; i < 200; i++)
    check (rand, g_rand_int_range (rand, 0, 300), 1 + i % 5);
  for (guint i = 0; i < 20; i++)
    check (rand, 2000, i % 2 ? 26 : 256);
}

static void
test_empty (void)
{
  DlpTrieKey key = { NULL };
  g_autoptr (DlpTrie) trie = dlp_trie_new (&key, 0);
  guint64 node = dlp_trie_root (trie);

  g_assert_cmpuint (dlp_trie_value (node), ==, DLP_TRIE_NONE);
  for (guint i = 0; i < 256; i++)
    {
      node = dlp_trie_root (trie);
      g_assert_false (dlp_trie_step (trie, &node, i));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/trie/empty", test_empty);
  g_test_add_func ("/tokenizer/trie/random", test_random);
  return g_test_run ();
}
