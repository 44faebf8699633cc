/* SPDX-License-Identifier: MIT */

#include "dlp-http-header.h"

#include <string.h>

#include <libsoup/soup.h>

#define ETAG_PREFIX "etag="
#define WEAK_ETAG_PREFIX "weak-etag="
#define TIME_PREFIX "modified="

static gboolean
take_number (const char **text, gint64 *value)
{
  const char *start = *text;
  char *end;

  if (!g_ascii_isdigit (*start) || strspn (start, "0123456789") > 18)
    return FALSE;
  *value = g_ascii_strtoll (start, &end, 10);
  *text = end;
  return TRUE;
}

static gboolean
take_extent (const char **text, HttpRange *range)
{
  if (**text == '*')
    {
      (*text)++;
      return TRUE;
    }
  if (!take_number (text, &range->start) || *(*text)++ != '-' || !take_number (text, &range->end))
    return FALSE;
  return range->start <= range->end;
}

gboolean
http_parse_content_range (const char *text, HttpRange *range)
{
  *range = (HttpRange){ -1, -1, -1 };
  if (text == NULL || g_ascii_strncasecmp (text, "bytes", 5) != 0 || text[5] != ' ')
    return FALSE;
  text += 5 + strspn (text + 5, " ");
  if (!take_extent (&text, range) || *text++ != '/')
    return FALSE;
  if (*text == '*')
    text++;
  else if (!take_number (&text, &range->total))
    return FALSE;
  return text[strspn (text, " ")] == '\0' && (range->total < 0 || range->end < range->total);
}

gint64
http_parse_retry_after (const char *text, gint64 now)
{
  g_autoptr (GDateTime) date = NULL;
  gint64 seconds;

  if (text == NULL)
    return -1;
  text += strspn (text, " ");
  if (take_number (&text, &seconds))
    return text[strspn (text, " ")] == '\0' ? seconds : -1;
  if (!g_utf8_validate (text, -1, NULL))
    return -1;
  date = soup_date_time_new_from_http_string (text);
  return date != NULL ? MAX (g_date_time_to_unix (date) - now, 0) : -1;
}

char *
http_make_identity (const char *etag, const char *last_modified)
{
  if (etag != NULL && etag[0] == '"' && etag[1] != '\0' && etag[strlen (etag) - 1] == '"')
    return g_strconcat (ETAG_PREFIX, etag, NULL);
  if (etag != NULL && g_str_has_prefix (etag, "W/"))
    return g_strconcat (WEAK_ETAG_PREFIX, etag, NULL);
  return last_modified != NULL ? g_strconcat (TIME_PREFIX, last_modified, NULL) : NULL;
}

const char *
http_identity_get_strong_etag (const char *identity)
{
  return identity != NULL && g_str_has_prefix (identity, ETAG_PREFIX) ?
             identity + strlen (ETAG_PREFIX) :
             NULL;
}

gboolean
http_identity_is_strong (const char *identity)
{
  return identity != NULL && !g_str_has_prefix (identity, WEAK_ETAG_PREFIX) &&
         !g_str_has_prefix (identity, TIME_PREFIX);
}

char *
http_encode (const char *text, gboolean keeps_slashes)
{
  GString *out = g_string_sized_new (strlen (text) + 16);

  for (const char *p = text; *p != '\0'; p++)
    if (g_ascii_isalnum (*p) || strchr ("-._~", *p) != NULL || (keeps_slashes && *p == '/'))
      g_string_append_c (out, *p);
    else
      g_string_append_printf (out, "%%%02X", (guint8) *p);
  return g_string_free (out, FALSE);
}

gboolean
http_is_self_delimiting (const guint8 *head, gsize size)
{
  static const struct
  {
    gsize size;
    guint8 bytes[6];
  } magics[] = {
    { 2, { 0x1f, 0x8b } },
    { 4, { 0x28, 0xb5, 0x2f, 0xfd } },
    { 6, { 0xfd, '7', 'z', 'X', 'Z', 0 } },
    { 3, { 'B', 'Z', 'h' } },
    { 4, { 0x04, 0x22, 0x4d, 0x18 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (magics); i++)
    if (size >= magics[i].size && memcmp (head, magics[i].bytes, magics[i].size) == 0)
      return TRUE;
  return FALSE;
}
