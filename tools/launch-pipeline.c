/* SPDX-License-Identifier: MIT */

/* From the command line to a pipeline that is ready to be prepared. */

#include <string.h>

#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-sink.h>

#include "launch.h"
#include "settings.h"

static bool
set_element_property (DlpPipeline *pipeline, const char *setting, GError **error)
{
  g_autofree char *element = NULL;
  g_autofree char *property = NULL;
  const char *value;

  if (!settings_split (setting, &element, &property, &value, error))
    return false;
  if (dlp_pipeline_set_property_text (pipeline, element, property, value, error))
    return true;
  g_prefix_error (error, "--set %s: ", setting);
  return false;
}

static bool
apply_options (DlpPipeline *pipeline, const LaunchOptions *options, GError **error)
{
  const Setting settings[] = { { "seed", "--seed", options->seed },
                               { "memory", "--memory", options->memory },
                               { "workers", "--workers", options->workers },
                               { "quarantine", "--quarantine", options->quarantine },
                               { "checkpoint-interval", "--checkpoint-every",
                                 options->checkpoint_every },
                               { "stall-action", "--stall-action", options->stall_action },
                               { "stall-timeout", "--stall-timeout", options->stall_timeout } };

  g_object_set (pipeline, "strict", options->strict, "restart", options->restart, "overwrite",
                options->overwrite, NULL);
  if (options->sequential)
    g_object_set (pipeline, "runner", DLP_RUNNER_SEQUENTIAL, NULL);
  if (!settings_apply (G_OBJECT (pipeline), settings, G_N_ELEMENTS (settings), error))
    return false;
  for (char **setting = options->set; setting != NULL && *setting != NULL; setting++)
    if (!set_element_property (pipeline, *setting, error))
      return false;
  return true;
}

/* ---- the state ---- */

static bool
reads_stdin (DlpElement *element)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "location");
  g_auto (GStrv) locations = NULL;

  if (dlp_element_get_n_inputs (element) > 0 || pspec == NULL || pspec->value_type != G_TYPE_STRV)
    return false;
  g_object_get (element, "location", &locations, NULL);
  return locations != NULL && g_strv_contains ((const char *const *) locations, "-");
}

static bool
cannot_go_back (DlpElement *element)
{
  return DLP_IS_SINK (element) && DLP_SINK_GET_CLASS (element)->is_resumable != NULL &&
         !DLP_SINK_GET_CLASS (element)->is_resumable (DLP_SINK (element));
}

char *
launch_why_no_state (DlpPipeline *pipeline)
{
  GListModel *elements = G_LIST_MODEL (pipeline);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      const char *name = dlp_element_get_name (element);

      if (reads_stdin (element))
        return g_strdup_printf ("%s reads the standard input", name);
      if (strcmp (dlp_element_get_factory (element), "app-source") == 0)
        return g_strdup_printf ("%s is fed by a program", name);
      if (cannot_go_back (element))
        return g_strdup_printf ("%s writes where it cannot go back", name);
    }
  return NULL;
}

bool
launch_check_alone (DlpPipeline *pipeline, GError **error)
{
  GListModel *elements = G_LIST_MODEL (pipeline);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      const char *factory = dlp_element_get_factory (element);

      if (strcmp (factory, "app-source") != 0 && strcmp (factory, "app-sink") != 0)
        continue;
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "%s: %s is for a program that has the pipeline in it, and would wait for it for "
                   "ever; use %s here, or see docs/embedding.md",
                   dlp_element_get_name (element), factory,
                   DLP_IS_SINK (element) ? "null-sink or a sink that writes files" : "file-source");
      return false;
    }
  return true;
}

static void
choose_state (DlpPipeline *pipeline, const LaunchOptions *options)
{
  g_autofree char *why_not = launch_why_no_state (pipeline);
  g_autofree char *dir = NULL;

  if (options->no_state)
    {
      g_object_set (pipeline, "state-dir", NULL, NULL);
      return;
    }
  /* What was asked for is refused by prepare() with its reason. */
  if (options->state != NULL)
    g_object_set (pipeline, "state-dir", options->state, NULL);
  else if (why_not == NULL && (dir = dlp_pipeline_get_default_state_dir (pipeline)) != NULL)
    g_object_set (pipeline, "state-dir", dir, NULL);
}

DlpPipeline *
launch_make_pipeline (const LaunchOptions *options, GError **error)
{
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autofree char *graph = NULL;

  for (char **path = options->plugin_paths; path != NULL && *path != NULL; path++)
    dlp_registry_add_path (*path);

  if (options->graph == NULL && options->file == NULL)
    pipeline = dlp_pipeline_new_from_state (options->state, error);
  else if ((graph = settings_read_graph (options->graph, options->file, error)) != NULL)
    pipeline = dlp_pipeline_new_from_string (graph, error);
  if (pipeline == NULL || !apply_options (pipeline, options, error))
    return NULL;
  choose_state (pipeline, options);
  return g_steal_pointer (&pipeline);
}

bool
launch_has_state (DlpPipeline *pipeline)
{
  g_autofree char *dir = NULL;

  g_object_get (pipeline, "state-dir", &dir, NULL);
  return dir != NULL;
}

/* Another plugin may bring an element that is called so. */
static bool
is_tokenizer (DlpElement *element)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "model");

  return strcmp (dlp_element_get_factory (element), "tokenizer") == 0 && pspec != NULL &&
         pspec->value_type == G_TYPE_STRING;
}

/* What it says of itself where it does, else what it was told. */
static char *
get_model (DlpElement *element)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "model-summary");
  char *text = NULL;

  if (pspec != NULL && pspec->value_type == G_TYPE_STRING)
    g_object_get (element, "model-summary", &text, NULL);
  if (text == NULL)
    g_object_get (element, "model", &text, NULL);
  return text;
}

char *
launch_get_models (DlpPipeline *pipeline)
{
  GListModel *elements = G_LIST_MODEL (pipeline);
  g_autoptr (GPtrArray) models = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      char *model = NULL;

      if (!is_tokenizer (element))
        continue;
      model = get_model (element);
      if (model == NULL || g_ptr_array_find_with_equal_func (models, model, g_str_equal, NULL))
        g_free (model);
      else
        g_ptr_array_add (models, model);
    }
  if (models->len == 0)
    return NULL;
  g_ptr_array_add (models, NULL);
  return g_strjoinv (", ", (char **) models->pdata);
}
