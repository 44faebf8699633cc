/* SPDX-License-Identifier: MIT */
#include "dlp-model.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>
#include <time.h>

static DlpModel *
make_model (const char *text, gboolean byte_level, GError **error)
{
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (text, strlen (text), "file", error);

  g_assert_nonnull (tree);
  return dlp_model_new (dlp_json_tree_get_root (tree), byte_level, error);
}

static gsize
encode_cut (const DlpModel *model, const char *text, gsize len, guint32 *ids)
{
  const guint8 *p = (const guint8 *) text;
  DlpModelScratch scratch = { { NULL } };
  gsize n = 0;

  for (gsize start = 0, end; start < len; start = end)
    {
      end = dlp_model_find_cut (model, p, len, start + 1);
      g_assert_cmpuint (end, >, start);
      g_assert_cmpuint (end, <=, len);
      n += model->klass->encode (model, &scratch, p + start, end - start, ids + n);
    }
  dlp_model_scratch_clear (&scratch);
  return n;
}

/* @wanted: an array of ids. */
static void
assert_ids (const DlpModel *model, DlpJsonNode text, DlpJsonNode wanted)
{
  gsize len;
  const char *p = dlp_json_get_string (text, &len);
  guint count = dlp_json_get_n_children (wanted);
  DlpJsonNode at = dlp_json_get_first (wanted);
  g_autofree guint32 *ids = g_new (guint32, len);
  g_autofree guint32 *cut_ids = g_new (guint32, len);
  DlpModelScratch scratch = { { NULL } };
  gsize n = model->klass->encode (model, &scratch, (const guint8 *) p, len, ids);

  if (n != count)
    g_error ("\"%s\" has %zu ids, not %u", p, n, count);
  for (guint i = 0; i < count; i++)
    {
      guint64 id;

      g_assert_true (dlp_json_read_uint (at, G_MAXUINT32, &id, NULL));
      if (ids[i] != id)
        g_error ("\"%s\": id %u is %u, not %u", p, i, ids[i], (guint) id);
      at = dlp_json_get_next (at);
    }
  g_assert_cmpuint (encode_cut (model, p, len, cut_ids), ==, n);
  g_assert_cmpint (memcmp (ids, cut_ids, n * sizeof *ids), ==, 0);
  dlp_model_scratch_clear (&scratch);
}

static void
check_case (DlpJsonNode node, GHashTable *hashes)
{
  const char *name = dlp_json_get_string (dlp_json_get_member (node, "name"), NULL);
  DlpJsonNode cases = dlp_json_get_member (node, "cases"), at = dlp_json_get_first (cases);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (DlpModel) model = NULL;
  g_autoptr (GError) error = NULL;
  gboolean byte_level;

  g_assert_true (dlp_json_read_boolean (node, "byte_level", -1, &byte_level, &error));
  model = dlp_model_new (dlp_json_get_member (node, "model"), byte_level, &error);
  g_assert_no_error (error);
  g_test_message ("%s%s", name, model->can_cut ? ", can be cut" : "");
  for (guint i = 0; i < dlp_json_get_n_children (cases); i++)
    {
      DlpJsonNode text = dlp_json_get_first (at);

      assert_ids (model, text, dlp_json_get_next (text));
      at = dlp_json_get_next (at);
    }

  /* No two of them do the same, but for those that are another one in another form. */
  model->klass->hash (model, checksum);
  if (!g_str_has_suffix (name, "-strings") && !g_str_has_suffix (name, "-no-type") &&
      !g_hash_table_insert (hashes, g_strdup (g_checksum_get_string (checksum)), (char *) name))
    g_error ("%s has the hash of another model", name);
}

