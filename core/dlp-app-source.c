/* SPDX-License-Identifier: MIT */

/* The program puts record batches into a small queue, the element's thread takes them from there
 * and emits them in pieces. The state is the newest token of which something was emitted, how many
 * records came before the first record pushed with it, and how many of those behind that were
 * emitted. See docs/internals/app.md. */

#include <dlpipe/dlp-app-source.h>

#include <string.h>

#include "dlp-app-private.h"
#include "dlp-record-batch-private.h"
#include "dlp-schema-text-private.h"
#include "dlp-utf8-private.h"

#define WAITS "waits for the program to push records"
#define MAX_TOKEN (64 * 1024)

typedef struct
{
  DlpRecordBatch *batch;
  GBytes *token; /* of the GVariant, boxed as a variant; NULL: none */
  gsize size;
} Entry;

struct _DlpAppSource
{
  DlpSource parent_instance;

  char *schema_text;
  DlpSchema *schema; /* NULL: the text is not set, or wrong */
  gboolean tokens;
  gboolean keep_coordinates;
  guint max_batches;
  guint64 max_bytes;

  DlpApp app;
  GQueue queue;          /* app.lock: of Entry */
  gsize queued_bytes;    /* app.lock */
  gsize limit;           /* app.lock */
  bool ready;            /* app.lock: the restored token is known */
  bool ended;            /* app.lock: by the program */
  bool waits;            /* app.lock: a push goes on, and is not in the queue yet */
  GError *broken;        /* app.lock: the program's */
  GBytes *restored;      /* app.lock */
  Entry *pending;        /* app.lock: of app.pending */
  bool checked_restored; /* app.lock: the first token was the restored one */
  guint64 n_repaired;    /* app.lock: U+FFFD put in, in this attempt */

  /* The element's thread. */
  DlpRecordBatch *batch; /* being emitted */
  guint row;
  GBytes *token;   /* state: of the batch that was begun last; NULL: none */
  guint64 begun;   /* state: records before the first one pushed with it */
  guint64 emitted; /* state, as emitted - begun */
  guint64 to_skip; /* delivered before the run was continued */
};

/* What save() copies; the token's bytes follow. */
typedef struct
{
  guint64 begun;
  guint64 done;
  guint64 token_size; /* 0: none */
} SavedState;

enum
{
  PROP_0,
  PROP_SCHEMA,
  PROP_TOKENS,
  PROP_KEEP_COORDINATES,
  PROP_MAX_BATCHES,
  PROP_MAX_BYTES,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpAppSource, dlp_app_source, DLP_TYPE_SOURCE)

static void
entry_free (Entry *self)
{
  dlp_record_batch_unref (self->batch);
  g_clear_pointer (&self->token, g_bytes_unref);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Entry, entry_free)

static const char *
get_name (DlpAppSource *self)
{
  return dlp_element_get_name (DLP_ELEMENT (self));
}

static char *
print_token (GBytes *token)
{
  g_autoptr (GVariant) boxed =
      g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE_VARIANT, token, FALSE));
  g_autoptr (GVariant) value = g_variant_get_variant (boxed);

  return g_variant_print (value, TRUE);
}

/* ---- pushing ---- */

static GBytes *
box_token (DlpAppSource *self, GVariant *token, GError **error)
{
  g_autoptr (GVariant) boxed = g_variant_ref_sink (g_variant_new_variant (token));
  g_autoptr (GVariant) normal = g_variant_get_normal_form (boxed);

  if (g_variant_get_size (normal) <= MAX_TOKEN)
    return g_variant_get_data_as_bytes (normal);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "%s: a token of %zu bytes; at most %d are kept in each state: make it a position, "
               "not the data",
               get_name (self), g_variant_get_size (normal), MAX_TOKEN);
  return NULL;
}

