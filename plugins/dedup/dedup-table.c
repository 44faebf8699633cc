/* SPDX-License-Identifier: MIT */

#include "dedup-table.h"

#include <string.h>

/* Three quarters: then a key is found within few slots, which are of one or two cache lines. */
static gsize
max_keys_of (gsize capacity)
{
  return capacity - capacity / 4;
}

static gsize
slots_of (gsize capacity)
{
  return capacity + capacity / 64 + 64;
}

gsize
dedup_table_get_bytes (gsize capacity)
{
  return slots_of (capacity) * sizeof (DedupKey);
}

gboolean
dedup_table_init (DedupTable *self, gsize capacity)
{
  self->capacity = capacity;
  self->n_slots = slots_of (capacity);
  self->n_keys = 0;
  self->max_keys = max_keys_of (capacity);
  self->slots = g_try_new0 (DedupKey, self->n_slots);
  return self->slots != NULL;
}

void
dedup_table_clear (DedupTable *self)
{
  g_clear_pointer (&self->slots, g_free);
}

void
dedup_table_empty (DedupTable *self)
{
  memset (self->slots, 0, self->n_slots * sizeof *self->slots);
  self->n_keys = 0;
}

gboolean
dedup_table_contains (const DedupTable *self, const DedupKey *key)
{
  gsize at = dedup_key_place (key, self->capacity);

  return dedup_slots_find (self->slots, self->n_slots, key, &at);
}

DedupTableResult
dedup_table_add (DedupTable *self, const DedupKey *key)
{
  gsize at = dedup_key_place (key, self->capacity);
  gsize end;

  if (dedup_slots_find (self->slots, self->n_slots, key, &at))
    return DEDUP_TABLE_FOUND;
  if (self->n_keys >= self->max_keys)
    return DEDUP_TABLE_FULL;
  end = at;
  while (end < self->n_slots && !dedup_key_is_empty (&self->slots[end]))
    end++;
  if (end == self->n_slots)
    return DEDUP_TABLE_FULL;
  memmove (&self->slots[at + 1], &self->slots[at], (end - at) * sizeof *self->slots);
  self->slots[at] = *key;
  self->n_keys++;
  return DEDUP_TABLE_ADDED;
}

gboolean
dedup_table_resize (DedupTable *self, gsize capacity)
{
  DedupTable other;
  gsize next = 0;

  if (self->n_keys > max_keys_of (capacity) || !dedup_table_init (&other, capacity))
    return FALSE;
  for (gsize i = 0; i < self->n_slots; i++)
    {
      const DedupKey *key = &self->slots[i];

      if (dedup_key_is_empty (key))
        continue;
      next = MAX (next, (gsize) dedup_key_place (key, capacity));
      if (next == other.n_slots)
        {
          dedup_table_clear (&other);
          return FALSE;
        }
      other.slots[next++] = *key;
    }
  other.n_keys = self->n_keys;
  dedup_table_clear (self);
  *self = other;
  return TRUE;
}
