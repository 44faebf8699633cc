/* SPDX-License-Identifier: MIT */

/* A shuffle buffer whose state is two integers: how many records it has taken and how many it has
 * drawn. Which input record sits in which slot follows from the counter-based random numbers,
 * walked backwards; the buffer is refilled by replay from a remembered cursor that is not after the
 * oldest record held, or, with checkpoint=records, from a file of them. */

#include "dlp-shuffle.h"

#include <dlpipe/dlp-element-memory.h>
#include <dlpipe/dlp-pad-template.h>

#include <stdlib.h>
#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-random.h>

#include "dlp-cursor-history.h"
#include "dlp-held-state.h"
#include "dlp-record-store.h"
#include "dlp-slab.h"

/* Input records in one step at most. */
#define STEP_RECORDS 256
/* Of memory, at least, and for each record that may be held. */
#define WANTED_BYTES (64 * 1024 * 1024)
#define WANTED_RECORD_BYTES 4096
/* Draws that are looked at in advance. */
#define AHEAD 16
#define FETCHED 1024
/* A restore that was cancelled ends after so many draws. */
#define CANCEL_DRAWS 65536
/* Marks of a large state that may be alive; one is made each time that this share of the buffer, or
 * so many records, were taken. That is as much as a continued run has to read again. */
#define SNAPSHOTS 3
#define SNAPSHOT_SHARE 8
#define SNAPSHOT_RECORDS 1024

typedef struct
{
  guint64 taken;
  guint64 drawn;
  guint64 undelivered; /* of one that had ended before a restore */
} DlpShuffleState;

/* Of a mark. */
typedef struct
{
  DlpShuffleState counters;
  DlpHeldState *held; /* NULL: nothing, or it is refilled by replay */
  gboolean is_failed; /* it could not be copied */
} DlpShuffleSaved;

typedef struct
{
  guint64 position;
  gsize slot;
} DlpShuffleRefill;

struct _DlpShuffle
{
  DlpElement parent_instance;

  guint64 size;
  DlpShuffleCheckpoint checkpoint;

  DlpShuffleState state;
  gboolean begun;
  DlpHeldState *restored; /* until it is read: what load() found */
  DlpRandom random;
  DlpRecordStore *store;
  DlpRecordStoreStats stats; /* of the store that was */
  DlpStoredRecord *slots;    /* n_held of them are used, size 0: still to be refilled */
  guint64 *held;             /* the input position of what sits in each slot */
  gsize n_held;
  gsize capacity;

  /* What a restored buffer still waits for, by position. */
  DlpShuffleRefill *refill;
  gsize n_refill;
  gsize next_refill;
  gint64 refill_began; /* monotonic */

  /* Which positions from `oldest` to `taken` are held: a bit each, in words from word_begin on. */
  GArray *alive;
  guint64 first_word;
  guint64 oldest;

  DlpCursorHistory history;

  GError *failure; /* of save(), which has no way to say it */
};

enum
{
  PROP_0,
  PROP_SIZE,
  PROP_CHECKPOINT,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpShuffle, dlp_shuffle, DLP_TYPE_ELEMENT)

G_DEFINE_ENUM_TYPE (DlpShuffleCheckpoint,
                    dlp_shuffle_checkpoint,
                    G_DEFINE_ENUM_VALUE (DLP_SHUFFLE_CHECKPOINT_POSITIONS, "positions"),
                    G_DEFINE_ENUM_VALUE (DLP_SHUFFLE_CHECKPOINT_RECORDS, "records"))

static gboolean
keeps_records (DlpShuffle *self)
{
  return self->checkpoint == DLP_SHUFFLE_CHECKPOINT_RECORDS;
}

/* ---- which positions are held; the oldest one in amortized O(1) ---- */

static void
set_alive (DlpShuffle *self, guint64 position)
{
  const guint64 zero = 0;

  if (keeps_records (self))
    return;
  while (self->alive->len <= position / 64 - self->first_word)
    g_array_append_val (self->alive, zero);
  g_array_index (self->alive, guint64, position / 64 - self->first_word) |= G_GUINT64_CONSTANT (1)
                                                                            << (position % 64);
}