static bool
check_schema (DlpAppSource *self, DlpRecordBatch *batch, GError **error)
{
  g_autofree char *has = NULL;
  g_autofree char *wanted = NULL;

  if (self->schema == NULL)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "%s: its schema is to be set before a push", get_name (self));
      return false;
    }
  if (dlp_schema_equal (self->schema, dlp_record_batch_get_schema (batch)))
    return true;
  has = dlp_schema_to_string (dlp_record_batch_get_schema (batch));
  wanted = dlp_schema_to_string (self->schema);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "%s: a batch of %s was pushed, its schema is %s", get_name (self), has, wanted);
  return false;
}

/* (transfer full) (nullable): of strings that are UTF-8, as everything behind it may expect. */
static DlpRecordBatch *
repair (DlpAppSource *self, DlpRecordBatch *batch, GError **error)
{
  DlpRecordBatch *repaired;
  guint64 n;
  bool first;

  repaired = dlp_utf8_repair_batch (batch, &n, error);
  if (n == 0)
    return repaired;
  pthread_mutex_lock (&self->app.lock);
  first = self->n_repaired == 0;
  self->n_repaired += n;
  pthread_mutex_unlock (&self->app.lock);
  if (first)
    dlp_element_warn (DLP_ELEMENT (self), NULL, -1,
                      "the program pushed strings that are not UTF-8; U+FFFD takes the place of "
                      "what is wrong in them");
  return repaired;
}

/* (transfer full) (nullable) */
static Entry *
make_entry (DlpAppSource *self, DlpRecordBatch *batch, GVariant *token, GError **error)
{
  g_autoptr (GBytes) boxed = NULL;
  g_autoptr (DlpRecordBatch) repaired = NULL;
  Entry *entry;

  if (!check_schema (self, batch, error))
    return NULL;
  if ((token != NULL) != self->tokens)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   self->tokens ? "%s: tokens=true, and a push without a token" :
                                  "%s: a push with a token; set tokens=true for that",
                   get_name (self));
      return NULL;
    }
  if (token != NULL && (boxed = box_token (self, token, error)) == NULL)
    return NULL;
  repaired = repair (self, batch, error);
  if (repaired == NULL)
    return NULL;
  entry = g_new0 (Entry, 1);
  entry->size = dlp_record_batch_get_bytes (repaired);
  entry->batch = g_steal_pointer (&repaired);
  entry->token = g_steal_pointer (&boxed);
  return entry;
}

typedef enum
{
  PUT_TAKEN,
  PUT_FULL,
  PUT_ERROR,
} Put;

/* app.lock is held. Silence about what is pushed again wrongly would be wrong data. */
static bool
check_restored (DlpAppSource *self, Entry *entry, GError **error)
{
  g_autofree char *was = NULL;
  g_autofree char *is = NULL;

  if (self->tokens && !self->ready)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "%s: before the first push the pipeline is prepared, and the restored token "
                   "asked for",
                   get_name (self));
      return false;
    }
  if (self->restored == NULL || self->checked_restored)
    return true;
  if (g_bytes_equal (self->restored, entry->token))
    {
      self->checked_restored = true;
      return true;
    }
  was = print_token (self->restored);
  is = print_token (entry->token);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%s: the run goes on at token %s, the first push has %s: push again everything that "
               "was pushed with the restored token, and after it",
               get_name (self), was, is);
  return false;
}

/* app.lock is held. Takes the entry where it is taken. */
static Put
put (DlpAppSource *self, Entry *entry, bool *wake, GError **error)
{
  if (dlp_app_set_failed (&self->app, error))
    return PUT_ERROR;
  if (self->app.over)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED,
                   "%s is closed: nobody takes records of it any more", get_name (self));
      return PUT_ERROR;
    }
  if (!check_restored (self, entry, error))
    return PUT_ERROR;
  if (self->queue.length >= self->max_batches || self->queued_bytes >= self->limit)
    return PUT_FULL;
  g_queue_push_tail (&self->queue, entry);
  self->queued_bytes += entry->size;
  *wake = self->app.sleeps;
  self->app.sleeps = false;
  return PUT_TAKEN;
}

