/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <string.h>

/* What can be asked about a tokenizer and its ids. */

static DlpTokenizer *
load (gconstpointer data, gsize size)
{
  g_autoptr (GError) error = NULL;
  DlpTokenizer *tokenizer = load_as ("model", data, size, &error);

  g_assert_no_error (error);
  return tokenizer;
}

static DlpTokenizer *
load_json (const char *added, const char *post_processor)
{
  g_autofree char *json = g_strdup_printf (
      "{\"added_tokens\":[%s],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":"
      "\"NFC\"},{\"type\":\"Lowercase\"}]},\"pre_tokenizer\":{\"type\":\"Sequence\","
      "\"pretokenizers\":[{\"type\":\"Whitespace\"}]},\"post_processor\":%s,\"decoder\":null,"
      "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"[UNK]\":0,\"a\":1,\"ab\":2,\"<0x41>\":3,"
      "\"<s>\":4,\"<bos>\":5,\"x\":6},\"unk_token\":\"[UNK]\"}}",
      added, post_processor);

  return load (json, strlen (json));
}

static void
assert_steps (DlpTokenizer *tokenizer, const char *wanted)
{
  g_auto (GStrv) steps = dlp_tokenizer_list_steps (tokenizer);
  g_autofree char *all = g_strjoinv ("; ", steps);

  g_assert_cmpstr (all, ==, wanted);
}

static void
assert_counts (DlpTokenizer *tokenizer,
               const guint32 *ids,
               gsize n,
               guint64 unknown,
               guint64 single_bytes)
{
  g_autofree guint16 *narrow = g_new (guint16, n);
  guint64 found[2] = { 99, 99 };

  dlp_tokenizer_count_ids (tokenizer, ids, n, &found[0], &found[1]);
  g_assert_cmpuint (found[0], ==, unknown);
  g_assert_cmpuint (found[1], ==, single_bytes);
  for (gsize i = 0; i < n; i++)
    narrow[i] = (guint16) MIN (ids[i], G_MAXUINT16);
  dlp_tokenizer_count_ids16 (tokenizer, narrow, n, &found[0], NULL);
  g_assert_cmpuint (found[0], ==, unknown);
  dlp_tokenizer_count_ids16 (tokenizer, narrow, n, NULL, &found[1]);
  g_assert_cmpuint (found[1], ==, single_bytes);
}

static void
test_bytes (void)
{
  g_autoptr (DlpTokenizer) tokenizer = dlp_tokenizer_new_bytes (4);
  const guint32 ids[] = { 0, 4, 259, 260 };

  g_assert_cmpint (dlp_tokenizer_get_kind (tokenizer), ==, DLP_TOKENIZER_KIND_BYTES);
  g_assert_cmpuint (dlp_tokenizer_get_vocab_size (tokenizer), ==, 260);
  assert_steps (tokenizer, "model: bytes");
  assert_counts (tokenizer, ids, G_N_ELEMENTS (ids), 0, 2);
}

static void
test_ranks (void)
{
  g_autoptr (DlpTokenizer) tokenizer = dlp_tokenizer_new ("gpt2", NULL, NULL);
  const guint32 ids[] = { 64, 15496, 188, 50256, 60000, 98 };
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (dlp_tokenizer_get_kind (tokenizer), ==, DLP_TOKENIZER_KIND_RANKS);
  assert_steps (tokenizer, "model: BPE");
  g_assert_false (dlp_tokenizer_get_unknown (tokenizer, NULL));
  g_assert_false (dlp_tokenizer_get_bos (tokenizer, NULL, &error));
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NO_BOS);
  g_assert_nonnull (strstr (error->message, "<|endoftext|> (50256)"));
  assert_counts (tokenizer, ids, G_N_ELEMENTS (ids), 0, 3);
  assert_counts (tokenizer, NULL, 0, 0, 0);
}

/* Of any length, and of more than the sums of one round can be; ids at the borders of the range. */
static void
test_many (void)
{
  g_autoptr (DlpTokenizer) tokenizer = dlp_tokenizer_new_bytes (4);
  static const guint32 some[] = { 4, 3, 259, 260, 100, 65535 };
  const gsize n = 1200 * 1000;
  g_autofree guint32 *ids = g_new (guint32, n);

  for (gsize i = 0; i < n; i++)
    ids[i] = some[i % G_N_ELEMENTS (some)];
  for (gsize len = 0, wanted = 0; len < 70; len++)
    {
      assert_counts (tokenizer, ids, len, 0, wanted);
      wanted += ids[len] >= 4 && ids[len] < 260;
    }
  for (gsize i = 0; i < n; i++)
    ids[i] = 77;
  assert_counts (tokenizer, ids, n, 0, n);
}

