/* SPDX-License-Identifier: MIT */

/* URIs as they may be shown and stored. */

#include <string.h>

#include <dlpipe/dlp-file.h>

/* Where a URI ends in a text: a graph, a message. */
#define URI_END " \t\r\n\"'<>"
#define HIDDEN "***"

static gboolean
is_secret (const char *name, gsize length)
{
  static const char *const names[] = {
    "sig",    "signature", "token",      "access_token", "auth",        "authorization",
    "key",    "apikey",    "api_key",    "api-key",      "secret",      "password",
    "passwd", "pwd",       "credential", "policy",       "session",     "awsaccesskeyid",
    "jwt",    "code",      "hdnea",      "hdnts",        "key-pair-id",
  };
  g_autofree char *lower = g_ascii_strdown (name, (gssize) length);

  if (g_str_has_prefix (lower, "x-amz-") || g_str_has_prefix (lower, "x-goog-") ||
      g_str_has_prefix (lower, "x-oss-") || g_str_has_suffix (lower, "token") ||
      g_str_has_suffix (lower, "signature"))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (lower, names[i]) == 0)
      return TRUE;
  return FALSE;
}

/* One parameter, NAME=VALUE. */
static void
append_parameter (GString *out, const char *text, gsize length)
{
  const char *equals = memchr (text, '=', length);

  if (equals == NULL || !is_secret (text, (gsize) (equals - text)))
    {
      g_string_append_len (out, text, (gssize) length);
      return;
    }
  g_string_append_len (out, text, equals + 1 - text);
  g_string_append (out, HIDDEN);
}

/* What follows "NAME://", up to the end of the URI. */
static void
append_rest (GString *out, const char *text, gsize length)
{
  gsize authority = MIN (strcspn (text, "/?#"), length);
  const char *at = memrchr (text, '@', authority);
  gsize i = at != NULL ? (gsize) (at - text) : 0;
  gsize query = MIN (strcspn (text, "?#"), length);

  if (at != NULL)
    g_string_append (out, HIDDEN);
  g_string_append_len (out, text + i, (gssize) (query - i));
  for (i = query; i < length;)
    {
      gsize n = MIN (strcspn (text + i + 1, "&;?#"), length - i - 1);

      g_string_append_c (out, text[i]);
      append_parameter (out, text + i + 1, n);
      i += n + 1;
    }
}

char *
dlp_uri_redact (const char *text)
{
  GString *out;
  const char *found;

  g_return_val_if_fail (text != NULL, NULL);

  if (strstr (text, "://") == NULL)
    return g_strdup (text);
  out = g_string_sized_new (strlen (text));
  while ((found = strstr (text, "://")) != NULL)
    {
      const char *start = found + 3;
      gsize length = strcspn (start, URI_END);
      gboolean is_file = found - text >= 4 && strncmp (found - 4, "file", 4) == 0;

      g_string_append_len (out, text, start - text);
      if (is_file)
        length = 0;
      append_rest (out, start, length);
      text = start + length;
    }
  g_string_append (out, text);
  return g_string_free (out, FALSE);
}

static gboolean
is_unprintable (gunichar c)
{
  /* The line and paragraph separators would break a one-line message as a control character does.
   */
  return g_unichar_iscntrl (c) || c == 0x2028 || c == 0x2029;
}

char *
dlp_uri_escape_for_display (const char *uri)
{
  g_autoptr (GString) out = NULL;
  g_autofree char *redacted = NULL;
  const char *p;

  g_return_val_if_fail (uri != NULL, NULL);

  redacted = dlp_uri_redact (uri);
  out = g_string_sized_new (strlen (redacted));

  for (p = redacted; *p != '\0';)
    {
      gunichar c = g_utf8_get_char_validated (p, -1);
      gboolean valid = c != (gunichar) -1 && c != (gunichar) -2;
      gsize n = valid ? (gsize) (g_utf8_next_char (p) - p) : 1;

      if (valid && !is_unprintable (c))
        g_string_append_len (out, p, (gssize) n);
      else
        for (gsize i = 0; i < n; i++)
          g_string_append_printf (out, "\\x%02x", (guint8) p[i]);

      p += n;
    }

  return g_string_free (g_steal_pointer (&out), FALSE);
}
