/* SPDX-License-Identifier: MIT */

/* What graphs may be dealt, and whether one is that which a job was begun with. */

#include <string.h>

#include <dlpipe/dlp-sink.h>

#include "dlp-fanout-private.h"
#include "dlp-fanout-task-private.h"

gboolean
dlp_fanout_refuse_element (DlpElement *element, const char *why, guint n_tasks, GError **error)
{
  const char *name = dlp_element_get_name (element);
  bool can = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "per-task") != NULL;

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: %s %s, and each of %u tasks would do so by itself; %srun one task (--tasks 1)",
               name, dlp_element_get_factory (element), why, n_tasks,
               can ? "if that is meant, set per-task=true, else " : "");
  return FALSE;
}

/* ---- what may be dealt ---- */

static bool
check_app (DlpElement *element, GError **error)
{
  const char *factory = dlp_element_get_factory (element);

  if (strcmp (factory, "app-source") != 0 && strcmp (factory, "app-sink") != 0)
    return true;
  g_set_error (
      error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
      "%s: %s is for a program that has the pipeline in it, and the tasks of a fan-out run "
      "in others",
      dlp_element_get_name (element), factory);
  return false;
}

/* What has a log compares each record with all that came before. */
static bool
compares_all (DlpElement *element)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  gboolean per_task = FALSE;

  if (!(DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_LOG))
    return false;
  if (g_object_class_find_property (klass, "per-task") != NULL)
    g_object_get (element, "per-task", &per_task, NULL);
  return !per_task;
}

static bool
check_element (DlpElement *element, guint n_tasks, GError **error)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);

  if (!check_app (element, error) || !dlp_fanout_check_sink (element, error))
    return false;
  if (n_tasks < 2)
    return true;
  if (klass->check_tasks != NULL)
    return klass->check_tasks (element, n_tasks, error);
  return !compares_all (element) ||
         dlp_fanout_refuse_element (element, "compares records with all that came before", n_tasks,
                                    error);
}

bool
dlp_fanout_check_graph (DlpPipeline *pipeline, guint n_tasks, GError **error)
{
  GListModel *elements = G_LIST_MODEL (pipeline);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);

      if (!check_element (element, n_tasks, error))
        return false;
    }
  return true;
}

/* ---- whether it is the same ---- */

static void set_changed (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
set_changed (GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%s; go on with what was recorded, or begin anew with --restart", message);
}

/* "a.out > b.in" for each link of the element's inputs. */
static char *
describe_inputs (DlpElement *element)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      DlpPad *input = dlp_element_get_input (element, i);
      DlpPad *peer = dlp_pad_get_peer (input);

      if (peer != NULL)
        g_string_append_printf (text, " %s.%s!%s",
                                dlp_element_get_name (dlp_pad_get_element (peer)),
                                dlp_pad_get_name (peer), dlp_pad_get_name (input));
    }
  return g_string_free (text, FALSE);
}

static bool
compare_elements (DlpElement *recorded, DlpElement *now, GError **error)
{
  g_autofree char *was = describe_inputs (recorded);
  g_autofree char *is = describe_inputs (now);
  const char *name = dlp_element_get_name (now);

  if (strcmp (dlp_element_get_name (recorded), name) != 0 ||
      strcmp (dlp_element_get_factory (recorded), dlp_element_get_factory (now)) != 0)
    set_changed (error, "the job was begun with %s (%s) where the graph has %s (%s)",
                 dlp_element_get_name (recorded), dlp_element_get_factory (recorded), name,
                 dlp_element_get_factory (now));
  else if (strcmp (was, is) != 0)
    set_changed (error, "%s was linked by%s, and is by%s", name, was, is);
  else
    return true;
  return false;
}

static bool
is_fixed (DlpElement *element, const char *property)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);

  return pspec != NULL &&
         !(pspec->flags & (DLP_PARAM_FREE | DLP_PARAM_ELASTIC | DLP_PARAM_MUTABLE));
}

/* Elements are the same: so are the lists of their properties. */
static bool
compare_settings (DlpPipeline *recorded, DlpPipeline *now, GError **error)
{
  g_autoptr (GVariant) was = dlp_pipeline_get_settings (recorded);
  g_autoptr (GVariant) is = dlp_pipeline_get_settings (now);
  gsize n = MIN (g_variant_n_children (was), g_variant_n_children (is));

  for (gsize i = 0; i < n; i++)
    {
      const char *element, *property, *before, *value, *origin;

      g_variant_get_child (was, i, "(&s&s&s&s)", &element, &property, &before, &origin);
      g_variant_get_child (is, i, "(&s&s&s&s)", &element, &property, &value, &origin);
      if (strcmp (before, value) == 0 ||
          !is_fixed (dlp_pipeline_get_element (now, element), property))
        continue;
      set_changed (error, "%s: %s was %s when the job was begun, and is %s", element, property,
                   before, value);
      return false;
    }
  return true;
}

bool
dlp_fanout_compare_graphs (DlpPipeline *recorded, DlpPipeline *now, GError **error)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (recorded));

  if (n != g_list_model_get_n_items (G_LIST_MODEL (now)))
    {
      set_changed (error, "the job was begun with %u elements, the graph has %u", n,
                   g_list_model_get_n_items (G_LIST_MODEL (now)));
      return false;
    }
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (DlpElement) a = g_list_model_get_item (G_LIST_MODEL (recorded), i);
      g_autoptr (DlpElement) b = g_list_model_get_item (G_LIST_MODEL (now), i);

      if (!compare_elements (a, b, error))
        return false;
    }
  return compare_settings (recorded, now, error);
}
