/* SPDX-License-Identifier: MIT */

/* What leaves the reader, in order. Position, state and counters change here and nowhere else. */

#include "dlp-file-private.h"
#include "dlp-pad-private.h"
#include "dlp-reader-private.h"
#include "dlp-record-batch-private.h"

/* Rows released in one step of a rotation, and bad ones in any step. */
#define MAX_ROWS 512
/* Fewer rows than this are copied to the open record batch instead of being pushed as one of their
 * own. */
#define MIN_PUSHED 32
#define MIN_PUSHED_BYTES (64 * 1024)

typedef enum
{
  RELEASE_READY,      /* the place whose turn it is has a chunk */
  RELEASE_MOVED,      /* nothing came out yet: go on */
  RELEASE_EMITTED,    /* one step's worth came out */
  RELEASE_WANT_INPUT, /* the next file is not there yet */
  RELEASE_WANT_WORK,
  RELEASE_END,
  RELEASE_ERROR,
} Release;

static DlpReaderPlace *
current_place (DlpReaderPrivate *priv)
{
  return &priv->state->places[priv->state->turn];
}

static DlpReaderLane *
current_lane (DlpReaderPrivate *priv)
{
  return priv->in_place[priv->state->turn];
}

static void
take_turn (DlpReaderPrivate *priv)
{
  if (++priv->state->turn >= priv->state->n_places)
    priv->state->turn = 0;
}

static void
show_progress (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  guint64 bytes = priv->state->bytes;

  for (guint i = 0; i < priv->state->n_places; i++)
    if (priv->in_place[i] != NULL)
      bytes += priv->in_place[i]->raw_released;
  dlp_element_set_progress (DLP_ELEMENT (self), bytes, 0,
                            (guint) MIN (priv->state->files, G_MAXUINT), 0);
}

/* How much of the stored bytes the records stand for, by what the name says of the codec. */
static void
count_read (DlpReader *self, DlpReaderLane *lane, guint64 bytes)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  const char *codec = dlp_codec_of_file_name (dlp_file_get_uri (lane->file));
  guint64 *sum;

  if (priv->read_by_codec == NULL)
    return;
  codec = codec != NULL ? codec : "none";
  pthread_mutex_lock (&priv->lock);
  sum = g_hash_table_lookup (priv->read_by_codec, codec);
  if (sum == NULL)
    {
      sum = g_new0 (guint64, 1);
      g_hash_table_insert (priv->read_by_codec, g_strdup (codec), sum);
    }
  *sum += bytes;
  pthread_mutex_unlock (&priv->lock);
}

/* ---- rows of a chunk ---- */

static const DlpReaderReject *
next_reject (DlpReaderChunk *chunk)
{
  return dlp_reader_rejects_peek (&chunk->rejects, chunk->data);
}

static DlpRecordBatch *
next_batch (DlpReaderChunk *chunk)
{
  return chunk->batch < chunk->batches->len ? g_ptr_array_index (chunk->batches, chunk->batch) :
                                              NULL;
}

/* How many good rows come before the next bad one, at most the rest of the record batch. */
static guint
count_good (DlpReaderChunk *chunk, const DlpReaderPlace *place)
{
  DlpRecordBatch *batch = next_batch (chunk);
  const DlpReaderReject *reject = next_reject (chunk);
  guint low = chunk->row_in_batch;
  guint high;

  if (batch == NULL)
    return 0;
  high = dlp_record_batch_length (batch);
  if (reject == NULL ||
      dlp_record_batch_coordinate (batch, high - 1)->row < place->row + reject->row)
    return high - low;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (dlp_record_batch_coordinate (batch, middle)->row < place->row + reject->row)
        low = middle + 1;
      else
        high = middle;
    }
  return low - chunk->row_in_batch;
}

static void
add_counts (DlpReaderPrivate *priv, DlpReaderChunk *chunk, guint64 end)
{
  while (chunk->counts != NULL && chunk->count < chunk->counts->len)
    {
      const DlpReaderCount *count = &g_array_index (chunk->counts, DlpReaderCount, chunk->count);

      if (count->row >= end)
        break;
      priv->state->counters[count->counter] += count->n;
      chunk->count++;
    }
}

