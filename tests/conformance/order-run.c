/* SPDX-License-Identifier: MIT */

#include "order-run.h"

void
order_outcome_init (OrderOutcome *self)
{
  *self = (OrderOutcome){ .lines = g_ptr_array_new_with_free_func (g_free) };
}

void
order_outcome_clear (OrderOutcome *self)
{
  g_ptr_array_unref (self->lines);
  g_clear_error (&self->error);
}

char *
order_outcome_join (const OrderOutcome *self)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < self->lines->len; i++)
    g_string_append_printf (text, "%s\n", (char *) g_ptr_array_index (self->lines, i));
  return g_string_free (text, FALSE);
}

static void
add_batch (OrderOutcome *self, DlpRecordBatch *batch)
{
  guint n = dlp_record_batch_get_length (batch);
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "%" G_GINT64_FORMAT ":", dlp_record_batch_get_index (batch));
  for (guint i = 0; i < n; i++)
    {
      const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, i);

      g_string_append_printf (line, " %u,%u,%u,%" G_GUINT64_FORMAT ",%u", at->stage, at->source,
                              at->file, (guint64) at->row, at->epoch);
    }
  g_ptr_array_add (self->lines, g_string_free (line, FALSE));
  self->records += n;
}

void
order_run_set_up (DlpPipeline *pipeline, guint number)
{
  static const guint links[] = { 0, 1, 3 };
  static const guint records[] = { 0, 1, 2, 5 };
  guint link = links[number / 2 % G_N_ELEMENTS (links)];

  g_object_set (pipeline, "runner", (DlpRunnerKind) (number % 3), "batch-records",
                records[number / 3 % G_N_ELEMENTS (records)], "random-yields", number % 5 == 0,
                NULL);
  if (link > 0)
    g_object_set (pipeline, "link-batches", link, NULL);
}

/* It may not have begun to run yet. */
static GBytes *
save (OrderOutcome *self, DlpPipeline *pipeline)
{
  while (dlp_pipeline_get_status (pipeline) == DLP_PIPELINE_READY)
    g_usleep (100);
  return dlp_pipeline_save_state (pipeline, NULL, &self->error);
}

static gpointer
run (gpointer pipeline)
{
  dlp_pipeline_run (pipeline, NULL, NULL);
  return NULL;
}

GBytes *
order_run (OrderOutcome *self, DlpPipeline *pipeline, guint n_batches)
{
  DlpAppSink *sink = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "k"));
  DlpRecordBatch *batch = NULL;
  GBytes *state = NULL;
  GThread *thread;
  guint n = 0;

  if (!dlp_pipeline_prepare (pipeline, NULL, &self->error))
    return NULL;
  thread = g_thread_new ("run", run, pipeline);
  while (n < n_batches && (batch = dlp_app_sink_pull (sink, 0, NULL, &self->error)) != NULL)
    {
      add_batch (self, batch);
      dlp_record_batch_unref (batch);
      n++;
    }
  if (n == n_batches)
    {
      dlp_app_sink_commit (sink);
      state = save (self, pipeline);
      dlp_pipeline_abort (pipeline);
    }
  g_thread_join (thread);
  return state;
}
