/* SPDX-License-Identifier: MIT */

#include "s3-place.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-http-header.h"

#define SCHEME "s3://"

gboolean
s3_place_parse (const char *uri, char **bucket, char **key, GError **error)
{
  const char *start = uri + strlen (SCHEME);
  gsize length = strcspn (start, "/");
  g_autofree char *shown = NULL;

  if (length > 0 && length <= 255 &&
      strspn (start, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS ".-_") == length)
    {
      *bucket = g_strndup (start, length);
      *key = g_strdup (start + length + (start[length] == '/'));
      return TRUE;
    }
  shown = dlp_uri_escape_for_display (uri);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "%s: expected s3://BUCKET/KEY, with a bucket of letters, digits and .-_", shown);
  return FALSE;
}

static const char *
get_domain (const char *region)
{
  return g_str_has_prefix (region, "cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

/* A name with a dot fits no wildcard of a certificate; one with '_' or capitals is no host name. */
static gboolean
is_host_label (const char *bucket)
{
  gsize length = strlen (bucket);

  return length >= 3 && length <= 63 && strspn (bucket, G_CSET_a_2_z G_CSET_DIGITS "-") == length &&
         bucket[0] != '-' && bucket[length - 1] != '-';
}

char *
s3_place_make_service_uri (const char *service, const char *region)
{
  return g_strdup_printf ("https://%s.%s.%s", service, region, get_domain (region));
}

char *
s3_place_make_uri (const char *endpoint,
                   S3PathStyle style,
                   const char *region,
                   const char *bucket,
                   const char *key,
                   const char *query)
{
  g_autofree char *own = endpoint == NULL ? s3_place_make_service_uri ("s3", region) : NULL;
  const char *base = endpoint != NULL ? endpoint : own;
  const char *host = strstr (base, "://");
  g_autofree char *path = http_encode (key != NULL ? key : "", TRUE);
  g_autoptr (GString) uri = g_string_new (NULL);
  gboolean in_path = style == S3_PATH_STYLE_TRUE ||
                     (style == S3_PATH_STYLE_AUTO && (endpoint != NULL || !is_host_label (bucket)));

  host = host != NULL ? host + 3 : base;
  g_string_append_len (uri, base, host - base);
  if (!in_path)
    g_string_append_printf (uri, "%s.", bucket);
  g_string_append (uri, host);
  while (uri->len > 0 && uri->str[uri->len - 1] == '/')
    g_string_truncate (uri, uri->len - 1);
  if (in_path)
    g_string_append_printf (uri, "/%s", bucket);
  if (!in_path || key != NULL)
    g_string_append_printf (uri, "/%s", path);
  if (*query != '\0')
    g_string_append_printf (uri, "?%s", query);
  return g_string_free (g_steal_pointer (&uri), FALSE);
}
