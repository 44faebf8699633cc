/* SPDX-License-Identifier: MIT */

/* What becomes a record, what does not, and where that is, whatever the size of a read; and what is
 * gone on with after each record. */

#include <string.h>

#include "dlp-warc-reader.h"
#include "reader-cases.h"

/* Octets behind such a header are counted from its start: 78 and what @type and @length have. */
#define HEADER(type, length, more)                                                                 \
  "WARC/1.0\r\nWARC-Type: " type "\r\nContent-Length: " length "\r\n" more "\r\n"
#define RECORD(type, length, more, block) HEADER (type, length, more) block "\r\n\r\n"
#define TEXT(length, block) RECORD ("conversion", length, "Content-Type: text/plain\r\n", block)
#define HTTP "Content-Type: application/http; msgtype=response\r\n"
#define PAGE(length, header, body)                                                                 \
  RECORD ("response", length, HTTP, "HTTP/1.1 200 OK\r\n" header "\r\n" body)
#define URL "WARC-Target-URI: <http://a.test/x>\r\n"

static const ReaderCase cases[] = {
  { "plain", "", LITERAL (TEXT ("3", "one") TEXT ("4", "two\n")), "one|two\\x0a", "" },
  { "no-end", "", LITERAL (TEXT ("3", "one") HEADER ("conversion", "3", "") "two"), "one|two", "" },
  { "empty", "", LITERAL (TEXT ("0", "")), "", "" },
  { "lf", "",
    LITERAL ("WARC/1.0\nWARC-Type: conversion\nContent-Length: 3\n\none\n\n" TEXT ("3", "two")),
    "one|two", "" },
  { "response", "",
    LITERAL (PAGE ("50", "Content-Type: text/html\r\n", "a\r\n\r\nb") PAGE ("19", "", "")),
    "a\\x0d\\x0a\\x0d\\x0ab|", "" },
  { "other-types", "",
    LITERAL (RECORD ("warcinfo", "3", "", "one") RECORD ("request", "3", "", "two")
                 RECORD ("Response", "5", "", "three") RECORD ("revisit", "0", "", "")),
    "three", "" },
  { "types", "types=request,metadata",
    LITERAL (RECORD ("metadata", "3", "", "one") RECORD ("response", "3", "", "two")
                 RECORD ("request", "20", HTTP, "GET / HTTP/1.1\r\n\r\nxy")),
    "one|xy", "" },
  { "block", "body=block", LITERAL (PAGE ("20", "", "a")), "HTTP/1.1 200 OK\\x0d\\x0a\\x0d\\x0aa",
    "" },
  { "not-http", "", LITERAL (RECORD ("response", "3", "Content-Type: text/dns\r\n", "dns")), "dns",
    "" },
  { "fields", "fields=url,date,type,id,content-type,http-status,header:X-A,warc:WARC-IP-Address",
    LITERAL (RECORD ("response",
                     "51",
                     HTTP URL "WARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:x>\r\n"
                              "warc-ip-address : 1.2.3.4\r\n",
                     "HTTP/1.0 404 No\r\nx-a: \xe9  \r\nContent-Type: a/b;c\r\n\r\nz")
                 TEXT ("1", "y")),
    "z\thttp://a.test/x\t2024-01-01T00:00:00Z\tresponse\t<urn:x>\ta/b;c\t404\t\xc3\xa9\t1.2.3.4|"
    "y\t(null)\t(null)\tconversion\t(null)\ttext/plain\t(null)\t(null)\t(null)",
    "" },
  { "content-types", "content-types=text/html,image/*",
    LITERAL (PAGE ("47", "Content-Type: Text/HTML ;x\r\n", "")
                 PAGE ("46", "Content-Type: text/plain\r\n", "a")
                     PAGE ("46", "Content-Type: image/png\r\n", "cd") PAGE ("20", "", "e")
                         PAGE ("44", "Content-Type: text/htm\r\n", "b")),
    "|cd", "" },
  { "utf-8", "",
    LITERAL (TEXT ("3", "\xef\xbb\xbf") TEXT ("5", "ab\xffz\n") TEXT ("2", "\xc3\xa9")
                 PAGE ("23", "", "abc\xe9")),
    "|\xc3\xa9", "utf-8 1 0 169|utf-8 3 0 387" },
  { "bytes", "charset=bytes field=content", LITERAL (TEXT ("3", "a\xff\xfe")), "a\xff\xfe", "" },
  { "replace", "charset=replace",
    LITERAL (TEXT ("3",
                   "a\xff"
                   "b") PAGE ("56", "Content-Type: text/html;charset=xy\r\n", "\xe9")),
    "a\xef\xbf\xbd"
    "b|\xef\xbf\xbd",
    "" },
  { "charset", "charset=header",
    LITERAL (PAGE ("60", "Content-Type: text/html;charset=latin1\r\n", "\xe9")
                 PAGE ("67", "Content-Type: text/html\r\n", "<meta charset=koi8-r>\xf0\xd2")
                     PAGE ("57", "Content-Type: text/html;charset=xyz\r\n", "a")
                         PAGE ("61", "Content-Type: text/html;charset=gb18030\r\n", "\xff")
                             PAGE ("45", "Content-Type: text/html\r\n", "\xff")),
    "\xc3\xa9|<meta charset=koi8-r>\xd0\x9f\xd1\x80",
    "charset 2 0 500|charset 3 0 668|utf-8 4 0 820" },
  { "chunked", "",
    LITERAL (PAGE ("58", "Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\n\r\n")
                 PAGE ("55", "Transfer-Encoding: chunked\r\n", "9\r\nabc\r\n")
                     PAGE ("48", "Transfer-Encoding: chunked\r\n", "b")),
    "a|b", "chunked 1 0 315" },
  { "coding", "", LITERAL (PAGE ("43", "Content-Encoding: br\r\n", "ab") TEXT ("1", "c")), "c",
    "content-encoding 0 0 144" },
  { "http", "", LITERAL (RECORD ("response", "3", HTTP, "abc") TEXT ("1", "c")), "c",
    "http 0 0 102" },
  { "truncated", "",
    LITERAL (RECORD ("response",
                     "52",
                     HTTP "WARC-Truncated: length\r\n",
                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nab")),
    "ab", "" },
  { "digest", "verify-digest=true",
    LITERAL (RECORD ("conversion",
                     "3",
                     "WARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n",
                     "abc") RECORD ("conversion",
                                    "3",
                                    "WARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n",
                                    "abd")
                 RECORD ("conversion", "3", "WARC-Block-Digest: crc:1\r\n", "abe")),
    "abc|abe", "digest 1 0 231" },
  /* Lengths that are wrong: the record after is found. */
  { "length-short", "", LITERAL (TEXT ("3", "one") TEXT ("2", "two") TEXT ("5", "three")),
    "one|three", "content-length 1 0 87" },
  { "length-long", "", LITERAL (TEXT ("3", "one") TEXT ("9", "two") TEXT ("5", "three")),
    "one|three", "content-length 1 0 87" },
  { "length-beyond", "", LITERAL (TEXT ("900", "two") TEXT ("5", "three")), "three",
    "content-length 0 0 0" },
  { "length-huge", "",
    LITERAL (TEXT ("99999999999999999999", "two") TEXT ("18446744073709551615", "x")
                 TEXT ("5", "three")),
    "three", "content-length 0 0 0|content-length 1 0 106" },
  { "length-none", "",
    LITERAL ("WARC/1.0\r\nWARC-Type: conversion\r\n\r\nabc\r\n\r\n" TEXT ("5", "three")), "three",
    "content-length 0 0 0" },
  { "length-two", "",
    LITERAL (RECORD ("conversion", "3", "Content-Length: 4\r\n", "two")
                 RECORD ("conversion", "3", "Content-Length: 3\r\n", "one")),
    "one", "content-length 0 0 0" },
  { "length-empty", "", LITERAL (TEXT ("", "two") TEXT ("+3", "two") TEXT ("5", "three")), "three",
    "content-length 0 0 0|content-length 1 0 86" },
  { "line-ends", "",
    LITERAL (HEADER ("conversion", "3", "") "one" HEADER ("conversion", "3", "") "two\r\n" HEADER (
        "conversion",
        "3",
        "") "xyz\r\n\r\n\r\n\n" TEXT ("1", "z")),
    "one|two|xyz|z", "" },
  { "cut", "", LITERAL (TEXT ("3", "one") HEADER ("conversion", "9", "") "two"), "one",
    "unterminated 1 0 87" },
  { "cut-header", "", LITERAL (TEXT ("3", "one") "WARC/1.0\r\nWARC-Ty"), "one", "warc 1 0 87" },
  { "header-cut", "", LITERAL ("WARC/1.0\r\nWARC-Ty\r\n" TEXT ("3", "one")), "one", "warc 0 0 0" },
  { "junk", "", LITERAL ("\r\n\njunk\nWARC/x\n" TEXT ("3", "one") "WARC/1"), "",
    "warc 0 0 3|content-length 1 0 15" },
  { "version-in-text", "", LITERAL (TEXT ("21", "a\r\n\r\nWARC/1.0\r\nb: c\r\n") TEXT ("3", "one")),
    "a\\x0d\\x0a\\x0d\\x0aWARC/1.0\\x0d\\x0ab: c\\x0d\\x0a|one", "" },
  { "other-versions", "",
    LITERAL ("WARC/0.18\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\na\r\n\r\n"
             "WARC/1.1\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\nb\r\n\r\n"),
    "a|b", "" },
  /* 87 bytes each, and 88. */
  { "max", "max-record-bytes=87", LITERAL (TEXT ("3", "abc") TEXT ("4", "defg") TEXT ("3", "hij")),
    "abc|hij", "too-long 1 0 87" },
  { "max-short", "max-record-bytes=86", LITERAL (TEXT ("3", "abc") TEXT ("2", "de")), "de",
    "too-long 0 0 0" },
  { "too-long", "max-record-bytes=100",
    LITERAL ("\r\n" TEXT ("20", "0123456789WARC/1.0\r\n") TEXT ("3", "one")
                 TEXT ("16", "0123456\r\nWARC/x\n") TEXT ("1", "a")),
    "one|a", "too-long 0 0 2|too-long 2 0 194" },
};

/* Longer than what is held of a record: passed over, with what looks like the next one. */
static void
test_very_long (void)
{
  for (guint i = 0; i < N_READ_SIZES; i++)
    for (guint way = 0; way < 4; way++)
      {
        g_autoptr (Fixture) fixture =
            reader_cases_fixture ("max-record-bytes=1000", MAX (reader_read_sizes[i], 50));
        g_autoptr (GString) text = g_string_new (TEXT ("3", "one"));
        g_autoptr (RigOutput) output = NULL;
        g_autofree char *good = NULL;
        g_autofree char *rejected = NULL;

        g_string_append (text, HEADER ("conversion", "200000", ""));
        while (text->len < 150000)
          g_string_append (text, "x WARC/1.0\nWARC\n\r\nWARC/y");
        g_string_append (text, "\n" TEXT ("3", "two"));
        fixture->config.workers = way % 2;
        fixture_write (fixture, way < 2 ? "a.warc" : "a.warc.gz", text->str, (gssize) text->len);
        output = rig_run (fixture_config (fixture));
        g_assert_no_error (output->error);
        good = reader_cases_join_good (output);
        rejected = reader_cases_join_rejected (output);
        g_assert_cmpstr (good, ==, "one|two");
        g_assert_cmpstr (rejected, ==, "too-long 1 0 87");
      }
}

/* ---- other files ---- */

static void
test_other (void)
{
  for (guint i = 0; i < N_READ_SIZES; i++)
    {
      reader_cases_assert_damaged ("", LITERAL ("\xff\xfeW\0A\0R\0C\0"), reader_read_sizes[i],
                                   "a UTF-16 byte order mark");
      reader_cases_assert_damaged ("", LITERAL ("PK\3\4...."), reader_read_sizes[i],
                                   "zip data, which nothing here decompresses");
    }
}

static void
test_empty (void)
{
  g_autoptr (Fixture) fixture = reader_cases_fixture ("", 4096);
  g_autoptr (RigOutput) output = NULL;

  fixture_write (fixture, "a.warc", "", 0);
  fixture_write (fixture, "b.warc", "\r\n", 2);
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len + output->rejected->len, ==, 0);
}

static void
test_refused (void)
{
  static const char *const settings[][2] = {
    { "field=", "field: empty" },
    { "types=response,page", "types: \"page\", but there are warcinfo, response" },
    { "types=", "types: \"\"" },
    { "fields=link", "fields: \"link\", but there are url, date" },
    { "fields=header:", "fields: \"header:\"" },
    { "fields=url,url", "fields: \"url\" is given twice" },
    { "field=url fields=date,url", "\"url\" is the name that the body gets" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    reader_cases_assert_refused (settings[i][0], settings[i][1]);
}

/* ---- counters ---- */

static guint64
get_counter (const RigOutput *output, const char *name)
{
  g_autoptr (GVariant) counters = g_variant_lookup_value (output->report, "counters", NULL);
  guint64 n = 0;

  g_assert_true (g_variant_lookup (counters, name, "t", &n));
  return n;
}

static void
test_counters (void)
{
  static const char input[] = RECORD ("warcinfo", "3", "", "one")
      RECORD ("response", "3", "WARC-Truncated: time\r\nWARC-Segment-Number: 1\r\n", "two")
          RECORD ("continuation", "3", "WARC-Segment-Number: 2\r\n", "thr")
              RECORD ("response", "2", "WARC-Block-Digest: crc:1\r\n", "\xff\xff")
                  HEADER ("response", "1", "") "x\r\n" HEADER ("request", "1", "") "x";
  g_autoptr (Fixture) fixture = reader_cases_fixture ("charset=replace verify-digest=true", 4096);
  g_autoptr (RigOutput) output = NULL;

  fixture_write (fixture, "a.warc", LITERAL (input));
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 3);
  g_assert_cmpuint (get_counter (output, "passed-over"), ==, 3);
  g_assert_cmpuint (get_counter (output, "truncated"), ==, 1);
  g_assert_cmpuint (get_counter (output, "segments"), ==, 2);
  g_assert_cmpuint (get_counter (output, "replaced"), ==, 2);
  g_assert_cmpuint (get_counter (output, "lacking-line-ends"), ==, 2);
  g_assert_cmpuint (get_counter (output, "unknown-digests"), ==, 1);
}

/* ---- gone on with ---- */

static void
write_files (Fixture *fixture)
{
  static const char *const names[] = { "a.warc", "b.warc.gz", "c.warc.zst", "d.warc", "e.warc" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint k = 0; i != 3 && k < 16; k++)
        {
          g_autofree char *body = g_strdup_printf ("page %u of %u %*s", k, i, (int) (k * 7), "");
          gsize length = strlen (body) + (k % 7 == 3 ? 20 : 0);

          if (k % 7 == 5)
            g_string_append (text,
                             "WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 0\r\n\r\n\r\n");
          g_string_append_printf (text,
                                  "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Date: %u\r\n"
                                  "Content-Length: %" G_GSIZE_FORMAT "\r\n\r\n%s\r\n\r\n",
                                  k, length, body);
        }
      if (i == 4)
        g_string_append (text, "junk\r\n");
      fixture_write (fixture, names[i], text->str, (gssize) text->len);
    }
}

static void
test_resume (gconstpointer data)
{
  reader_cases_check_resume ("fields=date", write_files, GPOINTER_TO_UINT (data), 2 * (4 * 14 - 1),
                             2 * (4 * 2 + 1));
}

/* ---- the inputs of others' reports ---- */

static void
test_golden (void)
{
  static const char *const names[] = { "w01-ok.warc.gz", "w02-one-member.warc.gz",
                                       "w04-content-length-long.warc", "w06-negative-length.warc" };
  static const char *const settings[] = { "", "fields=url,http-status body=block" };
  g_autofree char *folder = g_test_build_filename (G_TEST_DIST, "cases/", NULL);
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint k = 0; k < G_N_ELEMENTS (settings); k++)
      reader_cases_append_outcome (all, folder, names[i], settings[k]);
  reader_cases_assert_golden (all);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  reader_cases_init (DLP_TYPE_WARC_READER, "warc-reader", ".warc");
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  reader_cases_add (cases, G_N_ELEMENTS (cases));
  g_test_add_func ("/warc-reader/very-long", test_very_long);
  g_test_add_func ("/warc-reader/other", test_other);
  g_test_add_func ("/warc-reader/empty-files", test_empty);
  g_test_add_func ("/warc-reader/refused", test_refused);
  g_test_add_func ("/warc-reader/counters", test_counters);
  g_test_add_func ("/warc-reader/golden", test_golden);
  g_test_add_data_func ("/warc-reader/resume/1", GUINT_TO_POINTER (1), test_resume);
  g_test_add_data_func ("/warc-reader/resume/3", GUINT_TO_POINTER (3), test_resume);
  return g_test_run ();
}
