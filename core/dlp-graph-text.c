/* SPDX-License-Identifier: MIT */
#include "dlp-graph-parser-private.h"

#include <string.h>

/* Nodes and links are written in their order, each link as soon as its turn has come. That gives
 * the chains of a linear graph back, and is right for every other. */
typedef struct
{
  const DlpGraph *graph;
  GString *out;
  guint next_node;
  guint next_link;
} Writer;

static gboolean
needs_quotes (const char *value)
{
  for (const char *p = value; *p != '\0'; p++)
    {
      if ((guchar) *p <= ' ' || *p == 0x7f || strchr ("!\"'\\", *p) != NULL)
        return TRUE;
    }
  return *value == '\0';
}

static void
append_value (GString *out, const char *value)
{
  if (!needs_quotes (value))
    {
      g_string_append (out, value);
      return;
    }

  g_string_append_c (out, '"');
  for (const char *p = value; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\\')
        g_string_append_c (out, '\\');
      g_string_append_c (out, *p);
    }
  g_string_append_c (out, '"');
}

static const DlpGraphLink *
peek_link (Writer *self)
{
  if (self->next_link < self->graph->links->len)
    return dlp_graph_get_link (self->graph, self->next_link);
  return NULL;
}

static void
write_node (Writer *self)
{
  DlpGraphNode *node = dlp_graph_get_node (self->graph, self->next_node++);

  g_string_append (self->out, node->factory);
  if (node->named)
    g_string_append_printf (self->out, " name=%s", node->name);
  for (guint i = 0; i < node->properties->len; i++)
    {
      DlpGraphProperty *property = dlp_graph_node_get_property (node, i);

      g_string_append_printf (self->out, " %s=", property->key);
      append_value (self->out, property->value);
    }
}

static void
write_reference (Writer *self, const DlpGraphEnd *end)
{
  g_string_append_printf (self->out, "%s.%s", dlp_graph_get_node (self->graph, end->node)->name,
                          end->pad != NULL ? end->pad : "");
}

/* From the node or reference just written on, as far as one chain goes. */
static void
write_links (Writer *self)
{
  const DlpGraphLink *link = peek_link (self);

  while (link != NULL)
    {
      guint target = link->to.node;

      g_string_append (self->out, " ! ");
      self->next_link++;
      if (target != self->next_node || link->to.pad != NULL)
        {
          write_reference (self, &link->to);
          return;
        }
      write_node (self);
      link = peek_link (self);
      if (link != NULL && (link->from.node != target || link->from.pad != NULL))
        return;
    }
}

static void
write_chain (Writer *self)
{
  const DlpGraphLink *link = peek_link (self);

  if (link != NULL && link->from.node < self->next_node)
    {
      write_reference (self, &link->from);
      write_links (self);
    }
  else if (link != NULL && link->from.node == self->next_node && link->from.pad == NULL)
    {
      write_node (self);
      write_links (self);
    }
  else
    write_node (self);
}

char *
dlp_graph_to_text (const DlpGraph *graph)
{
  Writer writer = { graph, g_string_new (NULL), 0, 0 };

  g_return_val_if_fail (graph != NULL, NULL);

  while (writer.next_node < graph->nodes->len || writer.next_link < graph->links->len)
    {
      if (writer.out->len > 0)
        g_string_append_c (writer.out, '\n');
      write_chain (&writer);
    }
  return g_string_free (writer.out, FALSE);
}
