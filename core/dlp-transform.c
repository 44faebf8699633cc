/* SPDX-License-Identifier: MIT */

/* Record batches go out as tickets to the pool and come back in any order; they are released in the
 * order in which they were taken. Positions, marks and counters are given out at the release, so
 * between two steps the mark is the cursor before the oldest ticket that is still out. */

#include <pthread.h>

#include <dlpipe/dlp-pad-template.h>
#include <stdbool.h>
#include <string.h>

#include <dlpipe/dlp-transform.h>

#include "dlp-element-private.h"
#include "dlp-source-tallies-private.h"

#define BY_SOURCE "by-source"
/* What a ticket takes: a record batch, and what is made of it. */
#define TICKET_BYTES (DLP_RECORD_BATCH_MAX_BYTES * 3 / 2)

typedef struct
{
  GPtrArray *batches;             /* of DlpRecordBatch */
  DlpRecordBatchBuilder *builder; /* the worker's */
  DlpRecordFault fault;           /* of the record behind the batches */
} DlpTransformPad;

struct _DlpTransformOutput
{
  DlpTransform *transform;
  DlpRecordBatch *input;
  guint64 first;
  guint n_records;
  guint32 epoch; /* of the last record */
  gsize bytes;
  gsize out_bytes;
  DlpCursor before; /* of the input, before this batch */
  guint n_pads;
  DlpTransformPad *pads;
  DlpRecordBatchBuilder **builders; /* of the worker, while it works */
  guint64 counters[DLP_TRANSFORM_MAX_COUNTERS];
  DlpSourceTallies by_source;
  GError *error;
  bool lost; /* process() failed and did not say why */
  bool done; /* lock of the transform */
  DlpTransformOutput *next;
};

/* A builder remembers how large its last record batch became. */
typedef struct
{
  gpointer worker;
  DlpRecordBatchBuilder **builders; /* by output pad */
  bool made;
} DlpTransformWorker;

typedef struct
{
  guint64 counters[DLP_TRANSFORM_MAX_COUNTERS];
  DlpSourceTallies by_source;

  pthread_mutex_t lock;
  pthread_cond_t idle;
  DlpTransformOutput *head; /* tickets in order; the element's thread */
  DlpTransformOutput **tail;
  guint n_out;      /* tickets not released; the element's thread */
  gsize bytes_out;  /* of their inputs */
  gsize bytes_done; /* lock: of the outputs of those that are done */
  guint n_running;  /* lock: handed to the pool and not done */
  guint n_waiting;  /* lock: of these, not begun */
  guint max_out;    /* see has_room() */
  gsize max_bytes_out;
  gsize worker_memory; /* of each worker's context */
  DlpElement
      *endless; /* unowned: the source that alone feeds it, for ever; until a record passes */
  bool watching;
  guint32 first_epoch; /* since watching */
  guint n_workers;
  DlpTransformWorker *workers; /* each used by its own thread */
} DlpTransformPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (DlpTransform, dlp_transform, DLP_TYPE_ELEMENT)

/* What a binding copies would outlive the call that it is for. */
static DlpTransformOutput *
dlp_transform_output_copy (DlpTransformOutput *self)
{
  return NULL;
}

static void
dlp_transform_output_free (DlpTransformOutput *self)
{
}

G_DEFINE_BOXED_TYPE (DlpTransformOutput,
                     dlp_transform_output,
                     dlp_transform_output_copy,
                     dlp_transform_output_free)

static guint
count_counters (DlpTransformClass *klass)
{
  guint n = 0;

  while (klass->counters != NULL && klass->counters[n] != NULL)
    n++;
  return n;
}

/* ---- tickets ---- */

