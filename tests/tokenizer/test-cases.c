/* SPDX-License-Identifier: MIT */
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

/* Cases with the ids that tiktoken gave them; cases/convert.py says what a line looks like. */
typedef struct
{
  DlpTokenizer *tokenizer;
  DlpTokenizerContext *context;
} Fixture;

static void
unpack (const char *words, guint base, GArray *values)
{
  for (const char *p = words; *p;)
    {
      char *end;
      guint32 value = g_ascii_strtoull (p, &end, base);
      guint64 count = *end == '*' ? g_ascii_strtoull (end + 1, &end, 10) : 1;

      for (guint64 i = 0; i < count; i++)
        g_array_append_val (values, value);
      p = end + (*end == ' ');
    }
}

static char *
unpack_text (const char *words, gsize *len)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (guint32));
  char *text;

  unpack (words, 16, values);
  *len = values->len;
  /* Of exactly this size, so that a sanitizer sees a read behind the end. */
  text = g_malloc (MAX (values->len, 1));
  for (guint i = 0; i < values->len; i++)
    text[i] = g_array_index (values, guint32, i);
  return text;
}

static void
check_ids (const char *line, const guint32 *ids, gssize n, const GArray *expected)
{
  if (n != expected->len || (n > 0 && memcmp (ids, expected->data, n * sizeof *ids) != 0))
    {
      g_test_message ("line: %.2000s", line);
      for (gssize i = 0; i < n; i++)
        if (i >= expected->len || ids[i] != g_array_index (expected, guint32, i))
          {
            g_test_message ("first difference: id %zd is %u", i, ids[i]);
            break;
          }
      g_assert_cmpint (n, ==, expected->len);
      g_assert_not_reached ();
    }
}

static void
check_decode (Fixture *fixture, const guint32 *ids, gsize n, const char *text, gsize len)
{
  g_autoptr (GString) decoded = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (dlp_tokenizer_decode (fixture->tokenizer, ids, n, decoded, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (decoded->str, decoded->len, text, len);
}

static void
check_16 (Fixture *fixture,
          DlpTokenizerFlags flags,
          const char *text,
          gsize len,
          const guint32 *ids,
          gsize n)
{
  g_autofree guint16 *narrow = g_new (guint16, len + 1);

  g_assert_cmpint (dlp_tokenizer_encode16_full (fixture->tokenizer, fixture->context, text, len,
                                                flags, narrow, len),
                   ==, n);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpuint (narrow[i], ==, ids[i]);
}

static void
check_line (Fixture *fixture, const char *line)
{
  g_auto (GStrv) parts = g_strsplit (line, "|", 3);
  g_autoptr (GArray) expected = g_array_new (FALSE, FALSE, sizeof (guint32));
  DlpTokenizerFlags flags = strcmp (parts[0], "specials") == 0 ? DLP_TOKENIZER_FLAGS_SPECIALS : 0;
  g_autofree char *text = NULL;
  g_autofree guint32 *ids = NULL;
  gsize len;
  gssize n;

  g_assert_cmpuint (g_strv_length (parts), ==, 3);
  text = unpack_text (parts[1], &len);
  unpack (parts[2], 10, expected);
  ids = g_new (guint32, MAX (len, 1));

  /* Twice: from an empty cache or not, the ids are the same. */
  for (guint pass = 0; pass < 2; pass++)
    {
      n = dlp_tokenizer_encode_full (fixture->tokenizer, fixture->context, text, len, flags, ids,
                                     len);
      check_ids (line, ids, n, expected);
    }
  check_decode (fixture, ids, n, text, len);
  if (dlp_tokenizer_get_vocab_size (fixture->tokenizer) <= 65536)
    check_16 (fixture, flags, text, len, ids, n);
}

static void
test_model (gconstpointer data)
{
  const char *model = data;
  g_autofree char *name = g_strconcat (model, ".cases", NULL);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "cases", name, NULL);
  g_autofree char *content = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;
  Fixture fixture;
  guint n = 0;

  g_file_get_contents (path, &content, NULL, &error);
  g_assert_no_error (error);
  fixture.tokenizer = dlp_tokenizer_new (model, NULL, &error);
  g_assert_no_error (error);
  fixture.context = dlp_tokenizer_context_new (fixture.tokenizer, 0);

  lines = g_strsplit (content, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (*lines[i] && *lines[i] != '#')
      {
        check_line (&fixture, lines[i]);
        n++;
      }

  g_assert_cmpuint (n, >, 250);
  g_assert_cmpuint (dlp_tokenizer_context_get_dropped (fixture.context), ==, 0);
  dlp_tokenizer_context_free (fixture.context);
  g_object_unref (fixture.tokenizer);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/tokenizer/cases/gpt2", "gpt2", test_model);
  g_test_add_data_func ("/tokenizer/cases/cl100k", "cl100k_base", test_model);
  g_test_add_data_func ("/tokenizer/cases/o200k", "o200k_base", test_model);
  return g_test_run ();
}
