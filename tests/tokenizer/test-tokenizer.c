/* SPDX-License-Identifier: MIT */
#include "dlpipe/dlp-tokenizer.h"

#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>

static const char endoftext[] = "<|endoftext|>";

static DlpTokenizer *
load (const char *model, const char *pattern)
{
  g_autoptr (GError) error = NULL;
  DlpTokenizer *self = dlp_tokenizer_new (model, pattern, &error);

  g_assert_no_error (error);
  return self;
}

static void
assert_new_fails (const char *model, const char *pattern, int code, const char *wanted)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_tokenizer_new (model, pattern, &error));
  g_assert_error (error, DLP_TOKENIZER_ERROR, code);
  if (strstr (error->message, wanted) == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, wanted);
}

/* A rank file under a new name; @more is put behind it. */
static char *
copy_ranks (const char *name, const char *more)
{
  g_autofree char *source =
      g_build_filename (g_getenv ("DLPIPE_VOCAB_PATH"), "r50k_base.tiktoken", NULL);
  g_autofree char *folder = g_dir_make_tmp ("dlp-tokenizer-XXXXXX", NULL);
  g_autofree char *content = NULL, *all = NULL;
  char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_get_contents (source, &content, NULL, NULL));
  all = g_strconcat (content, more, NULL);
  g_assert_true (g_file_set_contents (path, all, -1, NULL));
  return path;
}

static void
remove_copy (char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);

  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (folder));
  g_free (path);
}