static DlpTransformOutput *
ticket_new (DlpTransform *self, DlpPad *in)
{
  DlpTransformOutput *ticket = g_new0 (DlpTransformOutput, 1);

  ticket->transform = self;
  ticket->n_pads = dlp_element_get_n_outputs (DLP_ELEMENT (self));
  ticket->pads = g_new0 (DlpTransformPad, ticket->n_pads);
  dlp_pad_is_over (in); /* brings the cursor to the batch that is next */
  dlp_pad_get_cursor (in, &ticket->before);
  ticket->first = dlp_pad_get_position (in);
  ticket->input = dlp_pad_take (in);
  ticket->n_records = dlp_record_batch_get_length (ticket->input);
  if (ticket->n_records > 0)
    ticket->epoch = dlp_record_batch_get_coordinate (ticket->input, ticket->n_records - 1)->epoch;
  ticket->bytes = dlp_record_batch_get_bytes (ticket->input);
  return ticket;
}

static void
ticket_free (DlpTransformOutput *ticket)
{
  for (guint i = 0; i < ticket->n_pads; i++)
    {
      g_clear_pointer (&ticket->pads[i].batches, g_ptr_array_unref);
      g_free (ticket->pads[i].fault.message);
    }
  g_clear_pointer (&ticket->input, dlp_record_batch_unref);
  dlp_cursor_clear (&ticket->before);
  dlp_source_tallies_clear (&ticket->by_source);
  g_clear_error (&ticket->error);
  g_free (ticket->pads);
  g_free (ticket);
}

static void
keep_batch (DlpTransformPad *pad, DlpRecordBatch *batch)
{
  if (pad->batches == NULL)
    pad->batches = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_record_batch_unref);
  g_ptr_array_add (pad->batches, batch);
}

/* FALSE: there is a fault, behind which nothing comes. */
static bool
close_builder (DlpTransformPad *pad)
{
  bool good;

  if (pad->builder == NULL)
    return true;
  good = dlp_record_batch_builder_check_ended (pad->builder);
  if (dlp_record_batch_builder_get_length (pad->builder) > 0)
    keep_batch (pad, dlp_record_batch_builder_take (pad->builder));
  return good;
}

DlpRecordBatchBuilder *
dlp_transform_output_get_builder (DlpTransformOutput *self, guint pad)
{
  DlpTransformPad *to;

  g_return_val_if_fail (self != NULL && self->builders != NULL && pad < self->n_pads, NULL);

  to = &self->pads[pad];
  if (self->builders[pad] == NULL)
    self->builders[pad] = dlp_record_batch_builder_new (
        dlp_pad_get_schema (dlp_element_get_output (DLP_ELEMENT (self->transform), pad)));
  to->builder = self->builders[pad];
  return to->builder;
}

void
dlp_transform_output_end_record (DlpTransformOutput *self,
                                 guint pad,
                                 const DlpCoordinate *coordinate)
{
  DlpTransformPad *to;

  g_return_if_fail (self != NULL && pad < self->n_pads && self->pads[pad].builder != NULL);

  to = &self->pads[pad];
  dlp_record_batch_builder_end_record (to->builder, coordinate);
  if (dlp_record_batch_builder_is_full (to->builder))
    close_builder (to);
}

void
dlp_transform_output_push (DlpTransformOutput *self, guint pad, DlpRecordBatch *batch)
{
  g_return_if_fail (self != NULL && self->builders != NULL && pad < self->n_pads && batch != NULL);

  if (close_builder (&self->pads[pad]))
    keep_batch (&self->pads[pad], batch);
  else
    dlp_record_batch_unref (batch);
}

void
dlp_transform_output_count (DlpTransformOutput *self, guint counter, guint64 n)
{
  g_return_if_fail (self != NULL && counter < DLP_TRANSFORM_MAX_COUNTERS);

  self->counters[counter] += n;
}

void
dlp_transform_output_count_by_source (DlpTransformOutput *self,
                                      const DlpCoordinate *coordinate,
                                      guint counter,
                                      guint64 n)
{
  g_return_if_fail (self != NULL && coordinate != NULL &&
                    counter < DLP_TRANSFORM_MAX_SOURCE_COUNTERS);

  dlp_source_tallies_get (&self->by_source, coordinate->stage, coordinate->source)->n[counter] += n;
}

