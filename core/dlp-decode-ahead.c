/* SPDX-License-Identifier: MIT */

#include "dlp-decode-ahead-private.h"

#include <pthread.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-element-private.h"

#define MIN_CAPACITY ((gsize) 64 * 1024)
/* Decoded in one call: what is not wanted any more ends behind it. */
#define STEP_BYTES ((gsize) 256 * 1024)

typedef struct
{
  DlpDecodeAhead *owner;
  GList link;
  DlpDecoder *decoder;
  DlpDecoderBorder end;

  /* Of the worker, until it is done; then of who reads. The buffers are used again. */
  guint8 *raw;
  gsize raw_size, raw_used, raw_capacity;
  guint8 *out;
  gsize size, given, capacity;
  GError *error;

  bool done; /* lock */
} Part;

struct _DlpDecodeAhead
{
  DlpElement *element;
  guint max_parts;
  gsize part_bytes;
  GQueue parts;
  GQueue spare;        /* of Part, with their buffers */
  GPtrArray *decoders; /* that stand at a border, to be used again */

  pthread_mutex_t lock;
  pthread_cond_t done_cond;
  guint n_busy;  /* lock */
  bool stopping; /* atomic */
};

static void
part_free (Part *self)
{
  g_clear_object (&self->decoder);
  g_clear_error (&self->error);
  g_free (self->raw);
  g_free (self->out);
  g_free (self);
}

/* New memory costs more than decoding to it: the system clears each page. */
static Part *
take_part (DlpDecodeAhead *self, const guint8 *raw, gsize size)
{
  GList *link = g_queue_pop_head_link (&self->spare);
  Part *part = link != NULL ? link->data : g_new0 (Part, 1);

  part->owner = self;
  part->link.data = part;
  if (part->raw_capacity < size)
    {
      g_free (part->raw);
      part->raw = g_malloc (size);
      part->raw_capacity = size;
    }
  memcpy (part->raw, raw, size);
  part->raw_size = size;
  part->raw_used = part->size = part->given = 0;
  part->done = false;
  return part;
}

static void
give_back_part (DlpDecodeAhead *self, Part *part)
{
  g_clear_object (&part->decoder);
  g_clear_error (&part->error);
  /* Of a unit that was alone because it is so long: else each part would have as much in turn. */
  if (part->raw_capacity > self->part_bytes)
    {
      g_clear_pointer (&part->raw, g_free);
      part->raw_capacity = 0;
    }
  g_queue_push_head_link (&self->spare, &part->link);
}

/* One call of the decoder. Whether there was any progress. */
static bool
decode (Part *self, guint8 *out, gsize size, gsize *written)
{
  gsize used = 0;

  *written = 0;
  if (self->error != NULL)
    return false;
  DLP_DECODER_GET_CLASS (self->decoder)
      ->decode (self->decoder, self->raw + self->raw_used, self->raw_size - self->raw_used, &used,
                out, size, written, &self->error);
  self->raw_used += used;
  return used > 0 || *written > 0;
}

/* On a worker: as much as may be held. */
static void
decode_part (DlpElement *element, guint index, gpointer data)
{
  Part *self = data;
  DlpDecodeAhead *owner = self->owner;
  gsize written;
  bool moved = true;

  while (moved && self->size < owner->part_bytes &&
         !__atomic_load_n (&owner->stopping, __ATOMIC_RELAXED))
    {
      if (self->size == self->capacity)
        {
          self->capacity = MIN (MAX (MIN_CAPACITY, 2 * self->capacity), owner->part_bytes);
          self->out = g_realloc (self->out, self->capacity);
        }
      moved = decode (self, self->out + self->size, MIN (STEP_BYTES, self->capacity - self->size),
                      &written);
      self->size += written;
    }

  pthread_mutex_lock (&owner->lock);
  self->done = true;
  owner->n_busy--;
  pthread_cond_signal (&owner->done_cond);
  pthread_mutex_unlock (&owner->lock);
}

DlpDecodeAhead *
dlp_decode_ahead_new (DlpElement *element, guint max_parts, gsize part_bytes)
{
  DlpDecodeAhead *self = g_new0 (DlpDecodeAhead, 1);

  self->element = element;
  self->max_parts = max_parts;
  self->part_bytes = part_bytes;
  g_queue_init (&self->parts);
  g_queue_init (&self->spare);
  self->decoders = g_ptr_array_new_with_free_func (g_object_unref);
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->done_cond, NULL);
  return self;
}

