/* SPDX-License-Identifier: MIT */

#include "stage-limits.h"

#include <string.h>

#include <dlpipe/dlp-value.h>

static gboolean
parse_count (const char *property, const char *text, guint64 *count, GError **error)
{
  GParamSpec *pspec =
      g_param_spec_uint64 (property, NULL, NULL, 0, G_MAXUINT64, 0, DLP_PARAM_READWRITE);
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) local = NULL;
  gboolean ok;

  g_param_spec_ref_sink (pspec);
  ok = dlp_value_parse (pspec, text, &value, &local);
  if (ok)
    *count = g_value_get_uint64 (&value);
  else
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s: “%s”: %s", property, text,
                 local->message);
  g_param_spec_unref (pspec);
  return ok;
}

static int
find_input (DlpElement *element, const char *property, const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      const char *known = dlp_pad_get_name (dlp_element_get_input (element, i));

      if (strcmp (known, name) == 0)
        return (int) i;
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", known);
    }
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: no input is named “%s”; there are: %s", property, name, names->str);
  return -1;
}

/* A stage that is not named has no limit. */
static gboolean
parse_named (DlpElement *element,
             const char *property,
             char **parts,
             guint64 *limits,
             GError **error)
{
  g_autofree gboolean *given = g_new0 (gboolean, dlp_element_get_n_inputs (element));

  for (guint i = 0; parts[i] != NULL; i++)
    {
      char *colon = strrchr (parts[i], ':');
      int input;

      if (colon == NULL)
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                       "%s: “%s” has no name while others have one; write NAME:COUNT for each",
                       property, parts[i]);
          return FALSE;
        }
      *colon = '\0';
      input = find_input (element, property, g_strstrip (parts[i]), error);
      if (input < 0 || !parse_count (property, g_strstrip (colon + 1), &limits[input], error))
        return FALSE;
      if (given[input])
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s: input “%s” has two",
                       property, parts[i]);
          return FALSE;
        }
      given[input] = TRUE;
    }
  return TRUE;
}

gboolean
stage_limits_parse (DlpElement *element,
                    const char *property,
                    const char *text,
                    guint64 *limits,
                    GError **error)
{
  guint n = dlp_element_get_n_inputs (element);
  g_auto (GStrv) parts = NULL;

  memset (limits, 0, n * sizeof *limits);
  if (text == NULL || text[0] == '\0')
    return TRUE;
  parts = g_strsplit (text, ",", -1);
  if (strchr (text, ':') != NULL)
    return parse_named (element, property, parts, limits, error);
  if (g_strv_length (parts) != n)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "%s=%s has %u numbers for %u inputs; give one for each, 0 for no limit",
                   property, text, g_strv_length (parts), n);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (!parse_count (property, g_strstrip (parts[i]), &limits[i], error))
      return FALSE;
  return TRUE;
}
