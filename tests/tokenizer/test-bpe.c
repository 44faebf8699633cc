/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-long.h"
#include "dlp-bpe-table.h"
#include "dlp-encode-ahead.h"

#include <time.h>

static DlpVocabulary *vocabulary;

static double
scale (void)
{
  const char *value = g_getenv ("DLPIPE_TEST_SCALE");

  return value ? g_ascii_strtod (value, NULL) : 1.0;
}

/* The definition: of all neighbours whose bytes together are an entry, merge the pair of the lowest
 * rank, the leftmost one on ties, until there is none. */
static gsize
merge_plainly (const DlpVocabulary *self, const guint8 *p, gsize len, guint32 *ids)
{
  g_autofree gsize *starts = g_new (gsize, len + 1);
  gsize n = len;

  for (gsize i = 0; i <= len; i++)
    starts[i] = i;
  for (;;)
    {
      guint32 best = DLP_ID_NONE;
      gsize at = 0;

      for (gsize i = 0; i + 1 < n; i++)
        {
          guint32 id = dlp_vocabulary_lookup (self, p + starts[i], starts[i + 2] - starts[i]);

          if (id < best)
            {
              best = id;
              at = i;
            }
        }
      if (best == DLP_ID_NONE)
        break;
      memmove (starts + at + 1, starts + at + 2, (n - at - 1) * sizeof *starts);
      n--;
    }
  for (gsize i = 0; i < n; i++)
    ids[i] = dlp_vocabulary_lookup (self, p + starts[i], starts[i + 1] - starts[i]);
  return n;
}

static void
fill (GRand *rand, guint8 *p, gsize len, guint kind)
{
  static const char *const words[] = { "the", "in", "tion", "aaaa", " ", "abab", "er", "\xe4\xb8" };

  for (gsize i = 0; i < len;)
    {
      const char *word = words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))];

      if (kind == 0)
        p[i++] = g_rand_int_range (rand, 0, 256);
      else if (kind == 1)
        p[i++] = "ab"[g_rand_int_range (rand, 0, 2)];
      else if (kind == 2)
        p[i++] = 'a';
      else
        while (*word && i < len)
          p[i++] = *word++;
    }
}

/* In turn with other pieces in dlpipe, here alone. */
static gsize
merge_in_lane (const DlpVocabulary *self, const guint8 *text, gsize len, guint32 *ids)
{
  DlpSpan span = { .p = text };
  DlpLane lane;

  dlp_lane_start (&lane, self, &span, len);
  while (dlp_lane_merge (&lane, self))
    ;
  return dlp_lane_get_ids (&lane, ids);
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (99);
  guint n = 20000 * scale ();
  DlpBpeScratch scratch = { NULL };

  for (guint i = 0; i < n; i++)
    {
      gsize len = g_rand_int_range (rand, 1, i % 8 == 0 ? 300 : 60);
      g_autofree guint8 *text = g_malloc (len);
      g_autofree guint32 *ids = g_new (guint32, len);
      g_autofree guint32 *wanted = g_new (guint32, len);
      gsize count, wanted_count;

      fill (rand, text, len, i % 6);
      count = dlp_bpe_encode (vocabulary, &scratch, text, len, ids);
      wanted_count = merge_plainly (vocabulary, text, len, wanted);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);

      /* By merging, whatever is faster. */
      for (gsize k = 0; k < len; k++)
        ids[k] = vocabulary->byte_ids[text[k]];
      count = dlp_bpe_merge (vocabulary, &scratch, ids, len);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);

      for (gsize k = 0; k < len; k++)
        ids[k] = vocabulary->byte_ids[text[k]];
      count = dlp_bpe_merge_long (vocabulary, &scratch, ids, len);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);

      if (len > DLP_LANE_MAX_LEN)
        continue;
      count = merge_in_lane (vocabulary, text, len, ids);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);
    }
  dlp_bpe_scratch_clear (&scratch);
}

/* An entry that is made by an earlier merge than the one it is made of. */
static void
test_ages (void)
{
  GString *file = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpVocabulary) odd = NULL;
  DlpBpeScratch scratch = { NULL };
  guint32 ids[24];

  for (guint i = 0; i < 256; i++)
    {
      guchar byte = i;
      g_autofree char *base64 = g_base64_encode (&byte, 1);

      g_string_append_printf (file, "%s %u\n", base64, i);
    }
  /* "abc" has rank 300, but is made of "ab", which has rank 301. */
  g_string_append (file, "YWJj 300\nYWI= 301\n");
  odd = dlp_vocabulary_parse (file->str, file->len, "odd", &error);
  g_assert_no_error (error);
  g_assert_nonnull (odd->table);
  g_assert_nonnull (vocabulary->table);
  g_assert_cmpuint (
      dlp_bpe_encode (odd, &scratch, (const guint8 *) "abcababcabababcxabab", 20, ids), ==, 9);
  g_assert_cmpuint (ids[0], ==, 300);
  g_assert_cmpuint (ids[1], ==, 301);
  g_string_free (file, TRUE);
  dlp_bpe_scratch_clear (&scratch);
}