/* Rows of some size are handed on as they are; small ones are gathered, also over the ends of
 * files. */
static bool
is_worth_pushing (DlpPad *out, DlpRecordBatch *batch, guint n)
{
  return n >= MIN_PUSHED ||
         dlp_record_batch_get_bytes (batch) / dlp_record_batch_length (batch) * n >=
             MIN (MIN_PUSHED_BYTES, out->batch_bytes);
}

static void
emit_good (DlpReader *self, DlpReaderChunk *chunk, DlpReaderPlace *place, guint n)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpRecordBatch *batch = next_batch (chunk);
  guint length = dlp_record_batch_length (batch);
  guint row = chunk->row_in_batch;

  place->reached = dlp_record_batch_coordinate (batch, row + n - 1)->row + 1;
  if (is_worth_pushing (priv->out, batch, n))
    dlp_pad_push_rows (priv->out, batch, row, n);
  else
    dlp_pad_append_rows (priv->out, batch, row, n);

  priv->state->good += n;
  priv->state->in_a_row = 0;
  chunk->row_in_batch += n;
  if (chunk->row_in_batch == length)
    {
      chunk->row_in_batch = 0;
      chunk->batch++;
    }
  add_counts (priv, chunk, place->reached - place->row);
}

static bool
emit_bad (DlpReader *self, DlpReaderChunk *chunk, DlpReaderPlace *place, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  const DlpReaderReject *reject = next_reject (chunk);

  if (!dlp_reader_admit_reject (self, chunk, place, reject, error))
    return false;
  place->reached = place->row + reject->row + 1;
  dlp_reader_rejects_pass (&chunk->rejects);
  add_counts (priv, chunk, reject->row + 1);
  return true;
}

static bool
is_exhausted (DlpReaderChunk *chunk)
{
  return next_batch (chunk) == NULL && next_reject (chunk) == NULL;
}

/* ---- the end of chunks and lanes ---- */

/* The place stays before a chunk in which the file ends as damaged: that it does is nowhere in the
 * state, and is found again by whoever goes on from a mark made here. */
static void
pass_chunk (DlpReaderLane *lane, DlpReaderPlace *place, DlpReaderChunk *chunk)
{
  place->reached = MAX (place->reached, place->row + chunk->rows);
  if (chunk->is_faulty)
    {
      lane->damage = g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                                  "%s: record of row %" G_GUINT64_FORMAT ": %s", lane->name,
                                  place->row + chunk->rows, chunk->damage);
      return;
    }
  if (chunk->damage != NULL)
    {
      lane->damage = g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                                  "%s: %s (at %s %" G_GUINT64_FORMAT ")", lane->name, chunk->damage,
                                  dlp_reader_opens_files (chunk->reader) ? "row" : "byte",
                                  chunk->offset + chunk->damage_offset);
      return;
    }
  place->offset = chunk->offset + chunk->size;
  place->border = chunk->border;
  place->row += chunk->rows;
  place->line += chunk->lines;
}

static void
finish_chunk (DlpReader *self, DlpReaderLane *lane, DlpReaderPlace *place, DlpReaderChunk *chunk)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  add_counts (priv, chunk, G_MAXUINT64);
  pass_chunk (lane, place, chunk);
  count_read (self, lane, chunk->raw_position - lane->raw_released);
  lane->raw_released = chunk->raw_position;
  lane->head = NULL;

  pthread_mutex_lock (&priv->lock);
  g_queue_unlink (&lane->chunks, &chunk->link);
  priv->held -= chunk->held;
  pthread_mutex_unlock (&priv->lock);
  dlp_reader_chunk_free (chunk);
  dlp_reader_wake_io (self);
  show_progress (self);
}

