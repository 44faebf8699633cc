/* SPDX-License-Identifier: MIT */

/* What every element is set to, and who said so. */

#include <string.h>

#include "dlp-pipeline-private.h"

static bool
is_in_graph (DlpPipeline *self, DlpElement *element, GParamSpec *pspec)
{
  DlpGraphNode *node = self->graph != NULL ?
                           dlp_graph_find_node (self->graph, dlp_element_get_name (element)) :
                           NULL;

  for (guint i = 0; node != NULL && i < node->properties->len; i++)
    if (strcmp (dlp_graph_node_get_property (node, i)->key, pspec->name) == 0)
      return true;
  return false;
}

static const char *
find_origin (DlpPipeline *self, DlpElement *element, GParamSpec *pspec)
{
  g_autofree char *key = g_strdup_printf ("%s.%s", dlp_element_get_name (element), pspec->name);
  g_auto (GValue) value = G_VALUE_INIT;

  if (g_hash_table_contains (self->options, key))
    return "option";
  if (is_in_graph (self, element, pspec))
    return self->from_state ? "state" : "graph";
  g_value_init (&value, pspec->value_type);
  g_object_get_property (G_OBJECT (element), pspec->name, &value);
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
  guint n;
  g_autofree GParamSpec **pspecs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = NULL;

      if ((pspecs[i]->flags & rw) != rw)
        continue;
      text = dlp_element_get_property_text (element, pspecs[i]);
      g_variant_builder_add (builder, "(ssss)", dlp_element_get_name (element), pspecs[i]->name,
                             text != NULL ? text : "", find_origin (self, element, pspecs[i]));
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
