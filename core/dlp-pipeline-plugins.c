/* SPDX-License-Identifier: MIT */

/* Which code made what a state speaks of. What an element is to do is in its properties; how it
 * does it, the version of its plugin alone tells. */

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-checkpoint-private.h"
#include "dlp-pipeline-private.h"

/* Of a text that a plugin gives: what is longer would be no state that can be read. */
static const char *
intern_short (const char *text)
{
  g_autofree char *cut = NULL;

  if (strlen (text) <= DLP_CHECKPOINT_MAX_PLUGIN)
    return g_intern_string (text);
  cut = g_strndup (text, DLP_CHECKPOINT_MAX_PLUGIN);
  /* Not within a letter. */
  *(char *) g_utf8_find_prev_char (cut, cut + strlen (cut)) = '\0';
  return g_intern_string (cut);
}

void
dlp_element_set_plugin (DlpElement *self, const char *plugin, const char *version)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  priv->plugin = intern_short (plugin);
  priv->plugin_version = intern_short (version);
}

void
dlp_element_describe_plugin (DlpElement *self, GVariantDict *dict)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  if (priv->plugin == NULL)
    return;
  g_variant_dict_insert (dict, "plugin", "s", priv->plugin);
  g_variant_dict_insert (dict, "plugin-version", "s", priv->plugin_version);
}

/* (transfer full) */
static char *
print_version (const char *version)
{
  g_autofree char *shown = dlp_uri_escape_for_display (version);

  return g_strdup_printf ("version %s", shown[0] != '\0' ? shown : "unknown");
}

/* (transfer full) */
static char *
print_change (DlpElementPrivate *priv, const char *plugin, const char *version)
{
  g_autofree char *was = print_version (version);
  g_autofree char *is = NULL;

  if (priv->plugin == NULL)
    return g_strdup_printf ("it came from plugin %s, %s, when the state was made, and comes from "
                            "the program itself now",
                            plugin, was);
  is = print_version (priv->plugin_version);
  if (strcmp (plugin, priv->plugin) == 0)
    return g_strdup_printf ("plugin %s had %s when the state was made, and has %s now", plugin, was,
                            is);
  return g_strdup_printf ("it came from plugin %s, %s, when the state was made, and comes from "
                          "plugin %s, %s, now",
                          plugin, was, priv->plugin, is);
}

bool
dlp_pipeline_compare_plugin (DlpPipeline *self,
                             DlpElement *element,
                             GVariant *recorded,
                             GError **error)
{
  DlpElementPrivate *priv = dlp_element_get_private (element);
  const char *plugin, *version;
  g_autofree char *change = NULL;
  g_autofree char *message = NULL;

  /* Written before they were recorded, or the element was the program's. */
  if (!g_variant_lookup (recorded, "plugin", "&s", &plugin) ||
      !g_variant_lookup (recorded, "plugin-version", "&s", &version))
    return true;
  if (g_strcmp0 (plugin, priv->plugin) == 0 && g_strcmp0 (version, priv->plugin_version) == 0)
    return true;
  change = print_change (priv, plugin, version);
  message = g_strdup_printf ("%s: %s: where the two do not make the same of a record, the output "
                             "has some of both",
                             dlp_element_get_name (element), change);
  if (self->run->strict)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                   "%s, and the pipeline is strict; go on with the plugin that was recorded, or "
                   "without strict, or begin anew with --restart",
                   message);
      return false;
    }
  dlp_context_warn (self->run, message);
  g_warning ("%s; go on with the plugin that was recorded, or begin anew with --restart, if that "
             "matters",
             message);
  return true;
}