static void
advance_oldest (DlpShuffle *self)
{
  while (self->oldest < self->state.taken)
    {
      guint64 word = self->oldest / 64 - self->first_word;
      guint64 bits = word < self->alive->len ?
                         g_array_index (self->alive, guint64, word) >> (self->oldest % 64) :
                         0;

      if (bits & 1)
        break;
      if (bits == 0)
        self->oldest = MIN ((self->oldest / 64 + 1) * 64, self->state.taken);
      else
        self->oldest++;
    }
  /* Drop the words behind it, so many that to move the others costs each record little, however
   * many are held. */
  if (self->oldest / 64 - self->first_word > MAX (512, self->alive->len / 2))
    {
      guint64 n = MIN (self->oldest / 64 - self->first_word, self->alive->len);

      g_array_remove_range (self->alive, 0, n);
      self->first_word += n;
    }
}

static void
clear_alive (DlpShuffle *self, guint64 position)
{
  if (keeps_records (self))
    return;
  g_array_index (self->alive, guint64, position / 64 - self->first_word) &=
      ~(G_GUINT64_CONSTANT (1) << (position % 64));
  if (position == self->oldest)
    advance_oldest (self);
}

/* ---- cursors to replay from ---- */

static void
remember (DlpShuffle *self, DlpPad *in)
{
  g_auto (DlpCursor) cursor = { NULL, 0 };

  if (keeps_records (self))
    return;
  dlp_pad_get_cursor (in, &cursor);
  dlp_cursor_history_add (&self->history, &cursor,
                          self->n_held > 0 ? self->oldest : cursor.position);
}

static void
dlp_shuffle_mark_input (DlpElement *element, guint input, DlpCursor *cursor)
{
  DlpShuffle *self = DLP_SHUFFLE (element);
  const DlpCursor *known =
      self->n_held > 0 ? dlp_cursor_history_find (&self->history, self->oldest) : NULL;

  if (known != NULL)
    dlp_cursor_set (cursor, known);
  else
    dlp_pad_get_cursor (dlp_element_get_input (element, 0), cursor);
}

/* ---- slots ---- */

/* With what a resumed run takes to refill one, so that what could run can be resumed. */
static gsize
get_slot_bytes (DlpShuffle *self)
{
  gsize bytes = sizeof (DlpStoredRecord) + sizeof (guint64);

  return bytes +
         (keeps_records (self) ? SNAPSHOTS * sizeof (DlpStoredRecord) : sizeof (DlpShuffleRefill));
}

/* What the slots themselves take counts as memory too: the records get the rest of the share. */
static void
limit_records (DlpShuffle *self)
{
  gsize share = dlp_element_get_memory_share (DLP_ELEMENT (self));
  gsize taken = self->capacity * (sizeof (DlpStoredRecord) + sizeof (guint64)) +
                (self->refill != NULL ? self->n_refill * sizeof (DlpShuffleRefill) : 0);

  dlp_record_store_set_limit (self->store, share - MIN (share, taken));
}

static void
resize (DlpShuffle *self, gsize capacity)
{
  self->slots = dlp_slab_resize (self->slots, self->capacity * sizeof (DlpStoredRecord),
                                 capacity * sizeof (DlpStoredRecord));
  self->held =
      dlp_slab_resize (self->held, self->capacity * sizeof (guint64), capacity * sizeof (guint64));
  self->capacity = capacity;
  limit_records (self);
}

static gboolean
fail_to_reserve (DlpShuffle *self, gsize n, gsize bytes, GError **error)
{
  DlpElement *element = DLP_ELEMENT (self);

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: a buffer of %zu records needs %zu bytes for its slots alone; of the memory "
               "budget of %" G_GUINT64_FORMAT
               " links, caches and other buffers leave %zu: set a smaller size, or a larger "
               "--memory",
               dlp_element_get_name (element), n, bytes, dlp_element_get_memory_budget (element),
               dlp_element_reserve_memory (element, 0, G_MAXSIZE));
  return FALSE;
}

