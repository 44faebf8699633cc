/* SPDX-License-Identifier: MIT */

/* From graph text to elements and links, and back. */

#include <string.h>

#include <dlpipe/dlp-plugin.h>

#include "dlp-pipeline-private.h"
#include "dlp-registry-private.h"
#include "dlp-suggest-private.h"
#include "dlp-value-parser-private.h"

static GParamSpec *
find_property (DlpElement *element, const char *key)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), key);

  return pspec != NULL && (pspec->flags & G_PARAM_WRITABLE) ? pspec : NULL;
}

static char *
suggest_property (DlpElement *element, const char *key)
{
  guint n;
  g_autofree GParamSpec **pspecs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *all = NULL;
  const char *near;

  for (guint i = 0; i < n; i++)
    if (pspecs[i]->flags & G_PARAM_WRITABLE)
      g_ptr_array_add (names, (gpointer) pspecs[i]->name);
  g_ptr_array_add (names, NULL);
  near = dlp_suggest (key, (const char *const *) names->pdata);
  if (near != NULL)
    return g_strdup_printf ("did you mean “%s”?", near);
  all = g_strjoinv (", ", (char **) names->pdata);
  return all[0] != '\0' ? g_strdup_printf ("its properties are: %s", all) :
                          g_strdup ("it has no properties");
}

/* A list gets one more element, unless @fresh: the first that the text gives replaces the default.
 */
static bool
set_property (DlpElement *element, GParamSpec *pspec, const char *text, bool fresh, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GStrv) before = NULL;
  g_autoptr (GStrvBuilder) builder = NULL;
  g_auto (GStrv) all = NULL;

  if (!dlp_value_parse (pspec, text, &value, error))
    return false;
  if (pspec->value_type != G_TYPE_STRV || fresh)
    {
      g_object_set_property (G_OBJECT (element), pspec->name, &value);
      return true;
    }

  builder = g_strv_builder_new ();
  g_object_get (element, pspec->name, &before, NULL);
  if (before != NULL)
    g_strv_builder_addv (builder, (const char **) before);
  g_strv_builder_addv (builder, g_value_get_boxed (&value));
  all = g_strv_builder_end (builder);
  g_object_set (element, pspec->name, all, NULL);
  return true;
}

gboolean
dlp_pipeline_set_property_text (DlpPipeline *self,
                                const char *element,
                                const char *property,
                                const char *value,
                                GError **error)
{
  DlpElement *found = dlp_pipeline_get_element (self, element);
  GParamSpec *pspec;

  if (found == NULL)
    {
      g_autoptr (GPtrArray) names = g_ptr_array_new ();
      const char *near;

      for (guint i = 0; i < self->elements->len; i++)
        g_ptr_array_add (names,
                         (gpointer) dlp_element_get_name (g_ptr_array_index (self->elements, i)));
      g_ptr_array_add (names, NULL);
      near = dlp_suggest (element, (const char *const *) names->pdata);
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT,
                   "no element is named “%s”%s%s%s", element,
                   near != NULL ? "; did you mean “" : "", near != NULL ? near : "",
                   near != NULL ? "”?" : "");
      return FALSE;
    }
  pspec = find_property (found, property);
  if (pspec == NULL)
    {
      g_autofree char *hint = suggest_property (found, property);

      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
                   "%s has no property “%s”; %s", element, property, hint);
      return FALSE;
    }
  if (dlp_pipeline_get_status (self) != DLP_PIPELINE_NEW && !(pspec->flags & DLP_PARAM_MUTABLE))
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "%s: property “%s” cannot be changed once the pipeline is prepared", element,
                   property);
      return FALSE;
    }
  if (!set_property (found, pspec, value, true, error))
    return FALSE;
  g_hash_table_add (self->options, g_strdup_printf ("%s.%s", element, pspec->name));
  return TRUE;
}