/* ---- on a worker ---- */

static DlpTransformWorker *
get_worker (DlpTransform *self, DlpTransformPrivate *priv, guint index)
{
  DlpTransformWorker *worker = &priv->workers[index];

  if (worker->made)
    return worker;
  if (DLP_TRANSFORM_GET_CLASS (self)->worker_new != NULL)
    worker->worker = DLP_TRANSFORM_GET_CLASS (self)->worker_new (self);
  worker->builders =
      g_new0 (DlpRecordBatchBuilder *, dlp_element_get_n_outputs (DLP_ELEMENT (self)));
  worker->made = true;
  return worker;
}

static void
free_worker (DlpTransform *self, DlpTransformWorker *worker)
{
  if (!worker->made)
    return;
  if (DLP_TRANSFORM_GET_CLASS (self)->worker_free != NULL)
    DLP_TRANSFORM_GET_CLASS (self)->worker_free (self, worker->worker);
  for (guint i = 0; i < dlp_element_get_n_outputs (DLP_ELEMENT (self)); i++)
    g_clear_pointer (&worker->builders[i], dlp_record_batch_builder_unref);
  g_free (worker->builders);
}

/* A record that was not ended when an error came is none; else it is a fault. */
static void
close_builders (DlpTransformOutput *ticket)
{
  for (guint i = 0; i < ticket->n_pads; i++)
    {
      DlpTransformPad *pad = &ticket->pads[i];

      if (pad->builder == NULL)
        continue;
      if (ticket->lost)
        dlp_record_batch_builder_drop_record (pad->builder);
      if (!close_builder (pad))
        dlp_record_batch_builder_take_fault (pad->builder, &pad->fault);
      pad->builder = NULL;
    }
  ticket->builders = NULL;
}

static gsize
count_bytes (DlpTransformOutput *ticket)
{
  gsize sum = 0;

  for (guint i = 0; i < ticket->n_pads; i++)
    for (guint k = 0; ticket->pads[i].batches != NULL && k < ticket->pads[i].batches->len; k++)
      sum += dlp_record_batch_get_bytes (g_ptr_array_index (ticket->pads[i].batches, k));
  return sum;
}

static void
work (DlpElement *element, guint index, gpointer data)
{
  DlpTransform *self = DLP_TRANSFORM (element);
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (self);
  DlpTransformOutput *ticket = data;
  DlpContext *context = dlp_element_get_context (element);

  /* One that is left undone at a stop is never released: a mark behind it would lose its records.
   */
  bool skip = dlp_flag_get (context->cancelled) || dlp_flag_get (context->stopping);
  bool enough;

  dlp_context_yield (context);
  pthread_mutex_lock (&priv->lock);
  priv->n_waiting--;
  pthread_mutex_unlock (&priv->lock);
  if (!skip)
    {
      DlpTransformWorker *worker = get_worker (self, priv, index);

      ticket->builders = worker->builders;
      ticket->lost = !DLP_TRANSFORM_GET_CLASS (self)->process (
          self, worker->worker, ticket->input, ticket->first, ticket, &ticket->error);
      close_builders (ticket);
      ticket->out_bytes = count_bytes (ticket);
    }
  g_clear_pointer (&ticket->input, dlp_record_batch_unref);

  /* The element need not be woken for each ticket: as long as every worker has one before it, it
   * can wait for several. Woken under the lock: once n_running is 0 the element may be gone. */
  pthread_mutex_lock (&priv->lock);
  ticket->done = !skip;
  priv->bytes_done += ticket->out_bytes;
  priv->n_running--;
  enough = priv->n_waiting > priv->n_workers;
  pthread_cond_signal (&priv->idle);
  if (skip || !enough)
    dlp_element_wake (element);
  pthread_mutex_unlock (&priv->lock);
}

/* ---- the element ---- */