/* Room for at least @least records, for @wanted if there is so much memory. */
static gboolean
reserve (DlpShuffle *self, gsize least, gsize wanted, GError **error)
{
  gsize slot_bytes = get_slot_bytes (self);
  gsize bytes =
      dlp_element_reserve_memory (DLP_ELEMENT (self), least * slot_bytes, wanted * slot_bytes);

  if (bytes < least * slot_bytes)
    return fail_to_reserve (self, least, least * slot_bytes, error);
  resize (self, bytes / slot_bytes);
  return TRUE;
}

static gboolean
grow (DlpShuffle *self, GError **error)
{
  if (self->n_held < self->capacity)
    return TRUE;
  return reserve (self, self->capacity + 1, MIN (MAX (self->capacity * 2, 1024), self->size),
                  error);
}

static gsize
draw (DlpShuffle *self, gsize n)
{
  return dlp_random_draw (self->random, self->state.drawn++) % n;
}

static const DlpStoredRecord *
look_ahead (DlpShuffle *self, guint n)
{
  return &self->slots[dlp_random_draw (self->random, self->state.drawn + n) % self->size];
}

/* What a full buffer holds lies anywhere in memory: it is fetched some draws before it is needed,
 * the slot first, then the record that the slot refers to. */
static void
fetch_ahead (DlpShuffle *self)
{
  const DlpStoredRecord *slot = look_ahead (self, AHEAD);
  const DlpStoredRecord *near = look_ahead (self, AHEAD / 2);

  __builtin_prefetch (slot, 1);
  __builtin_prefetch (&self->held[slot - self->slots], 1);
  if (!near->in_file)
    for (guint64 i = 0; i < MIN (near->size, FETCHED); i += 64)
      __builtin_prefetch (near->data + i);
}

/* Which input records the slots hold. Slot i holds the record taken at the last draw that hit it,
 * so the counter is walked backwards until every slot is known (about size * ln (size) draws); then
 * the draws of the tail, which had no replacement, are applied. */
