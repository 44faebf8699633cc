/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "json-compare.h"
#include "json-reference.h"

static const char *const wanted[] = { "text", "meta.lang", "a", "a.b", "ключ" };

static double
scale (void)
{
  const char *value = g_getenv ("DLPIPE_TEST_SCALE");

  return value != NULL ? g_ascii_strtod (value, NULL) : 1;
}

static const char *const plain_pieces[] = {
  "a",   " ", "word ", "the quick brown fox jumps over the lazy dog and goes on ",
  "é",   "ж", "€",     "日本語",
  "😀",   "/", "\x7f",  "{'text':1}",
  "[,]",
};

static const char *const escape_pieces[] = {
  "\\n",     "\\\"",           "\\\\",    "\\/",     "\\t",     "\\u0041", "\\u00e9",
  "\\u65e5", "\\ud83d\\ude00", "\\u0000", "\\u07ff", "\\u0800", "\\uffff", "\\u65E5\\u672c\\u8a9e",
  "\\ud800", "\\udfff",
};

static const char *const faults[] = {
  "\x01",
  "\n",
  "\x1f",
  "\\x",
  "\\u12g4",
  "\\u123",
  "\\",
  "\x80",
  "\xc0\xaf",
  "\xe9",
  "\xe6\x97",
  "\xed\xa0\x80",
  "\xf4\x90\x80\x80",
  "\xf0\x9f\x98",
  "\xff",
  "\"",
  "\\ud83d\\ude0",
  "\xe0\x9f\xbf",
};

#define PICK(rand, array) ((array)[g_rand_int_range (rand, 0, G_N_ELEMENTS (array))])

/* @mode: 0 plain, 1 with escapes, 2 escapes only. */
static void
append_text (GString *line, GRand *rand, gsize len, guint mode)
{
  gsize start = line->len;

  while (line->len - start < len)
    {
      if (mode == 2 || (mode == 1 && g_rand_int_range (rand, 0, 4) == 0))
        g_string_append (line, PICK (rand, escape_pieces));
      else
        g_string_append (line, PICK (rand, plain_pieces));
    }
}

static void append_value (GString *line, GRand *rand, guint depth);

static void
append_object (GString *line, GRand *rand, guint depth)
{
  static const char *const keys[] = { "text", "meta", "lang",       "a",
                                      "b",    "ключ", "te\\u0078t", "other_key_that_is_long",
                                      "",     "\\n",  "é" };
  guint n = g_rand_int_range (rand, 0, depth == 0 ? 8 : 4);

  g_string_append_c (line, '{');
  for (guint i = 0; i < n; i++)
    {
      g_string_append_printf (line, "%s\"%s\"%s:%s", i > 0 ? "," : "", PICK (rand, keys),
                              g_rand_int_range (rand, 0, 8) == 0 ? " " : "",
                              g_rand_boolean (rand) ? " " : "");
      append_value (line, rand, depth + 1);
    }
  g_string_append (line, g_rand_int_range (rand, 0, 8) == 0 ? " }" : "}");
}

static void
append_value (GString *line, GRand *rand, guint depth)
{
  static const char *const words[] = { "null", "true", "false", "0",        "-1",
                                       "1.5",  "2e10", "NaN",   "-Infinity" };

  switch (g_rand_int_range (rand, 0, depth < 5 ? 8 : 5))
    {
    case 5:
      append_object (line, rand, depth);
      break;
    case 6:
      g_string_append_c (line, '[');
      for (guint i = g_rand_int_range (rand, 0, 4); i > 0; i--)
        {
          append_value (line, rand, depth + 1);
          g_string_append (line, i > 1 ? ", " : "");
        }
      g_string_append_c (line, ']');
      break;
    case 3:
      g_string_append_printf (line, "%.*g", g_rand_int_range (rand, 1, 25),
                              ldexp (g_rand_double (rand) - 0.5, g_rand_int_range (rand, -80, 80)));
      break;
    case 4:
      /* The last two, which are no JSON, rarely. */
      g_string_append (
          line, words[g_rand_int_range (rand, 0, g_rand_int_range (rand, 0, 20) == 0 ? 9 : 7)]);
      break;
    default:
      g_string_append_c (line, '"');
      append_text (line, rand, g_rand_int_range (rand, 0, 200), g_rand_int_range (rand, 0, 3));
      g_string_append_c (line, '"');
    }
}

