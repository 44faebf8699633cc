/* SPDX-License-Identifier: MIT */

/* What every element is set to, and who said so. */

#include <string.h>

#include "dlp-pipeline-private.h"
#include "dlp-setting-private.h"

/* By its key, or by that of another name of its scheme. */
static bool
is_meant (DlpElement *element, const char *key, const DlpSetting *setting)
{
  return dlp_element_find_setting (element, key) == setting->pspec &&
         dlp_element_get_setting_object (element, key) == setting->object;
}

static bool
is_in_graph (DlpPipeline *self, DlpElement *element, const DlpSetting *setting)
{
  DlpGraphNode *node = self->graph != NULL ?
                           dlp_graph_find_node (self->graph, dlp_element_get_name (element)) :
                           NULL;

  for (guint i = 0; node != NULL && i < node->properties->len; i++)
    if (is_meant (element, dlp_graph_node_get_property (node, i)->key, setting))
      return true;
  return false;
}

static const char *
find_origin (DlpPipeline *self, DlpElement *element, const DlpSetting *setting)
{
  GParamSpec *pspec = setting->pspec;
  g_autofree char *key = g_strconcat (dlp_element_get_name (element), ".", setting->key, NULL);
  g_auto (GValue) value = G_VALUE_INIT;

  if (g_hash_table_contains (self->options, key))
    return "option";
  if (is_in_graph (self, element, setting))
    return self->from_state ? "state" : "graph";
  g_value_init (&value, pspec->value_type);
  g_object_get_property (setting->object, pspec->name, &value);
  /* A list has no default but none. */
  if (pspec->value_type == G_TYPE_STRV)
    return g_value_get_boxed (&value) == NULL || *(char **) g_value_get_boxed (&value) == NULL ?
               "default" :
               "program";
  return g_param_value_defaults (pspec, &value) ? "default" : "program";
}

static void
add_settings (DlpPipeline *self, DlpElement *element, GVariantBuilder *builder)
{
  const guint rw = G_PARAM_READABLE | G_PARAM_WRITABLE;
  g_autoptr (GPtrArray) settings = dlp_element_list_settings (element);

  for (guint i = 0; i < settings->len; i++)
    {
      const DlpSetting *setting = g_ptr_array_index (settings, i);
      g_autofree char *text = NULL;

      if ((setting->pspec->flags & rw) != rw)
        continue;
      text = dlp_setting_get_text (setting);
      g_variant_builder_add (builder, "(ssss)", dlp_element_get_name (element), setting->key,
                             text != NULL ? text : "", find_origin (self, element, setting));
    }
}

GVariant *
dlp_pipeline_get_settings (DlpPipeline *self)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(ssss)"));
  for (guint i = 0; i < self->elements->len; i++)
    add_settings (self, g_ptr_array_index (self->elements, i), &builder);
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}