static gboolean
find_held (DlpShuffle *self, GCancellable *cancellable, GError **error)
{
  guint64 taken = self->state.taken;
  gsize n = (gsize) MIN (taken, self->size);
  guint64 replaced = taken > self->size ? taken - self->size : 0;
  gsize known = 0;

  if (!reserve (self, n, n, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      self->slots[i] = (DlpStoredRecord){ .size = 0 };
      self->held[i] = G_MAXUINT64;
    }
  for (guint64 k = replaced; k-- > 0 && known < n;)
    {
      gsize slot = dlp_random_draw (self->random, k) % self->size;

      if (k % CANCEL_DRAWS == 0 && g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (self->held[slot] != G_MAXUINT64)
        continue;
      self->held[slot] = self->size + k;
      known++;
    }
  for (gsize i = 0; i < n; i++)
    if (self->held[i] == G_MAXUINT64)
      self->held[i] = i;
  for (guint64 k = replaced; k < self->state.drawn; k++)
    {
      gsize slot = dlp_random_draw (self->random, k) % n;

      self->held[slot] = self->held[--n];
    }
  self->n_held = n;
  return TRUE;
}

static int
compare_refill (gconstpointer a, gconstpointer b)
{
  guint64 x = ((const DlpShuffleRefill *) a)->position;
  guint64 y = ((const DlpShuffleRefill *) b)->position;

  return x < y ? -1 : x > y;
}

static void say (DlpShuffle *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
say (DlpShuffle *self, const char *format, ...)
{
  const char *name = dlp_element_get_name (DLP_ELEMENT (self));
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_MESSAGE, "DLP_ELEMENT", name, "MESSAGE", "%s: %s",
                    name, what);
}

/* What lies before its input's place would never come again. */
static gboolean
check_reached (DlpShuffle *self, guint64 position, GError **error)
{
  if (position <= self->oldest)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “inputs” has the position %" G_GUINT64_FORMAT ", above the %" G_GUINT64_FORMAT
               " allowed: that record is %s by a buffer that took %" G_GUINT64_FORMAT
               " and drew %" G_GUINT64_FORMAT,
               position, self->oldest, self->n_refill > 0 ? "held" : "the next one wanted",
               self->state.taken, self->state.drawn);
  return FALSE;
}

static gboolean
prepare_refill (DlpShuffle *self, GError **error)
{
  DlpElement *element = DLP_ELEMENT (self);
  guint64 position = dlp_pad_get_position (dlp_element_get_input (element, 0));

  self->refill = g_new (DlpShuffleRefill, self->n_held);
  self->n_refill = self->n_held;
  limit_records (self);
  for (gsize i = 0; i < self->n_held; i++)
    self->refill[i] = (DlpShuffleRefill){ self->held[i], i };
  if (self->n_refill > 0)
    qsort (self->refill, self->n_refill, sizeof (DlpShuffleRefill), compare_refill);
  self->oldest = self->n_refill > 0 ? self->refill[0].position : self->state.taken;
  self->first_word = self->oldest / 64;
  if (!check_reached (self, position, error))
    return FALSE;
  for (gsize i = 0; i < self->n_refill; i++)
    set_alive (self, self->refill[i].position);

  dlp_element_hold_marks (element, position < self->state.taken);
  self->refill_began = g_get_monotonic_time ();
  if (self->n_refill > 0 && position < self->state.taken)
    say (self, "replaying %" G_GUINT64_FORMAT " records to refill its buffer of %zu",
         self->state.taken - position, self->n_held);
  return TRUE;
}

static gssize
read_file (gpointer file, guint64 offset, gpointer data, gsize size, GError **error)
{
  return dlp_state_file_read (file, offset, data, size, error);
}

static gboolean
read_held (DlpShuffle *self, DlpStateFile *file, GCancellable *cancellable, GError **error)
{
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (DLP_ELEMENT (self), 0));
  DlpHeldHeader header = { self->n_held, self->state.taken, self->state.drawn };
  g_autoptr (DlpHeldReader) reader =
      dlp_held_reader_new (read_file, file, dlp_state_file_get_name (file), &header, schema, error);

  if (reader == NULL)
    return FALSE;
  for (gsize i = 0; i < self->n_held; i++)
    {
      gsize size;
      const guint8 *block;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      block = dlp_held_reader_next (reader, &size, error);
      if (block == NULL ||
          !dlp_record_store_add_block (self->store, block, size, &self->slots[i], error))
        {
          self->slots[i].size = 0;
          return FALSE;
        }
    }
  return dlp_held_reader_finish (reader, error);
}

static gboolean
restore_held (DlpShuffle *self, GCancellable *cancellable, GError **error)
{
  guint64 position = dlp_pad_get_position (dlp_element_get_input (DLP_ELEMENT (self), 0));
  gint64 began = g_get_monotonic_time ();
  g_autoptr (DlpStateFile) file = NULL;

  if (position != self->state.taken)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “taken” is %" G_GUINT64_FORMAT ", but %" G_GUINT64_FORMAT
                   " records of the input were consumed",
                   self->state.taken, position);
      return FALSE;
    }
  if (self->n_held == 0)
    return TRUE;
  if (self->restored != NULL)
    file = dlp_held_state_dup_file (self->restored);
  if (file == NULL)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “state-files” is missing, though %zu records were held", self->n_held);
      return FALSE;
    }
  if (!read_held (self, file, cancellable, error))
    return FALSE;
  say (self, "its buffer of %zu records is read back, in %.2f s", self->n_held,
       (double) (g_get_monotonic_time () - began) / 1e6);
  return TRUE;
}

static gboolean
restore (DlpShuffle *self, GCancellable *cancellable, GError **error)
{
  return find_held (self, cancellable, error) &&
         (keeps_records (self) ? restore_held (self, cancellable, error) :
                                 prepare_refill (self, error));
}

