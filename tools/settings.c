/* SPDX-License-Identifier: MIT */

#include "settings.h"

#include <string.h>

#include <dlpipe/dlp-value.h>

bool
settings_apply (GObject *object, const Setting *settings, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      GParamSpec *pspec =
          g_object_class_find_property (G_OBJECT_GET_CLASS (object), settings[i].property);
      g_auto (GValue) value = G_VALUE_INIT;

      if (settings[i].text == NULL)
        continue;
      if (!dlp_value_parse (pspec, settings[i].text, &value, error))
        {
          g_prefix_error (error, "%s: ", settings[i].option);
          return false;
        }
      g_object_set_property (object, settings[i].property, &value);
    }
  return true;
}

bool
settings_split (const char *setting,
                char **element,
                char **property,
                const char **value,
                GError **error)
{
  const char *equals = strchr (setting, '=');
  const char *dot = equals != NULL ? memchr (setting, '.', (gsize) (equals - setting)) : NULL;

  if (dot == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--set %s: expected NAME.PROP=VALUE, such as shuffle0.size=1000", setting);
      return false;
    }
  *element = g_strndup (setting, (gsize) (dot - setting));
  *property = g_strndup (dot + 1, (gsize) (equals - dot - 1));
  *value = equals + 1;
  return true;
}

static char *
read_stdin (GError **error)
{
  g_autoptr (GIOChannel) channel = g_io_channel_unix_new (0);
  char *text = NULL;

  g_io_channel_set_encoding (channel, NULL, NULL);
  g_io_channel_read_to_end (channel, &text, NULL, error);
  return text;
}

char *
settings_read_graph (const char *graph, const char *file, GError **error)
{
  char *text = NULL;

  if (file == NULL)
    return g_strdup (graph);
  if (strcmp (file, "-") == 0)
    text = read_stdin (error);
  else
    g_file_get_contents (file, &text, NULL, error);
  if (text == NULL)
    g_prefix_error (error, "--file: ");
  return text;
}