#define SPECIAL(content) "{\"id\":9,\"content\":\"" content "\",\"special\":true}"

static void
test_json (void)
{
  g_autoptr (DlpTokenizer) tokenizer = load_json (SPECIAL ("<s>") "," SPECIAL ("x"), "null");
  const guint32 ids[] = { 0, 1, 2, 0, 3, 6 };
  guint32 id;

  g_assert_cmpint (dlp_tokenizer_get_kind (tokenizer), ==, DLP_TOKENIZER_KIND_JSON);
  assert_steps (tokenizer, "normalizer: NFC, Lowercase; pre_tokenizer: Whitespace; "
                           "model: WordLevel");
  g_assert_true (dlp_tokenizer_get_unknown (tokenizer, &id));
  g_assert_cmpuint (id, ==, 0);
  g_assert_true (dlp_tokenizer_get_bos (tokenizer, &id, NULL));
  g_assert_cmpuint (id, ==, 4);
  /* One entry that looks like a byte is none. */
  assert_counts (tokenizer, ids, G_N_ELEMENTS (ids), 2, 2);
}

static void
test_bos (void)
{
  g_autoptr (DlpTokenizer) several = load_json (SPECIAL ("<s>") "," SPECIAL ("<bos>"), "null");
  g_autoptr (DlpTokenizer) named =
      load_json (SPECIAL ("<s>") "," SPECIAL ("<bos>"),
                 "{\"type\":\"BertProcessing\",\"cls\":[\"<bos>\",5],\"sep\":[\"x\",6]}");
  g_autoptr (GError) error = NULL;
  guint32 id;

  g_assert_false (dlp_tokenizer_get_bos (several, NULL, &error));
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_NO_BOS);
  g_assert_nonnull (strstr (error->message, "It may be <s> (4), <bos> (5)"));
  g_assert_true (dlp_tokenizer_get_bos (named, &id, NULL));
  g_assert_cmpuint (id, ==, 5);
}

static void
append_piece (GByteArray *file, const char *content, guint8 type)
{
  guint8 head[] = { 0x0a, 0, 0x0a, 0 };
  const guint8 tail[] = { 0x15, 0, 0, 0x80, 0xbf, 0x18, type };

  head[3] = strlen (content);
  head[1] = 2 + head[3] + sizeof tail;
  g_byte_array_append (file, head, sizeof head);
  g_byte_array_append (file, (const guint8 *) content, head[3]);
  g_byte_array_append (file, tail, sizeof tail);
}

static void
test_sentencepiece (void)
{
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (DlpTokenizer) tokenizer = NULL;
  const guint8 trainer[] = { 0x12, 5, 0x18, 2, 0x98, 2, 1 };
  const guint32 ids[] = { 0, 2, 3 + 0xe4, 260, 3 };
  guint32 id;

  append_piece (file, "<unk>", 2);
  append_piece (file, "<s>", 3);
  append_piece (file, "</s>", 3);
  for (guint i = 0; i < 256; i++)
    {
      g_autofree char *content = g_strdup_printf ("<0x%02X>", i);

      append_piece (file, content, 6);
    }
  append_piece (file, "a", 1);
  append_piece (file, "▁a", 1);
  g_byte_array_append (file, trainer, sizeof trainer);

  tokenizer = load (file->data, file->len);
  g_assert_cmpint (dlp_tokenizer_get_kind (tokenizer), ==, DLP_TOKENIZER_KIND_SENTENCEPIECE);
  assert_steps (tokenizer,
                "normalizer_spec: remove_extra_whitespaces, add_dummy_prefix, escape_whitespaces; "
                "model_type: BPE, byte_fallback");
  g_assert_true (dlp_tokenizer_get_bos (tokenizer, &id, NULL));
  g_assert_cmpuint (id, ==, 1);
  assert_counts (tokenizer, ids, G_N_ELEMENTS (ids), 1, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/info/ranks", test_ranks);
  g_test_add_func ("/info/many", test_many);
  g_test_add_func ("/info/bytes", test_bytes);
  g_test_add_func ("/info/json", test_json);
  g_test_add_func ("/info/bos", test_bos);
  g_test_add_func ("/info/sentencepiece", test_sentencepiece);
  return g_test_run ();
}
