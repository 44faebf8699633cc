/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-random.h>

#include "split-hash.h"
#include "split-ratios.h"

/* Made by the package xxhash of Python: xxh3_64_intdigest (bytes, seed=salt), of the bytes that the
 * page of the element gives. */
#define HASH_HELLO G_GUINT64_CONSTANT (0x9555e8555c62dcfd)
#define HASH_HELLO_7 G_GUINT64_CONSTANT (0x1f683eda4e829e1b)
#define HASH_EMPTY G_GUINT64_CONSTANT (0x2d06800538d394c2)
#define HASH_NULL G_GUINT64_CONSTANT (0x722a202f07a4b313)
#define HASH_MINUS_2 G_GUINT64_CONSTANT (0x77f9923217301859)
#define HASH_TENTH G_GUINT64_CONSTANT (0xc9d73e6076fe03cd)
#define HASH_TRUE G_GUINT64_CONSTANT (0xe12ef9d2eb86ceeb)
#define HASH_LIST_7 G_GUINT64_CONSTANT (0x040bdd280615a415)
#define HASH_COORDINATE G_GUINT64_CONSTANT (0xe908ffaed92e2edf)

static SplitRatios *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  SplitRatios *ratios = split_ratios_parse (text, &error);

  g_assert_no_error (error);
  return ratios;
}

static void
test_parse (void)
{
  g_autoptr (SplitRatios) two = parse ("train:0.99,valid:0.01");
  g_autoptr (SplitRatios) one = parse ("all:3");
  g_autoptr (SplitRatios) odd = parse ("a:.5,b-2:1.,C_3:99999999.999999999");
  g_autoptr (GString) most = g_string_new ("s0:99999999");
  g_autoptr (SplitRatios) many = NULL;

  g_assert_cmpuint (two->n_sides, ==, 2);
  g_assert_cmpstr (two->names[0], ==, "train");
  g_assert_cmpstr (two->names[1], ==, "valid");
  g_assert_null (two->names[2]);
  g_assert_cmpuint (two->ends[0], ==, 990000000);
  g_assert_cmpuint (two->ends[1], ==, 1000000000);
  g_assert_cmpuint (one->ends[0], ==, 3000000000);
  g_assert_cmpuint (odd->ends[0], ==, 500000000);
  g_assert_cmpuint (odd->ends[1], ==, 1500000000);
  g_assert_cmpuint (odd->ends[2], ==, 1500000000 + G_GUINT64_CONSTANT (99999999999999999));
  g_assert_cmpint (split_ratios_find (odd, "C_3"), ==, 2);
  g_assert_cmpint (split_ratios_find (odd, "c_3"), ==, -1);

  for (guint i = 1; i < SPLIT_MAX_SIDES; i++)
    g_string_append_printf (most, ",s%u:99999999", i);
  many = parse (most->str);
  g_assert_cmpuint (many->n_sides, ==, SPLIT_MAX_SIDES);
  g_assert_cmpuint (many->ends[31], ==, G_GUINT64_CONSTANT (99999999000000000) * 32);
  g_assert_cmpuint (split_ratios_get_side (many, G_MAXUINT64), ==, 31);
  g_assert_cmpuint (split_ratios_get_side (many, 0), ==, 0);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text;
    const char *part;
  } cases[] = {
    { "", "entry 1 has no name" },
    { "train", "entry 1 has no colon" },
    { "train:1,", "entry 2 has no name" },
    { "train:1,train:2", "entry 2 has the name of one before it" },
    { "train:0", "entry 1 has no ratio" },
    { "train:0.000,b:1", "above 0" },
    { "train:", "entry 1 has no ratio" },
    { "train:.", "entry 1 has no ratio" },
    { "train:-1", "entry 1 has no ratio" },
    { "train:1e3", "entry 1 has no ratio" },
    { "train:1:2", "entry 1 has no ratio" },
    { "train:0.1.2", "entry 1 has no ratio" },
    { "train:99%,b:1%", "entry 1 has no ratio" },
    { "train:0.0000000001", "entry 1 has no ratio" },
    { "train:123456789", "entry 1 has no ratio" },
    { "a:1,in:1", "entry 2 is called" },
    { "rejected:1", "entry 1 is called" },
    { "a b:1", "entry 1 has no name of letters" },
    { "ä:1", "entry 1 has no name of letters" },
  };
  g_autoptr (GString) many = g_string_new ("a:1");
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_null (split_ratios_parse (cases[i].text, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      if (strstr (error->message, cases[i].part) == NULL)
        g_error ("%s: %s", cases[i].text, error->message);
      g_clear_error (&error);
    }
  g_assert_null (split_ratios_parse (NULL, &error));
  g_clear_error (&error);
  for (guint i = 0; i < SPLIT_MAX_SIDES; i++)
    g_string_append_printf (many, ",b%u:1", i);
  g_assert_null (split_ratios_parse (many->str, &error));
  g_assert_nonnull (strstr (error->message, "32 at most"));
}

