/* SPDX-License-Identifier: MIT */

#include "dlp-record-store.h"

#include <pthread.h>
#include <string.h>

#include "dlp-record-block.h"
#include "dlp-scratch.h"
#include "dlp-slab.h"

/* The scratch file is written anew when it holds more dead bytes than living ones, and at least as
 * many as may be in memory, within these limits. */
#define MIN_DEAD (64 * 1024)
#define MAX_DEAD (64 * 1024 * 1024)
/* Of that, for each record taken: records copied, and places looked at; and bytes for each step. A
 * file is written anew before a quarter of the buffer was taken, if all of it is spilled. */
#define COPIED 4
#define LOOKED_AT 64
#define COPIED_BYTES (8 * 1024 * 1024)
/* Blocks let go of between two looks at the snapshots. */
#define LIMBO_STEP 256

/* A block that was let go of while a snapshot may refer to it: one with a serial up to this. */
typedef struct
{
  guint8 *data;
  gsize size;
  guint64 serial;
} Limbo;

struct _DlpRecordStore
{
  gint ref_count;      /* of the owner and of each snapshot */
  DlpElement *element; /* the owner's */
  DlpSchema *schema;

  /* The owner's thread. */
  gsize max_bytes;
  DlpSlab *slab;
  DlpScratch *file; /* NULL: nothing was ever spilled */
  guint64 begin;    /* offset of its first byte */
  guint64 live;     /* bytes of the file that are still wanted */
  DlpScratch *old;  /* NULL: none; the file before, what lives of it is being copied */
  guint64 old_begin;
  guint64 old_live;
  gsize next; /* records from here on are no longer in the old one */
  DlpRecordStoreStats stats;
  GByteArray *buffer;
  GArray *limbo; /* of Limbo, by serial */
  guint limbo_head;
  guint64 serial; /* of the last snapshot */

  pthread_mutex_t lock;
  GArray *snapshots;    /* lock: of guint64: serials of those that live, ascending */
  guint n_snapshots;    /* atomic */
  gsize snapshot_bytes; /* atomic */
};

struct _DlpRecordSnapshot
{
  DlpRecordStore *store;
  DlpScratch *file, *old; /* NULL: none */
  guint64 begin, old_begin;
  guint64 serial;
  gsize n;
  DlpStoredRecord *records;
  GByteArray *buffer;
};

DlpRecordStore *
dlp_record_store_new (DlpElement *element, DlpSchema *schema, gsize max_bytes)
{
  DlpRecordStore *self = g_new0 (DlpRecordStore, 1);

  self->ref_count = 1;
  self->element = element;
  self->schema = dlp_schema_ref (schema);
  self->max_bytes = max_bytes;
  self->slab = dlp_slab_new (max_bytes);
  self->buffer = g_byte_array_new ();
  self->limbo = g_array_new (FALSE, FALSE, sizeof (Limbo));
  self->snapshots = g_array_new (FALSE, FALSE, sizeof (guint64));
  pthread_mutex_init (&self->lock, NULL);
  return self;
}

/* What snapshots take is part of it. */
static void
limit_memory (DlpRecordStore *self)
{
  gsize taken = __atomic_load_n (&self->snapshot_bytes, __ATOMIC_RELAXED);

  dlp_slab_set_limit (self->slab, self->max_bytes - MIN (self->max_bytes, taken));
}

void
dlp_record_store_set_limit (DlpRecordStore *self, gsize max_bytes)
{
  self->max_bytes = max_bytes;
  limit_memory (self);
}

static void
store_unref (DlpRecordStore *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  for (guint i = self->limbo_head; i < self->limbo->len; i++)
    {
      const Limbo *limbo = &g_array_index (self->limbo, Limbo, i);

      dlp_slab_give (self->slab, limbo->data, limbo->size);
    }
  dlp_slab_free (self->slab);
  g_array_unref (self->limbo);
  g_array_unref (self->snapshots);
  g_byte_array_unref (self->buffer);
  g_clear_pointer (&self->file, dlp_scratch_unref);
  g_clear_pointer (&self->old, dlp_scratch_unref);
  pthread_mutex_destroy (&self->lock);
  dlp_schema_unref (self->schema);
  g_free (self);
}

