/* SPDX-License-Identifier: MIT */
#include "dlp-graph-private.h"

#include "dlp-suggest-private.h"

#include <string.h>

#define MAX_NAMES_IN_HINT 8

static void
dlp_graph_property_free (DlpGraphProperty *property)
{
  g_free (property->key);
  g_free (property->value);
  g_free (property);
}

static void
dlp_graph_node_free (DlpGraphNode *node)
{
  g_free (node->factory);
  g_free (node->name);
  g_ptr_array_unref (node->properties);
  g_free (node);
}

static void
dlp_graph_link_free (DlpGraphLink *link)
{
  g_free (link->from.pad);
  g_free (link->to.pad);
  g_free (link);
}

DlpGraph *
dlp_graph_new (const char *text)
{
  DlpGraph *self = g_new0 (DlpGraph, 1);

  self->text = g_strdup (text);
  self->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_graph_node_free);
  self->links = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_graph_link_free);
  return self;
}

void
dlp_graph_free (DlpGraph *self)
{
  if (self == NULL)
    return;
  g_free (self->text);
  g_ptr_array_unref (self->nodes);
  g_ptr_array_unref (self->links);
  g_free (self);
}

DlpGraphNode *
dlp_graph_add_node (DlpGraph *self, char *factory, gsize start, gsize end)
{
  DlpGraphNode *node = g_new0 (DlpGraphNode, 1);

  node->factory = factory;
  node->properties = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_graph_property_free);
  node->start = start;
  node->end = end;
  g_ptr_array_add (self->nodes, node);
  return node;
}

DlpGraphLink *
dlp_graph_add_link (DlpGraph *self)
{
  DlpGraphLink *link = g_new0 (DlpGraphLink, 1);

  g_ptr_array_add (self->links, link);
  return link;
}

static char *
canonicalize_key (const char *key)
{
  return g_strdelimit (g_strdup (key), "_", '-');
}

DlpGraphProperty *
dlp_graph_node_add_property (DlpGraphNode *node, const char *key, char *value)
{
  DlpGraphProperty *property = g_new0 (DlpGraphProperty, 1);

  property->key = canonicalize_key (key);
  property->value = value;
  property->start = property->end = property->value_start = DLP_GRAPH_NO_PLACE;
  g_ptr_array_add (node->properties, property);
  return property;
}

const char *
dlp_graph_check_name (const char *begin, const char *end, gboolean is_pad)
{
  for (const char *p = begin; p < end; p++)
    {
      if (g_ascii_isalpha (*p) || (is_pad && g_ascii_isdigit (*p)))
        continue;
      if (p == begin || !(g_ascii_isdigit (*p) || *p == '-' || *p == '_'))
        return p;
    }
  return end;
}

DlpGraphNode *
dlp_graph_find_node (const DlpGraph *self, const char *name)
{
  for (guint i = 0; i < self->nodes->len; i++)
    {
      DlpGraphNode *node = dlp_graph_get_node (self, i);

      if (strcmp (node->name, name) == 0)
        return node;
    }
  return NULL;
}

char *
dlp_graph_suggest_node (const DlpGraph *self, const char *name)
{
  g_autofree const char **names = g_new0 (const char *, self->nodes->len + 1);
  GString *hint;
  char *suggestion;

  for (guint i = 0; i < self->nodes->len; i++)
    names[i] = dlp_graph_get_node (self, i)->name;

  suggestion = dlp_suggest_hint (name, names);
  if (suggestion != NULL)
    return suggestion;

  hint = g_string_new ("the elements are: ");
  for (guint i = 0; i < self->nodes->len; i++)
    {
      if (i == MAX_NAMES_IN_HINT)
        {
          g_string_append_printf (hint, ", and %u more", self->nodes->len - i);
          break;
        }
      g_string_append_printf (hint, "%s%s", i > 0 ? ", " : "", names[i]);
    }
  return g_string_free (hint, FALSE);
}

static gboolean
equal_nodes (const DlpGraphNode *a, const DlpGraphNode *b)
{
  if (strcmp (a->factory, b->factory) != 0 || strcmp (a->name, b->name) != 0 ||
      a->named != b->named || a->properties->len != b->properties->len)
    return FALSE;

  for (guint i = 0; i < a->properties->len; i++)
    {
      DlpGraphProperty *property = dlp_graph_node_get_property (a, i);
      DlpGraphProperty *other = dlp_graph_node_get_property (b, i);

      if (strcmp (property->key, other->key) != 0 || strcmp (property->value, other->value) != 0)
        return FALSE;
    }
  return TRUE;
}