static gboolean
dlp_shuffle_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpShuffle *self = DLP_SHUFFLE (element);
  DlpPad *in = dlp_element_get_input (element, 0);
  gboolean ok;

  self->begun = TRUE;
  self->state.undelivered = 0;
  self->random = dlp_random_init (dlp_element_get_seed (element), dlp_element_get_stage (element),
                                  "shuffle", dlp_element_get_ordinal (element));
  self->store = dlp_record_store_new (element, dlp_pad_get_schema (in),
                                      dlp_element_get_memory_share (element));
  /* Millions of slots, and gigabytes, take longer than a run may seem to hang. */
  dlp_element_set_status (element, "its buffer is restored");
  ok = restore (self, cancellable, error);
  dlp_element_set_status (element, NULL);
  if (ok)
    remember (self, in);
  return ok;
}

/* For records; more of them are spilled. */
static gsize
dlp_shuffle_want_memory (DlpElement *element, guint n_workers)
{
  guint64 wanted = DLP_SHUFFLE (element)->size * WANTED_RECORD_BYTES;

  return (gsize) CLAMP (wanted, WANTED_BYTES, G_MAXSIZE / 2);
}

static void
dlp_shuffle_stop (DlpElement *element)
{
  DlpShuffle *self = DLP_SHUFFLE (element);

  for (gsize i = 0; i < self->n_held; i++)
    if (self->slots[i].size > 0)
      dlp_record_store_drop (self->store, &self->slots[i]);
  self->n_held = 0;
  dlp_cursor_history_clear (&self->history);
  if (self->store != NULL)
    self->stats = *dlp_record_store_get_stats (self->store);
  g_clear_pointer (&self->store, dlp_record_store_free);
  g_clear_pointer (&self->slots, g_free);
  g_clear_pointer (&self->held, g_free);
  g_clear_pointer (&self->refill, g_free);
  g_clear_pointer (&self->restored, dlp_held_state_unref);
  dlp_element_reserve_memory (element, 0, 0);
}

/* ---- streaming ---- */

static void
end_refill (DlpShuffle *self)
{
  say (self, "its buffer is refilled, in %.2f s",
       (double) (g_get_monotonic_time () - self->refill_began) / 1e6);
  g_clear_pointer (&self->refill, g_free);
  limit_records (self);
}

static gboolean
put_back (DlpShuffle *self, DlpRecordBatch *batch, guint row, guint64 position, GError **error)
{
  gsize slot;

  if (self->next_refill == self->n_refill || self->refill[self->next_refill].position != position)
    return TRUE;
  slot = self->refill[self->next_refill++].slot;
  if (self->next_refill == self->n_refill)
    end_refill (self);
  return dlp_record_store_add (self->store, batch, row, &self->slots[slot], error);
}

static gboolean
take (DlpShuffle *self,
      DlpRecordBatch *batch,
      guint row,
      guint64 position,
      DlpPad *out,
      GError **error)
{
  gsize slot;

  if (self->n_held < self->size)
    {
      if (!grow (self, error))
        return FALSE;
      slot = self->n_held;
      self->n_held++;
    }
  else
    {
      fetch_ahead (self);
      slot = draw (self, self->size);
      if (!dlp_record_store_emit (self->store, &self->slots[slot], out, error))
        return FALSE;
    }
  if (!dlp_record_store_add (self->store, batch, row, &self->slots[slot], error))
    {
      self->slots[slot].size = 0;
      return FALSE;
    }
  self->state.taken++;
  set_alive (self, position);
  if (self->state.taken > self->size)
    clear_alive (self, self->held[slot]);
  self->held[slot] = position;
  return TRUE;
}

static gboolean
check_refilled (DlpShuffle *self, GError **error)
{
  if (self->next_refill == self->n_refill)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
               "%s: its input ended before record %" G_GUINT64_FORMAT
               ", which its buffer held before the run was continued: the input is not what it was",
               dlp_element_get_name (DLP_ELEMENT (self)), self->refill[self->next_refill].position);
  return FALSE;
}

/* Draws of the tail are of an input that had ended: nothing can follow. */
static gboolean
check_goes_on (DlpShuffle *self, GError **error)
{
  guint64 taken = self->state.taken;

  if (self->state.drawn == taken - MIN (taken, self->size))
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
               "%s: its input goes on behind record %" G_GUINT64_FORMAT
               ", where it had ended before the run was continued: the input is not what it was",
               dlp_element_get_name (DLP_ELEMENT (self)), taken);
  return FALSE;
}