void
dlp_record_store_free (DlpRecordStore *self)
{
  store_unref (self);
}

/* ---- blocks that snapshots keep ---- */

static guint64
get_oldest_snapshot (DlpRecordStore *self)
{
  guint64 serial = G_MAXUINT64;

  pthread_mutex_lock (&self->lock);
  if (self->snapshots->len > 0)
    serial = g_array_index (self->snapshots, guint64, 0);
  pthread_mutex_unlock (&self->lock);
  return serial;
}

static void
sweep_limbo (DlpRecordStore *self)
{
  guint64 oldest = get_oldest_snapshot (self);

  for (; self->limbo_head < self->limbo->len; self->limbo_head++)
    {
      Limbo *limbo = &g_array_index (self->limbo, Limbo, self->limbo_head);

      if (limbo->serial >= oldest)
        break;
      dlp_slab_give (self->slab, limbo->data, limbo->size);
    }
  if (self->limbo_head == self->limbo->len || self->limbo_head > self->limbo->len / 2)
    {
      g_array_remove_range (self->limbo, 0, self->limbo_head);
      self->limbo_head = 0;
    }
}

static gboolean
has_limbo (DlpRecordStore *self)
{
  return self->limbo_head < self->limbo->len;
}

static void
let_go (DlpRecordStore *self, guint8 *data, gsize size)
{
  Limbo limbo = { data, size, self->serial };

  if (__atomic_load_n (&self->n_snapshots, __ATOMIC_ACQUIRE) == 0)
    {
      if (G_UNLIKELY (has_limbo (self)))
        sweep_limbo (self);
      dlp_slab_give (self->slab, data, size);
      return;
    }
  g_array_append_val (self->limbo, limbo);
  if ((self->limbo->len - self->limbo_head) % LIMBO_STEP == 0)
    sweep_limbo (self);
}

/* ---- records ---- */

static guint64
get_end (const DlpRecordStore *self)
{
  return self->begin + dlp_scratch_get_end (self->file);
}

/* (transfer none): room at the end of the file. */
static guint8 *
spill (DlpRecordStore *self, gsize size, DlpStoredRecord *record, GError **error)
{
  guint8 *to;

  if (self->file == NULL)
    self->file = dlp_scratch_new (self->element, error);
  to = self->file != NULL ? dlp_scratch_append (self->file, size, error) : NULL;
  if (to == NULL)
    return NULL;
  *record = (DlpStoredRecord){ .offset = get_end (self) - size, .size = size, .in_file = TRUE };
  self->live += size;
  return to;
}

/* Beyond the limit, as it seems: snapshots may be gone. */
static guint8 *
allocate_beyond (DlpRecordStore *self, gsize size, DlpStoredRecord *record, GError **error)
{
  guint8 *to;

  limit_memory (self);
  sweep_limbo (self);
  to = dlp_slab_take (self->slab, size);
  if (to != NULL)
    {
      *record = (DlpStoredRecord){ .data = to, .size = size };
      return to;
    }
  self->stats.spilled++;
  return spill (self, size, record, error);
}

/* (transfer none): where the block of @record goes. */
static inline guint8 *
allocate (DlpRecordStore *self, gsize size, DlpStoredRecord *record, GError **error)
{
  guint8 *to = dlp_slab_take (self->slab, size);

  if (G_UNLIKELY (to == NULL))
    return allocate_beyond (self, size, record, error);
  *record = (DlpStoredRecord){ .data = to, .size = size };
  return to;
}

gboolean
dlp_record_store_add (DlpRecordStore *self,
                      const DlpRecordBatch *batch,
                      guint row,
                      DlpStoredRecord *record,
                      GError **error)
{
  gsize size = dlp_record_block_get_size (self->schema, batch, row);
  guint8 *to = allocate (self, size, record, error);

  if (to == NULL)
    return FALSE;
  dlp_record_block_write (self->schema, batch, row, to);
  return !record->in_file || dlp_scratch_settle (self->file, error);
}

