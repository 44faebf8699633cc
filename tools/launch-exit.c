/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "launch.h"

/* What an error says by itself; 0: nothing. @has_state: the same command goes on. */
static int
exit_for_error (const GError *error, bool has_state)
{
  if (error->domain == DLP_STATE_ERROR)
    switch ((DlpStateError) error->code)
      {
      case DLP_STATE_ERROR_CORRUPT:
      case DLP_STATE_ERROR_CHANGED:
      case DLP_STATE_ERROR_VERSION:
        return LAUNCH_EXIT_STATE;
      case DLP_STATE_ERROR_LOCKED:
      case DLP_STATE_ERROR_FOREIGN_OUTPUT:
        return LAUNCH_EXIT_USAGE;
      case DLP_STATE_ERROR_FENCED:
        return LAUNCH_EXIT_FENCED;
      }
  if (g_error_matches (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED))
    return LAUNCH_EXIT_STATE;
  /* Also where it hung before the first record. */
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED))
    return has_state ? LAUNCH_EXIT_STOPPED : LAUNCH_EXIT_FAILED;
  return 0;
}

/* (nullable) */
static const char *
find_remedy (const GError *error, bool has_state)
{
  if (g_error_matches (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT) &&
      strstr (error->message, "--restart") == NULL)
    return "; the graph with --restart begins anew and discards what was written";
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE))
    return has_state ? "; make room, and the same command goes on" : "; make room and begin again";
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED) && has_state)
    return "; the same command goes on from the last checkpoint";
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_OPEN_FILES))
    return "; raise the limit (ulimit -n)";
  return NULL;
}

/* With the remedy that only the tool knows. */
void
launch_report_error (const GError *error, bool has_state)
{
  const char *remedy = find_remedy (error, has_state);
  g_autofree char *message = g_strconcat (error->message, remedy, NULL);

  launch_error (message);
}

int
launch_exit_for_prepare (const GError *error, bool has_state)
{
  int code = exit_for_error (error, has_state);

  return code != 0 ? code : LAUNCH_EXIT_USAGE;
}

/* Whether an element took a step. */
static bool
has_begun (DlpPipeline *pipeline)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  guint64 steps;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);

      if (g_variant_lookup (element, "steps", "t", &steps) && steps > 0)
        return true;
    }
  return false;
}

/* Also by former attempts. */
static bool
has_taken_records (DlpPipeline *pipeline)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (pipeline)); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (G_LIST_MODEL (pipeline), i);

      for (guint k = 0; k < dlp_element_get_n_inputs (element); k++)
        {
          DlpPad *pad = dlp_element_get_input (element, k);
          DlpSchema *schema = dlp_pad_get_schema (pad);

          if (schema != NULL && dlp_schema_get_kind (schema) == DLP_SCHEMA_RECORDS &&
              dlp_pad_get_position (pad) > 0)
            return true;
        }
    }
  return false;
}

/* What is mostly found before the first record, but not always: a buffer may outgrow the memory, an
 * input go away. */
static bool
is_early (DlpPipeline *pipeline, const GError *error)
{
  return (error->domain == DLP_GRAPH_ERROR ||
          g_error_matches (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT)) &&
         !has_taken_records (pipeline);
}

static int
exit_for_finished (DlpPipeline *pipeline)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  LaunchFaults faults;
  int code;

  launch_faults_collect (&faults, report);
  code = faults.damaged > 0 ? LAUNCH_EXIT_DAMAGED : LAUNCH_EXIT_FINISHED;
  launch_faults_clear (&faults);
  return code;
}

int
launch_exit_for_run (DlpPipeline *pipeline, const GError *error, int signal_number)
{
  int code;

  if (error == NULL)
    return exit_for_finished (pipeline);
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    return launch_has_state (pipeline) ? LAUNCH_EXIT_STOPPED : LAUNCH_EXIT_SIGNAL + signal_number;
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED))
    return LAUNCH_EXIT_SIGNAL + signal_number;
  code = exit_for_error (error, launch_has_state (pipeline));
  if (code != 0)
    return code;
  return has_begun (pipeline) && !is_early (pipeline, error) ? LAUNCH_EXIT_FAILED :
                                                               LAUNCH_EXIT_USAGE;
}
