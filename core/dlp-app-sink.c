/* SPDX-License-Identifier: MIT */

/* The element's thread moves record batches from its pad to a small queue, the program's takes rows
 * from there. Three places matter: what was moved (the pad's cursor), what was given (`given`) and
 * what was confirmed (`confirmed`), which is what the state speaks of. Digest and counts are made
 * as records are given, by whoever gives them, so that each place has its own. See
 * docs/internals/app.md. */

#include <dlpipe/dlp-app-sink.h>

#include "dlp-app-private.h"
#include "dlp-record-batch-private.h"

#define WAITS "waits for the program to take records"

typedef struct
{
  DlpCursor cursor;
  DlpSinkState counts;
} Place;

struct _DlpAppSink
{
  DlpSink parent_instance;

  guint max_records;
  guint max_batches;
  guint64 max_bytes;
  DlpAppSinkState state;
  DlpAppSinkConfirm confirm;
  int tokens; /* the field; -1: there is none */
  bool whole; /* training batches are not cut */
  gsize limit;

  DlpApp app;
  GQueue queue;           /* app.lock: of DlpRecordBatch */
  guint row;              /* app.lock: rows of the first one that were given */
  gsize queued_bytes;     /* app.lock */
  guint64 queued_records; /* app.lock */
  guint64 dropped;        /* app.lock: at a stop or a close */
  guint64 moved;          /* app.lock: records that came, in the counts' terms */
  bool input_over;        /* app.lock: no more comes */
  bool eos;               /* app.lock: and the program was told */
  bool closed;            /* app.lock */
  Place given;            /* app.lock */
  Place confirmed;        /* app.lock */
  guint pending_max;      /* app.lock */
  Place next;             /* of the pull that goes on: given, once the program has it */

  /* The element's thread: as of the last settle(). */
  DlpCursor settled;
  guint64 held;    /* of an approximate state: records it skips */
  guint64 skipped; /* by former attempts */
};