gboolean
dlp_record_store_add_block (DlpRecordStore *self,
                            const guint8 *block,
                            gsize size,
                            DlpStoredRecord *record,
                            GError **error)
{
  guint8 *to = allocate (self, size, record, error);

  if (to == NULL)
    return FALSE;
  memcpy (to, block, size);
  return !record->in_file || dlp_scratch_settle (self->file, error);
}

/* (transfer none): the block of a record in a file, until the next one is read or added. */
static const guint8 *
read_block (DlpRecordStore *self, const DlpStoredRecord *record, GError **error)
{
  if (record->offset >= self->begin)
    return dlp_scratch_read (self->file, record->offset - self->begin, record->size, self->buffer,
                             TRUE, error);
  return dlp_scratch_read (self->old, record->offset - self->old_begin, record->size, self->buffer,
                           TRUE, error);
}

/* As what is in the file before, or else in the file, dies. */
static void
count_dead (DlpRecordStore *self, const DlpStoredRecord *record)
{
  if (record->offset >= self->begin)
    self->live -= record->size;
  else
    self->old_live -= record->size;
}

gboolean
dlp_record_store_emit (DlpRecordStore *self, DlpStoredRecord *record, DlpPad *pad, GError **error)
{
  const guint8 *block = record->data;

  if (record->in_file)
    {
      block = read_block (self, record, error);
      if (block == NULL)
        return FALSE;
    }
  g_assert (block != NULL);
  dlp_record_block_emit (self->schema, block, pad);
  if (record->in_file)
    dlp_scratch_trim (&self->buffer);
  dlp_record_store_drop (self, record);
  return TRUE;
}

void
dlp_record_store_drop (DlpRecordStore *self, DlpStoredRecord *record)
{
  if (record->in_file)
    count_dead (self, record);
  else
    let_go (self, record->data, record->size);
  *record = (DlpStoredRecord){ .size = 0 };
}

/* ---- the scratch file ---- */

static gboolean
copy_record (DlpRecordStore *self, DlpStoredRecord *record, GError **error)
{
  const guint8 *from = read_block (self, record, error);
  DlpStoredRecord copy;
  guint8 *to = from != NULL ? spill (self, record->size, &copy, error) : NULL;

  if (to == NULL)
    return FALSE;
  memcpy (to, from, copy.size);
  count_dead (self, record);
  *record = copy;
  dlp_scratch_trim (&self->buffer);
  return dlp_scratch_settle (self->file, error);
}

/* From the last one to the first, so that none is missed that takes another's place. In no order of
 * the file: that would need a list of what is where. */
static gboolean
copy_some (DlpRecordStore *self, DlpStoredRecord *records, gsize n, guint n_taken, GError **error)
{
  guint64 enough = self->stats.copied + (guint64) n_taken * COPIED;
  guint64 bytes = 0;

  self->next = MIN (self->next, n);
  for (guint64 i = 0; i < (guint64) n_taken * LOOKED_AT && self->old_live > 0; i++)
    {
      DlpStoredRecord *record = &records[--self->next];

      if (!record->in_file || record->offset >= self->begin)
        continue;
      bytes += record->size;
      if (!copy_record (self, record, error))
        return FALSE;
      if (++self->stats.copied == enough || bytes >= COPIED_BYTES)
        break;
    }
  if (self->old_live == 0)
    g_clear_pointer (&self->old, dlp_scratch_unref);
  return TRUE;
}

/* Snapshots may be made of the old file, so all of it is to be there. */
static gboolean
begin_anew (DlpRecordStore *self, gsize n, GError **error)
{
  guint64 end = get_end (self);
  DlpScratch *file;

  if (!dlp_scratch_flush (self->file, error))
    return FALSE;
  file = dlp_scratch_new (self->element, error);
  if (file == NULL)
    return FALSE;
  self->old = self->file;
  self->old_begin = self->begin;
  self->old_live = self->live;
  self->file = file;
  self->begin = end;
  self->live = 0;
  self->next = n;
  self->stats.rewritten++;
  return TRUE;
}

