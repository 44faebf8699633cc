/* SPDX-License-Identifier: MIT */

/* Frames in pieces, digests, encodings and codings, each by itself. */

#include <string.h>
#include <zlib.h>

#include <glib.h>

#include "warc-body.h"
#include "warc-charset.h"
#include "warc-compare.h"
#include "warc-digest.h"

#define LITERAL(s) ((const guint8 *) (s)), sizeof (s) - 1

/* ---- frames ---- */

static const char *const pieces[] = {
  "WARC/1.0\r\n",
  "WARC/1.1\n",
  "Content-Length: 5\r\n",
  "Content-Length: 40\r\n",
  "content-length:0",
  "\r\n",
  "\n",
  "\r\n\r\n",
  "Content-Length: x",
  "hello",
  "WARC/",
  "WARC/1",
  "A: b\r\n",
  "WARC/1.0 x",
  "\r",
  "Content-Length: 99999999\r\n",
  "hello\r\n\r\nWARC/1.0\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n",
};

static void
test_random_frames (void)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  guint n = MAX (1, (guint) (3000 * (scale != NULL ? g_ascii_strtod (scale, NULL) : 1)));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (gint k = g_test_rand_int_range (0, 40); k > 0; k--)
        g_string_append (text, pieces[g_test_rand_int_range (0, G_N_ELEMENTS (pieces))]);
      warc_compare ((const guint8 *) text->str, text->len, (gsize) g_test_rand_int_range (1, 30),
                    1000);
    }
}

static void
test_skip (void)
{
  static const char text[] = "\r\n\nWARC/1.0\r\nContent-Length: 9\r\n\r\nlong WARC/1.0\r\n"
                             "WARC/x\r\nWARC/1.1\r\n";
  const char *expected = strstr (text, "WARC/1.1");

  for (gsize piece = 1; piece < sizeof text; piece++)
    {
      guint64 state[4] = { 0 };
      gboolean ended = FALSE;
      gsize taken = 0;

      for (gsize seen = MIN (piece, strlen (text)); !ended;
           seen = MIN (seen + piece, strlen (text)))
        taken += warc_frame_skip (state, (const guint8 *) text + taken, seen - taken, &ended);
      g_assert_cmpuint (taken, ==, (gsize) (expected - text));
    }
}

/* ---- digests: of "abc", by sha1sum and base32 of coreutils ---- */