static void
test_model (void)
{
  g_autoptr (DlpTokenizer) gpt2 = load ("gpt2", NULL);
  g_autoptr (DlpTokenizer) r50k = load ("r50k_base", NULL);
  g_autoptr (DlpTokenizer) cl100k = load ("cl100k_base", NULL);
  g_autoptr (DlpTokenizer) o200k = load ("o200k_base", NULL);
  g_autoptr (GError) error = NULL;
  guint32 id = 0;

  g_assert_cmpstr (dlp_tokenizer_get_name (gpt2), ==, "gpt2");
  g_assert_cmpuint (dlp_tokenizer_get_vocab_size (gpt2), ==, 50257);
  g_assert_cmpuint (dlp_tokenizer_get_vocab_size (cl100k), ==, 100277);
  g_assert_cmpuint (dlp_tokenizer_get_vocab_size (o200k), ==, 200019);
  g_assert_cmpuint (strlen (dlp_tokenizer_get_fingerprint (gpt2)), ==, 64);
  g_assert_cmpstr (dlp_tokenizer_get_fingerprint (gpt2), ==, dlp_tokenizer_get_fingerprint (r50k));
  g_assert_cmpstr (dlp_tokenizer_get_fingerprint (gpt2), !=,
                   dlp_tokenizer_get_fingerprint (cl100k));

  g_assert_true (dlp_tokenizer_get_eod (gpt2, &id, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (id, ==, 50256);
  g_assert_true (dlp_tokenizer_get_eod (o200k, &id, &error));
  g_assert_cmpuint (id, ==, 199999);
}

static void
test_path (void)
{
  char *same = copy_ranks ("mine.tiktoken", "");
  char *longer = copy_ranks ("mine.tiktoken", "eHl6enkgeHl6enk= 50300\n");
  char *named = copy_ranks ("gpt2.tiktoken", "eHl6enkgeHl6enk= 50300\n");
  char *clash = copy_ranks ("gpt2.tiktoken", "eHl6enkgeHl6enk= 50256\n");
  g_autoptr (DlpTokenizer) gpt2 = load ("gpt2", NULL);
  g_autoptr (DlpTokenizer) by_content = load (same, NULL);
  g_autoptr (DlpTokenizer) by_pattern = load (longer, "gpt2");
  g_autoptr (DlpTokenizer) other_pattern = load (longer, "cl100k");
  g_autoptr (DlpTokenizer) by_name = load (named, NULL);
  g_autoptr (DlpTokenizer) no_specials = load (named, "gpt2");
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (dlp_tokenizer_get_name (by_content), ==, "mine");
  g_assert_cmpstr (dlp_tokenizer_get_fingerprint (by_content), ==,
                   dlp_tokenizer_get_fingerprint (gpt2));
  g_assert_cmpuint (dlp_tokenizer_get_n_specials (by_content), ==, 1);

  g_assert_cmpuint (dlp_tokenizer_get_n_specials (by_pattern), ==, 0);
  g_assert_cmpuint (dlp_tokenizer_get_vocab_size (by_pattern), ==, 50301);
  g_assert_cmpstr (dlp_tokenizer_get_fingerprint (by_pattern), !=,
                   dlp_tokenizer_get_fingerprint (other_pattern));
  g_assert_false (dlp_tokenizer_get_eod (by_pattern, NULL, &error));
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NO_EOD);

  g_assert_cmpuint (dlp_tokenizer_get_n_specials (by_name), ==, 1);
  g_assert_cmpuint (dlp_tokenizer_get_n_specials (no_specials), ==, 0);

  assert_new_fails (longer, NULL, DLP_TOKENIZER_ERROR_BAD_PATTERN,
                    "gpt2, r50k, p50k, cl100k, o200k");
  assert_new_fails (longer, "\\w", DLP_TOKENIZER_ERROR_BAD_PATTERN, "not supported");
  assert_new_fails (clash, NULL, DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
                    "id 50256 of its special token");
  remove_copy (same);
  remove_copy (longer);
  remove_copy (named);
  remove_copy (clash);
}

static void
test_errors (void)
{
  char *wrong = copy_ranks ("cl100k_base.tiktoken", "");
  g_autofree char *folder = g_path_get_dirname (wrong);
  g_autofree char *before = g_strdup (g_getenv ("DLPIPE_VOCAB_PATH"));

  assert_new_fails ("gtp2", NULL, DLP_TOKENIZER_ERROR_NOT_FOUND, "gpt2, r50k_base, cl100k_base");
  assert_new_fails ("no/such/file", NULL, DLP_TOKENIZER_ERROR_NOT_FOUND, "no/such/file");
  assert_new_fails ("/", "gpt2", DLP_TOKENIZER_ERROR_NOT_FOUND, "cannot read");

  g_setenv ("DLPIPE_VOCAB_PATH", "/nonexistent", TRUE);
  assert_new_fails ("o200k_base", NULL, DLP_TOKENIZER_ERROR_NOT_FOUND, "/nonexistent");
  g_setenv ("DLPIPE_VOCAB_PATH", folder, TRUE);
  assert_new_fails ("cl100k_base", NULL, DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
                    "223921b76ee99bde995b7f");
  g_setenv ("DLPIPE_VOCAB_PATH", before, TRUE);
  remove_copy (wrong);
}

static void
test_specials (void)
{
  static const char text[] = "<<|endoftext|>x<|endoftext|><|endofprompt|><|endoftext|";
  g_autoptr (DlpTokenizer) o200k = load ("o200k_base", NULL);
  g_autofree guint32 *plain = NULL, *special = NULL;
  gsize n_plain, n_special;
  guint32 id = 0;

  g_assert_cmpuint (dlp_tokenizer_get_n_specials (o200k), ==, 2);
  g_assert_cmpstr (dlp_tokenizer_get_special (o200k, 1, &id), ==, "<|endofprompt|>");
  g_assert_cmpuint (id, ==, 200018);
  g_assert_true (dlp_tokenizer_lookup_special (o200k, endoftext, &id));
  g_assert_cmpuint (id, ==, 199999);
  g_assert_false (dlp_tokenizer_lookup_special (o200k, "<|endoftext|", &id));

  g_assert_cmpuint (dlp_tokenizer_count_specials (o200k, text, strlen (text)), ==, 3);
  g_assert_cmpuint (dlp_tokenizer_count_specials (o200k, text, 13), ==, 0);
  g_assert_cmpuint (dlp_tokenizer_count_specials (o200k, text, 14), ==, 1);
  g_assert_cmpuint (dlp_tokenizer_count_specials (o200k, NULL, 0), ==, 0);

  plain = dlp_tokenizer_encode_text (o200k, text, -1, DLP_TOKENIZER_FLAGS_NONE, &n_plain);
  for (gsize i = 0; i < n_plain; i++)
    g_assert_cmpuint (plain[i], <, 199999);
  special = dlp_tokenizer_encode_text (o200k, text, -1, DLP_TOKENIZER_FLAGS_SPECIALS, &n_special);
  g_assert_cmpuint (special[1], ==, 199999);
  g_assert_cmpuint (special[2], ==, 'x' - '!');
  g_assert_cmpuint (special[3], ==, 199999);
  g_assert_cmpuint (special[4], ==, 200018);
  g_assert_cmpuint (special[5], <, 199999);
}

static void
test_capacity (void)
{
  static const char text[] = "The quick brown fox jumps over the lazy dog, 12345 times.\n\n";
  g_autoptr (DlpTokenizer) gpt2 = load ("gpt2", NULL);
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (gpt2, 0);
  gsize len = strlen (text);

  for (gsize size = 0; size <= len; size++)
    {
      g_autofree char *exact = g_memdup2 (text, MAX (size, 1));
      g_autofree guint32 *enough = g_new (guint32, size + 1);
      gssize n = dlp_tokenizer_encode (gpt2, context, exact, size, enough, size);

      g_assert_cmpint (n, >=, 0);
      for (gssize capacity = 0; capacity <= n; capacity++)
        {
          g_autofree guint32 *ids = g_new (guint32, MAX (capacity, 1));
          g_autofree guint16 *ids16 = g_new (guint16, MAX (capacity, 1));
          gssize wanted = capacity < n ? -1 : n;

          g_assert_cmpint (dlp_tokenizer_encode (gpt2, context, exact, size, ids, capacity), ==,
                           wanted);
          g_assert_cmpint (dlp_tokenizer_encode16 (gpt2, context, exact, size, ids16, capacity), ==,
                           wanted);
          if (wanted == n)
            g_assert_cmpmem (ids, n * sizeof *ids, enough, n * sizeof *enough);
        }
    }
}

static void
test_decode (void)
{
  g_autoptr (DlpTokenizer) cl100k = load ("cl100k_base", NULL);
  g_autoptr (GString) out = g_string_new ("> ");
  g_autoptr (GError) error = NULL;
  guint32 ids[] = { 15339, 1917, 100257, 100261, 0 };
  gsize len;

  g_assert_false (dlp_tokenizer_decode (cl100k, ids, 5, out, &error));
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_ID);
  g_assert_nonnull (strstr (error->message, "id 100261 at position 3"));
  g_assert_cmpstr (out->str, ==, "> hello world<|endoftext|>");

  g_assert_nonnull (dlp_tokenizer_get_token (cl100k, 100276, &len));
  g_assert_cmpuint (len, ==, strlen ("<|endofprompt|>"));
  g_assert_null (dlp_tokenizer_get_token (cl100k, 100256, &len)); /* a hole */
  g_assert_null (dlp_tokenizer_get_token (cl100k, G_MAXUINT32, &len));
}