/* Ids of the original for models of each kind; see cases/make-models.py. */
static void
test_cases (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "cases", "models.json", NULL);
  g_autoptr (GHashTable) hashes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (DlpJsonTree) tree = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  DlpJsonNode root, at;
  gsize len;

  g_file_get_contents (path, &text, &len, &error);
  g_assert_no_error (error);
  tree = dlp_json_tree_new (text, len, "models.json", &error);
  g_assert_no_error (error);
  root = dlp_json_tree_get_root (tree);
  at = dlp_json_get_first (root);
  g_assert_cmpuint (dlp_json_get_n_children (root), >=, 30);
  for (guint i = 0; i < dlp_json_get_n_children (root); i++)
    {
      check_case (at, hashes);
      at = dlp_json_get_next (at);
    }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *model;
    const char *wanted;
    gboolean byte_level;
  } bad[] = {
    { "[]", "\"model\" is an array, not an object", FALSE },
    { "{\"type\":\"Neural\"}", "at byte 9: unknown type of model \"Neural\"; known are BPE",
      FALSE },
    { "{\"type\":1}", "\"type\" of the model is a number", FALSE },
    { "{\"type\":\"BPE\",\"vocab\":{},\"merges\":[],\"x\":1}", "unknown field \"x\"; known are",
      FALSE },
    { "{\"type\":\"BPE\",\"merges\":[]}", "no field \"vocab\"", FALSE },
    { "{\"type\":\"BPE\",\"vocab\":{}}", "no field \"merges\"", FALSE },
    { "{\"type\":\"BPE\",\"vocab\":[],\"merges\":[]}", "\"vocab\" is an array, not an object",
      FALSE },
    { "{\"type\":\"BPE\",\"vocab\":{\"a\":-1},\"merges\":[]}", "-1 is not a whole number", FALSE },
    { "{\"type\":\"BPE\",\"vocab\":{\"a\":2097151},\"merges\":[]}", "from 0 to 2097150", FALSE },
    { "{\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]}",
      "at byte 17: the entry \"b\" has id 0, which another one has too", FALSE },
    { "{\"vocab\":{\"a\":0,\"a\":1},\"merges\":[]}", "the entry \"a\" is given twice", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[\"a\"]}", "merge 0 is \"a\", not two entries", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[\"a  a\"]}", "merge 0 is \"a  a\", not two", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}", "merge 0 needs \"b\", which is no entry",
      FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[\"a a\"]}", "merge 0 needs \"aa\"", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]}", "merge 0 has 1 sides", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[[\"a\",1]]}", "right side of a merge is a number", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[1]}", "a merge is a number", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[],\"dropout\":0.1}", "\"dropout\" is 0.1", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[],\"fuse_unk\":3}", "\"fuse_unk\" is a number", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[],\"unk_token\":\"u\"}", "unk_token \"u\" is no entry",
      FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[],\"unk_token\":\"u\"}", "unk_token \"u\" is no entry",
      TRUE },
    { "{\"vocab\":{\"a\":0},\"merges\":[],\"byte_fallback\":true}", "together with ByteLevel",
      TRUE },
    { "{\"vocab\":{\"a\":0},\"merges\":[],\"byte_fallback\":true,\"end_of_word_suffix\":\"w\"}",
      "together with a prefix or a suffix", FALSE },
    { "{\"vocab\":{\"a\":0},\"merges\":[],\"end_of_word_suffix\":\"\xe4\xb8\xad\"}",
      "not written with the letters", TRUE },
    { "{\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[\"a a\"],\"continuing_subword_prefix\":\"#\"}",
      "does not begin with the continuing_subword_prefix", FALSE },
    { "{\"type\":\"WordLevel\",\"vocab\":{\"a\":0}}", "no field \"unk_token\"", FALSE },
    { "{\"vocab\":{\"a\":0},\"unk_token\":\"u\"}", "unk_token \"u\" is no entry", FALSE },
    { "{\"vocab\":{\"a\":0},\"unk_token\":null}", "\"unk_token\" is null", FALSE },
    { "{\"type\":\"WordPiece\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}",
      "no field \"continuing_subword_prefix\"", FALSE },
    { "{\"type\":\"WordPiece\",\"vocab\":{\"a\":0},\"unk_token\":\"a\","
      "\"continuing_subword_prefix\":\"\"}",
      "no field \"max_input_chars_per_word\"", FALSE },
    { "{\"type\":\"Unigram\",\"vocab\":{}}", "\"vocab\" is an object, not an array", FALSE },
    { "{\"vocab\":[],\"unk_id\":0}", "\"vocab\" has no entries", FALSE },
    { "{\"vocab\":[[\"a\",0]]}", "no \"unk_id\"", FALSE },
    { "{\"vocab\":[[\"a\",0]],\"unk_id\":1}", "1 is not a whole number from 0 to 0", FALSE },
    { "{\"vocab\":[[\"a\"]],\"unk_id\":0}", "an entry of \"vocab\" has 1 elements", FALSE },
    { "{\"vocab\":[[0,\"a\"]],\"unk_id\":0}", "the content of an entry is a number", FALSE },
    { "{\"vocab\":[[\"a\",null]],\"unk_id\":0}", "is null, not a number", FALSE },
    { "{\"vocab\":[3],\"unk_id\":0}", "an entry of \"vocab\" is a number", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpModel) model = make_model (bad[i].model, bad[i].byte_level, &error);

      if (model != NULL)
        g_error ("accepted: %s", bad[i].model);
      g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY);
      if (strstr (error->message, bad[i].wanted) == NULL ||
          !g_str_has_prefix (error->message, "file"))
        g_error ("\"%s\" does not say \"%s\"", error->message, bad[i].wanted);
    }
}

