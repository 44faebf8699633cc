/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "json-lines.h"

static gsize
count_slowly (const guint8 *data, gsize len)
{
  gsize lines = 0;

  for (gsize start = 0; start < len;)
    {
      gsize end = start;

      while (end < len && data[end] != '\n')
        end++;
      lines += !json_line_is_blank (data + start, end - start);
      start = end + 1;
    }

  return lines;
}

/* Few bytes, so that blank lines are frequent; sometimes a long run of one of them. */
static GByteArray *
make_lines (GRand *rand)
{
  static const guint8 alphabet[] = { '\n', ' ', '\t', '\r', 'x', '\n', '{', 0, 0xff, '\v', 0x85 };
  GByteArray *data = g_byte_array_new ();
  guint n = g_rand_int_range (rand, 0, 40);

  for (guint i = 0; i < n; i++)
    {
      guint8 byte = alphabet[g_rand_int_range (rand, 0, G_N_ELEMENTS (alphabet))];
      guint run = g_rand_int_range (rand, 0, 8) == 0 ? g_rand_int_range (rand, 1, 150) : 1;

      for (guint j = 0; j < run; j++)
        g_byte_array_append (data, &byte, 1);
    }

  return data;
}

static void
test_blank (void)
{
  static const struct
  {
    const char *line;
    gboolean blank;
  } vectors[] = {
    { "", TRUE },       { " ", TRUE },   { "\t \r", TRUE },         { "x", FALSE },
    { "  x  ", FALSE }, { "\v", FALSE }, { "\xef\xbb\xbf", FALSE }, { "\xc2\xa0", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (vectors); i++)
    g_assert_cmpint (
        json_line_is_blank ((const guint8 *) vectors[i].line, strlen (vectors[i].line)), ==,
        vectors[i].blank);
  g_assert_false (json_line_is_blank ((const guint8 *) "\0", 1));
}

static void
test_count (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  g_assert_cmpuint (json_count_lines (NULL, 0), ==, 0);
  g_assert_null (json_find_newline (NULL, 0));
  g_assert_cmpuint (json_count_lines ((const guint8 *) "a\n\n \nb", 6), ==, 2);

  for (guint i = 0; i < 20000; i++)
    {
      g_autoptr (GByteArray) data = make_lines (rand);

      g_assert_cmpuint (json_count_lines (data->data, data->len), ==,
                        count_slowly (data->data, data->len));
    }
}

/* In pieces, with a limit: the same lines, and a stop right behind the last of them. */
static void
test_skip (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);

  for (guint i = 0; i < 20000; i++)
    {
      g_autoptr (GByteArray) data = make_lines (rand);
      gsize wanted = g_rand_int_range (rand, 0, 8);
      gsize at = 0, lines = 0;
      gboolean pending = FALSE;

      while (at < data->len && lines < wanted)
        {
          gsize piece = g_rand_int_range (rand, 1, 200);
          gsize used;

          piece = MIN (piece, data->len - at);
          lines += json_skip_lines (data->data + at, piece, wanted - lines, &pending, &used);
          g_assert_cmpuint (used, <=, piece);
          g_assert_true (used == piece || lines == wanted);
          at += used;
        }

      g_assert_cmpuint (lines, <=, wanted);
      g_assert_cmpuint (lines + pending, ==, count_slowly (data->data, at));
      if (lines == wanted && wanted > 0)
        {
          g_assert_false (pending);
          g_assert_cmpuint (data->data[at - 1], ==, '\n');
          g_assert_cmpuint (count_slowly (data->data, at - 1), ==, wanted);
          g_assert_cmpuint (json_count_lines (data->data, at - 1), ==, wanted);
        }
    }
}

static void
test_skip_none (void)
{
  gboolean pending = TRUE;
  gsize used = 9;

  g_assert_cmpuint (json_skip_lines ((const guint8 *) "a\n", 2, 0, &pending, &used), ==, 0);
  g_assert_cmpuint (used, ==, 0);
  g_assert_true (pending);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/json/lines/blank", test_blank);
  g_test_add_func ("/json/lines/count", test_count);
  g_test_add_func ("/json/lines/skip", test_skip);
  g_test_add_func ("/json/lines/skip-none", test_skip_none);

  return g_test_run ();
}
