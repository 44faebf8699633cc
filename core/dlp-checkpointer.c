/* SPDX-License-Identifier: MIT */

/* The thread that commits: it asks every sink for a snapshot, makes what they speak of durable,
 * writes the checkpoint, and lets the sinks publish. See docs/internals/checkpoint.md. */

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "dlp-pipeline-private.h"

#define DEFAULT_INTERVAL (10 * G_USEC_PER_SEC)
/* Committing may take this share of the time. */
#define COST_SHARE 100
#define TICK G_USEC_PER_SEC
#define RETRY (5 * 1000)
/* What is emitted under a mark that was asked for has so long to reach the sinks, at most this
 * share of the interval. */
#define LEAD G_USEC_PER_SEC
#define LEAD_SHARE 4

struct _DlpCheckpointer
{
  DlpPipeline *pipeline;
  GPtrArray *sinks; /* of DlpElement */
  bool has_large;
  pthread_t thread;
  bool running;

  pthread_mutex_t lock;
  pthread_cond_t cond; /* monotonic */
  bool stopping;       /* lock */
  bool requested;      /* lock */
  guint count;         /* atomic */
  GError *failure;     /* why a run that has ended has no state */
};

DlpCheckpointer *
dlp_checkpointer_new (DlpPipeline *pipeline)
{
  DlpCheckpointer *self = g_new0 (DlpCheckpointer, 1);
  pthread_condattr_t attributes;

  self->pipeline = pipeline;
  self->sinks = g_ptr_array_new ();
  for (guint i = 0; i < pipeline->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (pipeline->order, i);

      self->has_large |= dlp_element_is_large (element);
      if (DLP_IS_SINK (element))
        g_ptr_array_add (self->sinks, element);
    }
  pthread_mutex_init (&self->lock, NULL);
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_cond_init (&self->cond, &attributes);
  pthread_condattr_destroy (&attributes);
  return self;
}

