/* SPDX-License-Identifier: MIT */

#include "hf-token.h"

#include <string.h>

static const char *
get_variable (const char *name)
{
  const char *value = g_getenv (name);

  return value != NULL && *value != '\0' ? value : NULL;
}

static char *
make_path (void)
{
  const char *path = get_variable ("HF_TOKEN_PATH");
  const char *home = get_variable ("HF_HOME");

  if (path == NULL && home == NULL)
    return g_build_filename (g_get_user_cache_dir (), "huggingface", "token", NULL);
  if (path == NULL)
    return g_build_filename (home, "token", NULL);
  return g_str_has_prefix (path, "~/") ? g_build_filename (g_get_home_dir (), path + 2, NULL) :
                                         g_strdup (path);
}

char *
hf_token_find (void)
{
  char *token = g_strdup (get_variable ("HF_TOKEN"));

  if (token == NULL)
    {
      g_autofree char *path = make_path ();

      g_file_get_contents (path, &token, NULL, NULL);
    }
  if (token == NULL)
    return NULL;
  g_strstrip (token);
  /* What is no header value is no token. */
  for (const char *p = token; *p != '\0'; p++)
    if ((guint8) *p <= 0x20 || (guint8) *p >= 0x7f)
      *token = '\0';
  if (*token == '\0')
    g_clear_pointer (&token, g_free);
  return token;
}

char *
hf_endpoint_get (void)
{
  const char *given = get_variable ("HF_ENDPOINT");
  char *endpoint = g_strdup (given != NULL ? given : "https://huggingface.co");
  gsize length = strlen (endpoint);

  while (length > 0 && endpoint[length - 1] == '/')
    endpoint[--length] = '\0';
  return endpoint;
}