gboolean
dlp_record_store_compact (DlpRecordStore *self,
                          DlpStoredRecord *records,
                          gsize n,
                          guint n_taken,
                          GError **error)
{
  if (self->file == NULL)
    return TRUE;
  if (self->old == NULL)
    {
      guint64 dead = dlp_scratch_get_end (self->file) - self->live;

      if (dead < MAX (self->live, CLAMP (self->max_bytes, MIN_DEAD, MAX_DEAD)))
        return TRUE;
      if (!begin_anew (self, n, error))
        return FALSE;
    }
  return copy_some (self, records, n, n_taken, error);
}

const DlpRecordStoreStats *
dlp_record_store_get_stats (const DlpRecordStore *self)
{
  return &self->stats;
}

/* ---- snapshots ---- */

DlpRecordSnapshot *
dlp_record_store_snapshot (DlpRecordStore *self,
                           const DlpStoredRecord *records,
                           gsize n,
                           GError **error)
{
  DlpRecordSnapshot *snapshot;

  if (self->file != NULL && !dlp_scratch_flush (self->file, error))
    return NULL;

  snapshot = g_new0 (DlpRecordSnapshot, 1);
  g_atomic_int_inc (&self->ref_count);
  snapshot->store = self;
  snapshot->file = self->file != NULL ? dlp_scratch_ref (self->file) : NULL;
  snapshot->begin = self->begin;
  snapshot->old = self->old != NULL ? dlp_scratch_ref (self->old) : NULL;
  snapshot->old_begin = self->old_begin;
  snapshot->n = n;
  snapshot->records = g_memdup2 (records, n * sizeof *records);
  snapshot->buffer = g_byte_array_new ();
  snapshot->serial = ++self->serial;

  pthread_mutex_lock (&self->lock);
  g_array_append_val (self->snapshots, snapshot->serial);
  pthread_mutex_unlock (&self->lock);
  __atomic_fetch_add (&self->n_snapshots, 1, __ATOMIC_RELEASE);
  __atomic_fetch_add (&self->snapshot_bytes, n * sizeof *records, __ATOMIC_RELAXED);
  limit_memory (self);
  return snapshot;
}

void
dlp_record_snapshot_free (DlpRecordSnapshot *self)
{
  DlpRecordStore *store = self->store;
  guint index = 0;

  pthread_mutex_lock (&store->lock);
  while (g_array_index (store->snapshots, guint64, index) != self->serial)
    index++;
  g_array_remove_index (store->snapshots, index);
  pthread_mutex_unlock (&store->lock);
  __atomic_fetch_sub (&store->snapshot_bytes, self->n * sizeof *self->records, __ATOMIC_RELAXED);
  __atomic_fetch_sub (&store->n_snapshots, 1, __ATOMIC_RELEASE);

  g_free (self->records);
  g_clear_pointer (&self->file, dlp_scratch_unref);
  g_clear_pointer (&self->old, dlp_scratch_unref);
  g_byte_array_unref (self->buffer);
  g_free (self);
  store_unref (store);
}

gsize
dlp_record_snapshot_get_n (const DlpRecordSnapshot *self)
{
  return self->n;
}

DlpSchema *
dlp_record_snapshot_get_schema (const DlpRecordSnapshot *self)
{
  return self->store->schema;
}

const guint8 *
dlp_record_snapshot_read (DlpRecordSnapshot *self, gsize index, gsize *size, GError **error)
{
  const DlpStoredRecord *record = &self->records[index];

  *size = record->size;
  if (!record->in_file)
    return record->data;
  dlp_scratch_trim (&self->buffer);
  if (record->offset >= self->begin)
    return dlp_scratch_read (self->file, record->offset - self->begin, record->size, self->buffer,
                             FALSE, error);
  return dlp_scratch_read (self->old, record->offset - self->old_begin, record->size, self->buffer,
                           FALSE, error);
}