void
dlp_checkpointer_free (DlpCheckpointer *self)
{
  dlp_checkpointer_stop (self);
  g_ptr_array_unref (self->sinks);
  g_clear_error (&self->failure);
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

guint
dlp_checkpointer_get_count (DlpCheckpointer *self)
{
  return __atomic_load_n (&self->count, __ATOMIC_RELAXED);
}

void
dlp_checkpointer_snapshot_taken (DlpCheckpointer *self)
{
  pthread_mutex_lock (&self->lock);
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
}

void
dlp_checkpointer_request (DlpCheckpointer *self)
{
  pthread_mutex_lock (&self->lock);
  self->requested = true;
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
}

/* lock is held. */
static void
wait_until (DlpCheckpointer *self, gint64 time)
{
  struct timespec until = { time / G_USEC_PER_SEC, (time % G_USEC_PER_SEC) * 1000 };

  pthread_cond_timedwait (&self->cond, &self->lock, &until);
}

static bool
must_leave (DlpCheckpointer *self)
{
  return self->stopping || dlp_flag_get (self->pipeline->run->cancelled) ||
         dlp_flag_get (self->pipeline->run->stopping);
}

static bool
has_snapshot (DlpElement *sink)
{
  DlpElementPrivate *priv = dlp_element_get_private (sink);
  bool valid;

  pthread_mutex_lock (&priv->snapshot_lock);
  valid = priv->snapshot_valid;
  pthread_mutex_unlock (&priv->snapshot_lock);
  return valid;
}

static void
ask (DlpElement *sink)
{
  DlpElementPrivate *priv = dlp_element_get_private (sink);

  pthread_mutex_lock (&priv->snapshot_lock);
  if (!priv->snapshot_final)
    priv->snapshot_valid = false;
  pthread_mutex_unlock (&priv->snapshot_lock);
  dlp_flag_set (priv->snapshot_wanted);
}

static void
wish (DlpCheckpointer *self)
{
  __atomic_fetch_add (&self->pipeline->run->checkpoint_wish, 1, __ATOMIC_RELAXED);
}

/* A large state is made when it is asked for, not with each record batch: what is asked for at the
 * time of the snapshots would serve the checkpoint after this one. */
static void
lead (DlpCheckpointer *self)
{
  gint64 asked = self->pipeline->checkpoint_interval;
  gint64 until =
      g_get_monotonic_time () + (asked > 0 ? MIN (asked / LEAD_SHARE, LEAD) : (gint64) LEAD);

  wish (self);
  dlp_runner_kick (self->pipeline->runner);
  pthread_mutex_lock (&self->lock);
  while (!must_leave (self) && !self->requested && g_get_monotonic_time () < until)
    wait_until (self, until);
  pthread_mutex_unlock (&self->lock);
}

/* False: the run ends, and with it the sinks stop answering; or @cancellable (nullable). */
static bool
collect (DlpCheckpointer *self, GCancellable *cancellable)
{
  bool all;

  for (guint i = 0; i < self->sinks->len; i++)
    ask (g_ptr_array_index (self->sinks, i));
  dlp_runner_kick (self->pipeline->runner);

  pthread_mutex_lock (&self->lock);
  for (;;)
    {
      all = true;
      for (guint i = 0; i < self->sinks->len && all; i++)
        all = has_snapshot (g_ptr_array_index (self->sinks, i));
      if (all || must_leave (self) || g_cancellable_is_cancelled (cancellable))
        break;
      wait_until (self, g_get_monotonic_time () + TICK / 10);
    }
  pthread_mutex_unlock (&self->lock);
  return all;
}

static void
copy_snapshots (DlpCheckpointer *self, DlpSnapshot *snapshots)
{
  for (guint i = 0; i < self->sinks->len; i++)
    {
      DlpElement *sink = g_ptr_array_index (self->sinks, i);
      DlpElementPrivate *priv = dlp_element_get_private (sink);

      pthread_mutex_lock (&priv->snapshot_lock);
      snapshots[i].element = sink;
      snapshots[i].state =
          priv->snapshot_state != NULL ? dlp_state_ref (priv->snapshot_state) : NULL;
      snapshots[i].base = priv->snapshot_base != NULL ? dlp_state_ref (priv->snapshot_base) : NULL;
      dlp_cursor_set (&snapshots[i].cursor, &priv->snapshot_cursor);
      snapshots[i].position = priv->snapshot_position;
      snapshots[i].final = priv->snapshot_final;
      pthread_mutex_unlock (&priv->snapshot_lock);
    }
}

static void
free_snapshots (DlpSnapshot *snapshots, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_clear_pointer (&snapshots[i].state, dlp_state_unref);
      g_clear_pointer (&snapshots[i].base, dlp_state_unref);
      dlp_cursor_clear (&snapshots[i].cursor);
    }
  g_free (snapshots);
}

static bool
sync_sinks (DlpCheckpointer *self,
            DlpSnapshot *snapshots,
            guint n,
            GCancellable *cancellable,
            GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      DlpSink *sink = DLP_SINK (snapshots[i].element);
      DlpSinkClass *klass = DLP_SINK_GET_CLASS (sink);
      bool ok;

      if (klass->sync == NULL)
        continue;
      /* While elements run it is none of the movements that are watched for. */
      if (cancellable != NULL)
        dlp_watchdog_enter_aside (self->pipeline->watchdog, snapshots[i].element, "is syncing");
      else
        dlp_watchdog_enter (self->pipeline->watchdog, snapshots[i].element, "is syncing");
      ok = klass->sync (sink, snapshots[i].state, cancellable, error);
      dlp_watchdog_leave (self->pipeline->watchdog);
      if (!ok)
        return dlp_element_failed (DLP_ELEMENT (sink), "sync", error);
    }
  return true;
}