static void
submit (DlpTransform *self, DlpTransformPrivate *priv, DlpPad *in)
{
  DlpTransformOutput *ticket = ticket_new (self, in);

  *priv->tail = ticket;
  priv->tail = &ticket->next;
  priv->n_out++;
  priv->bytes_out += ticket->bytes;
  pthread_mutex_lock (&priv->lock);
  priv->n_running++;
  priv->n_waiting++;
  pthread_mutex_unlock (&priv->lock);
  dlp_element_submit_work (DLP_ELEMENT (self), work, ticket);
}

static bool
is_done (DlpTransformPrivate *priv, DlpTransformOutput *ticket)
{
  bool done;

  pthread_mutex_lock (&priv->lock);
  done = ticket->done;
  pthread_mutex_unlock (&priv->lock);
  return done;
}

static DlpTransformOutput *
pop (DlpTransformPrivate *priv)
{
  DlpTransformOutput *ticket = priv->head;

  priv->head = ticket->next;
  if (priv->head == NULL)
    priv->tail = &priv->head;
  priv->n_out--;
  priv->bytes_out -= ticket->bytes;
  pthread_mutex_lock (&priv->lock);
  priv->bytes_done -= ticket->out_bytes;
  pthread_mutex_unlock (&priv->lock);
  return ticket;
}

static bool
is_faulty (DlpTransformOutput *ticket)
{
  for (guint i = 0; i < ticket->n_pads; i++)
    if (ticket->pads[i].fault.message != NULL)
      return true;
  return false;
}

static guint64
count_output (DlpTransformOutput *ticket)
{
  guint64 sum = 0;

  for (guint i = 0; i < ticket->n_pads; i++)
    for (guint k = 0; ticket->pads[i].batches != NULL && k < ticket->pads[i].batches->len; k++)
      sum += dlp_record_batch_get_length (g_ptr_array_index (ticket->pads[i].batches, k));
  return sum;
}

/* What was taken in and does not come out is never passed over in silence. FALSE: what
 * there is of it is not to be delivered. */
static bool
check_ticket (DlpTransform *self, DlpTransformOutput *ticket)
{
  const char *name = dlp_element_get_name (DLP_ELEMENT (self));
  guint64 n;

  if (ticket->error != NULL || is_faulty (ticket))
    return true;
  if (ticket->lost)
    {
      g_set_error (&ticket->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                   "%s: failed without an error on the %u records from %" G_GUINT64_FORMAT " on",
                   name, ticket->n_records, ticket->first);
      return false;
    }
  if (!(DLP_ELEMENT_GET_CLASS (self)->flags & DLP_ELEMENT_ONE_TO_ONE))
    return true;
  n = count_output (ticket);
  if (n == ticket->n_records)
    return true;
  g_set_error (&ticket->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
               "%s: made %" G_GUINT64_FORMAT " records of the %u from %" G_GUINT64_FORMAT
               " on; its kind says one for each",
               name, n, ticket->n_records, ticket->first);
  return false;
}

/* Whether an output that is not there for what is left over was given something. */
static bool
has_passed (DlpElement *element, DlpTransformOutput *ticket)
{
  for (guint i = 0; i < ticket->n_pads; i++)
    if (ticket->pads[i].batches != NULL && ticket->pads[i].batches->len > 0 &&
        !dlp_element_get_output (element, i)->optional)
      return true;
  return false;
}

/* A stateless element makes the same of the same records: when nothing came out of a whole epoch,
 * nothing ever will. Two borders lie around a whole epoch, also where a run was continued. */
static void
check_endless (DlpElement *element, DlpTransformPrivate *priv, DlpTransformOutput *ticket)
{
  if (priv->endless == NULL || ticket->error != NULL || ticket->n_records == 0)
    return;
  if (has_passed (element, ticket))
    {
      priv->endless = NULL;
      return;
    }
  if (!priv->watching)
    priv->first_epoch = ticket->epoch;
  priv->watching = true;
  if (ticket->epoch < priv->first_epoch || ticket->epoch - priv->first_epoch < 2)
    return;
  g_set_error (&ticket->error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "%s: infinite source has no records: %s begins again for ever, and of a whole epoch "
               "none comes out of %s; let records pass, or give the source a number of epochs",
               dlp_element_get_name (element), dlp_element_get_name (priv->endless),
               dlp_element_get_name (element));
}

