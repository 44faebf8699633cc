/* SPDX-License-Identifier: MIT */

#include "hf-place.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-http-header.h"

#define SCHEME "hf://"
#define KIND "datasets/"
#define NAME_CHARS G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-._"
#define COMMIT_LENGTH 40

void
hf_place_clear (HfPlace *self)
{
  g_clear_pointer (&self->owner, g_free);
  g_clear_pointer (&self->name, g_free);
  g_clear_pointer (&self->revision, g_free);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->config, g_free);
  g_clear_pointer (&self->split, g_free);
}

gboolean
hf_is_commit (const char *revision)
{
  return strlen (revision) == COMMIT_LENGTH &&
         strspn (revision, "0123456789abcdef") == COMMIT_LENGTH;
}

static char *
make_query (const HfPlace *self)
{
  g_autofree char *config = self->config != NULL ? http_encode (self->config, FALSE) : NULL;
  g_autofree char *split = self->split != NULL ? http_encode (self->split, FALSE) : NULL;

  return g_strconcat ("?", config != NULL ? "config=" : "", config != NULL ? config : "",
                      config != NULL && split != NULL ? "&" : "", split != NULL ? "split=" : "",
                      split, NULL);
}

char *
hf_place_make_uri (const HfPlace *self, const char *commit, const char *path)
{
  g_autofree char *query = NULL;

  if (path == NULL)
    path = self->path;
  if (path == NULL && (self->config != NULL || self->split != NULL))
    query = make_query (self);
  return g_strconcat (SCHEME KIND, self->owner, "/", self->name, "@", commit,
                      path != NULL ? "/" : "", path != NULL ? path : "", query, NULL);
}

/* ---- reading ---- */

static char *
take_name (const char **text)
{
  gsize length = strspn (*text, NAME_CHARS);
  char *name = length > 0 ? g_strndup (*text, length) : NULL;

  *text += length;
  return name;
}

/* Up to '/' or '?'; the references of the hub itself have two '/' in them. */
static char *
take_revision (const char **text)
{
  gsize length = strcspn (*text, "/?");
  g_autofree char *encoded = NULL;

  if (g_str_has_prefix (*text, "refs/"))
    for (guint i = 0; i < 2 && (*text)[length] == '/'; i++)
      length += 1 + strcspn (*text + length + 1, "/?");
  encoded = g_strndup (*text, length);
  *text += length;
  return *encoded != '\0' ? g_uri_unescape_string (encoded, NULL) : NULL;
}

/* "config=a&split=b" */
static gboolean
parse_query (HfPlace *self, const char *text, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "&", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      char **place = NULL;
      const char *value = strchr (parts[i], '=');

      if (g_str_has_prefix (parts[i], "config="))
        place = &self->config;
      else if (g_str_has_prefix (parts[i], "split="))
        place = &self->split;
      if (place != NULL && *place == NULL && value[1] != '\0')
        *place = g_uri_unescape_string (value + 1, NULL);
      else
        place = NULL;
      if (place == NULL || *place == NULL)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                       "behind the ? config=NAME and split=NAME are known, each once, joined by &");
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
parse_rest (HfPlace *self, const char *text, GError **error)
{
  if (*text == '@')
    {
      text++;
      self->revision = take_revision (&text);
      if (self->revision == NULL)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                       "behind the @ a branch, tag or commit is expected");
          return FALSE;
        }
    }
  if (*text == '?')
    return parse_query (self, text + 1, error);
  if (*text == '/')
    self->path = g_strdup (text + 1);
  else if (*text != '\0')
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "names are of letters, digits and -._, not of %.1s",
                   g_ascii_isprint (*text) ? text : "others");
      return FALSE;
    }
  return TRUE;
}

gboolean
hf_place_parse (HfPlace *self, const char *uri, GError **error)
{
  const char *text = uri + strlen (SCHEME);
  g_autofree char *shown = dlp_uri_escape_for_display (uri);

  if (!g_str_has_prefix (text, KIND))
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "%s: only datasets are read: hf://datasets/OWNER/NAME/FILE (models and spaces "
                   "are none)",
                   shown);
      return FALSE;
    }
  text += strlen (KIND);
  self->owner = take_name (&text);
  if (self->owner != NULL && *text == '/')
    {
      text++;
      self->name = take_name (&text);
    }
  if (self->name == NULL)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "%s: expected hf://datasets/OWNER/NAME[@REVISION]/FILE or ?config=NAME&split=NAME",
                 shown);
  else if (parse_rest (self, text, error))
    return TRUE;
  else
    g_prefix_error (error, "%s: ", shown);
  return FALSE;
}

/* ---- the header Link: RFC 8288 ---- */

/* (transfer full): what is in quotes; moves behind it, and to the next ';' or ','. */
static char *
take_quoted (const char **text)
{
  GString *value = g_string_new (NULL);
  const char *p = *text + 1;

  for (; *p != '\0' && *p != '"'; p++)
    {
      if (*p == '\\' && p[1] != '\0')
        p++;
      g_string_append_c (value, *p);
    }
  *text = p + strcspn (p, ";,");
  return g_string_free (value, FALSE);
}

/* (transfer full): the value of one parameter, ";NAME=VALUE", "" for none; moves behind it. */
static char *
take_parameter (const char **text, gboolean *is_rel)
{
  const char *p = *text + strspn (*text, "; \t");
  gsize length = strcspn (p, "=;,");
  g_autofree char *name = g_strstrip (g_strndup (p, length));
  char *value;

  *is_rel = g_ascii_strcasecmp (name, "rel") == 0;
  p += length;
  if (*p == '=')
    p += 1 + strspn (p + 1, " \t");
  if (*p == '"')
    value = take_quoted (&p);
  else
    {
      length = strcspn (p, ";,");
      value = g_strstrip (g_strndup (p, length));
      p += length;
    }
  *text = p;
  return value;
}

static gboolean
has_next (const char *relations)
{
  g_auto (GStrv) words = g_strsplit_set (relations, " \t", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (g_ascii_strcasecmp (words[i], "next") == 0)
      return TRUE;
  return FALSE;
}

char *
hf_link_find_next (const char *header)
{
  const char *p = header;

  while ((p = strchr (p, '<')) != NULL)
    {
      const char *end = strchr (p, '>');
      g_autofree char *uri = NULL;
      gboolean found = FALSE;

      if (end == NULL)
        return NULL;
      uri = g_strndup (p + 1, (gsize) (end - p - 1));
      p = end + 1;
      p += strspn (p, " \t");
      while (*p == ';')
        {
          gboolean is_rel;
          g_autofree char *value = take_parameter (&p, &is_rel);

          found |= is_rel && has_next (value);
        }
      if (found)
        return g_steal_pointer (&uri);
    }
  return NULL;
}
