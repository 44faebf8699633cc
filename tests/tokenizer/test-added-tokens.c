/* SPDX-License-Identifier: MIT */
#include "dlp-added-tokens.h"

#include <string.h>

#define PLAIN(text, id)                                                                            \
  {                                                                                                \
    (char *) text, sizeof text - 1, id, FALSE, FALSE, FALSE, FALSE, FALSE                          \
  }
#define SPECIAL(text, id)                                                                          \
  {                                                                                                \
    (char *) text, sizeof text - 1, id, TRUE, FALSE, FALSE, FALSE, FALSE                           \
  }
#define SINGLE(text, id)                                                                           \
  {                                                                                                \
    (char *) text, sizeof text - 1, id, FALSE, TRUE, FALSE, FALSE, FALSE                           \
  }
#define LSTRIP(text, id)                                                                           \
  {                                                                                                \
    (char *) text, sizeof text - 1, id, FALSE, FALSE, TRUE, FALSE, FALSE                           \
  }
#define RSTRIP(text, id)                                                                           \
  {                                                                                                \
    (char *) text, sizeof text - 1, id, FALSE, FALSE, FALSE, TRUE, FALSE                           \
  }

/* Segments as "(0,3)=7 (3,4)": what is found with its id. */
static void
assert_segments (const DlpAddedToken *items,
                 guint n,
                 gboolean allow_special,
                 const char *text,
                 const char *wanted)
{
  g_autoptr (GString) got = g_string_new (NULL);
  DlpAddedTokens tokens;
  DlpSegmenter segmenter;
  DlpSegment segment;

  dlp_added_tokens_init (&tokens, items, n, NULL, NULL);
  dlp_segmenter_init (&segmenter, &tokens, FALSE, allow_special, text, strlen (text));
  while (dlp_segmenter_next (&segmenter, &segment))
    {
      g_string_append_printf (got, "%s(%zu,%zu)", got->len ? " " : "", segment.start, segment.end);
      if (segment.token)
        g_string_append_printf (got, "=%u", segment.token->id);
    }
  g_assert_cmpstr (got->str, ==, wanted);
  dlp_added_tokens_clear (&tokens);
}

/* "As there": as tokenizers 0.23.3 of PyPI did with the same. */
static void
test_longest (void)
{
  static const DlpAddedToken items[] = { PLAIN ("<a", 1), PLAIN ("<a>", 2), PLAIN ("<a>bc", 3),
                                         PLAIN ("a>b", 4) };

  assert_segments (items, 4, FALSE, "", "");
  assert_segments (items, 4, FALSE, "none", "(0,4)");
  assert_segments (items, 4, FALSE, "<a>b", "(0,3)=2 (3,4)");
  assert_segments (items, 4, FALSE, "x<a>bcx<a", "(0,1) (1,6)=3 (6,7) (7,9)=1");
  assert_segments (items, 4, FALSE, "a>b<", "(0,3)=4 (3,4)");
}

static void
test_special (void)
{
  static const DlpAddedToken items[] = { SPECIAL ("<s>", 1), PLAIN ("s>x", 2), PLAIN (">y", 3) };

  assert_segments (items, 3, TRUE, "a<s>xb", "(0,1) (1,4)=1 (4,6)");
  /* One that is not wanted uses up its stretch. */
  assert_segments (items, 3, FALSE, "a<s>xb", "(0,6)");
  assert_segments (items, 3, FALSE, "as>xb<s>y", "(0,1) (1,4)=2 (4,9)");
}

static void
test_single_word (void)
{
  static const DlpAddedToken items[] = { SINGLE ("ab", 1), PLAIN ("b c", 2) };

  assert_segments (items, 2, FALSE, "xab c", "(0,5)");
  assert_segments (items, 2, FALSE, "ab c", "(0,2)=1 (2,4)");
  assert_segments (items, 2, FALSE, "-ab-", "(0,1) (1,3)=1 (3,4)");
  assert_segments (items, 2, FALSE, "abé", "(0,4)");
  assert_segments (items, 2, FALSE, "ab\xe2\x80\x8d", "(0,5)"); /* joiner */
  assert_segments (items, 2, FALSE,
                   "\xe2\x92\xb6"
                   "ab",
                   "(0,5)"); /* circled A */
  assert_segments (items, 2, FALSE, "²ab", "(0,2) (2,4)=1");
  assert_segments (items, 2, FALSE, "_ab", "(0,3)");
  assert_segments (items, 2, FALSE, "٣ab", "(0,4)");
}

