/* SPDX-License-Identifier: MIT */
#include "dlp-sentencepiece.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

/* @wanted: an array of ids. */
static void
assert_ids (const DlpModel *model, DlpJsonNode text, DlpJsonNode wanted)
{
  gsize len;
  const char *p = dlp_json_get_string (text, &len);
  guint count = dlp_json_get_n_children (wanted);
  DlpJsonNode at = dlp_json_get_first (wanted);
  g_autofree guint32 *ids = g_new (guint32, len);
  DlpModelScratch scratch = { { NULL } };
  gsize n = model->klass->encode (model, &scratch, (const guint8 *) p, len, ids), n_cut = 0;

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

  for (gsize start = 0, end; start < len; start = end)
    {
      guint32 part[8192];
      gsize m;

      end = dlp_model_find_cut (model, (const guint8 *) p, len, start + 1);
      g_assert_cmpuint (end - start, <=, G_N_ELEMENTS (part));
      m = model->klass->encode (model, &scratch, (const guint8 *) p + start, end - start, part);
      g_assert_cmpint (memcmp (part, ids + n_cut, m * sizeof *part), ==, 0);
      n_cut += m;
    }
  g_assert_cmpuint (n_cut, ==, n);
  dlp_model_scratch_clear (&scratch);
}

static DlpModel *
open_model (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpSentencePiece) file = dlp_sentencepiece_parse (data, size, "file", &error);
  DlpModel *model;

  g_assert_no_error (error);
  g_assert_true (dlp_sentencepiece_is_likely (data, size));
  model = dlp_model_new_sentencepiece (file, &error);
  g_assert_no_error (error);
  return model;
}

static void
check_case (DlpJsonNode node, GHashTable *hashes)
{
  const char *name = dlp_json_get_string (dlp_json_get_member (node, "name"), NULL);
  const char *base64 = dlp_json_get_string (dlp_json_get_member (node, "model"), NULL);
  DlpJsonNode cases = dlp_json_get_member (node, "cases"), at = dlp_json_get_first (cases);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (DlpModel) model = NULL;
  g_autofree guint8 *data = NULL;
  gsize size;

  data = g_base64_decode (base64, &size);
  model = open_model (data, size);
  g_test_message ("%s%s", name, model->can_cut ? ", can be cut" : "");
  for (guint i = 0; i < dlp_json_get_n_children (cases); i++)
    {
      DlpJsonNode text = dlp_json_get_first (at);

      assert_ids (model, text, dlp_json_get_next (text));
      at = dlp_json_get_next (at);
    }
  model->klass->hash (model, checksum);
  if (!g_hash_table_add (hashes, g_strdup (g_checksum_get_string (checksum))))
    g_error ("%s has the hash of another model", name);
}

/* Ids of the original; see cases/make-sentencepiece.py. */
static void
test_cases (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "cases", "sentencepiece.json", NULL);
  g_autoptr (GHashTable) hashes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (DlpJsonTree) tree = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  DlpJsonNode root, at;
  gsize len;

  g_file_get_contents (path, &text, &len, &error);
  g_assert_no_error (error);
  tree = dlp_json_tree_new (text, len, "sentencepiece.json", &error);
  g_assert_no_error (error);
  root = dlp_json_tree_get_root (tree);
  at = dlp_json_get_first (root);
  g_assert_cmpuint (dlp_json_get_n_children (root), >=, 12);
  for (guint i = 0; i < dlp_json_get_n_children (root); i++)
    {
      check_case (at, hashes);
      at = dlp_json_get_next (at);
    }
}

#define UNK "\x0a\x09\x0a\x05<unk>\x18\x02"
#define PIECE_A                                                                                    \
  "\x0a\x08\x0a\x01"                                                                               \
  "a\x15\0\0\x80\xbf"
#define BOS "\x0a\x07\x0a\x03<s>\x18\x03"

static void
test_fields (void)
{
  static const char data[] = UNK BOS PIECE_A
      "\x12\x05\x18\x02\xf2\x02\x00"                         /* BPE; the name of bos is empty */
      "\x1a\x0d\x12\x03\0xy\x18\x00\x20\x00\x28\x00\x30\x07" /* and a field that nobody knows */
      "\x22\x01z";
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpSentencePiece) file =
      dlp_sentencepiece_parse ((const guint8 *) data, sizeof data - 1, "file", &error);
  g_autoptr (DlpModel) model = NULL;
  const DlpSentencePieceEntry *entry;

  g_assert_no_error (error);
  g_assert_cmpint (file->kind, ==, DLP_SENTENCEPIECE_BPE);
  g_assert_cmpuint (file->entries->len, ==, 3);
  g_assert_cmpuint (file->unknown_id, ==, 0);
  g_assert_cmpuint (file->bos_id, ==, DLP_ID_NONE);
  g_assert_cmpuint (file->eos_id, ==, DLP_ID_NONE);
  g_assert_cmpmem (file->normalizer.charsmap, file->normalizer.charsmap_size, "\0xy", 3);
  g_assert_false (file->normalizer.add_dummy_prefix);
  g_assert_false (file->normalizer.remove_extra_whitespaces);
  g_assert_false (file->normalizer.escape_whitespaces);
  entry = &g_array_index (file->entries, DlpSentencePieceEntry, 2);
  g_assert_cmpmem (entry->p, entry->len, "a", 1);
  g_assert_cmpfloat (entry->score, ==, -1);
  g_assert_cmpint (entry->type, ==, DLP_PIECE_NORMAL);

  model = dlp_model_new_sentencepiece (file, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (model->n_ids, ==, 3);
  g_assert_cmpuint (model->klass->lookup (model, "<s>", 3), ==, 1);
  g_assert_cmpuint (model->klass->lookup (model, "a", 1), ==, 2);
}

