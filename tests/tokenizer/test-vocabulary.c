/* SPDX-License-Identifier: MIT */
#include "dlp-vocabulary.h"
#include "dlpipe/dlp-tokenizer.h"

#include <pthread.h>

/* A file with the 256 single bytes and @more. */
static char *
make_file (const char *more)
{
  GString *file = g_string_new (NULL);

  for (guint i = 0; i < 256; i++)
    {
      guchar byte = i;
      g_autofree char *base64 = g_base64_encode (&byte, 1);

      g_string_append_printf (file, "%s %u\n", base64, i);
    }
  g_string_append (file, more);
  return g_string_free (file, FALSE);
}

static void
assert_refused (const char *file, const char *wanted)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_vocabulary_parse (file, strlen (file), "some.tiktoken", &error));
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY);
  if (strstr (error->message, wanted) == NULL || strstr (error->message, "some.tiktoken") == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, wanted);
}

static void
test_good (void)
{
  g_autofree char *file =
      make_file ("YWI= 300\r\n\nYWJhYg== 301\nYWFhYWFhYWFhYWFhYWFhYWFhYWE= 302");
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpVocabulary) vocabulary = NULL;

  vocabulary = dlp_vocabulary_parse (file, strlen (file), "some", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vocabulary->n_tokens, ==, 259);
  g_assert_cmpuint (vocabulary->n_ids, ==, 303);
  g_assert_cmpuint (vocabulary->lengths[299], ==, 0);
  g_assert_cmpuint (dlp_vocabulary_lookup (vocabulary, (const guint8 *) "ab", 2), ==, 300);
  g_assert_cmpuint (dlp_vocabulary_lookup (vocabulary, (const guint8 *) "aaaaaaaaaaaaaaaaaaaa", 20),
                    ==, 302);
  g_assert_cmpuint (dlp_vocabulary_lookup (vocabulary, (const guint8 *) "aaaaaaaaaaaaaaaaaaa", 19),
                    ==, DLP_ID_NONE);
  g_assert_cmpuint (dlp_vocabulary_lookup (vocabulary, (const guint8 *) "ba", 2), ==, DLP_ID_NONE);
  g_assert_cmpuint (dlp_vocabulary_merge (vocabulary, 'a', 'b'), ==, 300);
  g_assert_cmpuint (dlp_vocabulary_merge (vocabulary, 300, 300), ==, 301);
  g_assert_cmpuint (dlp_vocabulary_merge (vocabulary, 'b', 'a'), ==, DLP_ID_NONE);
  /* "aba" is no entry, so that "abab" has only one cut. */
  g_assert_cmpuint (dlp_vocabulary_merge (vocabulary, 301, 'b'), ==, DLP_ID_NONE);
}

static void
test_bad_lines (void)
{
  static const struct
  {
    const char *line;
    const char *wanted;
  } bad[] = {
    { "YWI=", ":257: no space" },
    { "YWI 300", ":257: the token is not valid base64" },
    { "Y=I= 300", "base64" },
    { "Y=== 300", "base64" },
    { "==== 300", "base64" },
    { "YWJ= 300", "base64" },
    { "YW!= 300", "base64" },
    { " 300", "base64" },
    { "YWI= ", "the rank is not a number" },
    { "YWI=  300", "the rank is not a number" },
    { "YWI= -1", "the rank is not a number" },
    { "YWI= 3x", "the rank is not a number" },
    { "YWI= 2097151", "from 0 to 2097150" },
    { "YWI= 99999999999999999999", "the rank is not a number" },
    { "YWI= 5", "rank 5 is given twice" },
    { "YQ== 300", "the token of rank 300 is given twice" },
    { "YWI= 300\nYWI= 301", ":258: the token of rank 301 is given twice" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *file = make_file (bad[i].line);

      assert_refused (file, bad[i].wanted);
    }
}

static void
test_bad_files (void)
{
  g_autofree guchar *bytes = g_malloc0 (1025);
  g_autofree char *base64 = g_base64_encode (bytes, 1025);
  g_autofree char *line = g_strconcat (base64, " 300", NULL);
  g_autofree char *too_long = make_file (line);
  g_autofree char *incomplete = make_file ("");

  assert_refused ("", "single byte 0x00");
  assert_refused ("\n\r\n", "single byte 0x00");
  assert_refused ("{\"model\":{}}", "no space");
  assert_refused (too_long, "1025 bytes; at most 1024");
  assert_refused (strchr (incomplete, '\n'), "single byte 0x00");
}

static gpointer
get_and_drop (gpointer data)
{
  GBytes *file = data;

  for (guint i = 0; i < 200; i++)
    {
      g_autoptr (GError) error = NULL;
      DlpVocabulary *vocabulary = dlp_vocabulary_get (file, "some", &error);

      g_assert_no_error (error);
      g_assert_cmpuint (vocabulary->n_ids, ==, 301);
      dlp_vocabulary_unref (vocabulary);
    }
  return NULL;
}

static void
test_shared (void)
{
  g_autofree char *text = make_file ("YWI= 300\n");
  g_autofree char *other_text = make_file ("YWI= 299\n");
  g_autoptr (GBytes) file = g_bytes_new (text, strlen (text));
  g_autoptr (GBytes) copy = g_bytes_new (text, strlen (text));
  g_autoptr (GBytes) other = g_bytes_new (other_text, strlen (other_text));
  DlpVocabulary *a = dlp_vocabulary_get (file, "a", NULL);
  DlpVocabulary *b = dlp_vocabulary_get (copy, "b", NULL);
  DlpVocabulary *c = dlp_vocabulary_get (other, "c", NULL);
  pthread_t threads[4];

  g_assert_true (a == b);
  g_assert_true (a != c);
  dlp_vocabulary_unref (a);
  g_assert_cmpuint (b->n_ids, ==, 301);
  dlp_vocabulary_unref (b);
  dlp_vocabulary_unref (c);

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_cmpint (pthread_create (&threads[i], NULL, get_and_drop, file), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    pthread_join (threads[i], NULL);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/vocabulary/good", test_good);
  g_test_add_func ("/tokenizer/vocabulary/bad-lines", test_bad_lines);
  g_test_add_func ("/tokenizer/vocabulary/bad-files", test_bad_files);
  g_test_add_func ("/tokenizer/vocabulary/shared", test_shared);
  return g_test_run ();
}