/* No more input: what is left is drawn, and the last slot moves in. */
static DlpStep
drain (DlpShuffle *self, DlpPad *out, GError **error)
{
  for (guint i = 0; i < STEP_RECORDS; i++)
    {
      gsize slot;
      guint64 gone;

      if (self->n_held == 0)
        return DLP_STEP_END;
      slot = draw (self, self->n_held);
      if (!dlp_record_store_emit (self->store, &self->slots[slot], out, error))
        return DLP_STEP_ERROR;
      gone = self->held[slot];
      self->n_held--;
      self->slots[slot] = self->slots[self->n_held];
      self->held[slot] = self->held[self->n_held];
      clear_alive (self, gone);
    }
  return DLP_STEP_MORE;
}

static DlpStep
dlp_shuffle_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpShuffle *self = DLP_SHUFFLE (element);
  DlpPad *in = dlp_element_get_input (element, 0);
  DlpPad *out = dlp_element_get_output (element, 0);
  guint64 position;
  guint row, n;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);

  /* From here on a mark is of what the steps made of it. */
  g_clear_pointer (&self->restored, dlp_held_state_unref);
  if (self->failure != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self->failure));
      return DLP_STEP_ERROR;
    }
  if (batch == NULL && !dlp_pad_is_over (in))
    return dlp_element_want_input (element, 0);
  if (batch == NULL)
    {
      dlp_element_hold_marks (element, FALSE);
      return check_refilled (self, error) ? drain (self, out, error) : DLP_STEP_ERROR;
    }

  position = dlp_pad_get_position (in);
  n = MIN (dlp_record_batch_get_length (batch) - row, STEP_RECORDS);
  dlp_element_hold_marks (element, position < self->state.taken);
  if (position + n > self->state.taken && !check_goes_on (self, error))
    return DLP_STEP_ERROR;
  /* While nothing was held, the mark was that of the input, which moves on without a record too; it
   * must not go back now. */
  if (self->n_held == 0)
    remember (self, in);
  for (guint i = 0; i < n; i++)
    if (!(position + i < self->state.taken ? put_back (self, batch, row + i, position + i, error) :
                                             take (self, batch, row + i, position + i, out, error)))
      return DLP_STEP_ERROR;
  dlp_pad_consume (in, n);
  remember (self, in);
  return dlp_record_store_compact (self->store, self->slots, self->n_held, n, error) ?
             DLP_STEP_MORE :
             DLP_STEP_ERROR;
}

/* ---- state ---- */

/* When its consumer closed. What it drew beyond what was consumed was not delivered either, but
 * came from further on: how far it ran ahead makes no difference. One that had ended before a
 * restore does not begin, and knows it from its state. */
static guint64
count_undelivered (DlpShuffle *self, const DlpShuffleState *state)
{
  DlpPad *out = dlp_element_get_output (DLP_ELEMENT (self), 0);
  DlpPad *consumer = dlp_pad_get_peer (out);
  guint64 position;

  if (!self->begun || consumer == NULL || !dlp_pad_is_unwanted (out))
    return state->undelivered;
  position = dlp_pad_get_position (consumer);
  return MIN (self->size, state->taken - MIN (state->taken, position));
}

static void
clear_saved (gpointer data)
{
  g_clear_pointer (&((DlpShuffleSaved *) data)->held, dlp_held_state_unref);
}

/* The records are copied when a checkpoint is written of them. A file that cannot be written to now
 * cannot be so in the next step. */
static DlpHeldState *
save_held (DlpShuffle *self)
{
  DlpHeldHeader header = { self->n_held, self->state.taken, self->state.drawn };
  DlpRecordSnapshot *records;

  if (self->restored != NULL)
    return dlp_held_state_ref (self->restored);
  if (self->n_held == 0 || dlp_pad_is_unwanted (dlp_element_get_output (DLP_ELEMENT (self), 0)))
    return NULL;
  records = dlp_record_store_snapshot (self->store, self->slots, self->n_held, &self->failure);
  return records != NULL ? dlp_held_state_new (&header, records) : NULL;
}