static bool
publish (DlpCheckpointer *self, DlpSnapshot *snapshots, guint n, bool complete, GError **error)
{
  for (guint i = 0; i < n; i++)
    {
      DlpSink *sink = DLP_SINK (snapshots[i].element);
      DlpSinkClass *klass = DLP_SINK_GET_CLASS (sink);
      bool ok;

      if (klass->publish == NULL)
        continue;
      dlp_watchdog_enter (self->pipeline->watchdog, snapshots[i].element, "is publishing");
      ok = klass->publish (sink, snapshots[i].state, complete, NULL, error);
      dlp_watchdog_leave (self->pipeline->watchdog);
      if (!ok)
        return dlp_element_failed (DLP_ELEMENT (sink), "publish", error);
    }
  return true;
}

static bool
write_checkpoint (DlpCheckpointer *self, DlpSnapshot *snapshots, bool complete, GError **error)
{
  DlpPipeline *pipeline = self->pipeline;
  g_autoptr (GVariant) payload = NULL;
  guint count;

  payload = dlp_pipeline_make_checkpoint (pipeline, snapshots, self->sinks->len, complete, error);
  if (payload == NULL)
    return false;
  g_variant_ref_sink (payload);
  if (!dlp_state_dir_save (pipeline->dir, payload, error))
    return false;
  /* Once outputs are published there is no way back to an older generation: both say so. */
  if (complete && !dlp_state_dir_save (pipeline->dir, payload, error))
    return false;
  count = __atomic_add_fetch (&self->count, 1, __ATOMIC_RELAXED);
  if (g_log_get_debug_enabled ())
    g_debug ("checkpoint %u is written%s", count, complete ? ", of the complete run" : "");
  return true;
}

static bool
commit (DlpCheckpointer *self, bool complete, GCancellable *cancellable, GError **error)
{
  guint n = self->sinks->len;
  DlpSnapshot *snapshots = g_new0 (DlpSnapshot, n);
  bool ok;

  copy_snapshots (self, snapshots);
  /* Of the end that inputs were given early a continued run knows nothing. Looked at after the
   * copy: a sink that saw that end saw the flag before. */
  if (!complete && dlp_flag_get (self->pipeline->run->finishing))
    {
      free_snapshots (snapshots, n);
      return true;
    }
  /* Whose files were taken over by another attempt should hear of that, and not of what it lacks.
   */
  ok = self->pipeline->dir == NULL || dlp_state_dir_check (self->pipeline->dir, error);
  ok = ok && ((self->pipeline->dir == NULL && !complete) ||
              sync_sinks (self, snapshots, n, cancellable, error));
  ok = ok && dlp_pipeline_check_stall (self->pipeline, error);
  if (ok && self->pipeline->dir != NULL)
    ok = write_checkpoint (self, snapshots, complete, error);
  if (ok && complete)
    self->pipeline->publishing = true;
  if (ok && complete)
    ok = publish (self, snapshots, n, true, error);
  free_snapshots (snapshots, n);
  return ok;
}

/* As in commit(). */
static bool
check_whole (DlpCheckpointer *self, GError **error)
{
  if (!dlp_flag_get (self->pipeline->run->finishing) || dlp_flag_get (self->pipeline->complete))
    return true;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "the inputs of the run are being ended early, which a continued run would not see");
  return false;
}

/* NULL without an error: not now, but soon, or *@ends: not before the run has ended. */
static GVariant *
try_capture (DlpCheckpointer *self, GCancellable *cancellable, bool *ends, GError **error)
{
  guint n = self->sinks->len;
  DlpSnapshot *snapshots = NULL;
  GVariant *payload = NULL;
  GError *local = NULL;

  wish (self);
  if (!collect (self, cancellable))
    {
      *ends = !g_cancellable_set_error_if_cancelled (cancellable, error);
      return NULL;
    }
  snapshots = g_new0 (DlpSnapshot, n);
  copy_snapshots (self, snapshots);
  if (check_whole (self, error))
    payload = dlp_pipeline_make_checkpoint (self->pipeline, snapshots, n, false, &local);
  free_snapshots (snapshots, n);
  if (local != NULL && !g_error_matches (local, G_IO_ERROR, G_IO_ERROR_PENDING))
    g_propagate_error (error, local);
  else
    g_clear_error (&local);
  return payload;
}

