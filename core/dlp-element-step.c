/* SPDX-License-Identifier: MIT */

/* What core does around an element's step: marks, the bounds of links, the end. See
 * docs/internals/cursor.md. */

#include <time.h>

#include "dlp-app-private.h"
#include "dlp-element-private.h"

static guint64
now_ns (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec * G_GUINT64_CONSTANT (1000000000) + now.tv_nsec;
}

/* A mark serves all record batches that are begun within so many ns. */
#define MARK_INTERVAL 100000
/* References are counted for so many record batches at once: the counter is touched by both ends of
 * a link. */
#define MARK_CREDIT 16

/* ns */
#define FLUSH_INTERVAL 5000000
#define SHORT_STEP 2000
#define SHORT_STEPS 7

/* What is before the input lets go of what only older marks need. */
static void
check_order (DlpElement *self, DlpPad *pad, const DlpCursor *cursor)
{
  if (cursor->mark == NULL)
    return;
  if (cursor->mark->serial < pad->marked)
    g_critical ("%s: its mark goes back on input %s, from mark %" G_GUINT64_FORMAT
                " to mark %" G_GUINT64_FORMAT
                " of what is before it: what mark_input() gives must never lie before what it gave",
                dlp_element_get_name (self), pad->name, pad->marked, cursor->mark->serial);
  pad->marked = cursor->mark->serial;
}

static void
fill_mark (DlpElement *self, DlpElementPrivate *priv, DlpMark *mark)
{
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (self);

  mark->serial = ++priv->serial;
  g_clear_pointer (&mark->state, dlp_state_unref);
  mark->state = klass->save (self);
  for (guint i = 0; i < priv->outputs->len; i++)
    mark->emitted[i] = ((DlpPad *) g_ptr_array_index (priv->outputs, i))->emitted;
  for (guint i = 0; i < priv->inputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->inputs, i);

      if (pad->closed)
        dlp_cursor_clear (&mark->inputs[i]);
      else if (klass->mark_input != NULL)
        klass->mark_input (self, i, &mark->inputs[i]);
      else
        dlp_cursor_set (&mark->inputs[i], &pad->cursor);
      check_order (self, pad, &mark->inputs[i]);
    }
}

/* A large state is copied only where a slot for one more living mark is free. */
static bool
claim_large (DlpElementPrivate *priv, DlpMark *mark)
{
  for (guint i = 0; i < DLP_LARGE_MARKS_ALIVE; i++)
    if (priv->large[i] == NULL || dlp_mark_is_unshared (priv->large[i]))
      {
        g_clear_pointer (&priv->large[i], dlp_mark_unref);
        priv->large[i] = dlp_mark_ref (mark);
        return true;
      }
  return false;
}

static guint64
get_first_position (DlpElementPrivate *priv)
{
  return priv->inputs->len > 0 ? ((DlpPad *) g_ptr_array_index (priv->inputs, 0))->cursor.position :
                                 0;
}

static bool
is_large_mark_due (DlpElementPrivate *priv, guint wish)
{
  return wish != priv->large_wish ||
         (priv->large_interval > 0 &&
          get_first_position (priv) - priv->large_at >= priv->large_interval);
}

/* One for each checkpoint that is asked for, and each interval, before the step that comes next;
 * where all slots are taken, what is emitted goes on under the former mark. */
static void
prepare_large_mark (DlpElement *self, DlpElementPrivate *priv)
{
  guint wish = __atomic_load_n (&priv->context->checkpoint_wish, __ATOMIC_RELAXED);
  g_autoptr (DlpMark) next = NULL;

  if (!is_large_mark_due (priv, wish))
    return;
  next = dlp_mark_new (priv->outputs->len, priv->inputs->len);
  if (!claim_large (priv, next))
    return;
  fill_mark (self, priv, next);
  dlp_element_drop_mark (priv);
  priv->mark = g_steal_pointer (&next);
  priv->large_wish = wish;
  priv->large_at = get_first_position (priv);
}

DlpMark *
dlp_element_take_mark (DlpElementPrivate *priv)
{
  if (priv->mark_credit == 0)
    {
      dlp_mark_add_refs (priv->mark, MARK_CREDIT);
      priv->mark_credit = MARK_CREDIT;
    }
  priv->mark_credit--;
  return priv->mark;
}