static void
release_pad (DlpElement *element, guint index, DlpTransformPad *pad, GError **error)
{
  DlpPad *out = dlp_element_get_output (element, index);

  for (guint k = 0; pad->batches != NULL && k < pad->batches->len; k++)
    dlp_pad_push (out, dlp_record_batch_ref (g_ptr_array_index (pad->batches, k)));
  if (pad->fault.message == NULL)
    return;
  g_clear_error (error);
  *error = dlp_pad_explain_fault (out, dlp_pad_get_emitted (out), &pad->fault);
}

static DlpStep
release (DlpTransform *self, DlpTransformPrivate *priv, DlpTransformOutput *ticket, GError **error)
{
  DlpElement *element = DLP_ELEMENT (self);
  DlpStep step = DLP_STEP_MORE;
  bool good = check_ticket (self, ticket);

  check_endless (element, priv, ticket);
  /* What a worker made before its error is as good as if the record batch had been cut there. */
  for (guint i = 0; i < ticket->n_pads && good; i++)
    release_pad (element, i, &ticket->pads[i], &ticket->error);
  for (guint i = 0; i < DLP_TRANSFORM_MAX_COUNTERS; i++)
    priv->counters[i] += ticket->counters[i];
  dlp_source_tallies_add (&priv->by_source, &ticket->by_source);
  if (ticket->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&ticket->error));
      step = DLP_STEP_ERROR;
    }
  ticket_free (ticket);
  return step;
}

static bool
has_room (DlpTransformPrivate *priv)
{
  gsize bytes;

  if (priv->n_out == 0)
    return true;
  pthread_mutex_lock (&priv->lock);
  bytes = priv->bytes_out + priv->bytes_done;
  pthread_mutex_unlock (&priv->lock);
  return priv->n_out < priv->max_out && bytes < priv->max_bytes_out;
}

static DlpStep
dlp_transform_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpTransform *self = DLP_TRANSFORM (element);
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (self);
  DlpPad *in = dlp_element_get_input (element, 0);
  bool room;

  while ((room = has_room (priv)) && dlp_pad_fill (in))
    submit (self, priv, in);

  if (priv->head != NULL && is_done (priv, priv->head))
    return release (self, priv, pop (priv), error);
  if (!room)
    return DLP_STEP_WANT_WORK;
  if (!dlp_pad_is_over (in))
    return priv->n_out > 0 ? dlp_element_want_input_or_work (element, 0) :
                             dlp_element_want_input (element, 0);
  if (priv->n_out > 0)
    return DLP_STEP_WANT_WORK;
  return DLP_STEP_END;
}

static void
dlp_transform_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (DLP_TRANSFORM (element));

  if (priv->head != NULL)
    dlp_cursor_set (cursor, &priv->head->before);
  else
    dlp_pad_get_cursor (dlp_element_get_input (element, 0), cursor);
}

static guint
count_tickets (guint n_workers)
{
  return 4 * MAX (n_workers, 1) + 4;
}

/* If all are as large as that, half as many do. */
static gsize
ticket_bytes (guint n_workers)
{
  return (count_tickets (n_workers) / 2 + 2) * (gsize) TICKET_BYTES;
}

static gsize
dlp_transform_want_memory (DlpElement *element, guint n_workers)
{
  return MAX (n_workers, 1) * DLP_TRANSFORM_GET_CLASS (element)->worker_memory +
         ticket_bytes (n_workers);
}

/* Tickets come first, up to half of what there is. */
static void
deal_memory (DlpTransform *self, DlpTransformPrivate *priv)
{
  gsize share = dlp_element_get_memory_share (DLP_ELEMENT (self));

  priv->max_out = count_tickets (priv->n_workers);
  priv->max_bytes_out = MIN (ticket_bytes (priv->n_workers), share / 2);
  priv->worker_memory = MIN ((share - priv->max_bytes_out) / priv->n_workers,
                             DLP_TRANSFORM_GET_CLASS (self)->worker_memory);
}

