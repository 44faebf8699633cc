/* SPDX-License-Identifier: MIT */

/* What a server may answer, and what a file of profiles may have in it. */

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-http-header.h"
#include "s3-ask.h"
#include "s3-chain.h"
#include "s3-place.h"
#include "s3-profile.h"
#include "s3-sign.h"
#include "s3-xml.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_page (const char *text, gsize size)
{
  g_auto (S3Page) page = { NULL };
  g_autoptr (GError) error = NULL;
  gboolean ok = s3_page_parse (&page, text, size, &error);

  g_assert_true (ok == (error == NULL));
  if (!ok)
    g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
  for (guint i = 0; ok && i < page.entries->len; i++)
    {
      const S3Entry *entry = g_ptr_array_index (page.entries, i);

      g_assert_nonnull (entry->key);
      g_assert_cmpint (entry->size, >=, 0);
    }
}

static void
check_credentials (const char *text, gsize size)
{
  static const char *const names[4] = { "AccessKeyId", "SecretAccessKey", "Token", "Expiration" };
  g_autoptr (GBytes) bytes = g_bytes_new (text, size);
  g_auto (S3Credentials) found = { NULL };
  g_autoptr (GError) error = NULL;

  if (s3_parse_credentials (bytes, names, "it", &found, &error))
    g_assert_true (found.access_key != NULL && found.secret_key != NULL);
  else
    g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
}

/* Encoded, a key is what it was. */
static void
check_key (const char *key)
{
  g_autofree char *encoded = http_encode (key, TRUE);
  g_autofree char *decoded = g_uri_unescape_string (encoded, NULL);

  g_assert_cmpstr (decoded, ==, key);
  dlp_glob_match_path (key, "a/b/c.jsonl");
  dlp_glob_match_path ("**/[ab]*/?", key);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *found = s3_xml_find ((const char *) data, size, "Code");
  g_autofree char *code = NULL;
  g_autofree char *said = s3_describe_error ((const char *) data, size, &code);
  g_autofree char *value = s3_profile_parse (text, "profile a", "region");
  g_autofree char *uri = g_strconcat ("s3://", text, NULL);
  g_autofree char *bucket = NULL;
  g_autofree char *key = NULL;

  check_page ((const char *) data, size);
  check_credentials ((const char *) data, size);
  check_key (text);
  if (s3_place_parse (uri, &bucket, &key, NULL))
    {
      g_autofree char *again = g_strconcat ("s3://", bucket, "/", key, NULL);

      g_assert_true (g_str_has_prefix (again, uri));
    }
  return 0;
}