/* Text that is new all the time, so that the smallest cache is overrun again and again. */
static char *
make_text (guint seed, gsize len)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GString *text = g_string_new (NULL);

  while (text->len < len)
    {
      guint kind = g_rand_int_range (rand, 0, 8);

      for (gint n = g_rand_int_range (rand, 1, kind == 0 ? 120 : 9); n > 0; n--)
        if (kind < 5)
          g_string_append_c (text, "etaoinshrdlu"[g_rand_int_range (rand, 0, 12)]);
        else if (kind == 5)
          g_string_append_unichar (text, g_rand_int_range (rand, 0x4e00, 0x9000));
        else if (kind == 6)
          g_string_append_c (text, g_rand_int_range (rand, '!', '~'));
        else
          g_string_append_unichar (text, g_rand_int_range (rand, 0x400, 0x460));
      g_string_append_c (text, ' ');
    }
  return g_string_free (text, FALSE);
}

static void
test_small_cache (void)
{
  static const char *const models[] = { "gpt2", "cl100k_base", "o200k_base" };
  g_autofree char *text = make_text (1, 1 << 20);
  gsize len = strlen (text);
  g_autofree guint32 *a = g_new (guint32, len), *b = g_new (guint32, len);

  for (guint m = 0; m < G_N_ELEMENTS (models); m++)
    {
      g_autoptr (DlpTokenizer) self = load (models[m], NULL);
      g_autoptr (DlpTokenizerContext) small = dlp_tokenizer_context_new (self, 1);
      g_autoptr (DlpTokenizerContext) large = dlp_tokenizer_context_new (self, 64 << 20);
      gssize n = dlp_tokenizer_encode (self, small, text, len, a, len);
      g_autoptr (GString) decoded = g_string_new (NULL);

      for (guint pass = 0; pass < 2; pass++)
        {
          gssize count = dlp_tokenizer_encode (self, large, text, len, b, len);

          g_assert_cmpmem (a, n * sizeof *a, b, count * sizeof *b);
        }
      g_assert_true (dlp_tokenizer_decode (self, a, n, decoded, NULL));
      g_assert_cmpmem (decoded->str, decoded->len, text, len);
    }
}

/* Where many pieces are new they are encoded in turn, so that each has to be as if it came alone.
 */
static void
test_new_pieces (void)
{
  static const char *const models[] = { "gpt2", "cl100k_base", "o200k_base" };
  g_autofree char *text = make_text (2, 1 << 17);
  gsize len = strlen (text);
  g_autofree guint32 *a = g_new (guint32, len), *b = g_new (guint32, len);

  for (guint m = 0; m < G_N_ELEMENTS (models); m++)
    {
      g_autoptr (DlpTokenizer) self = load (models[m], NULL);
      g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (self, 0);
      gssize n = dlp_tokenizer_encode (self, context, text, len, a, len);
      gsize at = 0;

      for (gsize start = 0, end; start < len; start = end)
        {
          g_autoptr (DlpTokenizerContext) alone = dlp_tokenizer_context_new (self, 1);

          for (end = start + 1; end < len && text[end] != ' ';)
            end++;
          at += dlp_tokenizer_encode (self, alone, text + start, end - start, b + at, len - at);
        }
      g_assert_cmpmem (a, n * sizeof *a, b, at * sizeof *b);
    }
}