static bool
begin_push (DlpAppSource *self, GError **error)
{
  bool ended;

  if (!dlp_app_begin (&self->app, "push", error))
    return false;
  pthread_mutex_lock (&self->app.lock);
  ended = self->ended || self->broken != NULL;
  self->app.busy = self->waits = !ended;
  pthread_mutex_unlock (&self->app.lock);
  if (ended)
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                 "%s: the program has ended its stream already", get_name (self));
  return !ended;
}

/* An end that the program gave meanwhile is behind this push. */
static void
end_push (gpointer source)
{
  DlpAppSource *self = source;

  dlp_app_end (&self->app);
  dlp_element_wake (DLP_ELEMENT (self));
}

static gboolean
push (DlpAppSource *self,
      DlpRecordBatch *batch,
      GVariant *token,
      bool wait,
      GCancellable *cancellable,
      GError **error)
{
  g_autoptr (GVariant) own = token != NULL ? g_variant_ref_sink (token) : NULL;
  Entry *entry = make_entry (self, batch, own, error);
  bool wake = false;
  gulong id;
  Put result;

  if (entry == NULL)
    return FALSE;
  if (!begin_push (self, error))
    {
      entry_free (entry);
      return FALSE;
    }
  id = dlp_app_watch (&self->app, cancellable);
  pthread_mutex_lock (&self->app.lock);
  while ((result = put (self, entry, &wake, error)) == PUT_FULL && wait &&
         !g_cancellable_is_cancelled (cancellable))
    pthread_cond_wait (&self->app.cond, &self->app.lock);
  self->waits = false;
  pthread_mutex_unlock (&self->app.lock);
  g_cancellable_disconnect (cancellable, id);

  if (result == PUT_FULL)
    g_set_error (error, G_IO_ERROR, wait ? G_IO_ERROR_CANCELLED : G_IO_ERROR_WOULD_BLOCK,
                 wait ? "%s: the push was cancelled" : "%s: there is no room yet", get_name (self));
  if (result != PUT_TAKEN)
    entry_free (entry);
  end_push (self);
  return result == PUT_TAKEN;
}

gboolean
dlp_app_source_push (DlpAppSource *self,
                     DlpRecordBatch *batch,
                     GVariant *token,
                     GCancellable *cancellable,
                     GError **error)
{
  g_return_val_if_fail (DLP_IS_APP_SOURCE (self) && batch != NULL, FALSE);

  return push (self, batch, token, true, cancellable, error);
}

gboolean
dlp_app_source_try_push (DlpAppSource *self, DlpRecordBatch *batch, GVariant *token, GError **error)
{
  g_return_val_if_fail (DLP_IS_APP_SOURCE (self) && batch != NULL, FALSE);

  return push (self, batch, token, false, NULL, error);
}

/* ---- asynchronous pushes ---- */

typedef struct
{
  DlpAsyncCall *call; /* to be answered; NULL: none */
  Entry *entry;       /* to be freed */
  GError *error;
  bool wake;
} Answer;

/* app.lock is held. */
static void
try_pending (DlpAppSource *self, Answer *answer)
{
  Put result;

  *answer = (Answer){ NULL };
  if (self->app.pending == NULL)
    return;
  result = put (self, self->pending, &answer->wake, &answer->error);
  if (result == PUT_FULL)
    return;
  answer->call = g_steal_pointer (&self->app.pending);
  answer->entry = result == PUT_ERROR ? self->pending : NULL;
  answer->wake |= result == PUT_ERROR;
  self->pending = NULL;
  self->waits = false;
}

static void
answer_call (DlpAppSource *self, Answer *answer)
{
  if (answer->wake)
    dlp_element_wake (DLP_ELEMENT (self));
  g_clear_pointer (&answer->entry, entry_free);
  if (answer->call != NULL)
    dlp_async_call_return_boolean (answer->call, answer->error);
}