static bool
set_node_properties (DlpPipeline *self, DlpGraphNode *node, DlpElement *element, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < node->properties->len; i++)
    {
      DlpGraphProperty *property = dlp_graph_node_get_property (node, i);
      GParamSpec *pspec = find_property (element, property->key);
      g_autoptr (GError) local = NULL;

      if (pspec == NULL)
        {
          g_autofree char *hint = suggest_property (element, property->key);

          dlp_graph_set_error (error, DLP_GRAPH_ERROR_UNKNOWN_PROPERTY, self->graph->text,
                               property->start, property->start + strlen (property->key), hint,
                               "%s has no property “%s”", node->factory, property->key);
          return false;
        }
      if (!set_property (element, pspec, property->value, g_hash_table_add (seen, property->key),
                         &local))
        {
          dlp_graph_set_error (error, DLP_GRAPH_ERROR_VALUE, self->graph->text,
                               property->value_start, property->end, NULL, "%s: %s", node->factory,
                               local->message);
          return false;
        }
    }
  return true;
}

static DlpElement *
make_element (DlpPipeline *self, DlpGraphNode *node, GError **error)
{
  g_autoptr (DlpElement) element = NULL;

  if (dlp_registry_get_element_type (node->factory) == G_TYPE_INVALID)
    {
      g_autofree char *hint = dlp_registry_suggest (node->factory);

      dlp_graph_set_error (error, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT, self->graph->text, node->start,
                           node->end, hint, "there is no element “%s”", node->factory);
      return NULL;
    }
  element = dlp_element_make (node->factory, node->name, error);
  if (element == NULL || !set_node_properties (self, node, element, error))
    return NULL;
  return g_steal_pointer (&element);
}

static bool
link_elements (DlpPipeline *self,
               DlpElement *from,
               const char *from_pad,
               DlpElement *to,
               const char *to_pad,
               GError **error)
{
  DlpPad *output = dlp_element_request_pad (from, DLP_PAD_OUTPUT, from_pad, error);
  DlpPad *input =
      output != NULL ? dlp_element_request_pad (to, DLP_PAD_INPUT, to_pad, error) : NULL;

  if (input == NULL)
    return false;
  dlp_pad_link (output, input);
  return true;
}

static bool
link_nodes (DlpPipeline *self, DlpGraphLink *link, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (link_elements (self, g_ptr_array_index (self->elements, link->from.node), link->from.pad,
                     g_ptr_array_index (self->elements, link->to.node), link->to.pad, &local))
    return true;
  dlp_graph_set_error (error, DLP_GRAPH_ERROR_LINK, self->graph->text, link->start, link->end, NULL,
                       "%s", local->message);
  return false;
}

bool
dlp_pipeline_build_graph (DlpPipeline *self, GError **error)
{
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      DlpElement *element = make_element (self, dlp_graph_get_node (self->graph, i), error);

      if (element == NULL)
        return false;
      g_ptr_array_add (self->elements, element);
      self->n_listed++;
    }
  for (guint i = 0; i < self->graph->links->len; i++)
    if (!link_nodes (self, dlp_graph_get_link (self->graph, i), error))
      return false;
  return true;
}

gboolean
dlp_pipeline_link (DlpPipeline *self,
                   DlpElement *from,
                   const char *from_pad,
                   DlpElement *to,
                   const char *to_pad,
                   GError **error)
{
  if (self->prepared)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "the pipeline is built already");
      return FALSE;
    }
  return link_elements (self, from, from_pad, to, to_pad, error);
}

