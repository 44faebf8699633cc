/* SPDX-License-Identifier: MIT */

/* Start and stop of an element, its snapshots, and what it may ask of the run it is in. */

#include <stdlib.h>
#include <string.h>

#include <dlpipe/dlp-element-memory.h>
#include <dlpipe/dlp-file.h>

#include "dlp-durable-private.h"
#include "dlp-element-private.h"

bool
dlp_element_start (DlpElement *self, GError **error)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (self);

  priv->started = true;
  __atomic_store_n (&priv->moved_at, g_get_monotonic_time (), __ATOMIC_RELAXED);
  if (dlp_flag_get (priv->ended) || klass->start == NULL)
    return true;
  return klass->start (self, priv->context->cancellable, error) ||
         dlp_element_failed (self, "start", error);
}

void
dlp_element_stop (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (self);

  if (priv->started && klass->stop != NULL)
    klass->stop (self);
  priv->started = false;
}

void
dlp_element_take_snapshot (DlpElement *self, bool final)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  DlpPad *pad = dlp_element_get_input (self, 0);
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (self);
  DlpState *state = klass->save (self);
  DlpState *base = dlp_sink_save_base (DLP_SINK (self));
  DlpState *old[2];

  pthread_mutex_lock (&priv->snapshot_lock);
  old[0] = priv->snapshot_state;
  old[1] = priv->snapshot_base;
  priv->snapshot_state = state;
  priv->snapshot_base = base;
  /* The end was consumed, and is part of the state: nothing upstream is needed any more. */
  if (final)
    dlp_cursor_clear (&priv->snapshot_cursor);
  else if (klass->mark_input != NULL)
    klass->mark_input (self, 0, &priv->snapshot_cursor);
  else
    dlp_pad_get_cursor (pad, &priv->snapshot_cursor);
  priv->snapshot_position = dlp_pad_get_position (pad);
  priv->snapshot_valid = true;
  priv->snapshot_final = final;
  pthread_mutex_unlock (&priv->snapshot_lock);

  g_clear_pointer (&old[0], dlp_state_unref);
  g_clear_pointer (&old[1], dlp_state_unref);
  if (priv->context->snapshot_taken != NULL)
    priv->context->snapshot_taken (priv->context, self);
}

void
dlp_element_serve (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  DlpSinkClass *klass;
  GError *error = NULL;

  if (G_LIKELY (!dlp_flag_get (priv->snapshot_wanted)))
    return;

  __atomic_store_n (&priv->snapshot_wanted, false, __ATOMIC_RELAXED);
  if (!DLP_IS_SINK (self) || dlp_flag_get (priv->ended))
    return;

  klass = DLP_SINK_GET_CLASS (self);
  if (klass->flush != NULL && !klass->flush (DLP_SINK (self), priv->context->cancellable, &error))
    {
      dlp_element_failed (self, "flush", &error);
      /* Interrupted by a stop: it is asked again for the last checkpoint. */
      if (dlp_flag_get (priv->context->stopping) &&
          g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        g_error_free (error);
      else
        priv->context->fail (priv->context, self, error);
      return;
    }
  dlp_element_take_snapshot (self, false);
}

void
dlp_element_clear_snapshot (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  pthread_mutex_lock (&priv->snapshot_lock);
  g_clear_pointer (&priv->snapshot_state, dlp_state_unref);
  g_clear_pointer (&priv->snapshot_base, dlp_state_unref);
  dlp_cursor_clear (&priv->snapshot_cursor);
  priv->snapshot_valid = false;
  pthread_mutex_unlock (&priv->snapshot_lock);
}

guint
dlp_element_get_n_workers (DlpElement *self)
{
  return dlp_work_pool_get_n_threads (dlp_element_get_context (self)->pool);
}

/* Of two threads that are the first, one leaves an account that stays empty. */
static guint64 *
get_work_account (DlpElementPrivate *priv)
{
  guint64 *account = __atomic_load_n (&priv->work, __ATOMIC_ACQUIRE);
  guint64 *made;

  if (account != NULL)
    return account;
  made = dlp_work_pool_add_account (priv->context->pool);
  return __atomic_compare_exchange_n (&priv->work, &account, made, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE) ?
             made :
             account;
}

void
dlp_element_submit_work (DlpElement *self, DlpWorkFunc func, gpointer data)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  /* The same calling convention but for the type of the first argument. */
  dlp_work_pool_submit (priv->context->pool, (DlpPoolFunc) func, self, data,
                        get_work_account (priv));
}

const char *
dlp_element_find_writer (DlpElement *self, const char *path)
{
  DlpContext *context = dlp_element_get_context (self);

  return context != NULL ? dlp_output_names_find (context->output_names, path) : NULL;
}