static void
push_cancelled (GCancellable *cancellable, gpointer data)
{
  DlpAppSource *self = data;
  Answer answer = { NULL };

  pthread_mutex_lock (&self->app.lock);
  if (self->app.pending != NULL &&
      dlp_async_call_get_cancellable (self->app.pending) == cancellable)
    {
      answer.call = g_steal_pointer (&self->app.pending);
      answer.entry = g_steal_pointer (&self->pending);
      answer.wake = true;
      self->waits = false;
      answer.error = g_error_new (G_IO_ERROR, G_IO_ERROR_CANCELLED, "%s: the push was cancelled",
                                  get_name (self));
    }
  pthread_mutex_unlock (&self->app.lock);
  answer_call (self, &answer);
}

void
dlp_app_source_push_async (DlpAppSource *self,
                           DlpRecordBatch *batch,
                           GVariant *token,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data)
{
  g_autoptr (GVariant) own = token != NULL ? g_variant_ref_sink (token) : NULL;
  DlpAsyncCall *call;
  GError *error = NULL;
  Answer answer;
  Entry *entry;

  g_return_if_fail (DLP_IS_APP_SOURCE (self) && batch != NULL);

  call =
      dlp_app_make_call (&self->app, cancellable, dlp_app_source_push_async, callback, user_data);
  entry = make_entry (self, batch, own, &error);
  if (entry == NULL || !begin_push (self, &error))
    {
      g_clear_pointer (&entry, entry_free);
      dlp_async_call_return_boolean (call, error);
      return;
    }
  dlp_async_call_set_before (call, end_push);
  dlp_async_call_watch (call, G_CALLBACK (push_cancelled));
  pthread_mutex_lock (&self->app.lock);
  self->app.pending = call;
  self->pending = entry;
  try_pending (self, &answer);
  pthread_mutex_unlock (&self->app.lock);
  answer_call (self, &answer);
  if (answer.call == NULL && g_cancellable_is_cancelled (cancellable))
    push_cancelled (cancellable, self);
}

gboolean
dlp_app_source_push_finish (DlpAppSource *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/* ---- ends ---- */

void
dlp_app_source_end (DlpAppSource *self)
{
  g_return_if_fail (DLP_IS_APP_SOURCE (self));

  pthread_mutex_lock (&self->app.lock);
  self->ended = true;
  pthread_mutex_unlock (&self->app.lock);
  dlp_element_wake (DLP_ELEMENT (self));
}

void
dlp_app_source_fail (DlpAppSource *self, const GError *error)
{
  g_return_if_fail (DLP_IS_APP_SOURCE (self) && error != NULL);

  pthread_mutex_lock (&self->app.lock);
  if (self->broken == NULL && !self->ended)
    self->broken = g_error_copy (error);
  pthread_mutex_unlock (&self->app.lock);
  dlp_element_wake (DLP_ELEMENT (self));
}

GVariant *
dlp_app_source_dup_restored_token (DlpAppSource *self)
{
  g_autoptr (GVariant) boxed = NULL;
  g_autoptr (GBytes) token = NULL;

  g_return_val_if_fail (DLP_IS_APP_SOURCE (self), NULL);

  pthread_mutex_lock (&self->app.lock);
  token = self->restored != NULL ? g_bytes_ref (self->restored) : NULL;
  pthread_mutex_unlock (&self->app.lock);
  if (token == NULL)
    return NULL;
  boxed = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE_VARIANT, token, FALSE));
  return g_variant_get_variant (boxed);
}

/* ---- what the pipeline tells ---- */

static void
dlp_app_source_ready (DlpElement *element)
{
  DlpAppSource *self = DLP_APP_SOURCE (element);

  dlp_app_set_main_context (&self->app, dlp_element_get_context (element)->main_context);
  pthread_mutex_lock (&self->app.lock);
  self->ready = true;
  pthread_mutex_unlock (&self->app.lock);
}

static void
dlp_app_source_over (DlpElement *element, const GError *error)
{
  DlpAppSource *self = DLP_APP_SOURCE (element);
  GQueue queue;
  Answer answer;

  pthread_mutex_lock (&self->app.lock);
  if (error != NULL)
    dlp_app_take_failure (&self->app, error);
  else
    self->app.over = true;
  queue = self->queue;
  g_queue_init (&self->queue);
  self->queued_bytes = 0;
  try_pending (self, &answer);
  pthread_cond_broadcast (&self->app.cond);
  pthread_mutex_unlock (&self->app.lock);
  g_queue_clear_full (&queue, (GDestroyNotify) entry_free);
  answer_call (self, &answer);
}