gsize
dlp_transform_get_worker_memory (DlpTransform *self)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (self);

  return priv->worker_memory;
}

static gboolean
dlp_transform_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (DLP_TRANSFORM (element));

  priv->n_workers = MAX (dlp_element_get_n_workers (element), 1);
  priv->workers = g_new0 (DlpTransformWorker, priv->n_workers);
  priv->watching = false;
  priv->endless = (DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_STATELESS) ?
                      dlp_element_find_endless (element, NULL) :
                      NULL;
  deal_memory (DLP_TRANSFORM (element), priv);
  return TRUE;
}

static void
dlp_transform_stop (DlpElement *element)
{
  DlpTransform *self = DLP_TRANSFORM (element);
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (self);

  pthread_mutex_lock (&priv->lock);
  while (priv->n_running > 0)
    pthread_cond_wait (&priv->idle, &priv->lock);
  pthread_mutex_unlock (&priv->lock);

  while (priv->head != NULL)
    ticket_free (pop (priv));
  for (guint i = 0; i < priv->n_workers; i++)
    free_worker (self, &priv->workers[i]);
  g_clear_pointer (&priv->workers, g_free);
  priv->n_workers = 0;
}

/* The counters of the class, then those of each source. */
static DlpState *
dlp_transform_save (DlpElement *element)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (DLP_TRANSFORM (element));
  gsize own = count_counters (DLP_TRANSFORM_GET_CLASS (element)) * sizeof (guint64);
  gsize size = own + priv->by_source.n * sizeof (DlpSourceTally);
  g_autofree guint8 *data = NULL;

  if (priv->by_source.n == 0)
    return dlp_state_new (priv->counters, own);
  data = g_malloc (size);
  memcpy (data, priv->counters, own);
  memcpy (data + own, priv->by_source.items, size - own);
  return dlp_state_new (data, size);
}

static GVariant *
dlp_transform_describe (DlpElement *element, const DlpState *state)
{
  DlpTransformClass *klass = DLP_TRANSFORM_GET_CLASS (element);
  const guint64 *counters = dlp_state_get_data (state);
  guint n = count_counters (klass);
  gsize n_sources = (dlp_state_get_size (state) - n * sizeof (guint64)) / sizeof (DlpSourceTally);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < n; i++)
    g_variant_dict_insert (&dict, klass->counters[i], "t", counters[i]);
  if (n_sources > 0)
    g_variant_dict_insert_value (
        &dict, BY_SOURCE,
        dlp_source_tallies_describe ((const DlpSourceTally *) (counters + n), n_sources,
                                     klass->source_counters));
  return g_variant_dict_end (&dict);
}

/* (transfer container): keys of the state. */
static GPtrArray *
list_keys (DlpTransformClass *klass)
{
  GPtrArray *keys = g_ptr_array_new ();

  for (guint i = 0; i < count_counters (klass); i++)
    g_ptr_array_add (keys, (gpointer) klass->counters[i]);
  if (klass->source_counters != NULL)
    g_ptr_array_add (keys, BY_SOURCE);
  g_ptr_array_add (keys, NULL);
  return keys;
}

/* There is none before the first record. */
static bool
load_by_source (DlpTransform *self, GVariant *described, GError **error)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (self);
  g_autoptr (GVariant) known = g_variant_lookup_value (described, BY_SOURCE, NULL);
  g_autoptr (GVariant) value = NULL;

  if (known == NULL)
    return true;
  value = dlp_state_get_value (described, BY_SOURCE, G_VARIANT_TYPE ("aa{st}"), error);
  return value != NULL &&
         dlp_source_tallies_load (&priv->by_source, value,
                                  DLP_TRANSFORM_GET_CLASS (self)->source_counters, error);
}

