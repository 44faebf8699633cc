/* SPDX-License-Identifier: MIT */

#include "dlp-http-netrc.h"

#include <string.h>

#define SPACE " \t\r\n"

/* (transfer full) (nullable): the next word that is no comment. */
static char *
take_word (const char **text)
{
  gsize length;
  char *word;

  *text += strspn (*text, SPACE);
  while (**text == '#')
    {
      *text += strcspn (*text, "\n");
      *text += strspn (*text, SPACE);
    }
  length = strcspn (*text, SPACE);
  word = length > 0 ? g_strndup (*text, length) : NULL;
  *text += length;
  return word;
}

gboolean
http_netrc_parse (const char *text, const char *host, char **login, char **password)
{
  gboolean ours = FALSE;
  char *word;

  g_clear_pointer (login, g_free);
  g_clear_pointer (password, g_free);
  while ((word = take_word (&text)) != NULL)
    {
      g_autofree char *key = word;
      g_autofree char *value = NULL;

      if (strcmp (key, "default") == 0 || strcmp (key, "machine") == 0)
        {
          if (ours && *login != NULL && *password != NULL)
            return TRUE;
          value = *key == 'm' ? take_word (&text) : NULL;
          ours = value != NULL && g_ascii_strcasecmp (value, host) == 0;
          continue;
        }
      value = take_word (&text);
      if (ours && value != NULL && strcmp (key, "login") == 0)
        {
          g_free (*login);
          *login = g_steal_pointer (&value);
        }
      else if (ours && value != NULL && strcmp (key, "password") == 0)
        {
          g_free (*password);
          *password = g_steal_pointer (&value);
        }
    }
  return *login != NULL && *password != NULL;
}

gboolean
http_netrc_find (const char *host, char **login, char **password)
{
  const char *named = g_getenv ("NETRC");
  g_autofree char *path =
      named != NULL ? g_strdup (named) : g_build_filename (g_get_home_dir (), ".netrc", NULL);
  g_autofree char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) &&
         http_netrc_parse (text, host, login, password);
}
