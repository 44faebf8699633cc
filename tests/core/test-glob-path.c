/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-file.h>

static void
test_paths (void)
{
  /* As bash has them with globstar. */
  static const struct
  {
    const char *pattern, *path;
    gboolean matches;
  } cases[] = {
    { "a.jsonl", "a.jsonl", TRUE },
    { "a.jsonl", "b/a.jsonl", FALSE },
    { "*.jsonl", "a.jsonl", TRUE },
    { "*.jsonl", "b/a.jsonl", FALSE },
    { "*.jsonl", ".a.jsonl", FALSE },
    { ".*.jsonl", ".a.jsonl", TRUE },
    { "*/*.jsonl", "b/a.jsonl", TRUE },
    { "*/*.jsonl", "c/b/a.jsonl", FALSE },
    { "b/*", "b/a", TRUE },
    { "b/", "b/a", TRUE },
    { "b/", "b/c/a", FALSE },
    { "b", "b/a", FALSE },
    { "**", "a", TRUE },
    { "**", "b/a", TRUE },
    { "**", "c/b/a", TRUE },
    { "**", ".c/b/a", FALSE },
    { "**", "c/.a", FALSE },
    { "b/**", "b/a", TRUE },
    { "b/**", "b", FALSE },
    { "b/**", "c/b/a", FALSE },
    { "**/a", "a", TRUE },
    { "**/a", "c/b/a", TRUE },
    { "**/a", "c/.b/a", FALSE },
    { "**/.b/a", "c/.b/a", TRUE },
    { "**/b/*.x", "b/c/b/a.x", TRUE },
    { "**/b/*.x", "b/c/b/d/a.x", FALSE },
    { "**/b/**/*.x", "b/c/b/d/a.x", TRUE },
    { "**/b/c", "b/b/b/c", TRUE },
    { "**/**/a", "a", TRUE },
    { "x/**/y/**/z", "x/y/y/y/z", TRUE },
    { "x/**/y/**/z", "x/z", FALSE },
    { "a//b*", "a//b1", TRUE },
    { "a//b*", "a/b1", FALSE },
    { "a/*", "a", FALSE },
    { "a?c", "a/c", FALSE },
    { "a[!x]c", "abc", TRUE },
    { "a[/]c", "a/c", FALSE },
    { "\xff*", "\xff\xfe", TRUE },
    { "", "", TRUE },
    { "*", "", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (dlp_glob_match_path (cases[i].pattern, cases[i].path) != cases[i].matches)
      g_error ("%s, %s: %d was expected", cases[i].pattern, cases[i].path, cases[i].matches);
}

/* What a matcher that tries all places of each star would never finish. */
static void
test_many_stars (void)
{
  GString *pattern = g_string_new (NULL);
  GString *path = g_string_new (NULL);

  for (guint i = 0; i < 40; i++)
    g_string_append (pattern, "**/a*a*/");
  for (guint i = 0; i < 2000; i++)
    g_string_append (path, "aaaaaaaaaaaaaaa/");
  g_string_append (pattern, "**/b");
  g_string_append (path, "a");
  g_assert_false (dlp_glob_match_path (pattern->str, path->str));
  g_string_append (path, "/b");
  g_assert_true (dlp_glob_match_path (pattern->str, path->str));
  g_string_free (pattern, TRUE);
  g_string_free (path, TRUE);
}

/* A scheme that has no names that move. */
static void
test_pin (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  DlpScheme *scheme = dlp_scheme_for_uri ("data/*.jsonl", &error);
  g_autofree char *pinned = dlp_scheme_pin (scheme, "data/*.jsonl", NULL, &error);
  g_autofree char *none = NULL;

  g_assert_no_error (error);
  g_assert_cmpstr (pinned, ==, "data/*.jsonl");
  g_cancellable_cancel (cancelled);
  none = dlp_scheme_pin (scheme, "data/*.jsonl", cancelled, &error);
  g_assert_null (none);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/glob/paths", test_paths);
  g_test_add_func ("/glob/many-stars", test_many_stars);
  g_test_add_func ("/glob/pin", test_pin);
  return g_test_run ();
}