static gboolean
dlp_transform_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  DlpTransformClass *klass = DLP_TRANSFORM_GET_CLASS (element);
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (DLP_TRANSFORM (element));
  g_autoptr (GPtrArray) keys = list_keys (klass);

  if (!dlp_state_check_keys (described, (const char *const *) keys->pdata, error))
    return FALSE;
  for (guint i = 0; i < count_counters (klass); i++)
    {
      g_autoptr (GVariant) known = g_variant_lookup_value (described, klass->counters[i], NULL);

      /* An older version did not count it yet. */
      if (known == NULL && version < DLP_ELEMENT_CLASS (klass)->state_version)
        priv->counters[i] = 0;
      else if (!dlp_state_get_uint64 (described, klass->counters[i], G_MAXUINT64,
                                      &priv->counters[i], error))
        return FALSE;
    }
  return load_by_source (DLP_TRANSFORM (element), described, error);
}

static gboolean
dlp_transform_negotiate (DlpElement *element, GError **error)
{
  dlp_pad_set_schema (dlp_element_get_output (element, 0),
                      dlp_pad_get_schema (dlp_element_get_input (element, 0)));
  return TRUE;
}

static void
dlp_transform_finalize (GObject *object)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (DLP_TRANSFORM (object));

  dlp_source_tallies_clear (&priv->by_source);
  pthread_cond_destroy (&priv->idle);
  pthread_mutex_destroy (&priv->lock);
  G_OBJECT_CLASS (dlp_transform_parent_class)->finalize (object);
}

static void
dlp_transform_class_init (DlpTransformClass *klass)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = dlp_transform_finalize;
  element_class->flags = DLP_ELEMENT_STATELESS;
  element_class->negotiate = dlp_transform_negotiate;
  element_class->start = dlp_transform_start;
  element_class->step = dlp_transform_step;
  element_class->stop = dlp_transform_stop;
  element_class->save = dlp_transform_save;
  element_class->describe = dlp_transform_describe;
  element_class->load = dlp_transform_load;
  element_class->mark_input = dlp_transform_mark_input;
  element_class->want_memory = dlp_transform_want_memory;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, NULL);
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, NULL);
}

static void
dlp_transform_init (DlpTransform *self)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (self);

  priv->tail = &priv->head;
  pthread_mutex_init (&priv->lock, NULL);
  pthread_cond_init (&priv->idle, NULL);
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

void
dlp_transform_class_set_counters (DlpTransformClass *klass, const char *const *names)
{
  g_return_if_fail (g_strv_length ((char **) names) <= DLP_TRANSFORM_MAX_COUNTERS);

  /* For as long as the class, which is never unloaded. */
  klass->counters = (const char *const *) g_strdupv ((char **) names);
}

guint64
dlp_transform_get_counter (DlpTransform *self, guint counter)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (self);

  g_return_val_if_fail (DLP_IS_TRANSFORM (self) && counter < DLP_TRANSFORM_MAX_COUNTERS, 0);

  return priv->counters[counter];
}

gboolean
dlp_transform_get_source (DlpTransform *self, guint index, DlpCoordinate *first, guint64 *counters)
{
  DlpTransformPrivate *priv = dlp_transform_get_instance_private (self);
  const DlpSourceTally *tally;

  g_return_val_if_fail (DLP_IS_TRANSFORM (self), FALSE);

  if (index >= priv->by_source.n)
    return FALSE;
  tally = &priv->by_source.items[index];
  if (first != NULL)
    *first = (DlpCoordinate){ .stage = tally->stage, .source = tally->source };
  if (counters != NULL)
    memcpy (counters, tally->n, sizeof tally->n);
  return TRUE;
}

void
dlp_transform_class_set_source_counters (DlpTransformClass *klass, const char *const *names)
{
  g_return_if_fail (g_strv_length ((char **) names) <= DLP_TRANSFORM_MAX_SOURCE_COUNTERS);

  klass->source_counters = (const char *const *) g_strdupv ((char **) names);
}