void
dlp_element_warn (DlpElement *self, const char *uri, gint64 row, const char *message)
{
  DlpContext *context = dlp_element_get_context (self);
  g_autofree char *row_text = row >= 0 ? g_strdup_printf ("%" G_GINT64_FORMAT, row) : NULL;
  g_autofree char *text = NULL;

  if (dlp_element_is_replaying (self))
    return;

  text = dlp_element_name_message (self, message);
  dlp_context_warn (context, text);

  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "DLP_ELEMENT", dlp_element_get_name (self),
                    "DLP_FILE", uri != NULL ? uri : "", "DLP_ROW", row_text != NULL ? row_text : "",
                    "MESSAGE", "%s", text);
}

static char *
input_key (const DlpCoordinate *at)
{
  return g_strdup_printf ("%u/%u/%u", at->stage, at->source, at->file);
}

/* Without a state folder the same check is made from an own table. */
static gboolean
check_known_input (DlpContext *context,
                   const DlpCoordinate *at,
                   const char *uri,
                   gint64 size,
                   const char *identity,
                   GError **error)
{
  g_autofree char *key = input_key (at);
  g_autofree char *now = g_strdup_printf ("%" G_GINT64_FORMAT " bytes, %s", size, identity);
  g_autofree char *shown = NULL;
  g_autofree char *shown_before = NULL;
  const char *before = g_hash_table_lookup (context->inputs, key);
  const char *uri_before;

  if (before == NULL)
    {
      dlp_context_add_input (context, key, now, uri);
      return TRUE;
    }
  uri_before = before + strlen (before) + 1;
  if (strcmp (before, now) == 0 && strcmp (uri_before, uri) == 0)
    return TRUE;

  shown = dlp_uri_escape_for_display (uri);
  shown_before = dlp_uri_escape_for_display (uri_before);
  if (strcmp (uri_before, uri) != 0)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                 "the list of input files changed: file %u of source %u was %s, is %s", at->file,
                 at->source, shown_before, shown);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                 "%s: changed since it was first opened: was %s, is %s", shown, before, now);
  return FALSE;
}

static gboolean
check_recorded_input (DlpContext *context,
                      const DlpCoordinate *at,
                      const char *uri,
                      gint64 size,
                      const char *identity,
                      GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (DlpInputEntry) known =
      dlp_state_dir_find_input (context->state_dir, at->stage, at->source, at->file, &local);
  DlpInputEntry entry = { at->stage, at->source, at->file, size, (char *) identity, (char *) uri };
  g_autofree char *shown = NULL;

  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (known == NULL)
    return dlp_state_dir_add_input (context->state_dir, &entry, error);
  if (g_strcmp0 (known->uri, uri) == 0 && known->size == size &&
      g_strcmp0 (known->identity, identity) == 0)
    return TRUE;

  shown = dlp_uri_escape_for_display (uri);
  if (g_strcmp0 (known->uri, uri) != 0)
    {
      g_autofree char *was = dlp_uri_escape_for_display (known->uri);
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                   "the list of input files changed: file %u of source %u was %s, is %s; the same "
                   "command with "
                   "--restart begins anew",
                   at->file, at->source, was, shown);
    }
  else
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                 "%s: changed since it was read: was %" G_GINT64_FORMAT
                 " bytes, %s; is %" G_GINT64_FORMAT
                 " bytes, %s; restore the file, or begin anew with --restart",
                 shown, known->size, known->identity, size, identity);
  return FALSE;
}

gboolean
dlp_element_check_input_file (DlpElement *self,
                              const DlpCoordinate *coordinate,
                              const char *uri,
                              gint64 size,
                              const char *identity,
                              GError **error)
{
  DlpContext *context = dlp_element_get_context (self);
  g_autofree char *redacted = dlp_uri_redact (uri);
  gboolean ok;

  pthread_mutex_lock (&context->inputs_lock);
  ok = (context->state_dir != NULL ? check_recorded_input : check_known_input) (
      context, coordinate, redacted, size, identity, error);
  pthread_mutex_unlock (&context->inputs_lock);
  return ok;
}

/* inputs_lock */
static char *
find_input_name (DlpContext *context, const DlpCoordinate *at)
{
  g_autoptr (DlpInputEntry) entry = NULL;
  g_autofree char *key = NULL;
  const char *known;

  if (context->state_dir != NULL)
    {
      entry = dlp_state_dir_find_input (context->state_dir, at->stage, at->source, at->file, NULL);
      return entry != NULL ? dlp_uri_escape_for_display (entry->uri) : NULL;
    }
  key = input_key (at);
  known = g_hash_table_lookup (context->inputs, key);
  return known != NULL ? dlp_uri_escape_for_display (known + strlen (known) + 1) : NULL;
}