static bool
dlp_app_source_check_resumable (DlpElement *element, GError **error)
{
  DlpAppSource *self = DLP_APP_SOURCE (element);

  if (self->tokens)
    return true;
  g_set_error (
      error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
      "%s is fed by the program, so the run can be continued only where that says where it "
      "is: set tokens=true and push with tokens, or run without a state",
      get_name (self));
  return false;
}

/* ---- the element's thread ---- */

typedef enum
{
  NEXT_BATCH,
  NEXT_NOTHING,
  NEXT_END,
  NEXT_ERROR,
} Next;

/* Whether all that was delivered before the run was continued was pushed again, as far as can be
 * seen: of the next token nothing may be dropped. */
static bool
check_repeated (DlpAppSource *self, GError **error)
{
  guint64 delivered = MAX (dlp_element_get_output (DLP_ELEMENT (self), 0)->wanted, self->emitted);
  g_autofree char *token = NULL;

  /* Records to skip were counted as emitted by load(). */
  if (self->restored == NULL || (self->to_skip == 0 && self->emitted >= delivered))
    return true;
  token = print_token (self->restored);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "%s: with token %s, where the run goes on, %" G_GUINT64_FORMAT
               " records were pushed again, but at least %" G_GUINT64_FORMAT
               " were delivered before: push again everything that was pushed with it",
               get_name (self), token, self->emitted - self->to_skip - self->begun,
               delivered - self->begun);
  return false;
}

/* Everything pushed with one token counts from the first of it. What is skipped was counted. */
static bool
begin_token (DlpAppSource *self, GBytes *token, GError **error)
{
  if (token == NULL || (self->token != NULL && g_bytes_equal (self->token, token)))
    return true;
  if (!check_repeated (self, error))
    return false;
  g_clear_pointer (&self->token, g_bytes_unref);
  self->token = g_bytes_ref (token);
  self->begun = self->emitted - self->to_skip;
  /* The mark that its records will carry says so. */
  dlp_element_get_private (DLP_ELEMENT (self))->marked_at = 0;
  return true;
}

/* What was delivered before the run was continued is dropped; the rest gets its coordinates. */
static bool
begin_batch (DlpAppSource *self, Entry *entry, GError **error)
{
  g_autoptr (DlpRecordBatch) rest = NULL;
  bool whole = dlp_schema_get_kind (self->schema) == DLP_SCHEMA_BATCHES;
  guint length = dlp_record_batch_get_length (entry->batch);
  guint n = whole ? 1 : length;
  guint skip = (guint) MIN (self->to_skip, n);
  bool files = dlp_schema_get_kind (self->schema) == DLP_SCHEMA_FILES;
  DlpCoordinate first = { .stage = dlp_element_get_stage (DLP_ELEMENT (self)),
                          .source = dlp_element_get_ordinal (DLP_ELEMENT (self)) };

  if (!begin_token (self, entry->token, error))
    return false;
  self->to_skip -= skip;
  if (skip == n)
    return true;
  if (files || whole)
    first.file = (guint32) self->emitted;
  else
    first.row = self->emitted;
  rest = dlp_record_batch_slice (entry->batch, skip, length - skip);
  self->batch = self->keep_coordinates ? g_steal_pointer (&rest) :
                                         dlp_record_batch_relabel (rest, &first, files);
  self->row = 0;
  return true;
}

