/* SPDX-License-Identifier: MIT */

/* What must be the same in each attempt of a run. */

#include <string.h>

#include "dlp-pipeline-private.h"
#include "dlp-setting-private.h"
#include "dlp-value-parser-private.h"

void
dlp_state_set_changed (GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%s; go on with what was recorded, or begin anew with --restart", message);
}

static bool
is_fixed (GParamSpec *pspec)
{
  const guint rw = G_PARAM_READABLE | G_PARAM_WRITABLE;

  return (pspec->flags & rw) == rw &&
         !(pspec->flags & (DLP_PARAM_FREE | DLP_PARAM_ELASTIC | DLP_PARAM_MUTABLE));
}

GVariant *
dlp_element_describe_fixed (DlpElement *element)
{
  g_autoptr (GPtrArray) settings = dlp_element_list_settings (element);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{ss}"));
  for (guint i = 0; i < settings->len; i++)
    {
      const DlpSetting *setting = g_ptr_array_index (settings, i);
      g_autofree char *text = NULL;
      g_autofree char *redacted = NULL;

      if (!is_fixed (setting->pspec))
        continue;
      text = dlp_setting_get_text (setting);
      redacted = dlp_uri_redact (text != NULL ? text : "");
      g_variant_builder_add (&builder, "{ss}", setting->key, redacted);
    }
  return g_variant_builder_end (&builder);
}

/* NULL: there is no such property. */
static char *
get_default_text (DlpElement *element, const char *key)
{
  GParamSpec *pspec = dlp_element_find_setting (element, key);
  char *text = NULL;

  if (pspec == NULL)
    return NULL;
  if (pspec->value_type != G_TYPE_STRV)
    text = dlp_value_to_text (pspec, g_param_spec_get_default_value (pspec));
  return text != NULL ? text : g_strdup ("");
}

bool
dlp_element_compare_fixed (DlpElement *element, GVariant *recorded, GError **error)
{
  g_autoptr (GVariant) now = g_variant_ref_sink (dlp_element_describe_fixed (element));
  g_autoptr (GVariant) before =
      dlp_state_get_value (recorded, "fixed", G_VARIANT_TYPE ("a{ss}"), error);
  GVariantIter iter;
  const char *key, *value, *was;

  if (before == NULL)
    return false;
  g_variant_iter_init (&iter, now);
  while (g_variant_iter_next (&iter, "{&s&s}", &key, &value))
    {
      g_autofree char *unset = NULL;

      /* A property that came later had its default before. */
      if (!g_variant_lookup (before, key, "&s", &was))
        was = unset = get_default_text (element, key);
      if (strcmp (was, value) == 0)
        continue;
      dlp_state_set_changed (error, "%s: property “%s” was “%s” when the run began, is “%s”",
                             dlp_element_get_name (element), key, was, value);
      return false;
    }
  g_variant_iter_init (&iter, before);
  while (g_variant_iter_next (&iter, "{&s&s}", &key, &value))
    {
      g_autofree char *unset = NULL;

      if (g_variant_lookup (now, key, "&s", &was))
        continue;
      /* Of a scheme that nothing is set of now. */
      unset = strchr (key, '.') != NULL ? get_default_text (element, key) : NULL;
      if (g_strcmp0 (unset, value) == 0)
        continue;
      if (unset != NULL)
        dlp_state_set_changed (error, "%s: property “%s” was “%s” when the run began, is “%s”",
                               dlp_element_get_name (element), key, value, unset);
      else
        dlp_state_set_changed (
            error, "%s: property “%s” was “%s” when the run began, and is not known any more",
            dlp_element_get_name (element), key, value);
      return false;
    }
  return true;
}