enum
{
  PROP_0,
  PROP_MAX_RECORDS,
  PROP_MAX_BATCHES,
  PROP_MAX_BYTES,
  PROP_STATE,
  PROP_CONFIRM,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ENUM_TYPE (DlpAppSinkState,
                    dlp_app_sink_state,
                    G_DEFINE_ENUM_VALUE (DLP_APP_SINK_STATE_EXACT, "exact"),
                    G_DEFINE_ENUM_VALUE (DLP_APP_SINK_STATE_APPROXIMATE, "approximate"))

G_DEFINE_ENUM_TYPE (DlpAppSinkConfirm,
                    dlp_app_sink_confirm,
                    G_DEFINE_ENUM_VALUE (DLP_APP_SINK_CONFIRM_PULL, "pull"),
                    G_DEFINE_ENUM_VALUE (DLP_APP_SINK_CONFIRM_COMMIT, "commit"))

G_DEFINE_FINAL_TYPE (DlpAppSink, dlp_app_sink, DLP_TYPE_SINK)

static void
set_place (Place *self, const Place *from)
{
  dlp_cursor_set (&self->cursor, &from->cursor);
  self->counts = from->counts;
}

/* ---- taking; app.lock is held ---- */

typedef enum
{
  TAKEN_NOTHING,
  TAKEN_RECORDS,
  TAKEN_END,
  TAKEN_ERROR,
} Taken;

typedef struct
{
  Taken taken;
  DlpRecordBatch *batch; /* of which these rows are given */
  guint row;
  guint n;
  bool wake; /* the element */
  GError *error;
} Answer;

static void
take_rows (DlpAppSink *self, guint max, Answer *answer)
{
  DlpRecordBatch *head = g_queue_peek_head (&self->queue);
  guint left = dlp_record_batch_length (head) - self->row;

  max = max != 0 ? MIN (max, self->max_records) : self->max_records;
  answer->taken = TAKEN_RECORDS;
  answer->batch = dlp_record_batch_ref (head);
  answer->row = self->row;
  answer->n = self->whole ? left : MIN (left, max);
  self->row += answer->n;
  self->queued_records -= answer->n;
  if (answer->n < left)
    return;
  self->row = 0;
  self->queued_bytes -= dlp_record_batch_get_bytes (head);
  dlp_record_batch_unref (g_queue_pop_head (&self->queue));
}

/* The element is woken when half is free, so that the two sides do not hand over one by one. */
static bool
must_wake (DlpAppSink *self)
{
  guint length = self->queue.length;

  if (!self->app.sleeps ||
      (length > 0 && (length > self->max_batches / 2 || self->queued_bytes > self->limit / 2)))
    return false;
  self->app.sleeps = false;
  return true;
}

static void
take (DlpAppSink *self, guint max, Answer *answer)
{
  *answer = (Answer){ TAKEN_NOTHING };
  if (self->closed)
    {
      answer->taken = TAKEN_ERROR;
      g_set_error (&answer->error, G_IO_ERROR, G_IO_ERROR_CLOSED, "%s was closed by the program",
                   dlp_element_get_name (DLP_ELEMENT (self)));
    }
  else if (self->queue.length > 0)
    take_rows (self, max, answer);
  else if (self->eos)
    answer->taken = TAKEN_END;
  else if (dlp_app_set_failed (&self->app, &answer->error))
    answer->taken = TAKEN_ERROR;
  else if (self->input_over)
    {
      self->eos = true;
      answer->taken = TAKEN_END;
    }
  if (answer->taken != TAKEN_NOTHING)
    answer->wake = must_wake (self);
}

/* Steals the asynchronous pull that waits, if there is something to answer. */
static DlpAsyncCall *
take_for_pending (DlpAppSink *self, Answer *answer)
{
  if (self->app.pending == NULL)
    return NULL;
  take (self, self->pending_max, answer);
  return answer->taken != TAKEN_NOTHING ? g_steal_pointer (&self->app.pending) : NULL;
}

static bool
all_done (DlpAppSink *self)
{
  if (self->queue.length > 0)
    return false;
  return self->state == DLP_APP_SINK_STATE_APPROXIMATE ||
         self->confirmed.counts.records == self->moved;
}

/* ---- giving ---- */

static guint64
count_tokens (DlpAppSink *self, DlpRecordBatch *batch, guint row, guint n)
{
  guint64 tokens = 0;

  if (batch->training != NULL)
    return batch->training->tokens;

  for (guint i = 0; self->tokens >= 0 && i < n; i++)
    {
      gsize length;

      dlp_record_batch_value (batch, (guint) self->tokens, row + i, &length);
      tokens += length;
    }
  return tokens;
}

/* (transfer full) (nullable): what the program gets; without a mark, so that it keeps nothing alive
 * but the records. One pull goes on at a time, so `next` is this one's. */
static DlpRecordBatch *
make_result (DlpAppSink *self, Answer *answer)
{
  g_autoptr (DlpRecordBatch) batch = g_steal_pointer (&answer->batch);
  guint row = answer->row, n = answer->n;
  DlpCursor cursor;
  guint64 position;

  if (answer->wake)
    dlp_element_wake (DLP_ELEMENT (self));
  if (batch == NULL)
    return NULL;
  position = dlp_record_batch_get_position (batch) + row;
  cursor = (DlpCursor){ dlp_record_batch_get_mark (batch),
                        position + dlp_record_batch_count_places (batch, n) };
  dlp_cursor_set (&self->next.cursor, &cursor);
  self->next.counts.tokens += count_tokens (self, batch, row, n);
  dlp_sink_count (DLP_SINK (self), &self->next.counts, batch, row, n, position);
  return dlp_record_batch_new_at (batch, row, n, position, NULL, NULL);
}

/* The program has what was taken, or is about to. */
static void
end_pull (gpointer source)
{
  DlpAppSink *self = source;

  pthread_mutex_lock (&self->app.lock);
  set_place (&self->given, &self->next);
  self->app.busy = false;
  pthread_mutex_unlock (&self->app.lock);
}

static void
answer_call (DlpAppSink *self, DlpAsyncCall *call, Answer *answer)
{
  DlpRecordBatch *batch;

  if (call == NULL)
    return;
  batch = make_result (self, answer);
  dlp_async_call_return_pointer (call, batch, (GDestroyNotify) dlp_record_batch_unref,
                                 answer->error);
}

static bool
begin_pull (DlpAppSink *self, GError **error)
{
  if (!dlp_app_begin (&self->app, "pull", error))
    return false;
  pthread_mutex_lock (&self->app.lock);
  if (self->confirm == DLP_APP_SINK_CONFIRM_PULL)
    set_place (&self->confirmed, &self->given);
  set_place (&self->next, &self->given);
  pthread_mutex_unlock (&self->app.lock);
  return true;
}

static GError *
make_error (DlpAppSink *self, GIOErrorEnum code)
{
  const char *name = dlp_element_get_name (DLP_ELEMENT (self));

  return code == G_IO_ERROR_CANCELLED ?
             g_error_new (G_IO_ERROR, code, "%s: the pull was cancelled", name) :
             g_error_new (G_IO_ERROR, code, "%s: no record is there yet", name);
}

static DlpRecordBatch *
pull (DlpAppSink *self, guint max, bool wait, GCancellable *cancellable, GError **error)
{
  DlpRecordBatch *batch;
  Answer answer;
  gulong id;

  if (!begin_pull (self, error))
    return NULL;
  id = dlp_app_watch (&self->app, cancellable);
  pthread_mutex_lock (&self->app.lock);
  take (self, max, &answer);
  while (answer.taken == TAKEN_NOTHING && wait && !g_cancellable_is_cancelled (cancellable))
    {
      pthread_cond_wait (&self->app.cond, &self->app.lock);
      take (self, max, &answer);
    }
  pthread_mutex_unlock (&self->app.lock);
  g_cancellable_disconnect (cancellable, id);

  if (answer.taken == TAKEN_NOTHING)
    answer.error = make_error (self, wait ? G_IO_ERROR_CANCELLED : G_IO_ERROR_WOULD_BLOCK);
  batch = make_result (self, &answer);
  end_pull (self);
  if (answer.error != NULL)
    g_propagate_error (error, answer.error);
  return batch;
}

DlpRecordBatch *
dlp_app_sink_pull (DlpAppSink *self, guint max_records, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (DLP_IS_APP_SINK (self), NULL);

  return pull (self, max_records, true, cancellable, error);
}

DlpRecordBatch *
dlp_app_sink_try_pull (DlpAppSink *self, guint max_records, GError **error)
{
  g_return_val_if_fail (DLP_IS_APP_SINK (self), NULL);

  return pull (self, max_records, false, NULL, error);
}

static void
pull_cancelled (GCancellable *cancellable, gpointer data)
{
  DlpAppSink *self = data;
  DlpAsyncCall *call = NULL;

  pthread_mutex_lock (&self->app.lock);
  if (self->app.pending != NULL &&
      dlp_async_call_get_cancellable (self->app.pending) == cancellable)
    call = g_steal_pointer (&self->app.pending);
  pthread_mutex_unlock (&self->app.lock);
  if (call != NULL)
    dlp_async_call_return_pointer (call, NULL, NULL, make_error (self, G_IO_ERROR_CANCELLED));
}

void
dlp_app_sink_pull_async (DlpAppSink *self,
                         guint max_records,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  DlpAsyncCall *call;
  Answer answer;
  GError *error = NULL;

  g_return_if_fail (DLP_IS_APP_SINK (self));

  call = dlp_app_make_call (&self->app, cancellable, dlp_app_sink_pull_async, callback, user_data);
  if (!begin_pull (self, &error))
    {
      dlp_async_call_return_pointer (call, NULL, NULL, error);
      return;
    }
  dlp_async_call_set_before (call, end_pull);
  dlp_async_call_watch (call, G_CALLBACK (pull_cancelled));
  pthread_mutex_lock (&self->app.lock);
  self->app.pending = call;
  self->pending_max = max_records;
  call = take_for_pending (self, &answer);
  pthread_mutex_unlock (&self->app.lock);
  answer_call (self, call, &answer);
  if (call == NULL && g_cancellable_is_cancelled (cancellable))
    pull_cancelled (cancellable, self);
}

DlpRecordBatch *
dlp_app_sink_pull_finish (DlpAppSink *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

void
dlp_app_sink_commit (DlpAppSink *self)
{
  bool wake;

  g_return_if_fail (DLP_IS_APP_SINK (self));

  pthread_mutex_lock (&self->app.lock);
  set_place (&self->confirmed, &self->given);
  wake = self->input_over && must_wake (self);
  pthread_mutex_unlock (&self->app.lock);
  if (wake)
    dlp_element_wake (DLP_ELEMENT (self));
}

/* app.lock is held; what is returned is freed without it. */
static GQueue
steal_queue (DlpAppSink *self)
{
  GQueue queue = self->queue;

  g_queue_init (&self->queue);
  self->row = 0;
  self->queued_bytes = 0;
  self->dropped += self->queued_records;
  self->queued_records = 0;
  return queue;
}

static void
free_queue (GQueue *queue)
{
  g_queue_clear_full (queue, (GDestroyNotify) dlp_record_batch_unref);
}

void
dlp_app_sink_close (DlpAppSink *self)
{
  DlpAsyncCall *call;
  Answer answer;
  GQueue queue;

  g_return_if_fail (DLP_IS_APP_SINK (self));

  pthread_mutex_lock (&self->app.lock);
  self->closed = true;
  set_place (&self->confirmed, &self->given);
  queue = steal_queue (self);
  call = take_for_pending (self, &answer);
  pthread_cond_broadcast (&self->app.cond);
  pthread_mutex_unlock (&self->app.lock);
  free_queue (&queue);
  answer_call (self, call, &answer);
  dlp_element_wake (DLP_ELEMENT (self));
}

/* ---- what the pipeline tells ---- */

static void
dlp_app_sink_ready (DlpElement *element)
{
  DlpContext *context = dlp_element_get_context (element);

  dlp_app_set_main_context (&DLP_APP_SINK (element)->app, context->main_context);
}

static void
dlp_app_sink_over (DlpElement *element, const GError *error)
{
  DlpAppSink *self = DLP_APP_SINK (element);
  GQueue queue = G_QUEUE_INIT;
  DlpAsyncCall *call;
  Answer answer;

  pthread_mutex_lock (&self->app.lock);
  if (error != NULL)
    dlp_app_take_failure (&self->app, error);
  else
    self->input_over = true;
  if (dlp_app_was_ended (&self->app))
    queue = steal_queue (self);
  call = take_for_pending (self, &answer);
  pthread_cond_broadcast (&self->app.cond);
  pthread_mutex_unlock (&self->app.lock);
  free_queue (&queue);
  answer_call (self, call, &answer);
}

/* ---- the element's thread ---- */

/* The newest mark for @place, which the state speaks of: app.lock is held. What is on its way to
 * the program is in neither place and not in the queue any more. */
static void
settle_cursor (DlpAppSink *self, const Place *place, bool approximate)
{
  DlpRecordBatch *head = g_queue_peek_head (&self->queue);
  guint64 position = place->cursor.position;

  if (approximate || place->counts.records == self->moved)
    dlp_pad_get_cursor (dlp_element_get_input (DLP_ELEMENT (self), 0), &self->settled);
  else if (head != NULL && dlp_record_batch_get_position (head) == position)
    {
      DlpCursor cursor = { dlp_record_batch_get_mark (head), position };

      dlp_cursor_set (&self->settled, &cursor);
    }
  else
    dlp_cursor_set (&self->settled, &place->cursor);
}

static bool
is_approximate (DlpAppSink *self, guint capture)
{
  return capture == DLP_CAPTURE_APPROXIMATE ||
         (capture == DLP_CAPTURE_CONFIRMED && self->state == DLP_APP_SINK_STATE_APPROXIMATE);
}

static void
settle (DlpAppSink *self)
{
  DlpContext *context = dlp_element_get_context (DLP_ELEMENT (self));
  guint capture = __atomic_load_n (&context->capture, __ATOMIC_RELAXED);
  bool approximate = is_approximate (self, capture);
  bool given =
      approximate || (capture == DLP_CAPTURE_EXACT && self->confirm == DLP_APP_SINK_CONFIRM_PULL);
  DlpSinkState counts;

  pthread_mutex_lock (&self->app.lock);
  settle_cursor (self, given ? &self->given : &self->confirmed, approximate);
  counts = given ? self->given.counts : self->confirmed.counts;
  /* Also what an asynchronous pull has taken and its program not got yet. */
  self->held = approximate ? self->moved - self->given.counts.records : 0;
  pthread_mutex_unlock (&self->app.lock);
  dlp_sink_set_state (DLP_SINK (self), &counts);
}

static gboolean
dlp_app_sink_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  settle (DLP_APP_SINK (sink));
  return TRUE;
}

static void
dlp_app_sink_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  dlp_cursor_set (cursor, &DLP_APP_SINK (element)->settled);
}