GVariant *
dlp_checkpointer_capture (DlpCheckpointer *self,
                          GCancellable *cancellable,
                          bool *ends,
                          GError **error)
{
  GError *local = NULL;
  GVariant *payload;

  *ends = false;
  while ((payload = try_capture (self, cancellable, ends, &local)) == NULL && local == NULL &&
         !*ends)
    {
      /* What left by a stop does not settle any more. */
      *ends = must_leave (self);
      if (!*ends)
        g_usleep (RETRY);
    }
  if (local != NULL)
    g_propagate_error (error, local);
  return payload;
}

/* ---- the state of a run that has ended without a folder ---- */

static bool
is_of_program (DlpElement *sink)
{
  return dlp_element_get_private (sink)->app != NULL;
}

/* @failed: (nullable): the element that failed, in the midst of a step. */
static bool
keep_sink (DlpElement *sink, const char *failed, GError **error)
{
  DlpSinkClass *klass = DLP_SINK_GET_CLASS (sink);

  if (dlp_flag_get (dlp_element_get_private (sink)->ended))
    return true;
  if (g_strcmp0 (dlp_element_get_name (sink), failed) == 0 && !is_of_program (sink))
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "%s failed in the midst of the records that it was to take, so that the run has "
                   "no state to go on from; one that was taken before is",
                   failed);
      return false;
    }
  if (klass->flush != NULL && !klass->flush (DLP_SINK (sink), NULL, error))
    return dlp_element_failed (sink, "flush", error);
  dlp_element_take_snapshot (sink, false);
  return true;
}

void
dlp_checkpointer_keep (DlpCheckpointer *self, const char *failed)
{
  for (guint i = 0; i < self->pipeline->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->pipeline->order, i);

      if (g_strcmp0 (dlp_element_get_name (element), failed) != 0)
        dlp_element_settle (element);
    }
  for (guint i = 0; i < self->sinks->len && self->failure == NULL; i++)
    keep_sink (g_ptr_array_index (self->sinks, i), failed, &self->failure);
}

GVariant *
dlp_checkpointer_capture_ended (DlpCheckpointer *self, GError **error)
{
  guint n = self->sinks->len;
  DlpSnapshot *snapshots;
  GVariant *payload;

  if (self->failure != NULL)
    {
      g_propagate_error (error, g_error_copy (self->failure));
      return NULL;
    }
  if (!check_whole (self, error))
    return NULL;
  /* As of now: a pull may have ended later than the run. */
  for (guint i = 0; i < n; i++)
    {
      DlpElement *sink = g_ptr_array_index (self->sinks, i);

      if (is_of_program (sink) && !keep_sink (sink, NULL, error))
        return NULL;
    }
  snapshots = g_new0 (DlpSnapshot, n);
  copy_snapshots (self, snapshots);
  payload = dlp_pipeline_make_checkpoint (self->pipeline, snapshots, n,
                                          dlp_flag_get (self->pipeline->complete), error);
  free_snapshots (snapshots, n);
  return payload;
}

bool
dlp_checkpointer_commit (DlpCheckpointer *self, bool complete, GError **error)
{
  for (guint i = 0; i < self->pipeline->order->len; i++)
    dlp_element_settle (g_ptr_array_index (self->pipeline->order, i));
  for (guint i = 0; i < self->sinks->len; i++)
    {
      DlpElement *sink = g_ptr_array_index (self->sinks, i);
      DlpSinkClass *klass = DLP_SINK_GET_CLASS (sink);

      if (dlp_flag_get (dlp_element_get_private (sink)->ended))
        continue;
      if (klass->flush != NULL && !klass->flush (DLP_SINK (sink), NULL, error))
        return dlp_element_failed (sink, "flush", error);
      dlp_element_take_snapshot (sink, false);
    }
  return commit (self, complete, NULL, error);
}