static void
test_defaults (void)
{
  static const char data[] = UNK BOS PIECE_A;
  g_autoptr (DlpSentencePiece) file =
      dlp_sentencepiece_parse ((const guint8 *) data, sizeof data - 1, "file", NULL);

  g_assert_nonnull (file);
  g_assert_cmpint (file->kind, ==, DLP_SENTENCEPIECE_UNIGRAM);
  g_assert_true (file->normalizer.add_dummy_prefix);
  g_assert_true (file->normalizer.remove_extra_whitespaces);
  g_assert_true (file->normalizer.escape_whitespaces);
  g_assert_false (file->byte_fallback);
  g_assert_cmpuint (file->bos_id, ==, 1);
  g_assert_cmpuint (file->eos_id, ==, DLP_ID_NONE);
}

typedef struct
{
  const char *data;
  gsize size;
  const char *wanted;
} Bad;

#define BAD(data, wanted)                                                                          \
  {                                                                                                \
    data, sizeof data - 1, wanted                                                                  \
  }

static void
test_refused (void)
{
  static const Bad bad[] = {
    BAD ("", "none of the 0 pieces is of type UNKNOWN"),
    BAD (PIECE_A, "none of the 1 pieces"),
    BAD (UNK UNK, "pieces 0 and 1 are both of type UNKNOWN"),
    BAD (UNK "\x0a", "a number without an end"),
    BAD (UNK "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a number without an end"),
    BAD (UNK "\x0a\x05"
             "ab",
         "at byte 11: not a SentencePiece model, or it is cut off: a field of 5"),
    BAD (UNK "\x0b", "unknown kind 3"),
    BAD (UNK "\x08\x01", "field 1 is of kind 0, not 2"),
    BAD (UNK "\x15\x01", "it ends inside a number"),
    BAD (UNK "\x0a\x00", "piece 1 is empty"),
    BAD (UNK "\x0a\x03\x0a\x01\xff", "piece 1 is not UTF-8"),
    BAD (UNK "\x0a\x05\x0a\x01"
             "a\x18\x07",
         "piece 1 is of the unknown type 7; known are 1 to 6"),
    BAD (UNK "\x0a\x08\x0a\x01"
             "a\x15\0\0\xc0\x7f",
         "the score of piece 1 is not a finite"),
    BAD (UNK "\x0a\x05\x0a\x01"
             "a\x10\x00",
         "field 2 is of kind 0, not 5"),
    BAD (UNK "\x12\x02\x18\x03", "a model of type WORD (3); supported are UNIGRAM and BPE"),
    BAD (UNK "\x12\x02\x18\x09", "a model of type unknown (9)"),
    BAD (UNK "\x12\x03\xc0\x01\x01", "treat_whitespace_as_suffix is not supported"),
    BAD (UNK PIECE_A PIECE_A, "piece 2, \"a\", is there twice"),
    BAD (UNK PIECE_A "\x12\x03\x98\x02\x01", "byte_fallback without a piece for each"),
    BAD (UNK "\x0a\x06\x0a\x02"
             "ab\x18\x05"
             "\x12\x02\x18\x02",
         "piece 1, \"ab\", is of type UNUSED"),
    BAD (UNK "\x0a\x05\x0a\x01"
             "a\x18\x03"
             "\x12\x02\x18\x02",
         "piece 1, \"a\", of type 3 is a single"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpSentencePiece) file = NULL;
      g_autoptr (DlpModel) model = NULL;

      file = dlp_sentencepiece_parse ((const guint8 *) bad[i].data, bad[i].size, "file", &error);
      if (file)
        model = dlp_model_new_sentencepiece (file, &error);
      if (model)
        g_error ("accepted, where \"%s\" was expected", bad[i].wanted);
      g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY);
      if (strstr (error->message, bad[i].wanted) == NULL ||
          !g_str_has_prefix (error->message, "file: "))
        g_error ("\"%s\" does not say \"%s\"", error->message, bad[i].wanted);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/sentencepiece/cases", test_cases);
  g_test_add_func ("/tokenizer/sentencepiece/fields", test_fields);
  g_test_add_func ("/tokenizer/sentencepiece/defaults", test_defaults);
  g_test_add_func ("/tokenizer/sentencepiece/refused", test_refused);
  return g_test_run ();
}
