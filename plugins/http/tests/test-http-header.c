/* SPDX-License-Identifier: MIT */

#include "dlp-http-header.h"
#include "dlp-http-netrc.h"

static void
test_content_range (void)
{
  static const struct
  {
    const char *text;
    gboolean ok;
    gint64 start, end, total;
  } cases[] = {
    { "bytes 0-9/10", TRUE, 0, 9, 10 },
    { "BYTES 5-9/*", TRUE, 5, 9, -1 },
    { "bytes */10", TRUE, -1, -1, 10 },
    { "bytes 0-10/10", FALSE, 0, 0, 0 },
    { "bytes 9-5/10", FALSE, 0, 0, 0 },
    { "bytes -5-9/10", FALSE, 0, 0, 0 },
    { "bytes 0-9", FALSE, 0, 0, 0 },
    { "bytes=0-9/10", FALSE, 0, 0, 0 },
    { "bytes 0-9/10x", FALSE, 0, 0, 0 },
    { "bytes 0-99999999999999999999/100000000000000000000", FALSE, 0, 0, 0 },
    { "items 0-9/10", FALSE, 0, 0, 0 },
    { "", FALSE, 0, 0, 0 },
    { NULL, FALSE, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      HttpRange range;

      g_assert_cmpint (http_parse_content_range (cases[i].text, &range), ==, cases[i].ok);
      if (!cases[i].ok)
        continue;
      g_assert_cmpint (range.start, ==, cases[i].start);
      g_assert_cmpint (range.end, ==, cases[i].end);
      g_assert_cmpint (range.total, ==, cases[i].total);
    }
}

static void
test_retry_after (void)
{
  /* 1994-11-15 08:12:31 UTC */
  const gint64 then = 784887151;

  g_assert_cmpint (http_parse_retry_after ("0", then), ==, 0);
  g_assert_cmpint (http_parse_retry_after (" 120 ", then), ==, 120);
  g_assert_cmpint (http_parse_retry_after ("Tue, 15 Nov 1994 08:12:31 GMT", then), ==, 0);
  g_assert_cmpint (http_parse_retry_after ("Tue, 15 Nov 1994 08:12:31 GMT", then - 42), ==, 42);
  g_assert_cmpint (http_parse_retry_after ("Tue, 15 Nov 1994 08:12:31 GMT", then + 42), ==, 0);
  g_assert_cmpint (http_parse_retry_after ("-1", then), ==, -1);
  g_assert_cmpint (http_parse_retry_after ("12s", then), ==, -1);
  g_assert_cmpint (http_parse_retry_after ("soon", then), ==, -1);
  g_assert_cmpint (http_parse_retry_after ("\xff", then), ==, -1);
  g_assert_cmpint (http_parse_retry_after (NULL, then), ==, -1);
}

static void
test_identity (void)
{
  g_autofree char *strong = http_make_identity ("\"a\"", "then");
  g_autofree char *weak = http_make_identity ("W/\"a\"", "then");
  g_autofree char *by_time = http_make_identity (NULL, "then");
  g_autofree char *broken = http_make_identity ("\"", NULL);

  g_assert_cmpstr (strong, ==, "etag=\"a\"");
  g_assert_cmpstr (http_identity_get_strong_etag (strong), ==, "\"a\"");
  g_assert_cmpstr (weak, ==, "weak-etag=W/\"a\"");
  g_assert_null (http_identity_get_strong_etag (weak));
  g_assert_cmpstr (by_time, ==, "modified=then");
  g_assert_null (broken);
  g_assert_null (http_identity_get_strong_etag (NULL));

  g_assert_true (http_identity_is_strong (strong));
  g_assert_true (http_identity_is_strong ("sha256=00ff"));
  g_assert_false (http_identity_is_strong (weak));
  g_assert_false (http_identity_is_strong (by_time));
  g_assert_false (http_identity_is_strong (NULL));
}

static void
test_netrc (void)
{
  static const char text[] = "# machine a.example login x password y\n"
                             "machine b.example login me password one\n"
                             "machine A.example\n  login you\n  account z\n  password two\n"
                             "default login all password three\n"
                             "machine cut.example login only\n";
  g_autofree char *login = NULL;
  g_autofree char *password = NULL;

  g_assert_true (http_netrc_parse (text, "a.example", &login, &password));
  g_assert_cmpstr (login, ==, "you");
  g_assert_cmpstr (password, ==, "two");
  g_assert_true (http_netrc_parse (text, "b.example", &login, &password));
  g_assert_cmpstr (password, ==, "one");
  g_assert_false (http_netrc_parse (text, "c.example", &login, &password));
  g_assert_false (http_netrc_parse (text, "cut.example", &login, &password));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/http-header/content-range", test_content_range);
  g_test_add_func ("/http-header/retry-after", test_retry_after);
  g_test_add_func ("/http-header/identity", test_identity);
  g_test_add_func ("/http-header/netrc", test_netrc);
  return g_test_run ();
}
