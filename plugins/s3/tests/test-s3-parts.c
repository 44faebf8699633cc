/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-http-header.h"
#include "s3-ask.h"
#include "s3-chain.h"
#include "s3-place.h"
#include "s3-profile.h"
#include "s3-sign.h"
#include "s3-xml.h"

/* ---- signatures ---- */

/* 2013-05-24 00:00:00 and 2015-08-30 12:36:00 UTC */
#define MAY_24 1369353600
#define AUGUST_30 1440938160

static void
check_signature (const S3Request *request,
                 const char *access_key,
                 const char *secret_key,
                 const char *signed_headers,
                 const char *signature)
{
  g_autofree char *value = s3_sign (request, access_key, secret_key);
  g_autofree char *names = g_strdup_printf (" SignedHeaders=%s,", signed_headers);

  g_assert_true (g_str_has_prefix (value, "AWS4-HMAC-SHA256 Credential="));
  g_assert_nonnull (strstr (value, names));
  g_assert_cmpstr (strstr (value, "Signature=") + strlen ("Signature="), ==, signature);
}

/* The examples of "Authenticating Requests: Using the Authorization Header (AWS Signature Version
 * 4)" in the Amazon S3 API Reference. */
static void
test_sign_s3 (void)
{
  static const char access_key[] = "AKIAIOSFODNN7EXAMPLE";
  static const char secret_key[] = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  static const char *const headers[] = { "host",
                                         "examplebucket.s3.amazonaws.com",
                                         "x-amz-content-sha256",
                                         S3_EMPTY_HASH,
                                         "x-amz-date",
                                         "20130524T000000Z",
                                         NULL };
  static const char *const with_range[] = { "host",
                                            "examplebucket.s3.amazonaws.com",
                                            "range",
                                            "bytes=0-9",
                                            "x-amz-content-sha256",
                                            S3_EMPTY_HASH,
                                            "x-amz-date",
                                            "20130524T000000Z",
                                            NULL };
  g_autofree char *query =
      s3_make_query ((const char *const[]){ "prefix", "J", "max-keys", "2", NULL });
  S3Request request = {
    "GET", "/test.txt", "", with_range, S3_EMPTY_HASH, "us-east-1", "s3", MAY_24
  };

  check_signature (&request, access_key, secret_key, "host;range;x-amz-content-sha256;x-amz-date",
                   "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  request.headers = headers;
  request.path = "/";
  request.query = "lifecycle=";
  check_signature (&request, access_key, secret_key, "host;x-amz-content-sha256;x-amz-date",
                   "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  g_assert_cmpstr (query, ==, "max-keys=2&prefix=J");
  request.query = query;
  check_signature (&request, access_key, secret_key, "host;x-amz-content-sha256;x-amz-date",
                   "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

/* "get-vanilla" of AWS's Signature Version 4 test suite. */
static void
test_sign_vanilla (void)
{
  static const char *const headers[] = { "host", "example.amazonaws.com", "x-amz-date",
                                         "20150830T123600Z", NULL };
  const S3Request request = { "GET",         "/",         "",        headers,
                              S3_EMPTY_HASH, "us-east-1", "service", AUGUST_30 };

  check_signature (&request, "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                   "host;x-amz-date",
                   "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

/* (transfer full) */
static char *
from_hex (const char *text)
{
  GString *out = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p += 2)
    g_string_append_c (out,
                       (char) (g_ascii_xdigit_value (p[0]) * 16 + g_ascii_xdigit_value (p[1])));
  return g_string_free (out, FALSE);
}

/* (transfer full): of "NAME:HEX NAME:HEX" */
static char *
make_query (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, " ", -1);
  g_autoptr (GPtrArray) pairs = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      const char *colon = strchr (parts[i], ':');

      g_ptr_array_add (pairs, g_strndup (parts[i], (gsize) (colon - parts[i])));
      g_ptr_array_add (pairs, from_hex (colon + 1));
    }
  g_ptr_array_add (pairs, NULL);
  return s3_make_query ((const char *const *) pairs->pdata);
}

/* The columns are those of tests/peers/make_s3_signatures.py. */
static void
check_stored (char **columns)
{
  gint64 stamp = g_ascii_strtoll (columns[0], NULL, 10);
  gboolean has_token = *columns[5] != '\0';
  g_autofree char *time = s3_format_time (stamp);
  g_autofree char *key = from_hex (columns[6]);
  g_autofree char *encoded = http_encode (key, TRUE);
  g_autofree char *path = g_strconcat ("/", encoded, NULL);
  g_autofree char *query = make_query (columns[7]);
  const char *const headers[] = { "host",
                                  "bucket.s3.example",
                                  "x-amz-content-sha256",
                                  S3_EMPTY_HASH,
                                  "x-amz-date",
                                  time,
                                  has_token ? "x-amz-security-token" : NULL,
                                  columns[5],
                                  NULL };
  const S3Request request = { "GET",         path,       query,      headers,
                              S3_EMPTY_HASH, columns[1], columns[2], stamp };
  g_autofree char *value = s3_sign (&request, columns[3], columns[4]);

  g_assert_cmpstr (value, ==, columns[8]);
}

/* What botocore made of random requests. */
static void
test_sign_stored (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "signatures.tsv", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  for (; *lines[n] != '\0'; n++)
    {
      g_auto (GStrv) columns = g_strsplit (lines[n], "\t", -1);

      g_assert_cmpuint (g_strv_length (columns), ==, 9);
      check_stored (columns);
    }
  g_assert_cmpuint (n, ==, 200);
}

static void
test_encode (void)
{
  g_autofree char *path = http_encode ("a b/\xc3\xa4+~=&%.txt", TRUE);
  g_autofree char *value = http_encode ("a/b", FALSE);
  g_autofree char *time = s3_format_time (AUGUST_30);

  g_assert_cmpstr (path, ==, "a%20b/%C3%A4%2B~%3D%26%25.txt");
  g_assert_cmpstr (value, ==, "a%2Fb");
  g_assert_cmpstr (time, ==, "20150830T123600Z");
}

/* What is in a message, with a port, and with a token. */
static void
test_sign_message (void)
{
  S3Credentials credentials = { (char *) "AK", (char *) "SK", (char *) "TOKEN", 0 };
  g_autoptr (SoupMessage) message = soup_message_new ("GET", "http://[::1]:9000/b/k?x=1");
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  static const char *const signed_headers[] = { "host",
                                                "[::1]:9000",
                                                "x-amz-content-sha256",
                                                S3_EMPTY_HASH,
                                                "x-amz-date",
                                                "20130524T000000Z",
                                                "x-amz-request-payer",
                                                "requester",
                                                "x-amz-security-token",
                                                "TOKEN",
                                                NULL };
  const S3Request request = { "GET",         "/b/k", "x=1", signed_headers,
                              S3_EMPTY_HASH, "r-1",  "s3",  MAY_24 };
  g_autofree char *expected = s3_sign (&request, "AK", "SK");

  s3_sign_message (message, &credentials, "r-1", "s3", S3_EMPTY_HASH, TRUE, MAY_24);
  g_assert_cmpstr (soup_message_headers_get_one (headers, "Authorization"), ==, expected);
  for (guint i = 2; signed_headers[i] != NULL; i += 2)
    g_assert_cmpstr (soup_message_headers_get_one (headers, signed_headers[i]), ==,
                     signed_headers[i + 1]);
}

/* ---- places ---- */

static void
test_places (void)
{
  static const struct
  {
    const char *endpoint;
    S3PathStyle style;
    const char *region, *bucket, *key, *query, *uri;
  } cases[] = {
    { NULL, S3_PATH_STYLE_AUTO, "us-east-1", "my-bucket", "a/b c", "",
      "https://my-bucket.s3.us-east-1.amazonaws.com/a/b%20c" },
    { NULL, S3_PATH_STYLE_AUTO, "us-east-1", "my-bucket", NULL, "x=1",
      "https://my-bucket.s3.us-east-1.amazonaws.com/?x=1" },
    { NULL, S3_PATH_STYLE_AUTO, "eu-west-1", "my.bucket", "k", "",
      "https://s3.eu-west-1.amazonaws.com/my.bucket/k" },
    { NULL, S3_PATH_STYLE_AUTO, "eu-west-1", "My_Bucket", NULL, "x=1",
      "https://s3.eu-west-1.amazonaws.com/My_Bucket?x=1" },
    { NULL, S3_PATH_STYLE_TRUE, "cn-north-1", "bucket", "k", "",
      "https://s3.cn-north-1.amazonaws.com.cn/bucket/k" },
    { "http://127.0.0.1:9000/", S3_PATH_STYLE_AUTO, "r", "bucket", "/k", "",
      "http://127.0.0.1:9000/bucket//k" },
    { "https://store.example/base", S3_PATH_STYLE_AUTO, "r", "bucket", "", "",
      "https://store.example/base/bucket/" },
    { "https://store.example", S3_PATH_STYLE_FALSE, "r", "bucket", "k", "x=1",
      "https://bucket.store.example/k?x=1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *uri = s3_place_make_uri (cases[i].endpoint, cases[i].style, cases[i].region,
                                                cases[i].bucket, cases[i].key, cases[i].query);

      g_assert_cmpstr (uri, ==, cases[i].uri);
    }
}

static void
test_names (void)
{
  static const char *const wrong[] = { "s3://", "s3:///k", "s3://a:b@c/k", "s3://b?x/k",
                                       "s3://arn:aws:s3:::x/k" };
  g_autofree char *bucket = NULL;
  g_autofree char *key = NULL;
  g_autofree char *bare = NULL;
  g_autofree char *none = NULL;

  g_assert_true (s3_place_parse ("s3://b.u-c_K/a//b%20?#[1]", &bucket, &key, NULL));
  g_assert_cmpstr (bucket, ==, "b.u-c_K");
  g_assert_cmpstr (key, ==, "a//b%20?#[1]");
  g_assert_true (s3_place_parse ("s3://bucket", &bare, &none, NULL));
  g_assert_cmpstr (none, ==, "");
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;
      char *b = NULL, *k = NULL;

      g_assert_false (s3_place_parse (wrong[i], &b, &k, &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
      g_assert_nonnull (strstr (error->message, "s3://BUCKET/KEY"));
    }
}

/* ---- XML ---- */

#define HEAD                                                                                       \
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                                   \
  "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
#define ENTRY "<Contents><Key>a</Key><ETag>&quot;1&quot;</ETag><Size>5</Size></Contents>"
#define TAIL "</ListBucketResult>"

static void
test_page (void)
{
  static const char text[] =
      HEAD "<Contents><Size>12</Size><Owner><ID>x</ID><Key>no</Key></Owner>"
           "<Key>a%2Fb+c%2B%C3%A4&amp;</Key><ETag>&quot;d41d-2&quot;</ETag></Contents>"
           "<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>"
           "<Contents><Key><![CDATA[x<y]]></Key><ETag>abc</ETag><Size> 9223372036854775807 </Size>"
           "</Contents><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
           "<NextContinuationToken>1/+==</NextContinuationToken>" TAIL "\n";
  g_auto (S3Page) page = { NULL };
  g_autoptr (GError) error = NULL;
  const S3Entry *entries[2];

  g_assert_true (s3_page_parse (&page, text, strlen (text), &error));
  g_assert_no_error (error);
  g_assert_cmpuint (page.entries->len, ==, 2);
  for (guint i = 0; i < 2; i++)
    entries[i] = g_ptr_array_index (page.entries, i);
  g_assert_cmpstr (entries[0]->key, ==, "a/b c+\xc3\xa4&");
  g_assert_cmpstr (entries[0]->etag, ==, "\"d41d-2\"");
  g_assert_cmpint (entries[0]->size, ==, 12);
  g_assert_cmpstr (entries[1]->key, ==, "x<y");
  g_assert_cmpstr (entries[1]->etag, ==, "\"abc\"");
  g_assert_cmpint (entries[1]->size, ==, G_MAXINT64);
  g_assert_cmpstr (page.next, ==, "1/+==");
}

static void
test_page_plain (void)
{
  static const char text[] = HEAD "<Contents><Key>a+b%20</Key><Size>0</Size></Contents>"
                                  "<IsTruncated>false</IsTruncated>"
                                  "<NextContinuationToken>x</NextContinuationToken>" TAIL;
  g_auto (S3Page) page = { NULL };
  const S3Entry *entry;

  g_assert_true (s3_page_parse (&page, text, strlen (text), NULL));
  entry = g_ptr_array_index (page.entries, 0);
  g_assert_cmpstr (entry->key, ==, "a+b%20");
  g_assert_null (entry->etag);
  g_assert_null (page.next);
}

/* Of servers that leave <IsTruncated> out. */
static void
test_page_not_told (void)
{
  static const char more[] = HEAD ENTRY "<NextContinuationToken>x</NextContinuationToken>" TAIL;
  static const char last[] = HEAD ENTRY "<NextContinuationToken></NextContinuationToken>" TAIL;
  g_auto (S3Page) page = { NULL };
  g_auto (S3Page) end = { NULL };

  g_assert_true (s3_page_parse (&page, more, strlen (more), NULL));
  g_assert_cmpstr (page.next, ==, "x");
  g_assert_true (s3_page_parse (&end, last, strlen (last), NULL));
  g_assert_null (end.next);
}

static void
test_page_wrong (void)
{
  static const struct
  {
    const char *text, *said;
  } cases[] = {
    { "", "not a listing" },
    { "<html></html>", "<html>" },
    { HEAD ENTRY, "not a listing" },
    { HEAD "<Contents><Key>a</Key></Contents>" TAIL, "no <Size>" },
    { HEAD "<Contents><Size>1</Size></Contents>" TAIL, "no <Key>" },
    { HEAD "<Contents><Key>a</Key><Size>-1</Size></Contents>" TAIL, "\"-1\"" },
    { HEAD "<Contents><Key>a</Key><Size>9223372036854775808</Size></Contents>" TAIL, "2^63-1" },
    { HEAD ENTRY "<IsTruncated>true</IsTruncated>" TAIL, "NextContinuationToken" },
    { HEAD
      "<Contents><Key>a%00</Key><Size>1</Size></Contents><EncodingType>url</EncodingType>" TAIL,
      "decoded" },
    { HEAD "<Contents><Key>a%4</Key><Size>1</Size></Contents><EncodingType>url</EncodingType>" TAIL,
      "decoded" },
    { HEAD "<Contents><Key>\xff</Key><Size>1</Size></Contents>" TAIL, "UTF-8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (S3Page) page = { NULL };
      g_autoptr (GError) error = NULL;

      g_assert_false (s3_page_parse (&page, cases[i].text, strlen (cases[i].text), &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
      if (strstr (error->message, cases[i].said) == NULL)
        g_error ("%u: \"%s\" says nothing of \"%s\"", i, error->message, cases[i].said);
    }
}

/* A page of more than any server sends: a quadratic reading of it would take minutes. */
static void
test_page_long (void)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  guint n = (guint) (200000 * (scale != NULL ? MIN (g_ascii_strtod (scale, NULL), 1) : 1));
  g_autoptr (GString) text = g_string_new (HEAD);
  g_auto (S3Page) page = { NULL };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "<Contents><Key>k/%u</Key><Size>%u</Size></Contents>", i, i);
  g_string_append (text, TAIL);
  g_test_timer_start ();
  g_assert_true (s3_page_parse (&page, text->str, text->len, &error));
  g_assert_cmpfloat (g_test_timer_elapsed (), <, 20);
  g_assert_cmpuint (page.entries->len, ==, n);
  g_assert_cmpint (((S3Entry *) g_ptr_array_index (page.entries, n - 1))->size, ==, n - 1);
}

static void
test_errors (void)
{
  static const char text[] = "<?xml version=\"1.0\"?>\n<Error><Code> NoSuchKey </Code>"
                             "<Message>It isn&apos;t there.</Message><Key>secret</Key></Error>";
  g_autofree char *code = NULL;
  g_autofree char *none = NULL;
  g_autofree char *said = s3_describe_error (text, strlen (text), &code);
  g_autofree char *nothing = s3_describe_error ("<html>", 6, &none);
  /* Cut behind what is wanted. */
  g_autofree char *cut = s3_xml_find (text, 60, "Code");

  g_assert_cmpstr (code, ==, "NoSuchKey");
  g_assert_cmpstr (said, ==, "NoSuchKey: It isn't there.");
  g_assert_null (nothing);
  g_assert_cmpstr (cut, ==, "NoSuchKey");
}

/* ---- profiles ---- */

static void
test_profiles (void)
{
  static const char text[] = "# comment\n"
                             "a = outside\n"
                             "[default]\r\n"
                             "region = eu-central-1 # here\r\n"
                             "s3 =\n"
                             "    region = nested\n"
                             "[profile  two]\n"
                             "; region = commented\n"
                             "Region=a#b;c\n"
                             "empty =\n"
                             "[ profile \"th ree\" ]\n"
                             "key = a=b = c\n"
                             "[profile two]\n"
                             "later = 1\n";
  static const struct
  {
    const char *section, *key, *value;
  } cases[] = {
    { "default", "region", "eu-central-1" },
    { "default", "a", NULL },
    { "default", "s3", "" },
    { "profile two", "region", "a#b;c" },
    { "profile two", "empty", "" },
    { "profile two", "later", "1" },
    { "profile two", "key", NULL },
    { "profile th ree", "key", "a=b = c" },
    { "profile none", "region", NULL },
    { "default", NULL, "default" },
    { "profile none", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *value = s3_profile_parse (text, cases[i].section, cases[i].key);

      g_assert_cmpstr (value, ==, cases[i].value);
    }
}

static void
test_two_files (void)
{
  S3Profiles profiles = { (char *) "[default]\nregion=a\naws_access_key_id=config\n"
                                   "[profile p]\nregion=b\n[sso-session s]\nsso_region=c\n",
                          (char *) "[default]\naws_access_key_id=credentials\n[q]\nx=1\n" };
  g_autofree char *key = s3_profiles_get (&profiles, "default", "aws_access_key_id");
  g_autofree char *region = s3_profiles_get (&profiles, "default", "region");
  g_autofree char *other = s3_profiles_get (&profiles, "p", "region");
  g_autofree char *session = s3_profiles_get_session (&profiles, "s", "sso_region");

  g_assert_cmpstr (key, ==, "credentials");
  g_assert_cmpstr (region, ==, "a");
  g_assert_cmpstr (other, ==, "b");
  g_assert_cmpstr (session, ==, "c");
  g_assert_true (s3_profiles_has (&profiles, "q"));
  g_assert_false (s3_profiles_has (&profiles, "none"));
}

/* ---- JSON of credentials ---- */

static void
test_json (void)
{
  static const char *const names[4] = { "AccessKeyId", "SecretAccessKey", "Token", "Expiration" };
  static const char *const wrong[] = { "",
                                       "[]",
                                       "{}",
                                       "{\"AccessKeyId\": \"a\"}",
                                       "{\"AccessKeyId\": 1, \"SecretAccessKey\": \"secret\"}",
                                       "{\"AccessKeyId\": \"secret\", \"SecretAccessKey\": \"\"}" };
  static const char good[] =
      "{\"AccessKeyId\": \"a\", \"SecretAccessKey\": \"b\", \"Token\": \"c\", "
      "\"Expiration\": \"2015-08-30T12:36:00Z\"}";
  g_autoptr (GBytes) bytes = g_bytes_new_static (good, strlen (good));
  g_auto (S3Credentials) found = { NULL };

  g_assert_true (s3_parse_credentials (bytes, names, "it", &found, NULL));
  g_assert_cmpstr (found.access_key, ==, "a");
  g_assert_cmpstr (found.secret_key, ==, "b");
  g_assert_cmpstr (found.token, ==, "c");
  g_assert_cmpint (found.expires, ==, AUGUST_30);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GBytes) text = g_bytes_new_static (wrong[i], strlen (wrong[i]));
      g_autoptr (GError) error = NULL;

      g_assert_false (s3_parse_credentials (text, names, "it", &found, &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
      g_assert_null (strstr (error->message, "secret"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/s3/sign/s3", test_sign_s3);
  g_test_add_func ("/s3/sign/vanilla", test_sign_vanilla);
  g_test_add_func ("/s3/sign/stored", test_sign_stored);
  g_test_add_func ("/s3/sign/encode", test_encode);
  g_test_add_func ("/s3/sign/message", test_sign_message);
  g_test_add_func ("/s3/places", test_places);
  g_test_add_func ("/s3/names", test_names);
  g_test_add_func ("/s3/xml/page", test_page);
  g_test_add_func ("/s3/xml/page-plain", test_page_plain);
  g_test_add_func ("/s3/xml/page-not-told", test_page_not_told);
  g_test_add_func ("/s3/xml/page-wrong", test_page_wrong);
  g_test_add_func ("/s3/xml/page-long", test_page_long);
  g_test_add_func ("/s3/xml/errors", test_errors);
  g_test_add_func ("/s3/profiles", test_profiles);
  g_test_add_func ("/s3/two-files", test_two_files);
  g_test_add_func ("/s3/json", test_json);
  return g_test_run ();
}