static void
return_credit (DlpElementPrivate *priv)
{
  if (priv->mark_credit > 0)
    dlp_mark_add_refs (priv->mark, -(int) priv->mark_credit);
  priv->mark_credit = 0;
}

void
dlp_element_drop_mark (DlpElementPrivate *priv)
{
  return_credit (priv);
  g_clear_pointer (&priv->mark, dlp_mark_unref);
}

/* Steps that follow one another at once count as one, unless a checkpoint is asked for. Tests that
 * ask for record batches of one record want a mark for each. */
static bool
is_fresh (DlpElementPrivate *priv, guint wish)
{
  return priv->marked_at != 0 && priv->clock != 0 && priv->mark_wish == wish &&
         priv->context->batch_records != 1 && priv->clock - priv->marked_at < MARK_INTERVAL;
}

/* Record batches begun in the step that comes next carry this mark. One that nobody took is used
 * again. */
static void
prepare_mark (DlpElement *self, DlpElementPrivate *priv)
{
  guint wish = __atomic_load_n (&priv->context->checkpoint_wish, __ATOMIC_RELAXED);

  if (dlp_element_is_large (self) && priv->mark != NULL)
    {
      prepare_large_mark (self, priv);
      return;
    }
  if (is_fresh (priv, wish))
    return;
  return_credit (priv);
  if (priv->mark == NULL || !dlp_mark_is_unshared (priv->mark))
    {
      dlp_element_drop_mark (priv);
      priv->mark = dlp_mark_new (priv->outputs->len, priv->inputs->len);
    }
  fill_mark (self, priv, priv->mark);
  priv->mark_wish = wish;
  priv->marked_at = priv->clock;
}

void
dlp_element_make_first_mark (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  dlp_element_drop_mark (priv);
  priv->mark = dlp_mark_new (priv->outputs->len, priv->inputs->len);
  fill_mark (self, priv, priv->mark);
}

/* The mark that was made for a wish, where nothing came out since. */
static void
advance_large_mark (DlpElementPrivate *priv)
{
  guint wish = __atomic_load_n (&priv->context->checkpoint_wish, __ATOMIC_RELAXED);

  for (guint i = 0; i < priv->outputs->len && priv->large_wish == wish; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (pad->link == NULL || pad->seen_wish == wish)
        continue;
      if (pad->open_mark != NULL)
        dlp_pad_flush (pad);
      else if (pad->emitted >= pad->wanted)
        dlp_pad_push_mark (pad, priv->mark);
    }
}

/* Marks move without records: a pad that got nothing for long, or since a checkpoint was asked for,
 * gets an empty record batch; never one that still replays. */
static void
advance_marks (DlpElement *self, DlpElementPrivate *priv)
{
  guint wish = __atomic_load_n (&priv->context->checkpoint_wish, __ATOMIC_RELAXED);
  g_autoptr (DlpMark) mark = NULL;

  if (priv->holds_marks)
    return;
  if (dlp_element_is_large (self))
    {
      advance_large_mark (priv);
      return;
    }

  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (pad->link == NULL)
        continue;
      if (++pad->quiet <= DLP_PAD_PATIENCE && pad->seen_wish == wish)
        continue;
      if (pad->open_mark != NULL)
        dlp_pad_flush (pad);
      else if (pad->emitted >= pad->wanted)
        {
          if (mark == NULL)
            {
              mark = dlp_mark_new (priv->outputs->len, priv->inputs->len);
              fill_mark (self, priv, mark);
              priv->marked_at = 0;
            }
          dlp_pad_push_mark (pad, mark);
        }
    }
}

static bool
is_blocked (DlpElementPrivate *priv)
{
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (pad->link != NULL && !dlp_queue_has_room (pad->link))
        return true;
    }
  return false;
}

/* An element without outputs, or with one that somebody wants, goes on. An optional pad alone holds
 * it open in a continued run: where the others saw the end before, up to that end; where they were
 * closed early, up to there, so that all before it comes, and for what comes again. */