static Next
take_next (DlpAppSource *self, GError **error)
{
  g_autoptr (Entry) entry = NULL;
  Next next = NEXT_BATCH;
  Answer answer;

  pthread_mutex_lock (&self->app.lock);
  entry = g_queue_pop_head (&self->queue);
  if (entry != NULL)
    {
      self->queued_bytes -= entry->size;
      pthread_cond_signal (&self->app.cond);
    }
  else if ((self->ended || self->broken != NULL) && !self->waits)
    next = self->broken != NULL ? NEXT_ERROR : NEXT_END;
  else
    next = NEXT_NOTHING;
  self->app.sleeps = next == NEXT_NOTHING;
  if (next == NEXT_ERROR)
    g_propagate_error (error, g_error_copy (self->broken));
  try_pending (self, &answer);
  pthread_mutex_unlock (&self->app.lock);

  answer_call (self, &answer);
  if (entry != NULL && !begin_batch (self, entry, error))
    return NEXT_ERROR;
  return next;
}

/* A training batch is not cut, and its link counts batches. */
static void
emit_whole (DlpAppSource *self, DlpPad *out)
{
  DlpBatchInfo info = { .index = self->emitted++, .n_batches = 1 };

  dlp_batch_info_add_rows (&info, self->batch, 0, dlp_record_batch_get_length (self->batch));
  dlp_pad_push_batch (out, g_steal_pointer (&self->batch), &info);
}

/* About a record batch's worth. */
static void
emit (DlpAppSource *self, DlpPad *out)
{
  guint left = dlp_record_batch_get_length (self->batch) - self->row;
  gsize each = dlp_record_batch_get_bytes (self->batch) / dlp_record_batch_get_length (self->batch);
  guint n = (guint) MIN (
      left, CLAMP (DLP_RECORD_BATCH_MAX_BYTES / MAX (each, 1), 1, DLP_RECORD_BATCH_MAX_RECORDS));

  if (dlp_schema_get_kind (self->schema) == DLP_SCHEMA_BATCHES)
    {
      emit_whole (self, out);
      return;
    }
  dlp_pad_push_rows (out, self->batch, self->row, n);
  self->row += n;
  self->emitted += n;
  if (n == left)
    g_clear_pointer (&self->batch, dlp_record_batch_unref);
}

static DlpStep
dlp_app_source_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  DlpAppSource *self = DLP_APP_SOURCE (source);

  if (self->batch != NULL)
    {
      emit (self, out);
      return DLP_STEP_MORE;
    }
  switch (take_next (self, error))
    {
    case NEXT_BATCH:
      break;
    case NEXT_NOTHING:
      dlp_app_declare (&self->app, WAITS);
      return DLP_STEP_WANT_WORK;
    case NEXT_END:
      return DLP_STEP_END;
    case NEXT_ERROR:
      return DLP_STEP_ERROR;
    }
  /* Emitted in the next step, whose mark has its token. */
  dlp_app_declare (&self->app, NULL);
  return DLP_STEP_MORE;
}

/* ---- state ---- */

static DlpState *
dlp_app_source_save (DlpElement *element)
{
  DlpAppSource *self = DLP_APP_SOURCE (element);
  gsize size = self->token != NULL ? g_bytes_get_size (self->token) : 0;
  SavedState *saved;
  gpointer data;
  DlpState *state = dlp_state_alloc (sizeof *saved + size, &data);

  saved = data;
  *saved = (SavedState){ self->begun, self->emitted - self->begun, size };
  if (size > 0)
    memcpy (saved + 1, g_bytes_get_data (self->token, NULL), size);
  return state;
}

static GVariant *
dlp_app_source_describe (DlpElement *element, const DlpState *state)
{
  const SavedState *saved = dlp_state_get_data (state);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "begun", "t", saved->begun);
  g_variant_dict_insert (&dict, "done", "t", saved->done);
  if (saved->token_size > 0)
    {
      g_autoptr (GBytes) token = g_bytes_new (saved + 1, saved->token_size);

      g_variant_dict_insert_value (&dict, "token",
                                   g_variant_new_from_bytes (G_VARIANT_TYPE_VARIANT, token, FALSE));
    }
  return g_variant_dict_end (&dict);
}