static void
assert_token (const DlpModel *model, guint32 id, const char *wanted)
{
  gsize len = 0;
  const guint8 *token = model->klass->get_token (model, id, &len);

  if (wanted == NULL)
    g_assert_null (token);
  else
    g_assert_cmpmem (token, len, wanted, strlen (wanted));
}

static void
assert_content (const DlpModel *model, const char *content, guint32 id)
{
  g_assert_cmpuint (model->klass->lookup (model, content, strlen (content)), ==, id);
}

/* An entry is written with letters; in text it is the bytes. "中" is written with none of them. */
static void
test_entries (void)
{
  const char *text =
      "{\"vocab\":{\"\xc4\xa0x\":0,\"\xe4\xb8\xad\":3,\"\xc3\xa4\xc2\xb8\xc5\x83\":5},"
      "\"merges\":[]}";
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpModel) letters = make_model (text, TRUE, &error);
  g_autoptr (DlpModel) plain = make_model (text, FALSE, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (letters->n_ids, ==, 6);
  assert_token (letters, 0, " x");
  assert_token (letters, 1, NULL);
  assert_token (letters, 3, "\xe4\xb8\xad");
  assert_token (letters, 5, "\xe4\xb8\xad");
  assert_token (letters, 6, NULL);
  assert_content (letters, "\xe4\xb8\xad", 3);
  assert_content (letters, "\xc3\xa4\xc2\xb8\xc5\x83", 5);
  assert_content (letters, " x", DLP_ID_NONE);
  assert_content (letters, "\xc4\xa0x", 0);
  assert_content (letters, "", DLP_ID_NONE);

  assert_token (plain, 0, "\xc4\xa0x");
  assert_content (plain, "\xc4\xa0x", 0);
  assert_content (plain, "\xe4\xb8\xad", 3);
}

static void
test_bytes (void)
{
  g_autoptr (DlpModel) model = dlp_model_new_bytes (3);
  DlpModelScratch scratch = { { NULL } };
  guint32 ids[3];
  gsize len;

  g_assert_cmpuint (model->klass->encode (model, &scratch, (const guint8 *) "a\xff\0", 3, ids), ==,
                    3);
  g_assert_cmpuint (ids[0], ==, 'a' + 3);
  g_assert_cmpuint (ids[1], ==, 258);
  g_assert_cmpuint (ids[2], ==, 3);
  g_assert_cmpuint (model->n_ids, ==, 259);
  assert_token (model, 2, NULL);
  assert_token (model, 259, NULL);
  assert_token (model, 'a' + 3, "a");
  g_assert_nonnull (model->klass->get_token (model, 258, &len));
  assert_content (model, "a", 'a' + 3);
  assert_content (model, "ab", DLP_ID_NONE);
}