/* One change that may or may not break the line. */
static void
mutate (GString *line, GRand *rand)
{
  static const char *const tokens[] = { "{",  "}",   "[", "]",    ":",           ",",  "\"",
                                        "\\", "\\u", " ", "\t",   "\r",          "\n", "0",
                                        "-",  ".",   "e", "null", "\xef\xbb\xbf" };
  gsize at = g_rand_int_range (rand, 0, line->len + 1);
  gsize n = g_rand_int_range (rand, 1, 4);

  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      g_string_insert (line, at, PICK (rand, tokens));
      break;
    case 1:
      g_string_insert (line, at, PICK (rand, faults));
      break;
    case 2:
      g_string_erase (line, at, MIN (line->len - at, n));
      break;
    case 3:
      g_string_truncate (line, at);
      break;
    case 4:
      if (at < line->len)
        line->str[at] = (char) g_rand_int_range (rand, 0, 256);
      break;
    default:
      if (at < line->len)
        line->str[at] ^= (char) (1 << g_rand_int_range (rand, 0, 8));
    }
}

static void
test_random (void)
{
  g_autoptr (JsonComparer) comparer = json_comparer_new (wanted, G_N_ELEMENTS (wanted));
  g_autoptr (GRand) rand = g_rand_new_with_seed (42);
  guint n = (guint) (15000 * scale ());
  guint accepted = 0, refused = 0;

  g_test_message ("%u levels", json_comparer_get_n_levels (comparer));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GString) line = g_string_new (NULL);

      append_object (line, rand, 0);
      for (guint j = g_rand_int_range (rand, 0, 4); j > 0; j--)
        mutate (line, rand);
      if (json_comparer_check (comparer, (const guint8 *) line->str, line->len))
        accepted++;
      else
        refused++;
    }

  g_test_message ("%u accepted, %u refused", accepted, refused);
  g_assert_cmpuint (accepted, >, n / 8);
  g_assert_cmpuint (refused, >, n / 8);
}

/* Every fault and every escape at each place of a string that crosses several vectors. */
static void
test_places (void)
{
  g_autoptr (JsonComparer) comparer = json_comparer_new (wanted, G_N_ELEMENTS (wanted));
  static const char *const backgrounds[] = { "x", "\\n", "é", "\\u00e9", "日", "\\\\" };

  for (guint b = 0; b < G_N_ELEMENTS (backgrounds); b++)
    for (guint i = 0; i < G_N_ELEMENTS (faults) + G_N_ELEMENTS (escape_pieces); i++)
      {
        gboolean is_fault = i < G_N_ELEMENTS (faults);
        const char *piece = is_fault ? faults[i] : escape_pieces[i - G_N_ELEMENTS (faults)];

        for (guint before = 0; before < 70; before++)
          {
            g_autoptr (GString) line = g_string_new ("{\"text\":\"");
            gboolean accepted;

            for (guint j = 0; j < 70; j++)
              {
                if (j == before)
                  g_string_append (line, piece);
                g_string_append (line, j < 3 ? "y" : backgrounds[b]);
              }
            g_string_append (line, "\",\"other\":\"\"}");
            accepted = json_comparer_check (comparer, (const guint8 *) line->str, line->len);
            if (!is_fault)
              g_assert_true (accepted);
          }
      }
}

/* A sequence cut by each of the things that may follow it, at each place of a vector. */
static void
test_cut_sequences (void)
{
  g_autoptr (JsonComparer) comparer = json_comparer_new (wanted, 1);
  static const char *const before[] = { "", "\\n", "\\u00e9" };
  static const char *const cut[] = { "\xe9", "\xe6\x97", "\xf0\x9f\x98", "\xc3" };
  static const char *const after[] = { "\\n", "\\u00e9", "\\\\", "", "x", "é" };

  for (guint i = 0; i < G_N_ELEMENTS (before) * G_N_ELEMENTS (cut) * G_N_ELEMENTS (after); i++)
    for (guint n = 0; n < 140; n++)
      {
        g_autoptr (GString) line = g_string_new ("{\"text\":\"");

        g_string_append (line, before[i % 3]);
        for (guint j = 0; j < n; j++)
          g_string_append_c (line, 'x');
        g_string_append (line, cut[i / 3 % 4]);
        g_string_append (line, after[i / 12]);
        g_string_append (line, "\"}");
        g_assert_false (json_comparer_check (comparer, (const guint8 *) line->str, line->len));
      }
}

