/* SPDX-License-Identifier: MIT */

/* One task of a job: the graph of all, with its part of the files and names of its own. */

#include "dlp-fanout-task-private.h"

#include <string.h>

#include <dlpipe/dlp-sink.h>
#include <dlpipe/dlp-source.h>

#include "dlp-fanout-link-private.h"

/* ---- outputs ---- */

char *
dlp_fanout_get_folder (DlpElement *element)
{
  DlpSinkClass *klass = DLP_IS_SINK (element) ? DLP_SINK_GET_CLASS (element) : NULL;

  return klass != NULL && klass->get_location != NULL ? klass->get_location (DLP_SINK (element)) :
                                                        NULL;
}

/* Of a location that is the name of a file: a beginning of names ("out/corpus", of which come
 * corpus.bin and corpus.idx) has none. */
static char *
dup_ending (DlpElement *element, const char *location)
{
  DlpSinkClass *klass = DLP_SINK_GET_CLASS (element);
  g_auto (GStrv) files = klass->list_files != NULL ? klass->list_files (DLP_SINK (element)) : NULL;
  g_autofree char *name = g_path_get_basename (location);
  const char *dot = strrchr (name, '.');

  if (files == NULL || !g_strv_contains ((const char *const *) files, location))
    return g_strdup ("");
  return g_strdup (dot != NULL && dot != name ? dot : "");
}

char *
dlp_fanout_name_part (DlpElement *element, guint task, guint n_tasks)
{
  g_autofree char *folder = dlp_fanout_get_folder (element);
  g_autofree char *ending = folder != NULL ? dup_ending (element, folder) : NULL;

  if (folder == NULL)
    return NULL;
  return g_strdup_printf ("%s/part-%05u-of-%05u%s", folder, task, n_tasks, ending);
}

char *
dlp_fanout_name_whole (DlpElement *sink)
{
  g_autofree char *folder = dlp_fanout_get_folder (sink);
  g_autofree char *ending = dup_ending (sink, folder);

  return g_strdup_printf ("%s/all%s", folder, ending);
}

static bool
has_location (DlpElement *element)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "location");

  return pspec != NULL && pspec->value_type == G_TYPE_STRING && (pspec->flags & G_PARAM_WRITABLE);
}

bool
dlp_fanout_check_sink (DlpElement *element, GError **error)
{
  DlpSinkClass *klass = DLP_IS_SINK (element) ? DLP_SINK_GET_CLASS (element) : NULL;
  const char *name = dlp_element_get_name (element);
  g_autofree char *folder = dlp_fanout_get_folder (element);

  if (klass != NULL && klass->is_resumable != NULL && !klass->is_resumable (DLP_SINK (element)))
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%s writes where it cannot go back, which the tasks of a fan-out must; write to a "
                 "file",
                 name);
  else if (folder != NULL && !has_location (element))
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%s: %s has no property location, so the tasks of a fan-out cannot have files of "
                 "their own",
                 name, dlp_element_get_factory (element));
  else
    return true;
  return false;
}

/* ---- the pipeline ---- */

static bool
give_part (DlpElement *element, GVariant *order, GError **error)
{
  guint task = (guint) dlp_fanout_get_number (order, "task");
  guint n_tasks = (guint) dlp_fanout_get_number (order, "tasks");
  const char *plan = dlp_fanout_get_text (order, "plan");
  g_autofree char *part = dlp_fanout_name_part (element, task, n_tasks);

  if (part != NULL)
    g_object_set (element, "location", part, NULL);
  if (dlp_element_get_n_inputs (element) > 0)
    return true;
  return DLP_SOURCE_GET_CLASS (element)->take_part (DLP_SOURCE (element), plan, task, error);
}

/* Those that an order has are those that its task needs. */
static void
set_settings (DlpPipeline *pipeline, GVariant *order)
{
  guint64 flags = dlp_fanout_get_number (order, "flags");

  g_object_set (pipeline, "state-dir", dlp_fanout_get_text (order, "state"), "seed",
                dlp_fanout_get_number (order, "seed"), "workers",
                (guint) dlp_fanout_get_number (order, "threads"), "memory",
                dlp_fanout_get_number (order, "memory"), "checkpoint-interval",
                (gint64) dlp_fanout_get_number (order, "checkpoint-interval"), "stall-timeout",
                (gint64) dlp_fanout_get_number (order, "stall-timeout"), "stall-action",
                DLP_STALL_ACTION_FAIL, "strict", (flags & DLP_FANOUT_STRICT) != 0, "overwrite",
                (flags & DLP_FANOUT_OVERWRITE) != 0, "restart", (flags & DLP_FANOUT_RESTART) != 0,
                NULL);
}

DlpPipeline *
dlp_fanout_make_task (GVariant *order, GError **error)
{
  g_autoptr (DlpPipeline) pipeline =
      dlp_pipeline_new_from_string (dlp_fanout_get_text (order, "graph"), error);
  GListModel *elements = G_LIST_MODEL (pipeline);

  if (pipeline == NULL)
    return NULL;
  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      if (!give_part (element, order, error))
        return NULL;
    }
  set_settings (pipeline, order);
  return g_steal_pointer (&pipeline);
}
