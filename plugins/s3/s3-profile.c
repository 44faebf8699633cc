/* SPDX-License-Identifier: MIT */

#include "s3-profile.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

/* ---- the text ---- */

/* (transfer full) (nullable): "[profile  a b]" is "profile a b"; NULL: no such line. */
static char *
parse_section (const char *line)
{
  const char *end = strchr (line, ']');
  g_autofree char *inner = NULL;
  GString *name;

  if (*line != '[' || end == NULL)
    return NULL;
  inner = g_strndup (line + 1, (gsize) (end - line - 1));
  g_strstrip (inner);
  name = g_string_new (NULL);
  for (const char *p = inner; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\'')
        continue;
      if (g_ascii_isspace (*p) && g_ascii_isspace (p[1]))
        continue;
      g_string_append_c (name, g_ascii_isspace (*p) ? ' ' : *p);
    }
  return g_string_free (name, FALSE);
}

/* (transfer full) (nullable): what the line gives to @key. */
static char *
parse_value (const char *line, const char *key)
{
  const char *equals = strchr (line, '=');
  g_autofree char *name = NULL;
  char *value;

  if (equals == NULL)
    return NULL;
  name = g_strstrip (g_strndup (line, (gsize) (equals - line)));
  if (g_ascii_strcasecmp (name, key) != 0)
    return NULL;
  value = g_strdup (equals + 1);
  /* A comment behind a value has a blank before it. */
  for (char *p = value; *p != '\0'; p++)
    if ((*p == '#' || *p == ';') && p > value && g_ascii_isspace (p[-1]))
      *p-- = '\0';
  return g_strstrip (value);
}

char *
s3_profile_parse (const char *text, const char *section, const char *key)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gboolean is_inside = FALSE;
  char *found = NULL;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *line = lines[i];
      g_autofree char *name = parse_section (line);
      char *value;

      if (name != NULL)
        {
          is_inside = strcmp (name, section) == 0;
          if (is_inside && key == NULL)
            return g_steal_pointer (&name);
        }
      /* What is indented belongs to the setting above it. */
      if (name != NULL || !is_inside || key == NULL || *line == '#' || *line == ';' ||
          g_ascii_isspace (*line))
        continue;
      value = parse_value (line, key);
      if (value == NULL)
        continue;
      g_free (found);
      found = value;
    }
  return found;
}

/* ---- the files ---- */

char *
s3_profile_make_path (const char *name)
{
  return g_build_filename (g_get_home_dir (), ".aws", name, NULL);
}

/* (transfer full) */
static char *
get_path (const char *variable, const char *name)
{
  const char *given = g_getenv (variable);

  if (given == NULL || *given == '\0')
    return s3_profile_make_path (name);
  if (g_str_has_prefix (given, "~/"))
    return g_build_filename (g_get_home_dir (), given + 2, NULL);
  return g_strdup (given);
}

static gboolean
load (const char *variable, const char *name, char **text, GError **error)
{
  g_autofree char *path = get_path (variable, name);
  g_autoptr (GError) cause = NULL;
  g_autofree char *shown = NULL;

  if (g_file_get_contents (path, text, NULL, &cause))
    return TRUE;
  *text = g_strdup ("");
  if (g_error_matches (cause, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
      g_error_matches (cause, G_FILE_ERROR, G_FILE_ERROR_NOTDIR))
    return TRUE;
  shown = dlp_uri_escape_for_display (cause->message);
  g_set_error_literal (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, shown);
  return FALSE;
}

gboolean
s3_profiles_load (S3Profiles *self, GError **error)
{
  return load ("AWS_CONFIG_FILE", "config", &self->config, error) &&
         load ("AWS_SHARED_CREDENTIALS_FILE", "credentials", &self->credentials, error);
}

void
s3_profiles_clear (S3Profiles *self)
{
  g_clear_pointer (&self->config, g_free);
  g_clear_pointer (&self->credentials, g_free);
}

/* (transfer full) (nullable) */
static char *
get_of_config (const S3Profiles *self, const char *profile, const char *key)
{
  g_autofree char *section = g_strconcat ("profile ", profile, NULL);
  char *value = s3_profile_parse (self->config, section, key);

  return value == NULL && strcmp (profile, "default") == 0 ?
             s3_profile_parse (self->config, profile, key) :
             value;
}

char *
s3_profiles_get (const S3Profiles *self, const char *profile, const char *key)
{
  char *value = s3_profile_parse (self->credentials, profile, key);

  return value != NULL ? value : get_of_config (self, profile, key);
}

gboolean
s3_profiles_has (const S3Profiles *self, const char *profile)
{
  g_autofree char *name = s3_profiles_get (self, profile, NULL);

  return name != NULL;
}

char *
s3_profiles_get_session (const S3Profiles *self, const char *session, const char *key)
{
  g_autofree char *section = g_strconcat ("sso-session ", session, NULL);

  return s3_profile_parse (self->config, section, key);
}