static DlpState *
dlp_shuffle_save (DlpElement *element)
{
  DlpShuffle *self = DLP_SHUFFLE (element);
  DlpShuffleSaved saved = { self->state, NULL };

  if (keeps_records (self))
    saved.held = save_held (self);
  saved.is_failed = self->failure != NULL;
  return dlp_state_new_full (&saved, sizeof saved, clear_saved);
}

static gboolean
dlp_shuffle_make_durable (DlpElement *element, const DlpState *state, GError **error)
{
  const DlpShuffleSaved *saved = dlp_state_get_data (state);

  if (!saved->is_failed)
    return saved->held == NULL || dlp_held_state_write (saved->held, element, error);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
               "%s: the records of its buffer cannot be saved: its scratch file could not be "
               "written to",
               dlp_element_get_name (element));
  return FALSE;
}

static void
describe_file (GVariantDict *dict, DlpHeldState *held)
{
  g_autoptr (DlpStateFile) file = dlp_held_state_dup_file (held);
  GVariantBuilder builder;

  if (file == NULL)
    return;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sts)"));
  g_variant_builder_add_value (&builder, dlp_state_file_describe (file));
  g_variant_dict_insert_value (dict, "state-files", g_variant_builder_end (&builder));
}

static GVariant *
dlp_shuffle_describe (DlpElement *element, const DlpState *state)
{
  const DlpShuffleSaved *saved = dlp_state_get_data (state);
  const DlpShuffleState *data = &saved->counters;
  guint64 undelivered = count_undelivered (DLP_SHUFFLE (element), data);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "taken", "t", data->taken);
  g_variant_dict_insert (&dict, "drawn", "t", data->drawn);
  if (undelivered > 0)
    g_variant_dict_insert (&dict, "undelivered", "t", undelivered);
  if (saved->held != NULL)
    describe_file (&dict, saved->held);
  return g_variant_dict_end (&dict);
}

/* What was spilled is of this attempt alone. */
static GVariant *
dlp_shuffle_report (DlpElement *element, GVariant *described)
{
  const DlpRecordStoreStats *stats = &DLP_SHUFFLE (element)->stats;
  GVariantDict dict;

  g_variant_dict_init (&dict, described);
  g_variant_dict_remove (&dict, "state-files");
  if (stats->spilled > 0)
    {
      g_variant_dict_insert (&dict, "spilled", "t", stats->spilled);
      g_variant_dict_insert (&dict, "scratch-rewritten", "t", stats->rewritten);
    }
  return g_variant_dict_end (&dict);
}

/* What the file holds is looked at in start(), when the records have a place to go to. */
static gboolean
load_file (DlpShuffle *self, GVariant *described, GError **error)
{
  g_autoptr (GVariant) known = g_variant_lookup_value (described, "state-files", NULL);
  g_autoptr (GVariant) files = NULL;
  g_autoptr (GVariant) first = NULL;
  DlpStateFile *file;

  if (known == NULL)
    return TRUE;
  files = dlp_state_get_value (described, "state-files", G_VARIANT_TYPE ("a(sts)"), error);
  if (files == NULL)
    return FALSE;
  if (g_variant_n_children (files) != 1 || !keeps_records (self))
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “state-files” names %zu files; with checkpoint=%s there is %s",
                   g_variant_n_children (files), keeps_records (self) ? "records" : "positions",
                   keeps_records (self) ? "one" : "none");
      return FALSE;
    }
  first = g_variant_get_child_value (files, 0);
  file = dlp_state_file_open (DLP_ELEMENT (self), first, error);
  if (file == NULL)
    return FALSE;
  self->restored = dlp_held_state_new_for_file (file);
  return TRUE;
}

static gboolean
has_key (GVariant *described, const char *key)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (described, key, NULL);

  return value != NULL;
}

