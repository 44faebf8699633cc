/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-pipeline.h>

G_BEGIN_DECLS

/* The number "flags" of an order. */
enum
{
  DLP_FANOUT_STRICT = 1 << 0,
  DLP_FANOUT_OVERWRITE = 1 << 1,
  DLP_FANOUT_RESTART = 1 << 2,
};

/* Where the parts of a sink's output are: the folder of its location. NULL: it writes no files. */
char *dlp_fanout_get_folder (DlpElement *element);
/* The location of a sink in a task: FOLDER/part-TASK-of-TASKS, with the ending that the name of a
 * file has. NULL: it writes no files. */
char *dlp_fanout_name_part (DlpElement *element, guint task, guint n_tasks);
/* The location of all parts merged: FOLDER/all, with such an ending. */
char *dlp_fanout_name_whole (DlpElement *sink);
/* Whether the sinks of a graph can be given other locations. */
bool dlp_fanout_check_sink (DlpElement *element, GError **error);

/* The pipeline of a task, not prepared. @order: what the fan-out says of it, see
 * docs/internals/fanout.md. */
DlpPipeline *dlp_fanout_make_task (GVariant *order, GError **error);

G_END_DECLS
