/* SPDX-License-Identifier: MIT */
#include "dlp-graph-private.h"

#include <string.h>

#define MAX_NAMES_OF_CYCLE 12

static char *
make_name (GHashTable *names, const char *factory, guint *counter)
{
  const char *separator = g_ascii_isdigit (factory[strlen (factory) - 1]) ? "-" : "";

  for (;;)
    {
      char *name = g_strdup_printf ("%s%s%u", factory, separator, (*counter)++);

      if (!g_hash_table_contains (names, name))
        return name;
      g_free (name);
    }
}

static void
name_nodes (DlpGraph *graph, GHashTable *names)
{
  g_autoptr (GHashTable) counters = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      DlpGraphNode *node = dlp_graph_get_node (graph, i);
      guint counter;

      if (node->named)
        continue;
      counter = GPOINTER_TO_UINT (g_hash_table_lookup (counters, node->factory));
      node->name = make_name (names, node->factory, &counter);
      g_hash_table_insert (counters, node->factory, GUINT_TO_POINTER (counter));
      g_hash_table_insert (names, node->name, GUINT_TO_POINTER (i + 1));
    }
}

/* In "location data.jsonl ! ..." the file name looks like a reference to the pad of an element. */
static char *
hint_for_missing_equals (DlpGraph *graph, const DlpGraphEnd *end)
{
  const char *last = graph->text + end->start;

  if (end->pad == NULL)
    return NULL;
  for (guint i = graph->nodes->len; i > 1; i--)
    {
      DlpGraphNode *node = dlp_graph_get_node (graph, i - 1);

      if (node->end > end->start)
        continue;
      if (graph->text + node->end + strspn (graph->text + node->end, " \t\r\n") != last)
        return NULL;
      return g_strdup_printf ("a property is written NAME=VALUE: %s=%.*s", node->factory,
                              (int) (end->end - end->start), last);
    }
  return NULL;
}

static gboolean
resolve_end (DlpGraph *graph, GHashTable *names, DlpGraphEnd *end, GError **error)
{
  const char *begin = graph->text + end->start;
  g_autofree char *name = NULL;
  g_autofree char *hint = NULL;
  gpointer found;

  if (end->node != DLP_GRAPH_UNRESOLVED)
    return TRUE;

  name = g_strndup (begin, strchr (begin, '.') - begin);
  found = g_hash_table_lookup (names, name);
  if (found != NULL)
    {
      end->node = GPOINTER_TO_UINT (found) - 1;
      return TRUE;
    }
  hint = hint_for_missing_equals (graph, end);
  if (hint == NULL)
    hint = dlp_graph_suggest_node (graph, name);
  dlp_graph_set_error (error, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT, graph->text, end->start,
                       end->start + strlen (name), hint, "no element is named \"%s\"", name);
  return FALSE;
}

static gboolean
check_pad (DlpGraph *graph,
           GHashTable *used,
           const DlpGraphEnd *end,
           const char *direction,
           GError **error)
{
  g_autofree char *key = NULL;
  const DlpGraphEnd *first;

  if (end->pad == NULL)
    return TRUE;

  key = g_strdup_printf ("%s %u.%s", direction, end->node, end->pad);
  first = g_hash_table_lookup (used, key);
  if (first != NULL)
    {
      g_autofree char *place = dlp_graph_describe_place (graph->text, first->start);
      g_autofree char *hint = g_strdup_printf ("the first link is at %s; a pad takes one", place);

      dlp_graph_set_error (error, DLP_GRAPH_ERROR_LINK, graph->text, end->start, end->end, hint,
                           "the %s pad \"%s\" of \"%s\" is linked twice", direction, end->pad,
                           dlp_graph_get_node (graph, end->node)->name);
      return FALSE;
    }
  g_hash_table_insert (used, g_steal_pointer (&key), (gpointer) end);
  return TRUE;
}

static gboolean
resolve_links (DlpGraph *graph, GHashTable *names, GError **error)
{
  g_autoptr (GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < graph->links->len; i++)
    {
      DlpGraphLink *link = dlp_graph_get_link (graph, i);

      if (!resolve_end (graph, names, &link->from, error) ||
          !resolve_end (graph, names, &link->to, error))
        return FALSE;
      if (link->from.node == link->to.node)
        {
          dlp_graph_set_error (error, DLP_GRAPH_ERROR_LINK, graph->text, link->from.start,
                               link->to.end, NULL, "\"%s\" is linked to itself",
                               dlp_graph_get_node (graph, link->to.node)->name);
          return FALSE;
        }
      if (!check_pad (graph, used, &link->from, "output", error) ||
          !check_pad (graph, used, &link->to, "input", error))
        return FALSE;
    }
  return TRUE;
}

/* Links by the node they come from: those of node n are order[ends[n - 1]] to order[ends[n] - 1].
 */