/* The first hash of side i is the least h with h * total >= ends[i - 1] * 2^64; by long division,
 * bit by bit. */
static guint64
first_hash (guint64 end, guint64 total)
{
  guint64 quotient = 0;
  unsigned __int128 rest = end;

  g_assert_cmpuint (end, <, total);
  for (guint bit = 0; bit < 64; bit++)
    {
      rest *= 2;
      quotient *= 2;
      if (rest >= total)
        {
          rest -= total;
          quotient++;
        }
    }
  return rest > 0 ? quotient + 1 : quotient;
}

static void
test_borders (void)
{
  static const char *const texts[] = { "a:0.99,b:0.01", "a:1,b:1,c:1", "a:0.000000001,b:99999999",
                                       "a:1,b:2,c:4,d:8", "a:99999999,b:99999999.999999999" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (SplitRatios) ratios = parse (texts[i]);
      guint64 total = ratios->ends[ratios->n_sides - 1];

      g_assert_cmpuint (split_ratios_get_side (ratios, 0), ==, 0);
      g_assert_cmpuint (split_ratios_get_side (ratios, G_MAXUINT64), ==, ratios->n_sides - 1);
      for (guint side = 1; side < ratios->n_sides; side++)
        {
          guint64 first = first_hash (ratios->ends[side - 1], total);

          g_assert_cmpuint (split_ratios_get_side (ratios, first), ==, side);
          g_assert_cmpuint (split_ratios_get_side (ratios, first - 1), ==, side - 1);
        }
    }
}

/* Only what the numbers are to one another counts. */
static void
test_scale (void)
{
  g_autoptr (SplitRatios) a = parse ("train:0.99,valid:0.01");
  g_autoptr (SplitRatios) b = parse ("train:99,valid:1");
  g_autoptr (SplitRatios) c = parse ("train:1,valid:3");
  DlpRandom random = dlp_random_init (1, 0, "scale", 0);
  guint valid = 0, most = 0;

  for (guint i = 0; i < 100000; i++)
    {
      guint64 hash = dlp_random_draw (random, i);

      g_assert_cmpuint (split_ratios_get_side (a, hash), ==, split_ratios_get_side (b, hash));
      valid += split_ratios_get_side (a, hash);
      most += split_ratios_get_side (c, hash);
    }
  g_assert_cmpuint (valid, >, 900);
  g_assert_cmpuint (valid, <, 1100);
  g_assert_cmpuint (most, >, 74000);
  g_assert_cmpuint (most, <, 76000);
}

/* (transfer full): a record batch of one record with one optional field. */
static DlpRecordBatchBuilder *
one_field (DlpFieldType type)
{
  const char *const names[] = { "f" };
  const gboolean optional[] = { TRUE };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, &type, optional);

  return dlp_record_batch_builder_new (schema);
}

static guint64
hash_of (DlpRecordBatchBuilder *builder, DlpFieldType type, guint64 salt)
{
  const DlpCoordinate at = { 0 };
  g_autoptr (DlpRecordBatch) batch = NULL;
  guint64 hash;

  dlp_record_batch_builder_end_record (builder, &at);
  batch = dlp_record_batch_builder_finish (builder, NULL);
  hash = split_hash_field (batch, 0, type, 0, salt);
  dlp_record_batch_builder_unref (builder);
  return hash;
}

