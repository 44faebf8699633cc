/* SPDX-License-Identifier: MIT */
#include "dlp-suggest-private.h"

#include <string.h>

static const char *const names[] = {
  "file-source", "jsonl-reader", "jsonl-sink",    "shuffle", "mix", "tee", "megatron-sink",
  "null-sink",   "limit",        "on-bad-record", "m",       "m2",  NULL,
};

static void
test_nearest (void)
{
  static const char *const cases[][2] = {
    { "shuffle", "shuffle" },  /* itself */
    { "shufle", "shuffle" },   /* a letter left out */
    { "shufffle", "shuffle" }, /* one too many */
    { "shuffel", "shuffle" },  /* two exchanged */
    { "shaffle", "shuffle" },  /* another one */
    { "Shuffle", "shuffle" },  /* case */
    { "jsonl_reader", "jsonl-reader" },
    { "json-reader", "jsonl-reader" },
    { "jsonl-snik", "jsonl-sink" },
    { "on_bad_recrod", "on-bad-record" },
    { "mx", "mix" },
    { "tea", "tee" },
    { "megatron", "megatron-sink" }, /* begun */
    { "filesource", "file-source" },
    { "null_sink", "null-sink" },
    { "m3", "m" },
    { "jso", NULL }, /* two begin so */
    { "xyz", NULL },
    { "q", NULL }, /* nothing in common */
    { "parquet-reader", NULL },
    { "", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpstr (dlp_suggest (cases[i][0], names), ==, cases[i][1]);
}

static void
test_limits (void)
{
  g_autofree char *longer = g_strnfill (65, 'a');
  g_autofree char *longest = g_strnfill (64, 'a');
  const char *candidates[] = { longer, longest, NULL };

  g_assert_null (dlp_suggest (longer, candidates));
  g_assert_cmpstr (dlp_suggest (longest, candidates), ==, longest);
  g_assert_null (dlp_suggest ("a", NULL));
  g_assert_null (dlp_suggest ("a", candidates + 2));
}

static void
test_hint (void)
{
  g_autofree char *hint = dlp_suggest_hint ("limti", names);

  g_assert_cmpstr (hint, ==, "did you mean \"limit\"?");
  g_assert_null (dlp_suggest_hint ("parquet", names));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/suggest/nearest", test_nearest);
  g_test_add_func ("/suggest/limits", test_limits);
  g_test_add_func ("/suggest/hint", test_hint);
  return g_test_run ();
}