static bool
is_needed (DlpElementPrivate *priv)
{
  bool any = false, all_drained = true, optional = false, replays = false, behind = false;

  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);
      bool open = pad->link != NULL && !dlp_queue_is_closed (pad->link);

      if (pad->optional)
        {
          optional |= open;
          replays |= open && pad->emitted < pad->wanted;
          continue;
        }
      if (open)
        return true;
      any = true;
      all_drained &= pad->peer != NULL && dlp_flag_get (pad->peer->drained);
      behind |= pad->peer != NULL && pad->emitted < dlp_pad_get_position (pad->peer);
    }
  return !any || (optional && (all_drained || behind)) || replays;
}

/* Whoever consumes has more already than was made again: something is not as it was. Where the
 * inputs are ended early that is no fault. */
static bool
check_replayed (DlpElement *self, DlpElementPrivate *priv, GError **error)
{
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (pad->emitted >= pad->wanted || dlp_pad_is_unwanted (pad) ||
          dlp_flag_get (priv->context->finishing))
        continue;
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                   "%s: its stream ended after %" G_GUINT64_FORMAT
                   " records, but %s consumed %" G_GUINT64_FORMAT
                   " before the run was continued: its input is not what it was",
                   dlp_element_get_name (self), pad->emitted,
                   dlp_element_get_name (pad->peer->element), pad->wanted);
      return false;
    }
  return true;
}

/* Before its consumers see the end. */
static void
keep_final_state (DlpElement *self, DlpElementPrivate *priv)
{
  for (guint i = 0; i < priv->inputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->inputs, i);

      if (pad->over && !pad->closed)
        dlp_flag_set (pad->drained);
    }
  if (priv->final_state == NULL)
    __atomic_store_n (&priv->final_state, DLP_ELEMENT_GET_CLASS (self)->save (self),
                      __ATOMIC_RELEASE);
  dlp_flag_set (priv->settled);
}

/* Programs wait for it. */
static void
tell_over (DlpElement *self, DlpElementPrivate *priv, const GError *error)
{
  if (priv->app != NULL)
    priv->app->over (self, error);
}

static void
end (DlpElement *self, DlpElementPrivate *priv)
{
  dlp_element_hold_marks (self, FALSE);
  keep_final_state (self, priv);
  for (guint i = 0; i < priv->outputs->len; i++)
    dlp_pad_end (g_ptr_array_index (priv->outputs, i));
  if (DLP_IS_SINK (self))
    dlp_element_take_snapshot (self, true);
  dlp_flag_set (priv->ended);
  tell_over (self, priv, priv->broken);
}

void
dlp_element_settle (DlpElement *self)
{
  keep_final_state (self, dlp_element_get_private (self));
}

void
dlp_element_restore_ended (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  keep_final_state (self, priv);
  for (guint i = 0; i < priv->outputs->len; i++)
    dlp_pad_end (g_ptr_array_index (priv->outputs, i));
  dlp_flag_set (priv->ended);
  tell_over (self, priv, NULL);
}

/* An element may end before its inputs do, as a reader that is to finish: nobody must go on waiting
 * for it to take what is queued. */
static void
close_open_inputs (DlpElementPrivate *priv)
{
  for (guint i = 0; i < priv->inputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->inputs, i);

      if (!pad->over)
        dlp_pad_close (pad);
    }
}

static DlpTurn
check_turn (DlpElement *self, DlpElementPrivate *priv)
{
  if (dlp_flag_get (priv->ended))
    return DLP_TURN_END;

  if (!is_needed (priv))
    {
      for (guint i = 0; i < priv->inputs->len; i++)
        dlp_pad_close (g_ptr_array_index (priv->inputs, i));
      end (self, priv);
      return DLP_TURN_END;
    }
  return is_blocked (priv) ? DLP_TURN_WAIT_OUTPUT : DLP_TURN_MORE;
}

static void
flush_idle (DlpElementPrivate *priv)
{
  priv->flushed_at = priv->clock;
  for (guint i = 0; i < priv->outputs->len; i++)
    dlp_pad_flush_if_idle (g_ptr_array_index (priv->outputs, i));
}

/* A slow element does not sit on what it made until its record batch is full. */
static void
flush_if_late (DlpElementPrivate *priv)
{
  if (G_UNLIKELY (priv->clock - priv->flushed_at >= FLUSH_INTERVAL))
    flush_idle (priv);
}