/* The file of the place is done, or ends the run. */
static Release
end_lane (DlpReader *self, DlpReaderLane *lane, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderPlace *place = current_place (priv);
  g_autoptr (GError) wrong_rows = NULL;
  const GError *failure = lane->damage != NULL ? lane->damage : lane->failure;
  gint64 size = dlp_file_get_size (lane->file);

  /* Of a sample the last row is not reached. */
  if (failure == NULL && priv->head_share >= 1 &&
      !dlp_file_check_expected_rows (lane->file, place->row, &wrong_rows))
    failure = wrong_rows;

  if (failure != NULL && !g_error_matches (failure, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED))
    {
      g_propagate_error (error, g_error_copy (failure));
      g_prefix_error (error, "%s: ", dlp_element_get_name (DLP_ELEMENT (self)));
      return RELEASE_ERROR;
    }
  if (failure != NULL && !dlp_reader_admit_damage (self, lane, failure, error))
    return RELEASE_ERROR;

  /* Of a lane that parse() ended, somebody may still be reading. */
  if (lane->damage == NULL && lane->warning != NULL)
    {
      g_autofree char *message = g_strdup_printf ("%s: %s", lane->name, lane->warning);

      dlp_element_warn (DLP_ELEMENT (self), lane->uri, -1, message);
    }
  if (size >= 0 && !lane->is_head && (guint64) size > lane->raw_released)
    count_read (self, lane, (guint64) size - lane->raw_released);
  priv->state->files++;
  if (size >= 0)
    priv->state->bytes += (guint64) size;
  else
    priv->state->bytes += lane->damage != NULL ? lane->raw_released : lane->raw_size;
  *place = (DlpReaderPlace){ .file = DLP_READER_NO_FILE };
  priv->in_place[priv->state->turn] = NULL;
  dlp_reader_remove_lane (self, lane);
  show_progress (self);
  return RELEASE_MOVED;
}

/* ---- whose turn it is ---- */

static void
drop_place (DlpReaderPrivate *priv)
{
  DlpReaderState *state = priv->state;

  state->n_places--;
  for (guint i = state->turn; i < state->n_places; i++)
    {
      state->places[i] = state->places[i + 1];
      priv->in_place[i] = priv->in_place[i + 1];
    }
  priv->in_place[state->n_places] = NULL;
  if (state->turn >= state->n_places)
    state->turn = 0;
}

/* The first file that was taken and has no place yet. */
static DlpReaderLane *
next_lane (DlpReaderPrivate *priv)
{
  for (guint i = 0; i < priv->lanes->len; i++)
    {
      DlpReaderLane *lane = g_ptr_array_index (priv->lanes, i);

      if (!lane->active)
        return lane;
    }
  return NULL;
}

static bool
is_of_rotation (const DlpReaderState *state, const DlpReaderLane *lane)
{
  const DlpCoordinate *at = &lane->coordinate;

  return !state->in_rotation ||
         (at->stage == state->stage && at->source == state->source && at->epoch == state->epoch);
}

/* The place takes the next file, or leaves the rotation where there is none in this epoch. */
static Release
fill_place (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderState *state = priv->state;
  DlpReaderLane *lane = next_lane (priv);

  if (lane == NULL && !dlp_pad_is_over (priv->in))
    return RELEASE_WANT_INPUT;

  if (lane == NULL || !is_of_rotation (state, lane))
    {
      drop_place (priv);
      return RELEASE_MOVED;
    }

  state->in_rotation = true;
  state->stage = lane->coordinate.stage;
  state->source = lane->coordinate.source;
  state->epoch = lane->coordinate.epoch;
  state->next = lane->position + 1;
  *current_place (priv) = (DlpReaderPlace){ .file = lane->position };
  priv->in_place[state->turn] = lane;

  pthread_mutex_lock (&priv->lock);
  lane->active = true;
  pthread_mutex_unlock (&priv->lock);
  dlp_reader_wake_io (self);
  return RELEASE_MOVED;
}