static DlpStep
end (DlpAppSink *self)
{
  settle (self);
  dlp_sink_set_drained (DLP_SINK (self));
  dlp_app_declare (&self->app, NULL);
  return DLP_STEP_END;
}

static DlpStep
sleep_until_taken (DlpAppSink *self)
{
  dlp_app_declare (&self->app, WAITS);
  return DLP_STEP_WANT_WORK;
}

/* All that came before has to be confirmed before the end is part of the state. */
static DlpStep
end_of_input (DlpAppSink *self)
{
  DlpAsyncCall *call;
  Answer answer;
  bool done;

  pthread_mutex_lock (&self->app.lock);
  self->input_over = true;
  call = take_for_pending (self, &answer);
  done = all_done (self);
  self->app.sleeps = !done;
  pthread_cond_broadcast (&self->app.cond);
  pthread_mutex_unlock (&self->app.lock);
  answer_call (self, call, &answer);
  return done ? end (self) : sleep_until_taken (self);
}

static guint64
count_records (DlpRecordBatch *batch)
{
  return dlp_record_batch_count_records (batch, dlp_record_batch_get_length (batch));
}

static void
move (DlpAppSink *self, DlpRecordBatch *batch)
{
  DlpAsyncCall *call;
  Answer answer;

  pthread_mutex_lock (&self->app.lock);
  if (self->closed)
    dlp_record_batch_unref (batch);
  else if (dlp_app_was_ended (&self->app))
    {
      self->dropped += dlp_record_batch_get_length (batch);
      self->moved += count_records (batch);
      dlp_record_batch_unref (batch);
    }
  else
    {
      g_queue_push_tail (&self->queue, batch);
      self->queued_bytes += dlp_record_batch_get_bytes (batch);
      self->queued_records += dlp_record_batch_get_length (batch);
      self->moved += count_records (batch);
    }
  call = take_for_pending (self, &answer);
  pthread_cond_signal (&self->app.cond);
  pthread_mutex_unlock (&self->app.lock);
  answer_call (self, call, &answer);
}