guint64
dlp_element_read_clock (DlpElementPrivate *priv)
{
  guint64 now = now_ns (CLOCK_MONOTONIC);

  if (priv->clock != 0 && priv->n_steps > 0)
    dlp_stat_add (&priv->stats.busy, now - priv->clock);
  priv->clock = now;
  priv->n_steps = 0;
  return now;
}

/* To look at the clock takes as long as a very short step: then it is looked at after several. */
static DlpStep
timed_step (DlpElement *self, DlpElementPrivate *priv, GError **error)
{
  guint64 begin = priv->clock != 0 ? priv->clock : dlp_element_read_clock (priv);
  DlpStep step = DLP_ELEMENT_GET_CLASS (self)->step (self, priv->context->cancellable, error);
  guint n = ++priv->n_steps;

  dlp_stat_add (&priv->stats.steps, 1);
  if (n <= priv->n_short)
    return step;
  priv->n_short = dlp_element_read_clock (priv) - begin < n * SHORT_STEP ? SHORT_STEPS : 0;
  return step;
}

/* ---- breaking off ---- */

static bool
is_open (DlpPad *pad)
{
  return pad->link != NULL && !dlp_queue_is_closed (pad->link);
}

static bool
has_open_main (DlpElementPrivate *priv)
{
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (!pad->optional && is_open (pad))
        return true;
    }
  return false;
}

static void
fail_pads (DlpElementPrivate *priv, bool optional)
{
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (pad->optional == optional)
        dlp_pad_fail (pad, priv->broken, priv->failed_by);
    }
}

static void
flush_optional (DlpElementPrivate *priv)
{
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (pad->optional && pad->open_mark != NULL)
        dlp_pad_flush (pad);
    }
}

/* Of a stream that broke off only the pads that have to see the error do. Nothing else ends before
 * it is known whether the run fails: a checkpoint made until then would speak of ends that are
 * none, and what goes on from it would lack what comes behind them. */
static DlpTurn
stay_broken (DlpElement *self, DlpElementPrivate *priv)
{
  if (has_open_main (priv))
    return DLP_TURN_WAIT_OUTPUT;

  close_open_inputs (priv);
  if (!is_needed (priv))
    {
      end (self, priv);
      return DLP_TURN_END;
    }
  /* For an optional pad alone it has to make again what it cannot. */
  keep_final_state (self, priv);
  fail_pads (priv, true);
  dlp_flag_set (priv->ended);
  return DLP_TURN_END;
}

/* The stream breaks off: what was emitted before still reaches the consumers, then the error does,
 * and one that closed in time never sees it. So whether a run fails does not depend on how far an
 * element ran ahead. Takes @error. */
static DlpTurn
break_off (DlpElement *self, DlpElementPrivate *priv, GError *error, DlpElement *failed_by)
{
  dlp_element_hold_marks (self, FALSE);
  priv->broken = error;
  priv->failed_by = failed_by;
  flush_optional (priv);
  fail_pads (priv, false);
  tell_over (self, priv, error);
  return stay_broken (self, priv);
}

/* Branches behind a tee may be at different batches: steps of another world size need not meet the
 * places of all. */
static bool
check_untorn (DlpElement *self, DlpElementPrivate *priv, GError **error)
{
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (!pad->torn)
        continue;
      g_set_error (
          error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
          "%s: %s is to go on at batch %" G_GUINT64_FORMAT
          ", which is within a step of this world size; go on with the one there was when the "
          "state was written, to where all outputs are equally far",
          dlp_element_get_name (self), dlp_element_get_name (pad->peer->element), pad->wanted);
      return false;
    }
  return true;
}

/* Takes @error. An error of an element without outputs is the run's at once. */
static DlpTurn
fail (DlpElement *self,
      DlpElementPrivate *priv,
      GError *failure,
      DlpElement *failed_by,
      GError **error)
{
  if (failure == NULL)
    failure = g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                           "%s failed without an error", dlp_element_get_name (self));
  if (priv->outputs->len > 0)
    return break_off (self, priv, failure, failed_by);
  priv->failed_by = failed_by;
  g_propagate_error (error, failure);
  return DLP_TURN_ERROR;
}

