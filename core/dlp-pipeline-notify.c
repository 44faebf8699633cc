/* SPDX-License-Identifier: MIT */

/* Progress as notifies: in the pipeline's main context, ten times a second at most, and of what has
 * changed. */

#include "dlp-pipeline-private.h"

#define INTERVAL_MS 100

static void
notify_element (DlpElement *element)
{
  static const char *const names[] = { "records-in", "records-out", "bytes", "input-level" };
  DlpElementPrivate *priv = dlp_element_get_private (element);
  g_autofree char *status = NULL;
  guint64 values[G_N_ELEMENTS (names)];

  dlp_element_get_progress_values (element, values);
  g_object_get (element, "status", &status, NULL);

  g_object_freeze_notify (G_OBJECT (element));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (values[i] != priv->shown[i])
      {
        priv->shown[i] = values[i];
        g_object_notify (G_OBJECT (element), names[i]);
      }
  if (g_strcmp0 (status, priv->shown_status) != 0)
    {
      g_free (priv->shown_status);
      priv->shown_status = g_steal_pointer (&status);
      g_object_notify (G_OBJECT (element), "status");
    }
  g_object_thaw_notify (G_OBJECT (element));
}

static void
notify_pipeline (DlpPipeline *self)
{
  static const char *const names[] = { "fraction", "files-done", "files-total", "records",
                                       "tokens",   "bytes",      "elapsed",     "eta" };
  DlpPipelineStatus status = dlp_pipeline_get_status (self);
  double before, fraction, elapsed = dlp_pipeline_get_elapsed (self, &before);
  guint64 totals[5];
  guint files_done, files_total;

  dlp_pipeline_get_progress (self, totals, &fraction, &files_done, &files_total);
  const double values[] = { fraction,
                            files_done,
                            files_total,
                            (double) totals[0],
                            (double) totals[1],
                            (double) totals[2],
                            elapsed,
                            fraction > 0.0 ? elapsed / fraction - elapsed : -1.0 };

  g_object_freeze_notify (G_OBJECT (self));
  if (status != self->shown_status)
    g_object_notify (G_OBJECT (self), "status");
  self->shown_status = status;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (values[i] != self->shown[i])
      {
        self->shown[i] = values[i];
        g_object_notify (G_OBJECT (self), names[i]);
      }
  g_object_thaw_notify (G_OBJECT (self));
}

static gboolean
tick (gpointer data)
{
  DlpPipeline *self = data;
  g_autoptr (GPtrArray) elements = NULL;

  /* Whoever gave the pipeline back wants to hear nothing more of it. */
  if (__atomic_load_n (&self->dropped, __ATOMIC_RELAXED))
    return G_SOURCE_CONTINUE;
  if (!dlp_flag_get (self->preparing))
    {
      elements = dlp_pipeline_ref_elements (self);
      for (guint i = 0; i < elements->len; i++)
        notify_element (g_ptr_array_index (elements, i));
    }
  notify_pipeline (self);
  return G_SOURCE_CONTINUE;
}

void
dlp_pipeline_start_notifies (DlpPipeline *self)
{
  self->ticker = g_timeout_source_new (INTERVAL_MS);
  /* A run that goes on keeps the pipeline; it ends this source before it gives it back. */
  g_source_set_callback (self->ticker, tick, self, NULL);
  g_source_attach (self->ticker, self->main_context);
}

void
dlp_pipeline_end_notifies (DlpPipeline *self)
{
  if (self->ticker == NULL)
    return;
  g_source_destroy (self->ticker);
  g_clear_pointer (&self->ticker, g_source_unref);
  tick (self);
}
