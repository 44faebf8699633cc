/* SPDX-License-Identifier: MIT */

/* What a server, a netrc file and a list may have in them: header values, logins, URIs. */

#include <string.h>

#include <dlpipe/dlp-file.h>

#include "dlp-http-header.h"
#include "dlp-http-netrc.h"
#include "dlp-http-request.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_range (const char *text)
{
  HttpRange range;

  if (!http_parse_content_range (text, &range))
    return;
  g_assert_true ((range.start < 0) == (range.end < 0));
  g_assert_cmpint (range.start, <=, range.end);
  g_assert_true (range.total < 0 || range.end < range.total);
}

static void
check_uri (const char *text)
{
  g_autofree char *redacted = dlp_uri_redact (text);
  g_autofree char *again = dlp_uri_redact (redacted);
  g_autoptr (GError) error = NULL;
  g_autoptr (GUri) uri = http_parse_uri (text, &error);

  g_assert_cmpstr (redacted, ==, again);
  g_assert_true ((uri == NULL) == (error != NULL));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *identity = http_make_identity (text, NULL);
  g_autofree char *login = NULL;
  g_autofree char *password = NULL;

  check_range (text);
  check_uri (text);
  g_assert_cmpint (http_parse_retry_after (text, 0), >=, -1);
  http_identity_get_strong_etag (identity);
  http_is_self_delimiting (data, size);
  http_netrc_parse (text, "host", &login, &password);
  return 0;
}