static void
test_strip (void)
{
  static const DlpAddedToken items[] = { RSTRIP ("<a>", 1), LSTRIP ("<b>", 2), PLAIN ("  ", 3),
                                         PLAIN (" y", 4) };

  assert_segments (items, 4, FALSE, "x<a>\n\xc2\xa0\xe3\x80\x80y", "(0,1) (1,10)=1 (10,11)");
  assert_segments (items, 4, FALSE, "x \t<b>z", "(0,1) (1,6)=2 (6,7)");
  assert_segments (items, 4, FALSE, "<a> \n<b>", "(0,5)=1 (5,8)=2");
  /* What a token has taken may be the beginning of another, as there. */
  assert_segments (items, 4, FALSE, "x<a>   y", "(0,1) (1,7)=1 (4,6)=3 (6,8)=4");
  assert_segments (items, 4, FALSE, "<a>  yy", "(0,5)=1 (3,5)=3 (5,7)");
  assert_segments (items, 4, FALSE, "<a>    ", "(0,7)=1 (3,5)=3 (5,7)=3");
}

static char *
upper (gpointer data, const char *content, gsize len, gsize *out_len)
{
  *out_len = len;
  return g_ascii_strup (content, len);
}

static void
test_normalized (void)
{
  DlpAddedToken items[] = { PLAIN ("ab", 1), PLAIN ("cd", 2) };
  DlpAddedTokens tokens;
  DlpSegmenter segmenter;
  DlpSegment segment;

  items[1].normalized = TRUE;
  dlp_added_tokens_init (&tokens, items, 2, upper, NULL);
  dlp_segmenter_init (&segmenter, &tokens, TRUE, FALSE, "abcdCD", 6);
  g_assert_true (dlp_segmenter_next (&segmenter, &segment));
  g_assert_null (segment.token);
  g_assert_true (dlp_segmenter_next (&segmenter, &segment));
  g_assert_cmpuint (segment.token->id, ==, 2);
  g_assert_cmpuint (segment.start, ==, 4);
  g_assert_false (dlp_segmenter_next (&segmenter, &segment));
  dlp_added_tokens_clear (&tokens);
}

/* Against a search that tries every place. */
static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());

  for (guint round = 0; round < 3000; round++)
    {
      char strings[4][5];
      DlpTokenString set[4];
      DlpTokenSet tokens;
      char text[40];
      const char *end = text + sizeof text, *p = text;
      guint n = g_rand_int_range (rand, 1, 5);

      for (guint i = 0; i < n; i++)
        {
          gsize len = g_rand_int_range (rand, 1, 5);

          for (gsize k = 0; k < len; k++)
            strings[i][k] = "ab|"[g_rand_int_range (rand, 0, 3)];
          set[i] = (DlpTokenString){ strings[i], len, i };
        }
      for (gsize k = 0; k < sizeof text; k++)
        text[k] = "ab|c"[g_rand_int_range (rand, 0, 4)];

      dlp_token_set_init (&tokens, set, n);
      while (p < end)
        {
          gsize len = 0, best = 0;
          guint32 value;
          const char *found = dlp_token_set_find (&tokens, p, end, &len, &value);

          for (; p < end && best == 0; p++)
            for (guint i = 0; i < n; i++)
              if (set[i].len <= (gsize) (end - p) && set[i].len > best &&
                  memcmp (p, set[i].bytes, set[i].len) == 0)
                best = set[i].len;
          if (best == 0)
            {
              g_assert_null (found);
              break;
            }
          p--;
          g_assert_true (found == p);
          g_assert_cmpuint (len, ==, best);
          g_assert_cmpmem (set[value].bytes, set[value].len, p, best);
          p += best;
        }
      dlp_token_set_clear (&tokens);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/added-tokens/longest", test_longest);
  g_test_add_func ("/added-tokens/special", test_special);
  g_test_add_func ("/added-tokens/single-word", test_single_word);
  g_test_add_func ("/added-tokens/strip", test_strip);
  g_test_add_func ("/added-tokens/normalized", test_normalized);
  g_test_add_func ("/added-tokens/random", test_random);
  return g_test_run ();
}