/* A page that ends and begins at pages nobody may touch. */
static guint8 *
map_guarded (gsize page)
{
  guint8 *area = mmap (NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  g_assert_true (area != MAP_FAILED);
  g_assert_no_errno (mprotect (area + page, page, PROT_READ | PROT_WRITE));
  return area + page;
}

static void
check_plain (const JsonPlan *plan,
             JsonScratch *scratch,
             const guint8 *line,
             gsize len,
             gboolean padded,
             const RefResult *expected)
{
  JsonValue values[G_N_ELEMENTS (wanted)];
  JsonCounts counts = { 0 };
  JsonError error;
  gboolean accepted =
      padded ? json_parse_record (plan, scratch, line, len, values, &counts, &error) :
               json_parse_record_unpadded (plan, scratch, line, len, values, &counts, &error);

  g_assert_cmpint (accepted, ==, expected->root != NULL);
  if (accepted)
    {
      const RefNode *text = ref_find (expected->root, "text");

      g_assert_nonnull (text);
      g_assert_cmpmem (values[0].data, values[0].len, text->string->data, text->string->len);
    }
  else
    {
      g_assert_cmpint (error.kind, ==, expected->kind);
      g_assert_cmpuint (error.offset, ==, expected->offset);
    }
}

/*
 * Lines of every length up to 200 and some cut ones, right behind the forbidden page, with exactly
 * the padding promised before the next, and with none.
 */
static void
test_page_ends (void)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  guint8 *area = map_guarded (page);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();

  for (guint level = 0; level < JSON_N_LEVELS; level++)
    {
      g_autoptr (JsonPlan) plan =
          json_plan_new (wanted, G_N_ELEMENTS (wanted), JSON_FLAGS_NONE, NULL);

      if (!json_plan_set_level (plan, level))
        continue;

      for (guint n = 0; n < 3 * 200; n++)
        {
          static const char *const units[] = { "x", "\\u0416", "é" };
          g_autoptr (GString) line = g_string_new ("{\"text\":\"");
          RefResult expected;
          gsize len;

          while (line->len < n / 3)
            g_string_append (line, units[n % 3]);
          g_string_append (line, "\"}");

          for (guint cut = 0; cut < 8; cut++)
            {
              len = line->len - cut;
              memset (area, '\\', page);
              expected = ref_parse ((const guint8 *) line->str, len, FALSE);

              memcpy (area + page - JSON_PADDING - len, line->str, len);
              check_plain (plan, scratch, area + page - JSON_PADDING - len, len, TRUE, &expected);
              memcpy (area + page - len, line->str, len);
              check_plain (plan, scratch, area + page - len, len, FALSE, &expected);
              memcpy (area, line->str, len);
              check_plain (plan, scratch, area, len, TRUE, &expected);
              ref_node_free (expected.root);
            }
        }
    }

  munmap (area - page, 3 * page);
}

/* First keys with nothing before the line that could be read. */
static void
test_page_starts (void)
{
  static const char *const lines[] = {
    "{\"日本\":1,\"text\":\"x\"}",
    "{\"\\n日本\":1,\"text\":\"x\"}",
    "{\"\\u65e5日\":1,\"text\":\"日\"}",
    "{\"\xe6\x97\":1}",
    "{\"\\n\xe6\x97\":1}",
  };
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  guint8 *area = map_guarded (page);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();

  for (guint level = 0; level < JSON_N_LEVELS; level++)
    {
      g_autoptr (JsonPlan) plan =
          json_plan_new (wanted, G_N_ELEMENTS (wanted), JSON_FLAGS_NONE, NULL);

      if (!json_plan_set_level (plan, level))
        continue;

      for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
        {
          gsize len = strlen (lines[i]);
          RefResult expected = ref_parse ((const guint8 *) lines[i], len, FALSE);

          memset (area, '"', page);
          memcpy (area, lines[i], len);
          check_plain (plan, scratch, area, len, TRUE, &expected);
          ref_node_free (expected.root);
        }
    }

  munmap (area - page, 3 * page);
}