static void
test_digests (void)
{
  static const struct
  {
    const char *digest;
    WarcDigest is;
  } cases[] = {
    { "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", WARC_DIGEST_RIGHT },
    { "SHA-1:vgmt4nsha2awvor6evyxqugcnsonbwe5", WARC_DIGEST_RIGHT },
    { "sha1:a9993e364706816aba3e25717850c26c9cd0d89d", WARC_DIGEST_RIGHT },
    { "md5:900150983cd24fb0d6963f7d28e17f72", WARC_DIGEST_RIGHT },
    { "md5:SAAVBGB42JH3BVUWH56SRYL7OI======", WARC_DIGEST_RIGHT },
    { "sha256:XJ4BNP4PAHH6UQKBIDPF3LRCEOYAGYNDSYLXVHFUCD7WD4QACWWQ====", WARC_DIGEST_RIGHT },
    { "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      WARC_DIGEST_RIGHT },
    { "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE6", WARC_DIGEST_WRONG },
    { "sha1:a9993e364706816aba3e25717850c26c9cd0d89e", WARC_DIGEST_WRONG },
    { "sha1:a9993e364706816aba3e25717850c26c9cd0d8", WARC_DIGEST_UNKNOWN },
    { "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBW1", WARC_DIGEST_UNKNOWN },
    { "blake2:00", WARC_DIGEST_UNKNOWN },
    { "sha1", WARC_DIGEST_UNKNOWN },
    { "", WARC_DIGEST_UNKNOWN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (warc_digest_check (cases[i].digest, strlen (cases[i].digest), LITERAL ("abc")),
                     ==, cases[i].is);
}

/* ---- encodings ---- */

typedef struct
{
  const char *type;
  const guint8 *body;
  gsize size;
  const char *encoding; /* NULL: none is said */
  gsize mark;
  const char *unknown;
} Said;

static void
test_said (void)
{
  static const Said cases[] = {
    { "text/html", LITERAL ("x"), NULL, 0, NULL },
    { NULL, LITERAL ("<meta charset=koi8-r>"), NULL, 0, NULL },
    { "text/html; charset=ISO-8859-1", LITERAL ("<meta charset=koi8-r>"), "CP1252", 0, NULL },
    { "text/html; Charset = \"utf-8\" ; x=y", LITERAL (""), "UTF-8", 0, NULL },
    { "text/html;charset='gbk'", LITERAL (""), "GB18030", 0, NULL },
    { "text/html; charset=", LITERAL ("<META CHARSET = 'Shift_JIS' >"), "CP932", 0, NULL },
    { "application/xhtml+xml",
      LITERAL ("<meta http-equiv=a content=\"text/html; charset=euc-kr\">"), "UHC", 0, NULL },
    { "text/html", LITERAL ("<meta name=charset><meta charset=windows-1251>"), "CP1251", 0, NULL },
    { "text/html", LITERAL ("charset=windows-1251"), NULL, 0, NULL },
    { "text/html", LITERAL ("<meta charset=utf-16>"), "UTF-8", 0, NULL },
    { "text/plain", LITERAL ("<meta charset=koi8-r>"), NULL, 0, NULL },
    { "text/plain; charset=koi8-r",
      LITERAL ("\xff\xfe"
               "a\0"),
      "UTF-16LE", 2, NULL },
    { "text/plain; charset=koi8-r", LITERAL ("\xfe\xff\0a"), "UTF-16BE", 2, NULL },
    { "text/plain; charset=koi8-r",
      LITERAL ("\xef\xbb\xbf"
               "a"),
      "UTF-8", 3, NULL },
    { "text/plain; charset=klingon", LITERAL ("a"), NULL, 0, "klingon" },
    { "text/plain; charset=a\xff", LITERAL ("a"), NULL, 0, "a\xef\xbf\xbd" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Said *c = &cases[i];
      g_autofree char *unknown = NULL;
      gsize mark = 99;
      const char *encoding = warc_charset_find (
          c->body, c->size, c->type, c->type != NULL ? strlen (c->type) : 0, &mark, &unknown);

      g_assert_cmpstr (encoding, ==, c->encoding);
      g_assert_cmpuint (mark, ==, c->mark);
      g_assert_cmpstr (unknown, ==, c->unknown);
    }
}

/* A <meta> counts in the first 1,024 bytes. */
static void
test_prescan (void)
{
  for (guint before = 1000; before < 1024; before++)
    {
      g_autofree char *body = g_strdup_printf ("%*s<meta charset=koi8-r>", (int) before, "");
      g_autofree char *unknown = NULL;
      gsize mark;
      const char *encoding =
          warc_charset_find ((const guint8 *) body, strlen (body), "text/html", 9, &mark, &unknown);

      if (before + strlen (body + before) <= 1024)
        g_assert_cmpstr (encoding, ==, "KOI8-R");
      else
        g_assert_true (encoding == NULL);
    }
}

/* Expected: by Python's codecs. */
static void
test_convert (void)
{
  static const struct
  {
    const char *encoding;
    const guint8 *data;
    gsize size;
    const char *text;
    guint64 replaced;
    gsize fault;
  } cases[] = {
    { "CP1252", LITERAL ("caf\xe9 \x80"), "caf\xc3\xa9 \xe2\x82\xac", 0, 0 },
    { "CP1252", LITERAL ("a\x81z"), "a\xef\xbf\xbdz", 1, 1 },
    { "CP932", LITERAL ("\x93\xfa\x96{"), "\xe6\x97\xa5\xe6\x9c\xac", 0, 0 },
    { "CP932", LITERAL ("a\x93"), "a\xef\xbf\xbd", 1, 1 },
    { "ISO-2022-JP", LITERAL ("\x1b$BF|K\\\x1b(B"), "\xe6\x97\xa5\xe6\x9c\xac", 0, 0 },
    { "GB18030", LITERAL ("\xd6\xd0\xce\xc4"), "\xe4\xb8\xad\xe6\x96\x87", 0, 0 },
    { "KOI8-R", LITERAL ("\xf0\xd2\xc9"), "\xd0\x9f\xd1\x80\xd0\xb8", 0, 0 },
    { "UTF-16LE", LITERAL ("a\0=\xd8\0\xde"), "a\xf0\x9f\x98\x80", 0, 0 },
    { "UTF-16LE", LITERAL ("a\0b"), "a\xef\xbf\xbd", 1, 2 },
    { "UTF-16BE", LITERAL (""), "", 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) strict = g_string_new (NULL);
      g_autoptr (GString) text = g_string_new (NULL);
      guint64 replaced = 0;
      gsize fault;

      g_assert_cmpint (warc_charset_convert (strict, cases[i].encoding, cases[i].data,
                                             cases[i].size, NULL, &fault),
                       ==, cases[i].replaced == 0);
      g_assert_cmpuint (fault, ==, cases[i].fault);
      g_assert_true (warc_charset_convert (text, cases[i].encoding, cases[i].data, cases[i].size,
                                           &replaced, &fault));
      g_assert_cmpstr (text->str, ==, cases[i].text);
      g_assert_cmpuint (replaced, ==, cases[i].replaced);
    }
}

/* What is larger than the pieces in which it is converted, and every label's converter is there. */
static void
test_convert_long (void)
{
  g_autoptr (GString) in = g_string_new (NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  gsize fault;

  for (guint i = 0; i < 10000; i++)
    g_string_append (in, "\xe9x");
  g_assert_true (
      warc_charset_convert (out, "CP1252", (const guint8 *) in->str, in->len, NULL, &fault));
  g_assert_cmpuint (out->len, ==, 30000);
  for (guint i = 0; i < 30000; i += 3)
    g_assert_cmpint (memcmp (out->str + i, "\xc3\xa9x", 3), ==, 0);
}

static void
test_labels (void)
{
  static const char *const labels[] = {
    "utf-8",        "iso-8859-1",   "windows-1250", "windows-1251", "windows-1253", "iso-8859-9",
    "windows-1255", "windows-1256", "windows-1257", "windows-1258", "iso-8859-2",   "iso-8859-3",
    "iso-8859-4",   "iso-8859-5",   "iso-8859-6",   "iso-8859-7",   "iso-8859-8",   "iso-8859-10",
    "iso-8859-13",  "iso-8859-14",  "iso-8859-15",  "iso-8859-16",  "tis-620",      "ibm866",
    "koi8-r",       "koi8-u",       "macintosh",    "gb2312",       "big5",         "euc-jp",
    "iso-2022-jp",  "shift_jis",    "euc-kr",       "utf-16le",     "utf-16be",
  };

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    {
      g_autofree char *type = g_strconcat ("text/plain; charset=", labels[i], NULL);
      g_autofree char *unknown = NULL;
      g_autoptr (GString) text = g_string_new (NULL);
      gsize mark, fault;
      const char *name = warc_charset_find (LITERAL (""), type, strlen (type), &mark, &unknown);
      gboolean is_wide = name != NULL && g_str_has_prefix (name, "UTF-16");

      g_assert_nonnull (name);
      g_assert_true (warc_charset_convert (
          text, name, (const guint8 *) (is_wide && name[6] == 'B' ? "\0a" : "a"), is_wide ? 2 : 1,
          NULL, &fault));
      g_assert_cmpstr (text->str, ==, "a");
    }
}

/* ---- codings ---- */

static GByteArray *
deflate_bytes (const char *text, gsize size, int window_bits)
{
  GByteArray *out = g_byte_array_new ();
  z_stream stream = { .next_in = (guint8 *) text, .avail_in = (uInt) size };

  g_assert_cmpint (deflateInit2 (&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), ==,
                   Z_OK);
  g_byte_array_set_size (out, (guint) deflateBound (&stream, size));
  stream.next_out = out->data;
  stream.avail_out = out->len;
  g_assert_cmpint (deflate (&stream, Z_FINISH), ==, Z_STREAM_END);
  g_byte_array_set_size (out, out->len - stream.avail_out);
  deflateEnd (&stream);
  return out;
}

/* "BODY", "!KIND" where it is refused. */
static char *
decode (const char *header, const guint8 *body, gsize size, gboolean may_end_early, gsize max)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();
  GByteArray *rooms[2] = { g_byte_array_sized_new (64), g_byte_array_sized_new (64) };
  HttpMessage http;
  WarcBodyFault fault = { NULL };
  char *text;

  g_byte_array_append (message, LITERAL ("HTTP/1.1 200 OK\r\n"));
  g_byte_array_append (message, (const guint8 *) header, (guint) strlen (header));
  g_byte_array_append (message, LITERAL ("\r\n"));
  g_byte_array_append (message, body, (guint) size);
  g_assert_true (http_message_read (&http, message->data, message->len));
  g_assert_cmpint (http.status, ==, 200);
  g_assert_cmpuint (http.body_size, ==, size);
  if (http_message_decode (&http, may_end_early, max, rooms, &body, &size, &fault))
    text = g_strndup ((const char *) body, size);
  else
    text = g_strconcat ("!", fault.kind, NULL);
  g_free (fault.message);
  g_byte_array_unref (rooms[0]);
  g_byte_array_unref (rooms[1]);
  return text;
}

static void
assert_decodes (const char *header, const guint8 *body, gsize size, const char *expected)
{
  g_autofree char *text = decode (header, body, size, FALSE, 1000);

  g_assert_cmpstr (text, ==, expected);
}

#define CHUNKED "Transfer-Encoding: Chunked\r\n"

static void
test_chunks (void)
{
  g_autofree char *early = decode (CHUNKED, LITERAL ("3\r\nabc\r\n9\r\nde"), TRUE, 1000);
  g_autofree char *no_last = decode (CHUNKED, LITERAL ("3\r\nabc\r\n"), TRUE, 1000);

  assert_decodes (CHUNKED, LITERAL ("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n"), "abcde");
  assert_decodes (CHUNKED, LITERAL ("3\nabc\n0\n\n"), "abc");
  assert_decodes (CHUNKED, LITERAL ("00A \r\n0123456789\r\n0\r\n\r\n"), "0123456789");
  assert_decodes (CHUNKED, LITERAL ("<p>it was decoded before</p>"),
                  "<p>it was decoded before</p>");
  assert_decodes (CHUNKED, LITERAL (""), "");
  assert_decodes (CHUNKED, LITERAL ("0\r\n\r\n"), "");
  assert_decodes (CHUNKED, LITERAL ("3\r\nabc\r\n9\r\nde"), "!chunked");
  assert_decodes (CHUNKED, LITERAL ("3\r\nabc\r\n"), "!chunked");
  assert_decodes (CHUNKED, LITERAL ("3\r\nabc\r\nxyz\r\n"), "!chunked");
  assert_decodes (CHUNKED, LITERAL ("3\r\nabc\r\nfffffffffffffffff\r\n"), "!chunked");
  g_assert_cmpstr (early, ==, "abcde");
  g_assert_cmpstr (no_last, ==, "abc");
}

static void
test_compressed (void)
{
  static const char text[] = "a page, a page, a page";
  g_autoptr (GByteArray) gzip = deflate_bytes (text, strlen (text), 15 + 16);
  g_autoptr (GByteArray) zlib = deflate_bytes (text, strlen (text), 15);
  g_autoptr (GByteArray) raw = deflate_bytes (text, strlen (text), -15);
  g_autoptr (GByteArray) twice = deflate_bytes ((const char *) gzip->data, gzip->len, 15 + 16);
  g_autoptr (GByteArray) members = g_byte_array_new ();
  g_autofree char *early =
      decode ("Content-Encoding: gzip\r\n", gzip->data, gzip->len - 9, TRUE, 1000);

  assert_decodes ("Content-Encoding: gzip\r\n", gzip->data, gzip->len, text);
  assert_decodes ("content-encoding:X-GZIP\r\n", gzip->data, gzip->len, text);
  assert_decodes ("Content-Encoding: deflate\r\n", zlib->data, zlib->len, text);
  assert_decodes ("Content-Encoding: deflate\r\n", raw->data, raw->len, text);
  assert_decodes ("Content-Encoding: gzip, gzip\r\n", twice->data, twice->len, text);
  assert_decodes ("Content-Encoding: identity\r\n", LITERAL ("abc"), "abc");
  assert_decodes ("Content-Encoding: gzip\r\n", LITERAL ("decoded before"), "decoded before");
  assert_decodes ("Content-Encoding: gzip\r\n", LITERAL (""), "");
  assert_decodes ("Content-Encoding: br\r\n", LITERAL ("abc"), "!content-encoding");
  assert_decodes ("Content-Encoding: gzip\r\n", gzip->data, gzip->len - 9, "!content-encoding");
  g_assert_true (g_str_has_prefix (text, early));
  g_assert_cmpuint (strlen (early), >, 0);

  g_byte_array_append (members, gzip->data, gzip->len);
  g_byte_array_append (members, gzip->data, gzip->len);
  assert_decodes ("Content-Encoding: gzip\r\n", members->data, members->len,
                  "a page, a page, a pagea page, a page, a page");
  gzip->data[gzip->len - 5] ^= 1;
  assert_decodes ("Content-Encoding: gzip\r\n", gzip->data, gzip->len, "!content-encoding");
}

/* What is small and becomes large is given up. */
static void
test_bomb (void)
{
  gsize size = 8 * 1024 * 1024;
  g_autofree char *zeros = g_malloc0 (size);
  g_autoptr (GByteArray) bomb = deflate_bytes (zeros, size, 15 + 16);
  g_autofree char *text =
      decode ("Content-Encoding: gzip\r\n", bomb->data, bomb->len, TRUE, 100000);

  g_assert_cmpstr (text, ==, "!too-long");
}

static void
test_messages (void)
{
  HttpMessage http;

  g_assert_true (http_message_read (&http, LITERAL ("GET / HTTP/1.1\r\nA: b\r\n\r\nx")));
  g_assert_cmpint (http.status, ==, -1);
  g_assert_cmpuint (http.body_size, ==, 1);
  g_assert_true (http_message_read (&http, LITERAL ("HTTP/1.1 404 Not found\r\nA: b\r\n")));
  g_assert_cmpint (http.status, ==, 404);
  g_assert_cmpuint (http.body_size, ==, 0);
  g_assert_true (http_message_read (&http, LITERAL ("HTTP/1.1 x")));
  g_assert_cmpint (http.status, ==, -1);
  g_assert_false (http_message_read (&http, LITERAL ("<html>")));
  g_assert_false (http_message_read (&http, LITERAL ("")));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/warc-parts/random-frames", test_random_frames);
  g_test_add_func ("/warc-parts/skip", test_skip);
  g_test_add_func ("/warc-parts/digests", test_digests);
  g_test_add_func ("/warc-parts/said", test_said);
  g_test_add_func ("/warc-parts/prescan", test_prescan);
  g_test_add_func ("/warc-parts/convert", test_convert);
  g_test_add_func ("/warc-parts/convert-long", test_convert_long);
  g_test_add_func ("/warc-parts/labels", test_labels);
  g_test_add_func ("/warc-parts/chunks", test_chunks);
  g_test_add_func ("/warc-parts/compressed", test_compressed);
  g_test_add_func ("/warc-parts/bomb", test_bomb);
  g_test_add_func ("/warc-parts/messages", test_messages);
  return g_test_run ();
}