static Release
begin_rotation (DlpReader *self, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderLane *next = next_lane (priv);

  if (next != NULL)
    {
      if (!dlp_reader_judge_epoch (self, &next->coordinate, error))
        return RELEASE_ERROR;
      dlp_reader_state_begin_rotation (priv->state, priv->interleave);
      return RELEASE_MOVED;
    }
  return dlp_pad_is_over (priv->in) ? RELEASE_END : RELEASE_WANT_INPUT;
}

static Release
wait_for_lane (DlpReader *self, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  if (!dlp_pad_is_over (priv->in))
    return RELEASE_WANT_INPUT;

  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%s: the state was saved within file %" G_GUINT64_FORMAT
               " of its input (from 0), which ends before it now",
               dlp_element_get_name (DLP_ELEMENT (self)), current_place (priv)->file);
  return RELEASE_ERROR;
}

/* Looks at the lane in its turn: its first chunk, if that is parsed. */
static Release
look_at_lane (DlpReader *self, DlpReaderLane *lane, GCancellable *cancellable, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  bool is_empty, at_end, busy;

  pthread_mutex_lock (&priv->lock);
  is_empty = lane->chunks.length == 0;
  if (!is_empty && ((DlpReaderChunk *) lane->chunks.head->data)->done)
    lane->head = lane->chunks.head->data;
  at_end = lane->at_end;
  busy = lane->busy;
  pthread_mutex_unlock (&priv->lock);

  if (lane->head != NULL)
    {
      DlpReaderPlace *place = current_place (priv);

      dlp_reader_chunk_adopt (lane->head, place->row, place->reached);
      return RELEASE_READY;
    }
  if (is_empty && at_end && !busy)
    return end_lane (self, lane, error);
  if (!priv->threaded && is_empty)
    {
      dlp_reader_fill_now (self, lane, cancellable);
      return RELEASE_MOVED;
    }
  return RELEASE_WANT_WORK;
}

static Release
find_chunk (DlpReader *self, GCancellable *cancellable, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderLane *lane;

  if (priv->state->n_places == 0)
    return begin_rotation (self, error);
  if (current_place (priv)->file == DLP_READER_NO_FILE)
    return fill_place (self);
  if ((lane = current_lane (priv)) == NULL)
    return wait_for_lane (self, error);
  if (lane->head != NULL)
    return RELEASE_READY;
  if (lane->damage != NULL)
    return end_lane (self, lane, error);
  return look_at_lane (self, lane, cancellable, error);
}

/* ---- a step ---- */

/* One place: a record batch as it is, with the bad rows before and in it. */
static Release
release_batch (DlpReader *self, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderPlace *place = current_place (priv);
  DlpReaderLane *lane = current_lane (priv);
  DlpReaderChunk *chunk = lane->head;
  guint batch = chunk->batch;
  guint n_bad = 0;
  bool emitted = false;

  while (!is_exhausted (chunk) && chunk->batch == batch && n_bad < MAX_ROWS)
    {
      guint n = count_good (chunk, place);

      if (n > 0)
        emit_good (self, chunk, place, n);
      /* The rows before the one that ends the run are delivered: it is met again in the next step.
       */
      else if (!emit_bad (self, chunk, place, emitted ? NULL : error))
        return emitted ? RELEASE_EMITTED : RELEASE_ERROR;
      else
        n_bad++;
      emitted = true;
    }
  if (is_exhausted (chunk))
    finish_chunk (self, lane, place, chunk);
  return RELEASE_EMITTED;
}

/* One record of the place whose turn it is; bad ones take no turn. */
static Release
release_row (DlpReader *self, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderPlace *place = current_place (priv);
  DlpReaderLane *lane = current_lane (priv);
  DlpReaderChunk *chunk = lane->head;
  bool good = count_good (chunk, place) > 0;

  if (good)
    emit_good (self, chunk, place, 1);
  else if (!is_exhausted (chunk) && !emit_bad (self, chunk, place, error))
    return RELEASE_ERROR;

  if (is_exhausted (chunk))
    finish_chunk (self, lane, place, chunk);
  if (good)
    take_turn (priv);
  return RELEASE_EMITTED;
}