static DlpStep
dlp_app_sink_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpAppSink *self = DLP_APP_SINK (element);
  DlpPad *in = dlp_element_get_input (element, 0);
  DlpRecordBatch *batch;
  bool closed, full, any;

  settle (self);
  pthread_mutex_lock (&self->app.lock);
  closed = self->closed;
  full = self->queue.length >= self->max_batches || self->queued_bytes >= self->limit;
  self->app.sleeps = full;
  pthread_mutex_unlock (&self->app.lock);
  if (closed)
    {
      dlp_pad_close_at (in, self->settled.position);
      return end (self);
    }
  if (full)
    return sleep_until_taken (self);
  dlp_app_declare (&self->app, NULL);

  batch = dlp_pad_take (in);
  if (batch != NULL)
    {
      move (self, batch);
      return DLP_STEP_MORE;
    }
  if (dlp_pad_is_over (in))
    return end_of_input (self);

  /* Should the stream have broken off, then the run fails when the program has what was before. */
  pthread_mutex_lock (&self->app.lock);
  any = self->queue.length > 0;
  self->app.sleeps = any;
  pthread_mutex_unlock (&self->app.lock);
  return any ? dlp_element_want_input_or_work (element, 0) : dlp_element_want_input (element, 0);
}

/* ---- life ---- */

