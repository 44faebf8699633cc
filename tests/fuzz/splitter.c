/* SPDX-License-Identifier: MIT */
#include "dlp-splitter.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define MAX_TEXT 512

/* Pieces are within the text, from left to right, and none is empty. */
static void
check_pieces (const DlpPieces *pieces)
{
  gsize last = 0;

  for (gsize i = 0; i < pieces->n; i++)
    {
      g_assert_cmpuint (pieces->items[i].len, >, 0);
      g_assert_cmpuint (pieces->items[i].start, >=, last);
      last = (gsize) pieces->items[i].start + pieces->items[i].len;
      g_assert_cmpuint (last, <=, pieces->text_len);
    }
}

/* A scanner in the place of steps, and the same with a step more, so that they are run one by one.
 */
static void
compare_with_steps (const char *json, const DlpPieces *pieces, const char *text, gsize len)
{
  g_autofree char *longer = g_strdup_printf (
      "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"String\":"
      "\"\\u0001\\u0002\\u0003\"},\"behavior\":\"Isolated\",\"invert\":false},%s]}",
      json);
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (longer, strlen (longer), "input", NULL);
  g_autoptr (DlpSplitter) splitter = NULL;
  DlpPieces others = { 0 };

  if (tree == NULL || strstr (text, "\1\2\3") != NULL)
    return;
  splitter = dlp_splitter_new (dlp_json_tree_get_root (tree), FALSE, NULL);
  if (splitter && dlp_splitter_run (splitter, (const guint8 *) text, len, TRUE, &others))
    {
      g_assert_cmpuint (others.n, ==, pieces->n);
      for (gsize i = 0; i < others.n; i++)
        {
          g_assert_cmpuint (others.items[i].len, ==, pieces->items[i].len);
          g_assert_cmpint (memcmp (others.text + others.items[i].start,
                                   pieces->text + pieces->items[i].start, others.items[i].len),
                           ==, 0);
        }
    }
  dlp_pieces_clear (&others);
}

static void
run (const char *json, const char *text)
{
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (json, strlen (json), "input", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpSplitter) splitter = NULL;
  DlpPieces pieces = { 0 };
  gsize len = strlen (text);

  if (tree == NULL)
    return;
  splitter = dlp_splitter_new (dlp_json_tree_get_root (tree), *text & 1, &error);
  g_assert_true (splitter != NULL || g_utf8_validate (error->message, -1, NULL));
  if (splitter && dlp_splitter_run (splitter, (const guint8 *) text, len, TRUE, &pieces))
    {
      check_pieces (&pieces);
      if (dlp_splitter_get_pattern (splitter) != NULL)
        compare_with_steps (json, &pieces, text, len);
    }
  dlp_pieces_clear (&pieces);
}

/* The input: the value of "pre_tokenizer", or a regular expression behind "/", a line end, and a
 * text. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *input = g_strndup ((const char *) data, size);
  g_autofree char *json = NULL;
  char *text = strchr (input, '\n');

  if (text == NULL || !g_utf8_validate (text, -1, NULL) || strlen (text) > MAX_TEXT)
    return 0;
  *text++ = '\0';
  if (*input == '/')
    {
      g_autoptr (GString) string = g_string_new (NULL);

      for (const char *p = input + 1; *p; p++)
        if ((guchar) *p < ' ' || *p == '"' || *p == '\\')
          g_string_append_printf (string, "\\u%04x", *p);
        else
          g_string_append_c (string, *p);
      json = g_strdup_printf ("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%s\"},\"behavior\":"
                              "\"Isolated\",\"invert\":false}",
                              string->str);
    }
  run (json ? json : input, text);
  return 0;
}