/* What is counted is of this attempt alone. */
static GVariant *
dlp_app_source_report (DlpElement *element, GVariant *described)
{
  DlpAppSource *self = DLP_APP_SOURCE (element);
  GVariantDict dict;
  guint64 n;

  pthread_mutex_lock (&self->app.lock);
  n = self->n_repaired;
  pthread_mutex_unlock (&self->app.lock);
  g_variant_dict_init (&dict, described);
  if (n > 0)
    g_variant_dict_insert (&dict, "replacement-characters", "t", n);
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_app_source_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "begun", "done", "token", NULL };
  DlpAppSource *self = DLP_APP_SOURCE (element);
  g_autoptr (GVariant) token = NULL;
  guint64 done;

  if (!dlp_state_check_keys (described, keys, error) ||
      !dlp_state_get_uint64 (described, "begun", G_MAXINT64, &self->begun, error) ||
      !dlp_state_get_uint64 (described, "done", G_MAXINT64, &done, error))
    return FALSE;
  self->emitted = self->begun + done;
  self->to_skip = done;
  token = g_variant_lookup_value (described, "token", G_VARIANT_TYPE_VARIANT);
  if (token == NULL)
    return TRUE;
  self->token = g_variant_get_data_as_bytes (token);
  pthread_mutex_lock (&self->app.lock);
  self->restored = g_bytes_ref (self->token);
  pthread_mutex_unlock (&self->app.lock);
  return TRUE;
}

/* ---- life ---- */

static bool
parse_schema (DlpAppSource *self, GError **error)
{
  if (self->schema_text == NULL)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "its property “schema” is not set: it names the fields of what the program "
                   "pushes, such as text:string,score:double?");
      return false;
    }
  if (self->schema == NULL)
    self->schema = dlp_schema_parse (self->schema_text, error);
  return self->schema != NULL;
}

static gboolean
dlp_app_source_negotiate (DlpElement *element, GError **error)
{
  DlpAppSource *self = DLP_APP_SOURCE (element);

  if (!parse_schema (self, error))
    return FALSE;
  dlp_pad_set_schema (dlp_element_get_output (element, 0), self->schema);
  return TRUE;
}

static gsize
dlp_app_source_want_memory (DlpElement *element, guint n_workers)
{
  return DLP_APP_SOURCE (element)->max_bytes;
}

static gboolean
dlp_app_source_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpAppSource *self = DLP_APP_SOURCE (element);

  pthread_mutex_lock (&self->app.lock);
  self->limit = MIN (self->limit, dlp_element_get_memory_share (element));
  pthread_mutex_unlock (&self->app.lock);
  return TRUE;
}

static void
dlp_app_source_stop (DlpElement *element)
{
  g_clear_pointer (&DLP_APP_SOURCE (element)->batch, dlp_record_batch_unref);
}

void
dlp_app_source_set_schema (DlpAppSource *self, DlpSchema *schema)
{
  g_autofree char *text = NULL;

  g_return_if_fail (DLP_IS_APP_SOURCE (self) && schema != NULL);

  text = dlp_schema_to_text (schema);
  g_object_set (self, "schema", text, NULL);
}

DlpSchema *
dlp_app_source_get_schema (DlpAppSource *self)
{
  g_return_val_if_fail (DLP_IS_APP_SOURCE (self), NULL);

  return self->schema;
}

static void
set_schema_text (DlpAppSource *self, const GValue *value)
{
  if (dlp_element_get_context (DLP_ELEMENT (self)) != NULL)
    {
      g_critical ("%s: the schema is set before the pipeline is prepared", get_name (self));
      return;
    }
  g_free (self->schema_text);
  g_clear_pointer (&self->schema, dlp_schema_unref);
  self->schema_text = g_value_dup_string (value);
  if (self->schema_text != NULL)
    self->schema = dlp_schema_parse (self->schema_text, NULL);
}

