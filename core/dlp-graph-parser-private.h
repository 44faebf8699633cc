/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-error.h>

G_BEGIN_DECLS

#define DLP_GRAPH_MAX_TEXT (16 * 1024 * 1024)
#define DLP_GRAPH_MAX_NODES 65536
#define DLP_GRAPH_MAX_LINKS 262144
#define DLP_GRAPH_MAX_PROPERTIES 1048576

/* The place of what was not in the text but set afterwards. */
#define DLP_GRAPH_NO_PLACE G_MAXSIZE

/* All places are byte offsets [start, end) in DlpGraph.text. Key and value are unquoted; a value
 * may be any bytes but NUL, not only UTF-8. '_' in a key is written '-', as GObject does. */
typedef struct
{
  char *key;
  char *value;
  gsize start;
  gsize end;
  gsize value_start;
} DlpGraphProperty;

/* name is that of the text if named, else made up: the factory and a number from 0. The property
 * "name" is not among the properties. The place is that of the factory. */
typedef struct
{
  char *factory;
  char *name;
  gboolean named;
  GPtrArray *properties; /* of DlpGraphProperty, in the order of the text */
  gsize start;
  gsize end;
} DlpGraphNode;

/* pad is NULL where the text names none: the default output, or for an input "in-N". */
typedef struct
{
  guint node;
  char *pad;
  gsize start;
  gsize end;
} DlpGraphEnd;

/* The place is that of the '!'. */
typedef struct
{
  DlpGraphEnd from;
  DlpGraphEnd to;
  gsize start;
  gsize end;
} DlpGraphLink;

/* Immutable after dlp_graph_parse() but for dlp_graph_set_property(); no thread rules of its own.
 * It has at least one node and no cycle. */
typedef struct
{
  char *text;
  GPtrArray *nodes; /* of DlpGraphNode, in the order of the text */
  GPtrArray *links; /* of DlpGraphLink, in the order of the text */
} DlpGraph;

DlpGraph *dlp_graph_parse (const char *text, GError **error);
void dlp_graph_free (DlpGraph *graph);

static inline DlpGraphNode *
dlp_graph_get_node (const DlpGraph *graph, guint index)
{
  return (DlpGraphNode *) g_ptr_array_index (graph->nodes, index);
}

static inline DlpGraphLink *
dlp_graph_get_link (const DlpGraph *graph, guint index)
{
  return (DlpGraphLink *) g_ptr_array_index (graph->links, index);
}

static inline DlpGraphProperty *
dlp_graph_node_get_property (const DlpGraphNode *node, guint index)
{
  return (DlpGraphProperty *) g_ptr_array_index (node->properties, index);
}

/* The node of that name, or NULL. */
DlpGraphNode *dlp_graph_find_node (const DlpGraph *graph, const char *name);

/* Whether two graphs mean the same: all but the text and the places in it. */
gboolean dlp_graph_equal (const DlpGraph *a, const DlpGraph *b);

/* The canonical text: parses to an equal graph, and equal graphs have the same one. */
char *dlp_graph_to_text (const DlpGraph *graph);

/* Gives the property this one value, in place of all that the text gives it. value is taken as it
 * is, without unquoting. */
gboolean dlp_graph_set_property (DlpGraph *graph,
                                 const char *node_name,
                                 const char *key,
                                 const char *value,
                                 GError **error);

/* The same for "NAME.PROPERTY=VALUE". */
gboolean dlp_graph_apply_setting (DlpGraph *graph, const char *setting, GError **error);

/* "line 3, column 14" */
char *dlp_graph_describe_place (const char *text, gsize place);

/* The message with its line and column, the line of text with [start, end) marked, and the hint
 * (which may be NULL); always valid UTF-8 without control characters. If start is
 * DLP_GRAPH_NO_PLACE, only message and hint. */
char *dlp_graph_format_error (const char *text,
                              gsize start,
                              gsize end,
                              const char *message,
                              const char *hint);

/* Sets error to dlp_graph_format_error() of a printf-like message. */
void dlp_graph_set_error (GError **error,
                          DlpGraphError code,
                          const char *text,
                          gsize start,
                          gsize end,
                          const char *hint,
                          const char *format,
                          ...) G_GNUC_PRINTF (7, 8);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpGraph, dlp_graph_free)

G_END_DECLS
