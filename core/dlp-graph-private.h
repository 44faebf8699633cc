/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-graph-parser-private.h"

G_BEGIN_DECLS

/* How the parser builds a DlpGraph. Nothing else needs this. */

/* The node of an end that is still a reference. */
#define DLP_GRAPH_UNRESOLVED G_MAXUINT

DlpGraph *dlp_graph_new (const char *text);

/* Takes factory. */
DlpGraphNode *dlp_graph_add_node (DlpGraph *graph, char *factory, gsize start, gsize end);
DlpGraphLink *dlp_graph_add_link (DlpGraph *graph);

/* Takes value; the property has no place yet. */
DlpGraphProperty *dlp_graph_node_add_property (DlpGraphNode *node, const char *key, char *value);

/* A letter, then letters, digits, '-' and '_'; a pad may also begin with a digit. Returns the first
 * byte that does not fit, or end. */
const char *dlp_graph_check_name (const char *begin, const char *end, gboolean is_pad);

/* A hint for a name that no node has. */
char *dlp_graph_suggest_node (const DlpGraph *graph, const char *name);

/* Names the nodes that have no name, finds what references mean, and refuses what is joined twice
 * or in a circle. names has the nodes named in the text: name to index + 1. */
gboolean dlp_graph_resolve (DlpGraph *graph, GHashTable *names, GError **error);

G_END_DECLS