static gboolean
dlp_app_sink_negotiate (DlpElement *element, GError **error)
{
  DlpAppSink *self = DLP_APP_SINK (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));

  self->whole = dlp_schema_get_kind (schema) == DLP_SCHEMA_BATCHES;
  self->tokens = dlp_schema_find (schema, "tokens");
  if (self->tokens >= 0 &&
      !dlp_field_type_is_list (dlp_schema_get_field_type (schema, (guint) self->tokens)))
    self->tokens = -1;
  return TRUE;
}

static gsize
dlp_app_sink_want_memory (DlpElement *element, guint n_workers)
{
  return DLP_APP_SINK (element)->max_bytes;
}

static gboolean
dlp_app_sink_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpAppSink *self = DLP_APP_SINK (element);

  self->limit = MIN (self->max_bytes, dlp_element_get_memory_share (element));
  pthread_mutex_lock (&self->app.lock);
  dlp_sink_get_state (DLP_SINK (self), &self->given.counts);
  dlp_pad_get_cursor (dlp_element_get_input (element, 0), &self->given.cursor);
  set_place (&self->confirmed, &self->given);
  set_place (&self->next, &self->given);
  self->moved = self->given.counts.records;
  pthread_mutex_unlock (&self->app.lock);
  return TRUE;
}

static DlpState *
dlp_app_sink_save (DlpElement *element)
{
  DlpAppSink *self = DLP_APP_SINK (element);
  const guint64 skipped = self->skipped + self->held;

  return dlp_state_new (&skipped, sizeof skipped);
}

static GVariant *
dlp_app_sink_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "skipped", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_app_sink_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "skipped", NULL };
  DlpAppSink *self = DLP_APP_SINK (element);
  g_autofree char *message = NULL;

  if (!dlp_state_check_keys (described, keys, error) ||
      !dlp_state_get_uint64 (described, "skipped", G_MAXUINT64, &self->skipped, error))
    return FALSE;
  if (self->skipped == 0)
    return TRUE;
  message = g_strdup_printf ("state=approximate: %" G_GUINT64_FORMAT
                             " records that were queued when the states of this run were saved "
                             "are skipped",
                             self->skipped);
  dlp_element_warn (element, NULL, -1, message);
  return TRUE;
}

