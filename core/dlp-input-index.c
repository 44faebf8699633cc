/* SPDX-License-Identifier: MIT */

#include "dlp-input-index-private.h"

#define MIN_SLOTS 64

void
dlp_input_index_clear (DlpInputIndex *self)
{
  g_clear_pointer (&self->slots, g_free);
  self->n_slots = 0;
  self->n_used = 0;
}

static guint64
slot_offset (const DlpInputSlot *slot)
{
  return (guint64) slot->high << 32 | slot->low;
}

static void
insert (DlpInputSlot *slots, gsize n_slots, guint32 hash, guint64 offset)
{
  gsize i = hash & (n_slots - 1);

  while (slot_offset (&slots[i]) != 0)
    i = (i + 1) & (n_slots - 1);

  slots[i].hash = hash;
  slots[i].low = (guint32) offset;
  slots[i].high = (guint32) (offset >> 32);
}

static void
grow (DlpInputIndex *self)
{
  gsize n_slots = MAX (self->n_slots * 2, MIN_SLOTS);
  DlpInputSlot *slots = g_new0 (DlpInputSlot, n_slots);
  gsize start = 0;

  /* From the first free slot round: the order of those of one hash is kept. */
  while (start < self->n_slots && slot_offset (&self->slots[start]) != 0)
    start++;
  for (gsize i = 0; i < self->n_slots; i++)
    {
      const DlpInputSlot *slot = &self->slots[(start + i) & (self->n_slots - 1)];

      if (slot_offset (slot) != 0)
        insert (slots, n_slots, slot->hash, slot_offset (slot));
    }

  g_free (self->slots);
  self->slots = slots;
  self->n_slots = n_slots;
}

void
dlp_input_index_add (DlpInputIndex *self, guint32 hash, guint64 offset)
{
  g_assert (offset != 0);

  if (self->n_used >= self->n_slots / 4 * 3)
    grow (self);
  insert (self->slots, self->n_slots, hash, offset);
  self->n_used++;
}

guint64
dlp_input_index_next (DlpInputIndex *self, guint32 hash, gsize *position)
{
  while (*position < self->n_slots)
    {
      const DlpInputSlot *slot = &self->slots[(hash + (*position)++) & (self->n_slots - 1)];

      if (slot_offset (slot) == 0)
        break;
      if (slot->hash == hash)
        return slot_offset (slot);
    }

  *position = self->n_slots;
  return 0;
}
