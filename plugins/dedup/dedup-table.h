/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A hash of 128 bits. All zeros stand for an empty slot: dedup_key() never gives them. */
typedef struct
{
  guint64 high;
  guint64 low;
} DedupKey;

static inline DedupKey
dedup_key (guint64 high, guint64 low)
{
  DedupKey key = { high, (high | low) != 0 ? low : 1 };

  return key;
}

static inline gboolean
dedup_key_is_empty (const DedupKey *key)
{
  return (key->high | key->low) == 0;
}

static inline gboolean
dedup_key_is_less (const DedupKey *a, const DedupKey *b)
{
  return a->high != b->high ? a->high < b->high : a->low < b->low;
}

static inline gboolean
dedup_key_equal (const DedupKey *a, const DedupKey *b)
{
  return a->high == b->high && a->low == b->low;
}

/* Where a key belongs among @n places: in the order of the keys. */
static inline guint64
dedup_key_place (const DedupKey *key, guint64 n)
{
  return (guint64) (((unsigned __int128) key->high * n) >> 64);
}

/* Looks for @key among slots that begin at or before its place, in order; the last one looked at is
 * left in @at. TRUE: it is there. FALSE: it belongs there, or is behind all of them (@n). */
static inline gboolean
dedup_slots_find (const DedupKey *slots, gsize n, const DedupKey *key, gsize *at)
{
  gsize i = *at;

  while (i < n && !dedup_key_is_empty (&slots[i]) && dedup_key_is_less (&slots[i], key))
    i++;
  *at = i;
  return i < n && dedup_key_equal (&slots[i], key);
}

typedef enum
{
  DEDUP_TABLE_ADDED,
  DEDUP_TABLE_FOUND,
  DEDUP_TABLE_FULL,
} DedupTableResult;

/* Keys in memory: a table with open addressing, whose keys are in order. A key is at its place, or
 * behind it with no empty slot between. */
typedef struct
{
  DedupKey *slots;
  gsize capacity; /* places */
  gsize n_slots;  /* behind the last place is room for those that do not fit before */
  gsize n_keys;
  gsize max_keys;
} DedupTable;

/* The bytes of a table with so many places. */
gsize dedup_table_get_bytes (gsize capacity);
/* FALSE: no memory. */
gboolean dedup_table_init (DedupTable *self, gsize capacity);
void dedup_table_clear (DedupTable *self);
/* It has no keys any more. */
void dedup_table_empty (DedupTable *self);
gboolean dedup_table_contains (const DedupTable *self, const DedupKey *key);
DedupTableResult dedup_table_add (DedupTable *self, const DedupKey *key);
/* To another number of places; FALSE: no memory, or no room for all of them; it is as before. */
gboolean dedup_table_resize (DedupTable *self, gsize capacity);

static inline void
dedup_table_prefetch (const DedupTable *self, const DedupKey *key)
{
  __builtin_prefetch (&self->slots[dedup_key_place (key, self->capacity)]);
}

G_END_DECLS