static void
dlp_app_sink_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpAppSink *self = DLP_APP_SINK (object);

  switch (id)
    {
    case PROP_MAX_RECORDS:
      self->max_records = g_value_get_uint (value);
      break;
    case PROP_MAX_BATCHES:
      self->max_batches = g_value_get_uint (value);
      break;
    case PROP_MAX_BYTES:
      self->max_bytes = g_value_get_uint64 (value);
      break;
    case PROP_STATE:
      self->state = g_value_get_enum (value);
      break;
    case PROP_CONFIRM:
      self->confirm = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_app_sink_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpAppSink *self = DLP_APP_SINK (object);

  switch (id)
    {
    case PROP_MAX_RECORDS:
      g_value_set_uint (value, self->max_records);
      break;
    case PROP_MAX_BATCHES:
      g_value_set_uint (value, self->max_batches);
      break;
    case PROP_MAX_BYTES:
      g_value_set_uint64 (value, self->max_bytes);
      break;
    case PROP_STATE:
      g_value_set_enum (value, self->state);
      break;
    case PROP_CONFIRM:
      g_value_set_enum (value, self->confirm);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_app_sink_finalize (GObject *object)
{
  DlpAppSink *self = DLP_APP_SINK (object);

  free_queue (&self->queue);
  dlp_cursor_clear (&self->given.cursor);
  dlp_cursor_clear (&self->confirmed.cursor);
  dlp_cursor_clear (&self->next.cursor);
  dlp_cursor_clear (&self->settled);
  dlp_app_clear (&self->app);

  G_OBJECT_CLASS (dlp_app_sink_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags rw = DLP_PARAM_READWRITE | DLP_PARAM_FREE;

  properties[PROP_MAX_RECORDS] = g_param_spec_uint (
      "max-records", NULL, "Records that a pull gives at most; training batches come whole", 1,
      G_MAXUINT, 1024, rw);
  properties[PROP_MAX_BATCHES] = g_param_spec_uint (
      "max-batches", NULL, "Record batches held ready for the program", 1, 65536, 4, rw);
  properties[PROP_MAX_BYTES] = g_param_spec_uint64 (
      "max-bytes", NULL, "Bytes held ready for the program, less where memory is short", 1,
      G_MAXINT64, 16 * 1024 * 1024, rw | DLP_PARAM_BYTES);
  properties[PROP_STATE] = g_param_spec_enum (
      "state", NULL,
      "Where a continued run goes on: behind what was confirmed, or behind what was queued",
      DLP_TYPE_APP_SINK_STATE, DLP_APP_SINK_STATE_EXACT, rw);
  properties[PROP_CONFIRM] = g_param_spec_enum (
      "confirm", NULL,
      "What confirms the records that were given: the next pull, or a commit alone",
      DLP_TYPE_APP_SINK_CONFIRM, DLP_APP_SINK_CONFIRM_PULL, rw);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_app_sink_class_init (DlpAppSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_app_sink_set_property;
  object_class->get_property = dlp_app_sink_get_property;
  object_class->finalize = dlp_app_sink_finalize;
  element_class->negotiate = dlp_app_sink_negotiate;
  element_class->want_memory = dlp_app_sink_want_memory;
  element_class->start = dlp_app_sink_start;
  element_class->step = dlp_app_sink_step;
  element_class->mark_input = dlp_app_sink_mark_input;
  element_class->save = dlp_app_sink_save;
  element_class->describe = dlp_app_sink_describe;
  element_class->load = dlp_app_sink_load;
  DLP_SINK_CLASS (klass)->flush = dlp_app_sink_flush;
  install_properties (object_class);
  dlp_element_class_set_description (element_class, "Gives records to the program",
                                     "file-source location=data/*.jsonl ! jsonl-reader ! app-sink");
}

static void
dlp_app_sink_init (DlpAppSink *self)
{
  static const DlpAppHooks hooks = { dlp_app_sink_ready, dlp_app_sink_over, NULL };

  self->max_records = 1024;
  self->max_batches = 4;
  self->max_bytes = 16 * 1024 * 1024;
  self->tokens = -1;
  g_queue_init (&self->queue);
  dlp_app_init (&self->app, DLP_ELEMENT (self), &hooks);
}
