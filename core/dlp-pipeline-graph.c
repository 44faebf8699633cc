/* SPDX-License-Identifier: MIT */

/* From graph text to elements and links, and back. */

#include <string.h>

#include <dlpipe/dlp-plugin.h>

#include "dlp-auto-reader-private.h"
#include "dlp-pipeline-private.h"
#include "dlp-registry-private.h"
#include "dlp-setting-private.h"
#include "dlp-suggest-private.h"
#include "dlp-value-parser-private.h"

/* A list gets one more element, unless @fresh: the first that the text gives replaces the default.
 */
static bool
set_property (GObject *object, GParamSpec *pspec, const char *text, bool fresh, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GStrv) before = NULL;
  g_autoptr (GStrvBuilder) builder = NULL;
  g_auto (GStrv) all = NULL;

  if (!dlp_value_parse (pspec, text, &value, error))
    return false;
  if (pspec->value_type != G_TYPE_STRV || fresh)
    {
      g_object_set_property (object, pspec->name, &value);
      return true;
    }

  builder = g_strv_builder_new ();
  g_object_get (object, pspec->name, &before, NULL);
  if (before != NULL)
    g_strv_builder_addv (builder, (const char **) before);
  g_strv_builder_addv (builder, g_value_get_boxed (&value));
  all = g_strv_builder_end (builder);
  g_object_set (object, pspec->name, all, NULL);
  return true;
}

bool
dlp_element_set_property_text (DlpElement *self,
                               const char *key,
                               const char *text,
                               bool fresh,
                               GError **error)
{
  GParamSpec *pspec = dlp_element_find_setting (self, key);
  g_autofree char *what = NULL;
  g_autofree char *hint = NULL;

  if (pspec != NULL)
    return set_property (dlp_element_get_setting_object (self, key), pspec, text, fresh, error);
  what = dlp_element_explain_setting (self, dlp_element_get_factory (self), key, &hint);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_PROPERTY, "%s; %s", what, hint);
  return false;
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
  GObject *object;

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
  pspec = dlp_element_find_setting (found, property);
  if (pspec == NULL && DLP_IS_AUTO_READER (found))
    {
      dlp_auto_reader_add_setting (DLP_AUTO_READER (found), property, value);
      g_hash_table_add (self->options, g_strdup_printf ("%s.%s", element, property));
      return TRUE;
    }
  if (pspec == NULL)
    {
      g_autofree char *hint = NULL;
      g_autofree char *what = dlp_element_explain_setting (found, element, property, &hint);

      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_PROPERTY, "%s; %s", what, hint);
      return FALSE;
    }
  if (dlp_pipeline_get_status (self) != DLP_PIPELINE_NEW && !(pspec->flags & DLP_PARAM_MUTABLE))
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "%s: property “%s” cannot be changed once the pipeline is prepared", element,
                   property);
      return FALSE;
    }
  object = dlp_element_get_setting_object (found, property);
  if (!set_property (object, pspec, value, true, error))
    return FALSE;
  g_hash_table_add (self->options,
                    dlp_element_name_setting (found, &(DlpSetting){ object, pspec, NULL }));
  return TRUE;
}

static bool
fail_value (DlpPipeline *self,
            DlpGraphNode *node,
            DlpGraphProperty *property,
            const GError *cause,
            GError **error)
{
  dlp_graph_set_error (error, DLP_GRAPH_ERROR_VALUE, self->graph->text, property->value_start,
                       property->end, NULL, "%s: %s", node->factory, cause->message);
  return false;
}

/* All that the text gives of a list, at once: it may be thousands of files. */
static bool
set_list (DlpPipeline *self,
          DlpGraphNode *node,
          guint first,
          GObject *object,
          GParamSpec *pspec,
          GError **error)
{
  const char *key = dlp_graph_node_get_property (node, first)->key;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;

  for (guint i = first; i < node->properties->len; i++)
    {
      DlpGraphProperty *property = dlp_graph_node_get_property (node, i);
      g_auto (GValue) value = G_VALUE_INIT;
      g_autoptr (GError) local = NULL;

      if (strcmp (property->key, key) != 0)
        continue;
      if (!dlp_value_parse (pspec, property->value, &value, &local))
        return fail_value (self, node, property, local, error);
      g_strv_builder_addv (builder, g_value_get_boxed (&value));
    }
  all = g_strv_builder_end (builder);
  g_object_set (object, pspec->name, all, NULL);
  return true;
}

static bool
set_node_properties (DlpPipeline *self, DlpGraphNode *node, DlpElement *element, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < node->properties->len; i++)
    {
      DlpGraphProperty *property = dlp_graph_node_get_property (node, i);
      GParamSpec *pspec = dlp_element_find_setting (element, property->key);
      GObject *object;
      bool is_first;
      g_autoptr (GError) local = NULL;

      if (pspec == NULL && DLP_IS_AUTO_READER (element))
        {
          dlp_auto_reader_add_setting (DLP_AUTO_READER (element), property->key, property->value);
          continue;
        }
      if (pspec == NULL)
        {
          g_autofree char *hint = NULL;
          g_autofree char *what =
              dlp_element_explain_setting (element, node->factory, property->key, &hint);

          dlp_graph_set_error (error, DLP_GRAPH_ERROR_UNKNOWN_PROPERTY, self->graph->text,
                               property->start, property->start + strlen (property->key), hint,
                               "%s", what);
          return false;
        }
      is_first = g_hash_table_add (seen, property->key);
      object = dlp_element_get_setting_object (element, property->key);
      if (pspec->value_type == G_TYPE_STRV)
        {
          if (is_first && !set_list (self, node, i, object, pspec, error))
            return false;
        }
      else if (!set_property (object, pspec, property->value, is_first, &local))
        return fail_value (self, node, property, local, error);
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
dlp_setting_get_text (const DlpSetting *self)
{
  GParamSpec *pspec = self->pspec;
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, pspec->value_type);
  g_object_get_property (self->object, pspec->name, &value);
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
append_list (GString *text, const char *key, char **items)
{
  for (char **item = items; item != NULL && *item != NULL; item++)
    {
      g_string_append_printf (text, " %s=", key);
      append_quoted (text, *item);
    }
}

static void
append_setting (GString *text, const DlpSetting *setting)
{
  GParamSpec *pspec = setting->pspec;
  g_auto (GValue) value = G_VALUE_INIT;
  g_autofree char *as_text = NULL;

  if (!(pspec->flags & G_PARAM_WRITABLE) || !(pspec->flags & G_PARAM_READABLE))
    return;
  g_value_init (&value, pspec->value_type);
  g_object_get_property (setting->object, pspec->name, &value);
  if (g_param_value_defaults (pspec, &value))
    return;
  if (pspec->value_type == G_TYPE_STRV)
    {
      append_list (text, setting->key, g_value_get_boxed (&value));
      return;
    }
  as_text = dlp_value_to_text (pspec, &value);
  if (as_text == NULL)
    return;
  g_string_append_printf (text, " %s=", setting->key);
  append_quoted (text, as_text);
}

static void
append_element (GString *text, DlpElement *element)
{
  g_autoptr (GPtrArray) settings = dlp_element_list_settings (element);

  g_string_append_printf (text, "%s name=%s", dlp_element_get_factory (element),
                          dlp_element_get_name (element));
  for (guint i = 0; i < settings->len; i++)
    append_setting (text, g_ptr_array_index (settings, i));
  if (DLP_IS_AUTO_READER (element))
    dlp_auto_reader_append_settings (DLP_AUTO_READER (element), text);
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