static gboolean
equal_ends (const DlpGraphEnd *a, const DlpGraphEnd *b)
{
  return a->node == b->node && g_strcmp0 (a->pad, b->pad) == 0;
}

gboolean
dlp_graph_equal (const DlpGraph *self, const DlpGraph *other)
{
  if (self->nodes->len != other->nodes->len || self->links->len != other->links->len)
    return FALSE;

  for (guint i = 0; i < self->nodes->len; i++)
    {
      if (!equal_nodes (dlp_graph_get_node (self, i), dlp_graph_get_node (other, i)))
        return FALSE;
    }
  for (guint i = 0; i < self->links->len; i++)
    {
      DlpGraphLink *link = dlp_graph_get_link (self, i);
      DlpGraphLink *same = dlp_graph_get_link (other, i);

      if (!equal_ends (&link->from, &same->from) || !equal_ends (&link->to, &same->to))
        return FALSE;
    }
  return TRUE;
}

/* "size" or "http.timeout" */
static gboolean
is_key (const char *key)
{
  const char *end = key + strlen (key);
  const char *stop = dlp_graph_check_name (key, end, FALSE);

  if (stop == key)
    return FALSE;
  return stop == end ||
         (*stop == '.' && stop + 1 < end && dlp_graph_check_name (stop + 1, end, FALSE) == end);
}

static gboolean
check_setting (const DlpGraph *self, const char *node_name, const char *key, GError **error)
{
  g_autofree char *hint = NULL;

  if (dlp_graph_find_node (self, node_name) == NULL)
    {
      hint = dlp_graph_suggest_node (self, node_name);
      dlp_graph_set_error (error, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT, NULL, 0, 0, hint,
                           "cannot set \"%s\": no element is named \"%s\"", key, node_name);
      return FALSE;
    }
  if (!is_key (key))
    {
      dlp_graph_set_error (error, DLP_GRAPH_ERROR_SYNTAX, NULL, 0, 0, NULL,
                           "cannot set \"%s\" of \"%s\": not the name of a property", key,
                           node_name);
      return FALSE;
    }
  if (strcmp (key, "name") == 0)
    {
      dlp_graph_set_error (error, DLP_GRAPH_ERROR_UNKNOWN_PROPERTY, NULL, 0, 0, NULL,
                           "cannot set \"name\" of \"%s\": a name is given in the graph only",
                           node_name);
      return FALSE;
    }
  return TRUE;
}

gboolean
dlp_graph_set_property (DlpGraph *self,
                        const char *node_name,
                        const char *key,
                        const char *value,
                        GError **error)
{
  g_autofree char *canonical = NULL;
  DlpGraphNode *node;
  guint place = 0;

  g_return_val_if_fail (node_name != NULL && key != NULL && value != NULL, FALSE);

  if (!check_setting (self, node_name, key, error))
    return FALSE;

  node = dlp_graph_find_node (self, node_name);
  canonical = canonicalize_key (key);
  place = node->properties->len;
  for (guint i = node->properties->len; i > 0; i--)
    {
      if (strcmp (dlp_graph_node_get_property (node, i - 1)->key, canonical) != 0)
        continue;
      g_ptr_array_remove_index (node->properties, i - 1);
      place = i - 1;
    }
  dlp_graph_node_add_property (node, canonical, g_strdup (value));
  g_ptr_array_insert (node->properties, place,
                      g_ptr_array_steal_index (node->properties, node->properties->len - 1));
  return TRUE;
}

gboolean
dlp_graph_apply_setting (DlpGraph *self, const char *setting, GError **error)
{
  const char *dot, *equals;
  g_autofree char *name = NULL;
  g_autofree char *key = NULL;

  g_return_val_if_fail (setting != NULL, FALSE);

  equals = strchr (setting, '=');
  dot = equals != NULL ? memchr (setting, '.', equals - setting) : NULL;
  if (dot == NULL || dot == setting || dot + 1 == equals)
    {
      dlp_graph_set_error (error, DLP_GRAPH_ERROR_SYNTAX, NULL, 0, 0,
                           "write NAME.PROPERTY=VALUE, such as shuffle0.size=10k",
                           "cannot set \"%s\"", setting);
      return FALSE;
    }

  name = g_strndup (setting, dot - setting);
  key = g_strndup (dot + 1, equals - dot - 1);
  return dlp_graph_set_property (self, name, key, equals + 1, error);
}