static void
stop (DlpDecodeAhead *self)
{
  __atomic_store_n (&self->stopping, true, __ATOMIC_RELAXED);
  pthread_mutex_lock (&self->lock);
  while (self->n_busy > 0)
    pthread_cond_wait (&self->done_cond, &self->lock);
  pthread_mutex_unlock (&self->lock);
}

void
dlp_decode_ahead_free (DlpDecodeAhead *self)
{
  GList *link;

  if (self == NULL)
    return;

  stop (self);
  while ((link = g_queue_pop_head_link (&self->parts)) != NULL ||
         (link = g_queue_pop_head_link (&self->spare)) != NULL)
    part_free (link->data);
  g_ptr_array_unref (self->decoders);
  pthread_mutex_destroy (&self->lock);
  pthread_cond_destroy (&self->done_cond);
  g_free (self);
}

bool
dlp_decode_ahead_has_room (DlpDecodeAhead *self)
{
  return self->parts.length < self->max_parts;
}

bool
dlp_decode_ahead_is_empty (DlpDecodeAhead *self)
{
  return self->parts.length == 0;
}

void
dlp_decode_ahead_add (DlpDecodeAhead *self,
                      DlpDecoder *decoder,
                      const guint8 *raw,
                      gsize size,
                      const DlpDecoderBorder *end)
{
  Part *part = take_part (self, raw, size);

  part->decoder = decoder;
  part->end = *end;
  g_queue_push_tail_link (&self->parts, &part->link);

  pthread_mutex_lock (&self->lock);
  self->n_busy++;
  pthread_mutex_unlock (&self->lock);
  dlp_element_submit_work (self->element, decode_part, part);
}

static Part *
wait_for_first (DlpDecodeAhead *self)
{
  Part *part = self->parts.head->data;

  pthread_mutex_lock (&self->lock);
  while (!part->done)
    pthread_cond_wait (&self->done_cond, &self->lock);
  pthread_mutex_unlock (&self->lock);
  return part;
}

static gsize
give_out (Part *self, guint8 *out, gsize size)
{
  gsize n = MIN (size, self->size - self->given);

  if (n > 0)
    memcpy (out, self->out + self->given, n);
  self->given += n;
  return n;
}

/* What it held goes first; what was too much to be held is decoded now. */
gsize
dlp_decode_ahead_read (DlpDecodeAhead *self, guint8 *out, gsize size, GError **error)
{
  Part *part = wait_for_first (self);
  gsize n = give_out (part, out, size);

  while (n == 0 && decode (part, out, size, &n))
    ;
  if (n == 0 && part->error == NULL && part->raw_used < part->raw_size)
    g_set_error (&part->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                 "the decoder %s stands still: it neither took input nor wrote output",
                 G_OBJECT_TYPE_NAME (part->decoder));
  if (n == 0 && part->error != NULL)
    g_propagate_error (error, g_error_copy (part->error));
  return n;
}

DlpDecoder *
dlp_decode_ahead_end_part (DlpDecodeAhead *self, DlpDecoderBorder *end)
{
  Part *part = g_queue_pop_head_link (&self->parts)->data;
  DlpDecoder *decoder = g_steal_pointer (&part->decoder);

  *end = part->end;
  give_back_part (self, part);
  return decoder;
}

void
dlp_decode_ahead_give_decoder (DlpDecodeAhead *self, DlpDecoder *decoder)
{
  g_ptr_array_add (self->decoders, decoder);
}

DlpDecoder *
dlp_decode_ahead_take_decoder (DlpDecodeAhead *self)
{
  return self->decoders->len > 0 ?
             g_ptr_array_steal_index_fast (self->decoders, self->decoders->len - 1) :
             NULL;
}

GByteArray *
dlp_decode_ahead_give_up (DlpDecodeAhead *self)
{
  GByteArray *raw = g_byte_array_new ();
  GList *link;

  stop (self);
  while ((link = g_queue_pop_head_link (&self->parts)) != NULL)
    {
      Part *part = link->data;

      g_byte_array_append (raw, part->raw, (guint) part->raw_size);
      part_free (part);
    }
  return raw;
}