static Release
release (DlpReader *self, GCancellable *cancellable, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  bool emitted = false;

  for (guint rows = 0; rows < MAX_ROWS;)
    {
      g_autoptr (GError) local_error = NULL;
      Release result = find_chunk (self, cancellable, &local_error);

      if (result == RELEASE_MOVED)
        continue;
      if (result == RELEASE_READY && priv->state->n_places == 1)
        {
          if (emitted)
            break;
          return release_batch (self, error);
        }
      if (result == RELEASE_READY)
        result = release_row (self, &local_error);

      if (result != RELEASE_EMITTED)
        {
          /* What was emitted is a step of its own; the same is met again in the next one. */
          if (emitted)
            break;
          if (local_error != NULL)
            g_propagate_error (error, g_steal_pointer (&local_error));
          return result;
        }
      emitted = true;
      rows++;
    }
  return RELEASE_EMITTED;
}

DlpStep
dlp_reader_release (DlpReader *self, GCancellable *cancellable, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  switch (release (self, cancellable, error))
    {
    case RELEASE_READY:
    case RELEASE_MOVED:
    case RELEASE_EMITTED:
      return DLP_STEP_MORE;

    case RELEASE_WANT_INPUT:
      return dlp_element_want_input (DLP_ELEMENT (self), 0);

    case RELEASE_WANT_WORK:
      if (dlp_reader_has_room (priv) && !dlp_pad_is_over (priv->in))
        return dlp_element_want_input_or_work (DLP_ELEMENT (self), 0);
      return DLP_STEP_WANT_WORK;

    case RELEASE_END:
      return dlp_reader_judge_end (self, error) ? DLP_STEP_END : DLP_STEP_ERROR;

    case RELEASE_ERROR:
      return DLP_STEP_ERROR;
    }
  g_assert_not_reached ();
}

/* ---- an end from outside ---- */

/* A stream may say nothing for as long as it likes: unless its end is known, it may have more. */
static bool
is_open_stream (DlpReaderPrivate *priv)
{
  DlpReaderLane *lane = priv->state->n_places > 0 ? current_lane (priv) : NULL;
  bool at_end;

  if (lane == NULL || dlp_file_get_size (lane->file) >= 0)
    return false;
  pthread_mutex_lock (&priv->lock);
  at_end = lane->at_end;
  pthread_mutex_unlock (&priv->lock);
  return !at_end;
}

/* Goes on as far as nothing comes out by it. Ready: something would. */
static Release
find_more (DlpReader *self, GCancellable *cancellable, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  for (;;)
    {
      Release result =
          is_open_stream (priv) ? RELEASE_READY : find_chunk (self, cancellable, error);
      DlpReaderLane *lane;

      if (result == RELEASE_MOVED)
        continue;
      if (result != RELEASE_READY)
        return result;
      lane = current_lane (priv);
      if (lane->head == NULL || !is_exhausted (lane->head))
        return RELEASE_READY;
      finish_chunk (self, lane, current_place (priv), lane->head);
    }
}

/* That a file has no more is often not known before one more read of it. What fails from here on is
 * part of what is dropped. */
DlpStep
dlp_reader_finish (DlpReader *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) local_error = NULL;

  switch (find_more (self, cancellable, &local_error))
    {
    case RELEASE_WANT_INPUT:
      return dlp_element_want_input (DLP_ELEMENT (self), 0);

    case RELEASE_WANT_WORK:
      return DLP_STEP_WANT_WORK;

    case RELEASE_END:
      return dlp_reader_judge_end (self, error) ? DLP_STEP_END : DLP_STEP_ERROR;

    case RELEASE_READY:
    case RELEASE_MOVED:
    case RELEASE_EMITTED:
    case RELEASE_ERROR:
      dlp_element_note_cut_short (DLP_ELEMENT (self));
      return DLP_STEP_END;
    }
  g_assert_not_reached ();
}