static DlpModel *
open_ranks (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("DLPIPE_VOCAB_PATH"), "r50k_base.tiktoken", NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *content = NULL;
  DlpVocabulary *vocabulary;
  gsize len;

  g_file_get_contents (path, &content, &len, &error);
  g_assert_no_error (error);
  vocabulary = dlp_vocabulary_parse (content, len, "r50k", &error);
  g_assert_no_error (error);
  return dlp_model_new_ranks (vocabulary);
}

static void
test_ranks (void)
{
  g_autoptr (DlpModel) model = open_ranks ();
  DlpModelScratch scratch = { { NULL } };
  guint32 ids[16];

  g_assert_cmpuint (model->klass->encode (model, &scratch, (const guint8 *) "hello", 5, ids), ==,
                    1);
  g_assert_cmpuint (ids[0], ==, 31373);
  g_assert_cmpuint (model->klass->encode (model, &scratch, (const guint8 *) "hellothe", 8, ids), ==,
                    2);
  assert_token (model, ids[0], "hell");
  assert_token (model, ids[1], "othe");
  assert_token (model, 31373, "hello");
  assert_content (model, "hello", 31373);
  g_assert_cmpuint (model->n_ids, ==, 50256);
}

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

/* One piece of a megabyte: no quadratic time, no room kept. */
static void
test_long (void)
{
  static const char *const models[] = {
    "{\"vocab\":{\"u\":0,\"a\":1,\"aa\":2,\"aaa\":3,\"aaaa\":4},"
    "\"merges\":[\"a a\",\"aa aa\",\"aa a\"],\"unk_token\":\"u\"}",
    "{\"vocab\":[[\"u\",-9],[\"a\",-2],[\"aa\",-2],[\"aaaaaaaa\",-3]],\"unk_id\":0}",
    "{\"vocab\":{\"u\":0,\"a\":1,\"aaaaaaaa\":2},\"unk_token\":\"u\","
    "\"continuing_subword_prefix\":\"\",\"max_input_chars_per_word\":9999999}",
    "{\"vocab\":{\"u\":0,\"a\":1},\"unk_token\":\"u\"}",
  };
  gsize len = 1 << 20;
  g_autofree guint8 *text = g_malloc (len);
  g_autofree guint32 *ids = g_new (guint32, len);

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autoptr (DlpModel) model = make_model (models[i], FALSE, NULL);
      DlpModelScratch scratch = { { NULL } };

      for (guint kind = 0; kind < 2; kind++)
        {
          double start = cpu_seconds ();
          gsize n;

          memset (text, kind == 0 ? 'a' : 'z', len);
          n = model->klass->encode (model, &scratch, text, len, ids);
          start = cpu_seconds () - start;
          g_test_message ("model %u, text %u: %zu ids in %.3f s", i, kind, n, start);
          g_assert_cmpuint (n, >, 0);
          g_assert_cmpfloat (start, <, 10.0);
          g_assert_cmpuint (scratch.capacity + scratch.bpe.capacity, <=, 1 << 19);
        }
      dlp_model_scratch_clear (&scratch);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/model/cases", test_cases);
  g_test_add_func ("/tokenizer/model/refused", test_refused);
  g_test_add_func ("/tokenizer/model/entries", test_entries);
  g_test_add_func ("/tokenizer/model/bytes", test_bytes);
  g_test_add_func ("/tokenizer/model/ranks", test_ranks);
  g_test_add_func ("/tokenizer/model/long", test_long);
  return g_test_run ();
}
