/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Graphs of real elements, drawn at random: sources alone and mixed, chains, filters that drop for
 * long, tees, splits, pads for what is rejected, weights that change, batches of one rank, limits
 * in records, tokens and batches that end one sink long before the others.
 */
typedef struct
{
  char *text;
  gboolean is_cut; /* what lies before a limit runs ahead of it */
} RandomGraph;

/* Writes what the graphs read to @dir. */
void random_graph_write_inputs (const char *dir);
/* @dir: with the inputs. A seed gives the same graph each time. */
RandomGraph *random_graph_new (guint32 seed, const char *dir);
void random_graph_free (RandomGraph *self);

G_END_DECLS