static guint *
sort_links (DlpGraph *graph, guint *ends)
{
  guint *order = g_new (guint, MAX (graph->links->len, 1));

  for (guint i = 0; i < graph->links->len; i++)
    ends[dlp_graph_get_link (graph, i)->from.node + 1]++;
  for (guint i = 0; i < graph->nodes->len; i++)
    ends[i + 1] += ends[i];
  for (guint i = 0; i < graph->links->len; i++)
    order[ends[dlp_graph_get_link (graph, i)->from.node]++] = i;
  return order;
}

/* Takes away, again and again, what nothing is linked to; returns how many are left: the cycles and
 * what lies behind them. inputs has the links that are left into each node. */
static guint
remove_acyclic (DlpGraph *graph, guint *inputs)
{
  guint n_nodes = graph->nodes->len, n_free = 0;
  g_autofree guint *ends = g_new0 (guint, n_nodes + 1);
  g_autofree guint *order = sort_links (graph, ends);
  g_autofree guint *free_nodes = g_new (guint, n_nodes);

  for (guint i = 0; i < graph->links->len; i++)
    inputs[dlp_graph_get_link (graph, i)->to.node]++;
  for (guint i = 0; i < n_nodes; i++)
    {
      if (inputs[i] == 0)
        free_nodes[n_free++] = i;
    }

  for (guint done = 0; done < n_free; done++)
    {
      guint node = free_nodes[done];

      for (guint i = node > 0 ? ends[node - 1] : 0; i < ends[node]; i++)
        {
          guint target = dlp_graph_get_link (graph, order[i])->to.node;

          if (--inputs[target] == 0)
            free_nodes[n_free++] = target;
        }
    }
  return n_nodes - n_free;
}

/* Link indices of a cycle, from its last link to its first: each node that is left has a link from
 * another one that is left, so walking back must end in a circle. */
static GArray *
find_cycle (DlpGraph *graph, const guint *inputs)
{
  g_autofree guint *into = g_new (guint, graph->nodes->len);
  g_autofree gboolean *seen = g_new0 (gboolean, graph->nodes->len);
  GArray *cycle = g_array_new (FALSE, FALSE, sizeof (guint));
  guint node = 0, start;

  for (guint i = graph->links->len; i > 0; i--)
    {
      DlpGraphLink *link = dlp_graph_get_link (graph, i - 1);

      if (inputs[link->from.node] > 0 && inputs[link->to.node] > 0)
        {
          into[link->to.node] = i - 1;
          node = link->to.node;
        }
    }
  for (; !seen[node]; node = dlp_graph_get_link (graph, into[node])->from.node)
    seen[node] = TRUE;

  start = node;
  do
    {
      g_array_append_val (cycle, into[node]);
      node = dlp_graph_get_link (graph, into[node])->from.node;
    }
  while (node != start);
  return cycle;
}

static guint
get_origin (DlpGraph *graph, GArray *links, guint index)
{
  return dlp_graph_get_link (graph, g_array_index (links, guint, index))->from.node;
}

/* Its names in the order of the data, beginning and ending with the node that comes first in the
 * text. */
static char *
describe_cycle (DlpGraph *graph, GArray *cycle)
{
  GString *names = g_string_new (NULL);
  guint begin = 0;

  for (guint i = 0; i < cycle->len; i++)
    {
      if (get_origin (graph, cycle, i) < get_origin (graph, cycle, begin))
        begin = i;
    }
  for (guint i = 0; i < MIN (cycle->len, MAX_NAMES_OF_CYCLE); i++)
    {
      guint node = get_origin (graph, cycle, (begin + cycle->len - i) % cycle->len);

      g_string_append_printf (names, "%s ! ", dlp_graph_get_node (graph, node)->name);
    }
  if (cycle->len > MAX_NAMES_OF_CYCLE)
    g_string_append (names, "... ! ");
  g_string_append (names, dlp_graph_get_node (graph, get_origin (graph, cycle, begin))->name);
  return g_string_free (names, FALSE);
}

static gboolean
check_cycles (DlpGraph *graph, GError **error)
{
  g_autofree guint *inputs = g_new0 (guint, graph->nodes->len);
  g_autofree char *names = NULL;
  g_autoptr (GArray) cycle = NULL;
  DlpGraphLink *link;
  guint closing = 0;

  if (remove_acyclic (graph, inputs) == 0)
    return TRUE;

  cycle = find_cycle (graph, inputs);
  for (guint i = 0; i < cycle->len; i++)
    closing = MAX (closing, g_array_index (cycle, guint, i));

  link = dlp_graph_get_link (graph, closing);
  names = describe_cycle (graph, cycle);
  dlp_graph_set_error (error, DLP_GRAPH_ERROR_LINK, graph->text, link->from.start, link->to.end,
                       NULL, "elements are linked in a circle: %s", names);
  return FALSE;
}

gboolean
dlp_graph_resolve (DlpGraph *graph, GHashTable *names, GError **error)
{
  name_nodes (graph, names);
  return resolve_links (graph, names, error) && check_cycles (graph, error);
}