#define ODD_SHORTEST 2
#define ODD_LONGEST 8
#define ODD_TEXT 120

/* A vocabulary of bytes and some entries over few letters, in which how entries are made has no
 * order: any of the ways to cut one in two may be a merge or not, of any rank. */
typedef struct
{
  DlpVocabulary *vocabulary;
  GHashTable *merges; /* left << 16 | right to rank + 1, all of them */
  guint n_letters;
} Odd;

static void
add_odd_entries (GRand *rand, DlpVocabulary *self, guint n, guint n_letters)
{
  gsize at = 0;

  for (guint id = 0; id < n; id++)
    {
      gsize len = id < 256 ? 1 : g_rand_int_range (rand, ODD_SHORTEST, ODD_LONGEST + 1);

      self->starts[id] = at;
      self->lengths[id] = len;
      for (gsize k = 0; k < len; k++)
        self->bytes[at++] = id < 256 ? id : (guint) 'a' + g_rand_int_range (rand, 0, n_letters);
    }
  dlp_vocabulary_reserve (self);
  for (guint id = 0; id < n; id++)
    if (dlp_vocabulary_insert (self, id))
      self->n_tokens++;
    else
      self->lengths[id] = 0;
  dlp_vocabulary_find_byte_ids (self);
}

/* @tie: so many merges have the same rank. */
static void
add_odd_merges (GRand *rand, Odd *self, guint tie)
{
  DlpVocabulary *entries = self->vocabulary;
  g_autoptr (GArray) pairs = dlp_vocabulary_collect_pairs (entries, entries->n_ids);
  guint n = 0;

  entries->merge_ids = g_new0 (guint32, pairs->len + 1);
  entries->merge_ranks = tie > 1 ? g_new0 (guint32, pairs->len + 1) : NULL;
  for (guint i = 0; i < pairs->len; i++)
    {
      guint k = g_rand_int_range (rand, i, pairs->len);
      guint64 pair = g_array_index (pairs, guint64, k);

      g_array_index (pairs, guint64, k) = g_array_index (pairs, guint64, i);
      if (g_rand_int_range (rand, 0, 4) == 0)
        continue;
      entries->merge_ids[n] = DLP_PAIR_MERGE (pair);
      if (tie > 1)
        entries->merge_ranks[n] = n / tie;
      g_hash_table_insert (self->merges,
                           GUINT_TO_POINTER (DLP_PAIR_LEFT (pair) << 16 | DLP_PAIR_RIGHT (pair)),
                           GUINT_TO_POINTER (n / tie + 1));
      g_array_index (pairs, guint64, n) = DLP_PAIR (DLP_PAIR_LEFT (pair), DLP_PAIR_RIGHT (pair), n);
      n++;
    }
  g_array_set_size (pairs, n);
  dlp_vocabulary_set_pairs (entries, pairs, TRUE);
}

static void
make_odd (GRand *rand, Odd *self)
{
  guint n = 256 + g_rand_int_range (rand, 3, 40);

  self->vocabulary = dlp_vocabulary_new (n, n * ODD_LONGEST);
  self->merges = g_hash_table_new (NULL, NULL);
  self->n_letters = g_rand_int_range (rand, 1, 4);
  add_odd_entries (rand, self->vocabulary, n, self->n_letters);
  add_odd_merges (rand, self, g_rand_int_range (rand, 1, 5));
  dlp_bpe_prepare (self->vocabulary);
}

static guint32
join (const DlpVocabulary *self, guint32 left, guint32 right)
{
  guint8 both[2 * ODD_LONGEST];
  gsize left_len = self->lengths[left], right_len = self->lengths[right];

  memcpy (both, self->bytes + self->starts[left], left_len);
  memcpy (both + left_len, self->bytes + self->starts[right], right_len);
  return dlp_vocabulary_lookup (self, both, left_len + right_len);
}