static gboolean
dlp_shuffle_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "taken", "drawn", "undelivered", "state-files", NULL };
  DlpShuffle *self = DLP_SHUFFLE (element);
  guint64 replaced;

  if (!dlp_state_check_keys (described, keys, error) ||
      !dlp_state_get_uint64 (described, "taken", G_MAXUINT64, &self->state.taken, error) ||
      !dlp_state_get_uint64 (described, "drawn", self->state.taken, &self->state.drawn, error))
    return FALSE;
  self->state.undelivered = 0;
  if (has_key (described, "undelivered") &&
      !dlp_state_get_uint64 (described, "undelivered", self->size, &self->state.undelivered, error))
    return FALSE;
  replaced = self->state.taken > self->size ? self->state.taken - self->size : 0;
  if (self->state.drawn < replaced)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “drawn” is %" G_GUINT64_FORMAT ", below the %" G_GUINT64_FORMAT
                   " that a buffer of %" G_GUINT64_FORMAT
                   " has drawn after taking %" G_GUINT64_FORMAT,
                   self->state.drawn, replaced, self->size, self->state.taken);
      return FALSE;
    }
  return dlp_pad_check_emitted (dlp_element_get_output (element, 0), "drawn", self->state.drawn,
                                error) &&
         load_file (self, described, error);
}

static void
dlp_shuffle_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpShuffle *self = DLP_SHUFFLE (object);

  switch (id)
    {
    case PROP_SIZE:
      self->size = g_value_get_uint64 (value);
      break;
    case PROP_CHECKPOINT:
      self->checkpoint = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
  dlp_element_set_large (DLP_ELEMENT (self), keeps_records (self),
                         MAX (self->size / SNAPSHOT_SHARE, SNAPSHOT_RECORDS));
}

static void
dlp_shuffle_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpShuffle *self = DLP_SHUFFLE (object);

  switch (id)
    {
    case PROP_SIZE:
      g_value_set_uint64 (value, self->size);
      break;
    case PROP_CHECKPOINT:
      g_value_set_enum (value, self->checkpoint);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_shuffle_finalize (GObject *object)
{
  DlpShuffle *self = DLP_SHUFFLE (object);

  g_array_unref (self->alive);
  g_clear_pointer (&self->restored, dlp_held_state_unref);
  g_clear_error (&self->failure);
  G_OBJECT_CLASS (dlp_shuffle_parent_class)->finalize (object);
}

static void
dlp_shuffle_class_init (DlpShuffleClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_shuffle_set_property;
  object_class->get_property = dlp_shuffle_get_property;
  object_class->finalize = dlp_shuffle_finalize;
  element_class->flags = DLP_ELEMENT_KEEPS_ALL | DLP_ELEMENT_REORDERS;
  element_class->start = dlp_shuffle_start;
  element_class->want_memory = dlp_shuffle_want_memory;
  element_class->step = dlp_shuffle_step;
  element_class->stop = dlp_shuffle_stop;
  element_class->save = dlp_shuffle_save;
  element_class->describe = dlp_shuffle_describe;
  element_class->load = dlp_shuffle_load;
  element_class->make_durable = dlp_shuffle_make_durable;
  element_class->report = dlp_shuffle_report;
  element_class->mark_input = dlp_shuffle_mark_input;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_FILES, NULL);
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_FILES, NULL);
  dlp_element_class_set_description (element_class, "Shuffle buffer",
                                     "... ! shuffle size=10k ! ...");

  properties[PROP_SIZE] = g_param_spec_uint64 (
      "size", NULL,
      "Records in the buffer: each one that comes in takes the place of one "
      "drawn at random; 1: no change of order",
      1, G_GUINT64_CONSTANT (1) << 32, 10000, DLP_PARAM_READWRITE | DLP_PARAM_RECORDS);
  properties[PROP_CHECKPOINT] = g_param_spec_enum (
      "checkpoint", NULL,
      "What of the buffer a checkpoint holds: positions, of which it is refilled by reading again; "
      "or the records, where that costs more than to keep them",
      dlp_shuffle_checkpoint_get_type (), DLP_SHUFFLE_CHECKPOINT_POSITIONS, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_shuffle_init (DlpShuffle *self)
{
  self->size = 10000;
  self->alive = g_array_new (FALSE, FALSE, sizeof (guint64));
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}