void
dlp_checkpointer_write_status (DlpCheckpointer *self)
{
  g_autoptr (GVariant) report = NULL;
  g_autofree char *json = NULL;

  if (self->pipeline->dir == NULL)
    return;
  report = dlp_pipeline_get_report (self->pipeline);
  json = dlp_json_print (report, TRUE);
  dlp_state_dir_write_status (self->pipeline->dir, json);
}

/* Each checkpoint moves the next one away so far that committing takes a hundredth of the time,
 * unless the interval was asked for. */
static gint64
next_time (DlpCheckpointer *self, gint64 begin)
{
  gint64 cost = g_get_monotonic_time () - begin;
  gint64 asked = self->pipeline->checkpoint_interval;

  if (asked > 0)
    return begin + asked;
  return begin + MAX (DEFAULT_INTERVAL, cost * COST_SHARE);
}

/* False: not now, but soon. *begin: when it began in earnest. */
static bool
try_commit (DlpCheckpointer *self, bool is_timed, gint64 *begin)
{
  g_autoptr (GError) error = NULL;

  if (is_timed && self->has_large)
    lead (self);
  else
    wish (self);
  *begin = g_get_monotonic_time ();

  if (!collect (self, NULL) || commit (self, false, self->pipeline->run->cancellable, &error))
    return true;
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PENDING))
    return false;
  dlp_pipeline_fail (self->pipeline, NULL, g_steal_pointer (&error));
  return true;
}

static gpointer
run (gpointer data)
{
  DlpCheckpointer *self = data;
  DlpContext *context = self->pipeline->run;
  gint64 due = 0; /* the first at once: it records the attempt */
  gint64 status_due = 0;

  pthread_setname_np (pthread_self (), "dlp-checkpoint");
  pthread_mutex_lock (&self->lock);
  while (!must_leave (self))
    {
      gint64 begin = g_get_monotonic_time ();

      /* While the inputs are being ended early, a checkpoint would speak of an end that a resumed
       * run does not see. */
      if (dlp_flag_get (context->finishing))
        self->requested = false;
      else if (begin >= due || self->requested)
        {
          /* The first one is written at once. */
          bool is_timed = !self->requested && due != 0;

          self->requested = false;
          pthread_mutex_unlock (&self->lock);
          due = try_commit (self, is_timed, &begin) ? next_time (self, begin) :
                                                      g_get_monotonic_time () + RETRY;
          pthread_mutex_lock (&self->lock);
          if (must_leave (self))
            break;
          begin = g_get_monotonic_time ();
        }
      if (begin >= status_due)
        {
          pthread_mutex_unlock (&self->lock);
          dlp_checkpointer_write_status (self);
          status_due = begin + MAX (TICK, (g_get_monotonic_time () - begin) * COST_SHARE);
          pthread_mutex_lock (&self->lock);
        }
      if (!must_leave (self) && !self->requested)
        wait_until (self, dlp_flag_get (context->finishing) ? status_due : MIN (due, status_due));
    }
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

void
dlp_checkpointer_start (DlpCheckpointer *self)
{
  int code;

  if (self->pipeline->dir == NULL)
    return;
  code = pthread_create (&self->thread, NULL, run, self);
  self->running = code == 0;
  if (code != 0)
    dlp_pipeline_fail (self->pipeline, NULL,
                       g_error_new (G_IO_ERROR, g_io_error_from_errno (code),
                                    "the checkpoint thread cannot be made: %s", g_strerror (code)));
}

void
dlp_checkpointer_stop (DlpCheckpointer *self)
{
  if (!self->running)
    return;
  pthread_mutex_lock (&self->lock);
  self->stopping = true;
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
  pthread_join (self->thread, NULL);
  self->running = false;
}