/* The input that is waited for broke off, and all before that was taken. */
static GError *
find_broken (DlpElementPrivate *priv, gpointer *failed_by)
{
  DlpPad *pad = g_ptr_array_index (priv->inputs, priv->wanted_input);

  if (pad->reading != NULL || pad->over || pad->link == NULL)
    return NULL;
  return dlp_queue_get_failure (pad->link, failed_by);
}

static DlpTurn
want_input (DlpElement *self, DlpElementPrivate *priv, bool or_work, GError **error)
{
  gpointer failed_by;
  GError *failure = find_broken (priv, &failed_by);

  if (failure != NULL && !or_work)
    return fail (self, priv, failure, failed_by, error);

  __atomic_store_n (&priv->wants_work, or_work, __ATOMIC_RELAXED);
  /* Work that is done in the meantime leaves its notify in the waker, so both waits are one. */
  advance_marks (self, priv);
  flush_idle (priv);
  if (failure == NULL)
    return DLP_TURN_WAIT_INPUT;
  g_error_free (failure);
  return DLP_TURN_WAIT_WORK;
}

/* What was wrong with a record counts before what the step said then. */
static DlpStep
check_records (DlpElementPrivate *priv, DlpStep step, GError **error)
{
  if (step == DLP_STEP_END)
    for (guint i = 0; i < priv->outputs->len; i++)
      dlp_pad_check_ended (g_ptr_array_index (priv->outputs, i));
  if (G_LIKELY (priv->faulty == NULL))
    return step;
  g_clear_error (error);
  *error = dlp_pad_get_fault (priv->faulty);
  return DLP_STEP_ERROR;
}

DlpTurn
dlp_element_turn (DlpElement *self, GError **error)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  GError *local = NULL;
  DlpTurn turn;
  DlpStep step;

  if (priv->broken != NULL && !dlp_flag_get (priv->ended))
    return stay_broken (self, priv);
  turn = check_turn (self, priv);
  if (turn != DLP_TURN_MORE)
    return turn;

  if (priv->outputs->len > 0)
    prepare_mark (self, priv);
  step = timed_step (self, priv, &local);
  switch (check_records (priv, step, &local))
    {
    case DLP_STEP_MORE:
      if (!check_untorn (self, priv, &local))
        return fail (self, priv, local, self, error);
      __atomic_store_n (&priv->moved_at, (gint64) (priv->clock / 1000), __ATOMIC_RELAXED);
      advance_marks (self, priv);
      flush_if_late (priv);
      return DLP_TURN_MORE;

    case DLP_STEP_WANT_INPUT:
      return want_input (self, priv, false, error);

    case DLP_STEP_WANT_INPUT_OR_WORK:
      return want_input (self, priv, true, error);

    case DLP_STEP_WANT_WORK:
      advance_marks (self, priv);
      flush_idle (priv);
      return DLP_TURN_WAIT_WORK;

    case DLP_STEP_END:
      if (!check_replayed (self, priv, &local))
        return fail (self, priv, local, self, error);
      close_open_inputs (priv);
      end (self, priv);
      return DLP_TURN_END;

    case DLP_STEP_ERROR:
      return fail (self, priv, local, self, error);
    }
  g_assert_not_reached ();
}

/* What arrived between two looks of one step may be in the pad already. */
static bool
arm_input (DlpElementPrivate *priv)
{
  DlpPad *pad = g_ptr_array_index (priv->inputs, priv->wanted_input);

  return pad->reading == NULL && dlp_queue_arm_consumer (pad->link);
}

static bool
arm_outputs (DlpElementPrivate *priv)
{
  bool any = false;

  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (pad->link != NULL && dlp_queue_arm_producer (pad->link))
        any = true;
    }
  return any;
}

bool
dlp_element_arm (DlpElement *self, DlpTurn turn)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  switch (turn)
    {
    case DLP_TURN_WAIT_INPUT:
      return arm_input (priv);

    case DLP_TURN_WAIT_OUTPUT:
      /* A consumer that closes notifies whoever feeds it. */
      return priv->broken != NULL || arm_outputs (priv);

    case DLP_TURN_WAIT_WORK:
      /* Work that was finished in the meantime has left its notify in the waker. */
      return true;

    case DLP_TURN_MORE:
    case DLP_TURN_END:
    case DLP_TURN_ERROR:
      break;
    }
  return false;
}