/* A wanted key longer than the padding, the line cut in it, and the padding like the rest of it. */
static void
test_long_key (void)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  guint8 *area = map_guarded (page);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  g_autofree char *key = g_strnfill (200, 'k');
  const char *const path = key;

  memset (area, 'k', page);
  for (guint level = 0; level < JSON_N_LEVELS; level++)
    {
      g_autoptr (JsonPlan) plan = json_plan_new (&path, 1, JSON_FLAGS_NONE, NULL);

      if (!json_plan_set_level (plan, level))
        continue;

      for (guint len = 2; len < 150; len++)
        {
          guint8 *line = area + page - JSON_PADDING - len;
          JsonValue value;
          JsonCounts counts = { 0 };
          JsonError error;

          memcpy (line, "{\"", 2);
          g_assert_false (json_parse_record (plan, scratch, line, len, &value, &counts, &error));
          g_assert_cmpint (error.kind, ==, JSON_ERROR_UNTERMINATED);
          g_assert_cmpuint (error.offset, ==, len);
          memset (line, 'k', 2);
        }
    }

  munmap (area - page, 3 * page);
}

static void
test_alignments (void)
{
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autofree guint8 *area = g_malloc (1024);

  for (guint level = 0; level < JSON_N_LEVELS; level++)
    {
      g_autoptr (JsonPlan) plan =
          json_plan_new (wanted, G_N_ELEMENTS (wanted), JSON_FLAGS_NONE, NULL);

      if (!json_plan_set_level (plan, level))
        continue;

      for (guint len = 0; len <= 200; len++)
        {
          g_autoptr (GString) line = g_string_new ("{\"text\":\"");
          RefResult expected;

          append_text (line, rand, len, len % 3);
          g_string_append (line, "\"}");
          expected = ref_parse ((const guint8 *) line->str, line->len, FALSE);
          g_assert_nonnull (expected.root);

          for (guint shift = 0; shift < 64; shift++)
            {
              memset (area, '"', 1024);
              memcpy (area + shift, line->str, line->len);
              check_plain (plan, scratch, area + shift, line->len, TRUE, &expected);
            }
          ref_node_free (expected.root);
        }
    }
}

/* All two-byte and three-byte beginnings, each where a vector begins and where it ends. */
static void
test_utf8 (void)
{
  g_autoptr (JsonComparer) comparer = json_comparer_new (wanted, 1);
  static const guint8 interesting[] = { 0x22, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                        0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe1,
                                        0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff };
  const guint n = G_N_ELEMENTS (interesting);

  for (guint i = 0; i < n * n * n * n; i++)
    {
      g_autoptr (GString) line = g_string_new ("{\"text\":\"");
      guint digits = i;

      for (guint j = 0; j < 50 + i % 8; j++)
        g_string_append_c (line, 'x');
      for (guint j = 0; j < 4; j++, digits /= n)
        g_string_append_c (line, (char) interesting[digits % n]);
      g_string_append (line,
                       i % 16 < 8 ? "\"}" : "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\"}");
      if (scale () >= 1 || i % 10 == 0)
        json_comparer_check (comparer, (const guint8 *) line->str, line->len);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/json/levels/random", test_random);
  g_test_add_func ("/json/levels/places", test_places);
  g_test_add_func ("/json/levels/cut-sequences", test_cut_sequences);
  g_test_add_func ("/json/levels/page-ends", test_page_ends);
  g_test_add_func ("/json/levels/page-starts", test_page_starts);
  g_test_add_func ("/json/levels/long-key", test_long_key);
  g_test_add_func ("/json/levels/alignments", test_alignments);
  g_test_add_func ("/json/levels/utf8", test_utf8);

  return g_test_run ();
}