char *
dlp_element_dup_input_name (DlpElement *self, const DlpCoordinate *coordinate)
{
  DlpContext *context = dlp_element_get_context (self);
  char *name;

  if (context == NULL)
    return NULL;
  pthread_mutex_lock (&context->inputs_lock);
  name = find_input_name (context, coordinate);
  pthread_mutex_unlock (&context->inputs_lock);
  return name;
}

void
dlp_element_set_progress (DlpElement *self,
                          guint64 bytes_done,
                          guint64 bytes_total,
                          guint files_done,
                          guint files_total)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  const guint64 values[] = { bytes_done, bytes_total, files_done, files_total };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    __atomic_store_n (&priv->progress[i], values[i], __ATOMIC_RELAXED);
}

void
dlp_element_get_progress_values (DlpElement *self, guint64 values[4])
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  memset (values, 0, 4 * sizeof values[0]);
  for (guint i = 0; i < priv->inputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->inputs, i);
      guint batches = 0;
      gsize bytes;

      values[0] += dlp_pad_get_position (pad);
      if (pad->link != NULL)
        dlp_queue_get_level (pad->link, &batches, &bytes);
      values[3] += batches;
    }
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      values[1] += dlp_pad_get_emitted (pad);
      values[2] += dlp_stat_get (&pad->bytes);
    }
}

void
dlp_element_add_io_wait (DlpElement *self, gint64 microseconds)
{
  __atomic_fetch_add (&dlp_element_get_private (self)->stats.io_wait, microseconds * 1000,
                      __ATOMIC_RELAXED);
}

static __thread DlpElementPrivate *long_step;

void
dlp_element_count_blocks (DlpElement *self)
{
  long_step = self != NULL ? dlp_element_get_private (self) : NULL;
}

void
dlp_element_note_block (void)
{
  if (long_step != NULL)
    __atomic_fetch_add (&long_step->blocks, 1, __ATOMIC_RELAXED);
}

void
dlp_element_set_status (DlpElement *self, const char *status)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  pthread_mutex_lock (&priv->status_lock);
  g_free (priv->status);
  priv->status = g_strdup (status);
  pthread_mutex_unlock (&priv->status_lock);
}

static __thread DlpElement *reads_for;

DlpElement *
dlp_element_set_reads_for (DlpElement *self)
{
  DlpElement *before = reads_for;

  reads_for = self;
  return before;
}

DlpElement *
dlp_element_get_reads_for (void)
{
  return reads_for;
}

void
dlp_scheme_set_status (const char *status)
{
  if (reads_for != NULL)
    dlp_element_set_status (reads_for, status);
}

void
dlp_element_hold_marks (DlpElement *self, gboolean hold)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  if (priv->holds_marks == (hold != FALSE))
    return;
  priv->holds_marks = hold;
  if (hold)
    __atomic_fetch_add (&priv->context->n_holding, 1, __ATOMIC_ACQ_REL);
  else
    __atomic_fetch_sub (&priv->context->n_holding, 1, __ATOMIC_ACQ_REL);
}

GCancellable *
dlp_element_get_cancellable (DlpElement *self)
{
  DlpContext *context = dlp_element_get_context (self);

  return context != NULL ? context->cancellable : NULL;
}

const char *
dlp_element_get_scratch_folder (DlpElement *self)
{
  DlpContext *context = dlp_element_get_context (self);

  return context->state_dir != NULL ? dlp_state_dir_get_path (context->state_dir) : "/var/tmp";
}

void
dlp_element_set_large (DlpElement *self, gboolean large, guint64 interval)
{
  DlpElementPrivate *priv;

  g_return_if_fail (DLP_IS_ELEMENT (self));

  priv = dlp_element_get_private (self);
  priv->is_large = large;
  priv->large_interval = interval;
}

bool
dlp_element_is_large (DlpElement *self)
{
  return dlp_element_get_private (self)->is_large ||
         (DLP_ELEMENT_GET_CLASS (self)->flags & DLP_ELEMENT_LARGE);
}

bool
dlp_element_needs_durable (DlpElement *self)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (self);

  return klass->make_durable != NULL &&
         (dlp_element_is_large (self) || (klass->flags & DLP_ELEMENT_LOG));
}

int
dlp_element_open_scratch (DlpElement *self, GError **error)
{
  int fd;

  g_return_val_if_fail (DLP_IS_ELEMENT (self), -1);

  fd = dlp_durable_open_scratch (dlp_element_get_scratch_folder (self), error);
  if (fd < 0)
    g_prefix_error (error, "%s: no scratch file: ", dlp_element_get_name (self));
  return fd;
}
