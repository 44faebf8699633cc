/* SPDX-License-Identifier: MIT */

#include "dlp-record-store.h"

#include <pthread.h>
#include <string.h>

#include "dlp-record-block.h"
#include "dlp-scratch.h"

/* The scratch file is written anew when it holds more dead bytes than living ones, and at least so
 * many. */
#define MIN_DEAD (64 * 1024 * 1024)
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
  gsize held;       /* in memory, limbo included */
  DlpScratch *file; /* NULL: nothing was ever spilled */
  guint64 live;     /* bytes of the file that are still wanted */
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
  DlpScratch *file;
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
  self->buffer = g_byte_array_new ();
  self->limbo = g_array_new (FALSE, FALSE, sizeof (Limbo));
  self->snapshots = g_array_new (FALSE, FALSE, sizeof (guint64));
  pthread_mutex_init (&self->lock, NULL);
  return self;
}

void
dlp_record_store_set_limit (DlpRecordStore *self, gsize max_bytes)
{
  self->max_bytes = max_bytes;
}

static void
store_unref (DlpRecordStore *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  for (guint i = self->limbo_head; i < self->limbo->len; i++)
    g_free (g_array_index (self->limbo, Limbo, i).data);
  g_array_unref (self->limbo);
  g_array_unref (self->snapshots);
  g_byte_array_unref (self->buffer);
  g_clear_pointer (&self->file, dlp_scratch_unref);
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
      g_free (limbo->data);
      self->held -= limbo->size;
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
      g_free (data);
      self->held -= size;
      return;
    }
  g_array_append_val (self->limbo, limbo);
  if ((self->limbo->len - self->limbo_head) % LIMBO_STEP == 0)
    sweep_limbo (self);
}

/* ---- records ---- */

static gboolean
has_room (DlpRecordStore *self, gsize size)
{
  gsize taken = __atomic_load_n (&self->snapshot_bytes, __ATOMIC_RELAXED);

  return self->held + taken + size <= self->max_bytes;
}

/* (transfer none): where the block of @record goes. */
static guint8 *
allocate (DlpRecordStore *self, gsize size, DlpStoredRecord *record, GError **error)
{
  guint8 *to;

  if (!has_room (self, size) && has_limbo (self))
    sweep_limbo (self);
  if (has_room (self, size))
    {
      *record = (DlpStoredRecord){ .data = g_malloc (size), .size = size };
      self->held += size;
      return record->data;
    }
  if (self->file == NULL)
    self->file = dlp_scratch_new (self->element, error);
  to = self->file != NULL ? dlp_scratch_append (self->file, size, error) : NULL;
  if (to == NULL)
    return NULL;
  *record = (DlpStoredRecord){ .offset = dlp_scratch_get_end (self->file) - size,
                               .size = size,
                               .in_file = TRUE };
  self->live += size;
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
  return TRUE;
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
  return TRUE;
}

gboolean
dlp_record_store_emit (DlpRecordStore *self, DlpStoredRecord *record, DlpPad *pad, GError **error)
{
  const guint8 *block = record->data;

  if (record->in_file)
    block = dlp_scratch_read (self->file, record->offset, record->size, self->buffer, TRUE, error);
  if (block == NULL)
    return FALSE;
  dlp_record_block_emit (self->schema, block, pad);
  dlp_record_store_drop (self, record);
  return TRUE;
}

void
dlp_record_store_drop (DlpRecordStore *self, DlpStoredRecord *record)
{
  if (record->in_file)
    self->live -= record->size;
  else
    let_go (self, record->data, record->size);
  *record = (DlpStoredRecord){ .size = 0 };
}

/* ---- the scratch file ---- */

static gboolean
copy_record (DlpRecordStore *self, DlpScratch *to, DlpStoredRecord *record, GError **error)
{
  const guint8 *from =
      dlp_scratch_read (self->file, record->offset, record->size, self->buffer, TRUE, error);
  guint8 *at = from != NULL ? dlp_scratch_append (to, record->size, error) : NULL;

  if (at == NULL)
    return FALSE;
  memcpy (at, from, record->size);
  record->offset = dlp_scratch_get_end (to) - record->size;
  return TRUE;
}

gboolean
dlp_record_store_compact (DlpRecordStore *self, DlpStoredRecord *records, gsize n, GError **error)
{
  g_autoptr (DlpScratch) file = NULL;

  if (self->file == NULL ||
      dlp_scratch_get_end (self->file) - self->live < MAX (self->live, MIN_DEAD))
    return TRUE;

  file = dlp_scratch_new (self->element, error);
  if (file == NULL)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (records[i].in_file && !copy_record (self, file, &records[i], error))
      return FALSE;
  dlp_scratch_unref (self->file);
  self->file = g_steal_pointer (&file);
  self->live = dlp_scratch_get_end (self->file);
  return TRUE;
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
  snapshot->n = n;
  snapshot->records = g_memdup2 (records, n * sizeof *records);
  snapshot->buffer = g_byte_array_new ();
  snapshot->serial = ++self->serial;

  pthread_mutex_lock (&self->lock);
  g_array_append_val (self->snapshots, snapshot->serial);
  pthread_mutex_unlock (&self->lock);
  __atomic_fetch_add (&self->n_snapshots, 1, __ATOMIC_RELEASE);
  __atomic_fetch_add (&self->snapshot_bytes, n * sizeof *records, __ATOMIC_RELAXED);
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
  return record->in_file ? dlp_scratch_read (self->file, record->offset, record->size, self->buffer,
                                             FALSE, error) :
                           record->data;
}