static gsize
merge_odd (const Odd *self, guint32 *ids, gsize n)
{
  for (;;)
    {
      guint best = G_MAXUINT;
      gsize at = 0;

      for (gsize i = 0; i + 1 < n; i++)
        {
          guint rank = GPOINTER_TO_UINT (
              g_hash_table_lookup (self->merges, GUINT_TO_POINTER (ids[i] << 16 | ids[i + 1])));

          if (rank > 0 && rank < best)
            {
              best = rank;
              at = i;
            }
        }
      if (best == G_MAXUINT)
        return n;
      ids[at] = join (self->vocabulary, ids[at], ids[at + 1]);
      n--;
      memmove (ids + at + 1, ids + at + 2, (n - at - 1) * sizeof *ids);
    }
}

typedef gsize (*MergeFunc) (const DlpVocabulary *self,
                            DlpBpeScratch *scratch,
                            guint32 *ids,
                            gsize n);

static void
check_odd (const Odd *self, DlpBpeScratch *scratch, const guint8 *text, gsize len)
{
  static const MergeFunc merges[] = { dlp_bpe_merge, dlp_bpe_merge_long };
  guint32 ids[ODD_TEXT], wanted[ODD_TEXT];
  gsize wanted_count, count;

  for (gsize at = 0; at < len; at++)
    wanted[at] = text[at];
  wanted_count = merge_odd (self, wanted, len);

  count = dlp_bpe_table_encode (self->vocabulary->table, self->vocabulary, scratch, text, len, ids);
  g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);
  for (guint i = 0; i < G_N_ELEMENTS (merges); i++)
    {
      for (gsize at = 0; at < len; at++)
        ids[at] = text[at];
      count = merges[i](self->vocabulary, scratch, ids, len);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);
    }
  if (self->vocabulary->merge_ranks == NULL && len <= DLP_LANE_MAX_LEN)
    {
      count = merge_in_lane (self->vocabulary, text, len, ids);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);
    }
}

static void
test_odd (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint n = 3000 * scale ();
  DlpBpeScratch scratch = { NULL };

  for (guint i = 0; i < n; i++)
    {
      Odd odd;

      make_odd (rand, &odd);
      for (guint k = 0; k < 10; k++)
        {
          gsize len = g_rand_int_range (rand, 1, ODD_TEXT + 1);
          guint8 text[ODD_TEXT];

          for (gsize at = 0; at < len; at++)
            text[at] = 'a' + g_rand_int_range (rand, 0, odd.n_letters);
          check_odd (&odd, &scratch, text, len);
        }
      dlp_vocabulary_free (odd.vocabulary);
      g_hash_table_unref (odd.merges);
    }
  dlp_bpe_scratch_clear (&scratch);
}

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Time must not grow with the square of the length. */
static void
test_long (void)
{
  gsize len = 1 << 20;
  g_autofree guint8 *text = g_malloc (len);
  g_autofree guint32 *ids = g_new (guint32, len);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  DlpBpeScratch scratch = { NULL };

  for (guint kind = 0; kind < 4; kind++)
    {
      double start;
      gsize n;

      fill (rand, text, len, kind);
      start = cpu_seconds ();
      n = dlp_bpe_encode (vocabulary, &scratch, text, len, ids);
      start = cpu_seconds () - start;
      g_test_message ("1 MiB of kind %u: %zu ids in %.2f s", kind, n, start);
      g_assert_cmpuint (n, >, 0);
      /* A quadratic merge takes minutes. */
      g_assert_cmpfloat (start, <, 20.0);
    }
  /* Not kept: a record like this comes once. */
  g_assert_cmpuint (scratch.capacity, <, len);
  dlp_bpe_scratch_clear (&scratch);
}

int
main (int argc, char *argv[])
{
  g_autofree char *content = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  gsize len;
  int status;

  g_test_init (&argc, &argv, NULL);
  path = g_build_filename (g_getenv ("DLPIPE_VOCAB_PATH"), "r50k_base.tiktoken", NULL);
  g_file_get_contents (path, &content, &len, &error);
  g_assert_no_error (error);
  vocabulary = dlp_vocabulary_parse (content, len, "r50k", &error);
  g_assert_no_error (error);

  g_test_add_func ("/tokenizer/bpe/random", test_random);
  g_test_add_func ("/tokenizer/bpe/ages", test_ages);
  g_test_add_func ("/tokenizer/bpe/odd", test_odd);
  g_test_add_func ("/tokenizer/bpe/long", test_long);
  status = g_test_run ();
  dlp_vocabulary_free (vocabulary);
  return status;
}
