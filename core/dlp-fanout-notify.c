/* SPDX-License-Identifier: MIT */

/* Progress as notifies and changes of the list: in the fan-out's main context, ten times a second
 * at most, and of what has changed. */

#include "dlp-fanout-private.h"

#define INTERVAL_MS 100

static DlpFanoutSight
look (DlpFanout *self, const DlpFanoutPlace *place)
{
  DlpFanoutSight sight = { .pid = (int) place->process.pid,
                           .task = place->task,
                           .restarts = place->restarts,
                           .fraction = -1 };

  if (place->task >= 0)
    {
      const DlpFanoutTask *task = g_ptr_array_index (self->tasks, place->task);

      sight.fraction = task->fraction;
      sight.records = task->records;
      sight.bytes = task->bytes;
    }
  return sight;
}

/* Places are there once it is prepared; they come into the list here, where others look at it. */
static void
notify_workers (DlpFanout *self)
{
  g_autoptr (GArray) sights = g_array_new (FALSE, FALSE, sizeof (DlpFanoutSight));
  guint before = self->workers->len;

  pthread_mutex_lock (&self->lock);
  for (guint i = 0; i < self->places->len; i++)
    {
      const DlpFanoutPlace *place = g_ptr_array_index (self->places, i);
      DlpFanoutSight sight = look (self, place);

      g_array_append_val (sights, sight);
      if (i >= before)
        g_ptr_array_add (self->workers, dlp_fanout_worker_new (place));
    }
  pthread_mutex_unlock (&self->lock);
  if (self->workers->len > before)
    g_list_model_items_changed (G_LIST_MODEL (self), before, 0, self->workers->len - before);
  for (guint i = 0; i < sights->len; i++)
    dlp_fanout_worker_update (g_ptr_array_index (self->workers, i),
                              &g_array_index (sights, DlpFanoutSight, i));
}

static void
notify_totals (DlpFanout *self)
{
  static const char *const names[] = { "fraction", "tasks-done", "tasks-failed", "tasks-total",
                                       "records",  "tokens",     "bytes",        "files-total" };
  DlpPipelineStatus status;
  DlpFanoutSums sums;
  double values[G_N_ELEMENTS (names)];

  pthread_mutex_lock (&self->lock);
  dlp_fanout_sum_up (self, &sums);
  status = self->status;
  pthread_mutex_unlock (&self->lock);
  values[0] = sums.fraction;
  values[1] = sums.done;
  values[2] = sums.failed;
  values[3] = self->own_tasks;
  values[4] = (double) sums.records;
  values[5] = (double) sums.tokens;
  values[6] = (double) sums.bytes;
  values[7] = self->own_files;

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
  g_object_notify (G_OBJECT (self), "elapsed");
  g_object_thaw_notify (G_OBJECT (self));
}

static gboolean
tick (gpointer data)
{
  DlpFanout *self = data;

  if (!__atomic_load_n (&self->prepared, __ATOMIC_ACQUIRE))
    return G_SOURCE_CONTINUE;
  notify_workers (self);
  notify_totals (self);
  return G_SOURCE_CONTINUE;
}

void
dlp_fanout_start_notifies (DlpFanout *self)
{
  self->ticker = g_timeout_source_new (INTERVAL_MS);
  g_source_set_callback (self->ticker, tick, g_object_ref (self), g_object_unref);
  g_source_attach (self->ticker, self->main_context);
}

void
dlp_fanout_end_notifies (DlpFanout *self)
{
  if (self->ticker == NULL)
    return;
  tick (self);
  g_source_destroy (self->ticker);
  g_clear_pointer (&self->ticker, g_source_unref);
}