static void
test_hashes (void)
{
  const guint16 narrow[] = { 1, 2, 65535 };
  const guint32 wide[] = { 1, 2, 65535 };
  const DlpCoordinate at = { 1, 2, 3, 4, 5, 0, G_GUINT64_CONSTANT (0x100000007) };
  const DlpCoordinate later = { 1, 2, 3, 9, 9, 0, G_GUINT64_CONSTANT (0x100000007) };
  DlpRecordBatchBuilder *builder;

  for (guint i = 0; i < 2; i++)
    {
      DlpFieldType type = i == 0 ? DLP_FIELD_STRING : DLP_FIELD_BINARY;

      builder = one_field (type);
      dlp_record_batch_builder_append_value (builder, 0, "hello", 5);
      g_assert_cmphex (hash_of (builder, type, 0), ==, HASH_HELLO);
      builder = one_field (type);
      dlp_record_batch_builder_append_value (builder, 0, "hello", 5);
      g_assert_cmphex (hash_of (builder, type, 7), ==, HASH_HELLO_7);
      builder = one_field (type);
      dlp_record_batch_builder_append_value (builder, 0, "", 0);
      g_assert_cmphex (hash_of (builder, type, 0), ==, HASH_EMPTY);
      builder = one_field (type);
      dlp_record_batch_builder_append_null (builder, 0);
      g_assert_cmphex (hash_of (builder, type, 0), ==, HASH_NULL);
    }
  builder = one_field (DLP_FIELD_INT64);
  dlp_record_batch_builder_append_int64 (builder, 0, -2);
  g_assert_cmphex (hash_of (builder, DLP_FIELD_INT64, 0), ==, HASH_MINUS_2);
  builder = one_field (DLP_FIELD_UINT64);
  dlp_record_batch_builder_append_uint64 (builder, 0, G_MAXUINT64 - 1);
  g_assert_cmphex (hash_of (builder, DLP_FIELD_UINT64, 0), ==, HASH_MINUS_2);
  builder = one_field (DLP_FIELD_DOUBLE);
  dlp_record_batch_builder_append_double (builder, 0, 0.1);
  g_assert_cmphex (hash_of (builder, DLP_FIELD_DOUBLE, 0), ==, HASH_TENTH);
  builder = one_field (DLP_FIELD_BOOLEAN);
  dlp_record_batch_builder_append_boolean (builder, 0, TRUE);
  g_assert_cmphex (hash_of (builder, DLP_FIELD_BOOLEAN, 0), ==, HASH_TRUE);
  builder = one_field (DLP_FIELD_LIST_UINT16);
  dlp_record_batch_builder_append_list (builder, 0, narrow, 3);
  g_assert_cmphex (hash_of (builder, DLP_FIELD_LIST_UINT16, 7), ==, HASH_LIST_7);
  builder = one_field (DLP_FIELD_LIST_UINT32);
  dlp_record_batch_builder_append_list (builder, 0, wide, 3);
  g_assert_cmphex (hash_of (builder, DLP_FIELD_LIST_UINT32, 7), ==, HASH_LIST_7);
  g_assert_cmphex (split_hash_coordinate (&at, 0), ==, HASH_COORDINATE);
  g_assert_cmphex (split_hash_coordinate (&later, 0), ==, HASH_COORDINATE);
}

/* In pieces or at once: lists around and above the size of a piece. */
static void
test_long_lists (void)
{
  g_autofree guint16 *narrow = g_new (guint16, 5000);
  g_autofree guint32 *wide = g_new (guint32, 5000);
  static const guint lengths[] = { 0, 1, 59, 60, 61, 255, 256, 257, 511, 512, 513, 4999 };

  for (guint i = 0; i < 5000; i++)
    wide[i] = narrow[i] = (guint16) (i * 40503);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    for (guint64 salt = 0; salt < 2; salt++)
      {
        DlpRecordBatchBuilder *a = one_field (DLP_FIELD_LIST_UINT16);
        DlpRecordBatchBuilder *b = one_field (DLP_FIELD_LIST_UINT32);

        dlp_record_batch_builder_append_list (a, 0, narrow, lengths[i]);
        dlp_record_batch_builder_append_list (b, 0, wide, lengths[i]);
        g_assert_cmphex (hash_of (a, DLP_FIELD_LIST_UINT16, salt), ==,
                         hash_of (b, DLP_FIELD_LIST_UINT32, salt));
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/split-ratios/parse", test_parse);
  g_test_add_func ("/split-ratios/errors", test_errors);
  g_test_add_func ("/split-ratios/borders", test_borders);
  g_test_add_func ("/split-ratios/scale", test_scale);
  g_test_add_func ("/split-ratios/hashes", test_hashes);
  g_test_add_func ("/split-ratios/long-lists", test_long_lists);
  return g_test_run ();
}