static void
dlp_app_source_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpAppSource *self = DLP_APP_SOURCE (object);

  switch (id)
    {
    case PROP_SCHEMA:
      set_schema_text (self, value);
      break;
    case PROP_TOKENS:
      self->tokens = g_value_get_boolean (value);
      break;
    case PROP_KEEP_COORDINATES:
      self->keep_coordinates = g_value_get_boolean (value);
      break;
    case PROP_MAX_BATCHES:
      self->max_batches = g_value_get_uint (value);
      break;
    case PROP_MAX_BYTES:
      self->max_bytes = self->limit = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_app_source_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpAppSource *self = DLP_APP_SOURCE (object);

  switch (id)
    {
    case PROP_SCHEMA:
      g_value_set_string (value, self->schema_text);
      break;
    case PROP_TOKENS:
      g_value_set_boolean (value, self->tokens);
      break;
    case PROP_KEEP_COORDINATES:
      g_value_set_boolean (value, self->keep_coordinates);
      break;
    case PROP_MAX_BATCHES:
      g_value_set_uint (value, self->max_batches);
      break;
    case PROP_MAX_BYTES:
      g_value_set_uint64 (value, self->max_bytes);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_app_source_finalize (GObject *object)
{
  DlpAppSource *self = DLP_APP_SOURCE (object);

  g_queue_clear_full (&self->queue, (GDestroyNotify) entry_free);
  g_clear_pointer (&self->batch, dlp_record_batch_unref);
  g_clear_pointer (&self->token, g_bytes_unref);
  g_clear_pointer (&self->restored, g_bytes_unref);
  g_clear_pointer (&self->schema, dlp_schema_unref);
  g_clear_error (&self->broken);
  g_free (self->schema_text);
  dlp_app_clear (&self->app);

  G_OBJECT_CLASS (dlp_app_source_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags rw = DLP_PARAM_READWRITE;

  properties[PROP_SCHEMA] = g_param_spec_string (
      "schema", NULL,
      "Fields of what is pushed: NAME:TYPE, ...; types are string, binary, boolean, int64, uint64, "
      "double, list<uint16>, list<uint32>, list<int32>, list<int64>, list<float>, list<double>, "
      "with ? where a value may be null",
      NULL, rw);
  properties[PROP_TOKENS] = g_param_spec_boolean (
      "tokens", NULL, "Each push has a token, by which a continued run tells where it goes on",
      FALSE, rw);
  properties[PROP_KEEP_COORDINATES] = g_param_spec_boolean (
      "keep-coordinates", NULL, "Records keep the coordinates they were pushed with", FALSE, rw);
  properties[PROP_MAX_BATCHES] =
      g_param_spec_uint ("max-batches", NULL, "Batches of the program that are held at most", 1,
                         65536, 4, rw | DLP_PARAM_FREE);
  properties[PROP_MAX_BYTES] = g_param_spec_uint64 (
      "max-bytes", NULL, "Bytes of the program's that are held, and one batch beyond", 1,
      G_MAXINT64, 16 * 1024 * 1024, rw | DLP_PARAM_FREE | DLP_PARAM_BYTES);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_app_source_class_init (DlpAppSourceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_app_source_set_property;
  object_class->get_property = dlp_app_source_get_property;
  object_class->finalize = dlp_app_source_finalize;
  element_class->negotiate = dlp_app_source_negotiate;
  element_class->want_memory = dlp_app_source_want_memory;
  element_class->start = dlp_app_source_start;
  element_class->stop = dlp_app_source_stop;
  element_class->save = dlp_app_source_save;
  element_class->describe = dlp_app_source_describe;
  element_class->load = dlp_app_source_load;
  element_class->report = dlp_app_source_report;
  DLP_SOURCE_CLASS (klass)->produce = dlp_app_source_produce;
  install_properties (object_class);
  dlp_element_class_set_description (element_class, "Takes records from the program",
                                     "app-source schema=text:string ! shuffle ! null-sink");
}

static void
dlp_app_source_init (DlpAppSource *self)
{
  static const DlpAppHooks hooks = { dlp_app_source_ready, dlp_app_source_over,
                                     dlp_app_source_check_resumable };

  self->max_batches = 4;
  self->max_bytes = self->limit = 16 * 1024 * 1024;
  g_queue_init (&self->queue);
  dlp_app_init (&self->app, DLP_ELEMENT (self), &hooks);
}