typedef struct
{
  DlpTokenizer *tokenizer;
  guint seed;
  guint64 sum;
} Worker;

static gpointer
work (gpointer data)
{
  Worker *worker = data;
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (worker->tokenizer, 1 << 20);
  g_autofree char *text = make_text (worker->seed, 1 << 17);
  gsize len = strlen (text);
  g_autofree guint32 *ids = g_new (guint32, len);
  gssize n = dlp_tokenizer_encode (worker->tokenizer, context, text, len, ids, len);

  worker->sum = n;
  for (gssize i = 0; i < n; i++)
    worker->sum = worker->sum * 31 + ids[i];
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (DlpTokenizer) known = load ("gpt2", NULL);
  g_autoptr (DlpTokenizer) regex = load ("gpt2", "\\p{L}+|\\p{N}| ?[^\\p{L}\\p{N}]+");
  Worker workers[8], alone;
  pthread_t threads[8];

  for (guint i = 0; i < 8; i++)
    {
      workers[i] = (Worker){ i % 2 ? regex : known, i / 2, 0 };
      g_assert_cmpint (pthread_create (&threads[i], NULL, work, &workers[i]), ==, 0);
    }
  for (guint i = 0; i < 8; i++)
    {
      pthread_join (threads[i], NULL);
      alone = (Worker){ workers[i].tokenizer, workers[i].seed, 0 };
      work (&alone);
      g_assert_cmpuint (alone.sum, ==, workers[i].sum);
    }
}

static void
test_regex (void)
{
  static const char pattern[] =
      "'s|'t|'re|'ve|'m|'ll|'d| ?(?:\\p{L})+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
      "\\s+(?!\\S)|\\s+";
  g_autoptr (DlpTokenizer) gpt2 = load ("gpt2", NULL);
  g_autoptr (DlpTokenizer) regex = load ("gpt2", pattern);
  g_autoptr (DlpTokenizer) letters = load ("gpt2", "\\p{L}+");
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (letters, 0);
  g_autofree char *text = make_text (3, 100000);
  g_autofree guint32 *a = NULL, *b = NULL;
  guint32 few[16];
  gsize n_a, n_b;

  a = dlp_tokenizer_encode_text (gpt2, text, -1, DLP_TOKENIZER_FLAGS_NONE, &n_a);
  b = dlp_tokenizer_encode_text (regex, text, -1, DLP_TOKENIZER_FLAGS_NONE, &n_b);
  g_assert_cmpmem (a, n_a * sizeof *a, b, n_b * sizeof *b);
  g_assert_cmpstr (dlp_tokenizer_get_fingerprint (gpt2), !=, dlp_tokenizer_get_fingerprint (regex));

  g_assert_cmpint (dlp_tokenizer_encode (letters, context, "12 ab, cd!!", 11, few, 11), ==, 2);
  g_assert_cmpuint (dlp_tokenizer_context_get_dropped (context), ==, 7);
}

static void
on_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  GAsyncResult **to = data;

  g_assert_null (source);
  *to = g_object_ref (result);
}

/* (transfer full): in a context of its own. */
static DlpTokenizer *
load_async (const char *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GAsyncResult) owned = NULL;
  GAsyncResult *result = NULL;

  g_main_context_push_thread_default (context);
  dlp_tokenizer_load_async (model, NULL, cancellable, on_ready, &result);
  while (result == NULL)
    g_main_context_iteration (context, TRUE);
  g_main_context_pop_thread_default (context);
  owned = result;
  return dlp_tokenizer_load_finish (owned, error);
}

static void
test_async (void)
{
  g_autoptr (DlpTokenizer) expected = load ("gpt2", NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpTokenizer) self = load_async ("gpt2", NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (dlp_tokenizer_get_fingerprint (self), ==,
                   dlp_tokenizer_get_fingerprint (expected));
  g_assert_null (load_async ("no-such-model", NULL, &error));
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_null (load_async ("gpt2", cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/model", test_model);
  g_test_add_func ("/tokenizer/async", test_async);
  g_test_add_func ("/tokenizer/path", test_path);
  g_test_add_func ("/tokenizer/errors", test_errors);
  g_test_add_func ("/tokenizer/specials", test_specials);
  g_test_add_func ("/tokenizer/capacity", test_capacity);
  g_test_add_func ("/tokenizer/decode", test_decode);
  g_test_add_func ("/tokenizer/small-cache", test_small_cache);
  g_test_add_func ("/tokenizer/new-pieces", test_new_pieces);
  g_test_add_func ("/tokenizer/threads", test_threads);
  g_test_add_func ("/tokenizer/regex", test_regex);
  return g_test_run ();
}