void
dlp_pipeline_place_error (DlpPipeline *self, DlpElement *element, GError **error)
{
  DlpGraphNode *node = self->graph != NULL ?
                           dlp_graph_find_node (self->graph, dlp_element_get_name (element)) :
                           NULL;
  g_auto (GStrv) lines = NULL;
  GString *placed;

  if (error == NULL || *error == NULL || (*error)->domain != DLP_GRAPH_ERROR || node == NULL)
    return;
  dlp_element_name_error (element, error);
  /* The lines behind the first show a place within a value. */
  lines = g_strsplit ((*error)->message, "\n", -1);
  g_free ((*error)->message);
  (*error)->message =
      dlp_graph_format_error (self->graph->text, node->start, node->end, lines[0], NULL);
  if (lines[1] == NULL)
    return;
  placed = g_string_new ((*error)->message);
  for (guint i = 1; lines[i] != NULL; i++)
    {
      g_autofree char *line =
          dlp_graph_format_error (NULL, DLP_GRAPH_NO_PLACE, DLP_GRAPH_NO_PLACE, lines[i], NULL);

      g_string_append_printf (placed, "\n  %s", line);
    }
  g_free ((*error)->message);
  (*error)->message = g_string_free (placed, FALSE);
}

/* ---- back to text ---- */

/* Names of files need not be UTF-8; what is recorded must be. */
static char *
as_utf8 (char *text)
{
  char *escaped;

  if (text == NULL || g_utf8_validate (text, -1, NULL))
    return text;
  escaped = g_strescape (text, NULL);
  g_free (text);
  return escaped;
}

char *
dlp_element_get_property_text (DlpElement *self, GParamSpec *pspec)
{
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, pspec->value_type);
  g_object_get_property (G_OBJECT (self), pspec->name, &value);
  if (pspec->value_type == G_TYPE_STRV)
    {
      char **list = g_value_get_boxed (&value);

      return as_utf8 (list != NULL ? g_strjoinv ("\n", list) : g_strdup (""));
    }
  return as_utf8 (dlp_value_to_text (pspec, &value));
}

static void
append_quoted (GString *text, const char *value)
{
  g_string_append_c (text, '"');
  for (const char *p = value; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\\')
        g_string_append_c (text, '\\');
      g_string_append_c (text, *p);
    }
  g_string_append_c (text, '"');
}

static void
append_element (GString *text, DlpElement *element)
{
  guint n;
  g_autofree GParamSpec **pspecs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  g_string_append_printf (text, "%s name=%s", dlp_element_get_factory (element),
                          dlp_element_get_name (element));
  for (guint i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;
      g_autofree char *as_text = NULL;

      if (!(pspecs[i]->flags & G_PARAM_WRITABLE) || !(pspecs[i]->flags & G_PARAM_READABLE))
        continue;
      g_value_init (&value, pspecs[i]->value_type);
      g_object_get_property (G_OBJECT (element), pspecs[i]->name, &value);
      if (g_param_value_defaults (pspecs[i], &value))
        continue;
      if (pspecs[i]->value_type == G_TYPE_STRV)
        {
          for (char **item = g_value_get_boxed (&value); item != NULL && *item != NULL; item++)
            {
              g_string_append_printf (text, " %s=", pspecs[i]->name);
              append_quoted (text, *item);
            }
          continue;
        }
      as_text = dlp_value_to_text (pspecs[i], &value);
      if (as_text == NULL)
        continue;
      g_string_append_printf (text, " %s=", pspecs[i]->name);
      append_quoted (text, as_text);
    }
  g_string_append_c (text, '\n');
}

/* Built from the elements, so that it holds what was set afterwards too. */
char *
dlp_pipeline_to_string (DlpPipeline *self)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->elements->len; i++)
    if (strchr (dlp_element_get_name (g_ptr_array_index (self->elements, i)), '.') == NULL)
      append_element (text, g_ptr_array_index (self->elements, i));

  /* Links in the order of each consumer's inputs, which gives those their ordinals. */
  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);

      if (strchr (dlp_element_get_name (element), '.') != NULL)
        continue;
      for (guint k = 0; k < dlp_element_get_n_inputs (element); k++)
        {
          DlpPad *input = dlp_element_get_input (element, k);
          DlpPad *output = dlp_pad_get_peer (input);

          if (output != NULL)
            g_string_append_printf (text, "%s.%s ! %s.%s\n", dlp_element_get_name (output->element),
                                    output->name, dlp_element_get_name (element), input->name);
        }
    }
  return g_string_free (text, FALSE);
}
