/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-batch.h>
#include <dlpipe/dlp-record-batch.h>

#include "dlp-columns-private.h"

G_BEGIN_DECLS

/* A view of rows of shared columns, with the place on a link and the mark that core gave it. */
struct _DlpRecordBatch
{
  gint ref_count;
  guint offset;
  guint length;
  guint64 position;
  gsize bytes; /* 0: not counted; of those on links */
  DlpColumns *columns;
  const DlpBatchInfo *training; /* NULL, or what it is as a training batch; g_atomic_rc_box */
  gpointer mark;
  gpointer mark_owner; /* what keeps the mark alive: itself, or the batch this is a slice of */
  void (*mark_owner_unref) (gpointer);
};

/* (transfer full): rows [row, row + n) of batch as they go over a link: a new header, shared
 * columns. mark: (transfer full) (nullable), given back by mark_unref. What mark batch has does not
 * matter. */
DlpRecordBatch *dlp_record_batch_new_at (DlpRecordBatch *batch,
                                         guint row,
                                         guint n,
                                         guint64 position,
                                         gpointer mark,
                                         void (*mark_unref) (gpointer));
/* (transfer full): the same of a whole batch (transfer full), whose header is used again if nobody
 * else has it. */
DlpRecordBatch *dlp_record_batch_place (DlpRecordBatch *batch,
                                        guint64 position,
                                        gpointer mark,
                                        void (*mark_unref) (gpointer));
/* What it is as a training batch; before anybody else has it. */
void dlp_record_batch_set_training (DlpRecordBatch *self, const DlpBatchInfo *info);
void dlp_record_batch_drop_training (DlpRecordBatch *self);
/* How many places rows [row, row + n) take on their link, how many records they stand for. */
static inline guint64
dlp_record_batch_count_places (const DlpRecordBatch *self, guint n)
{
  return self->training != NULL ? self->training->n_batches : n;
}

static inline guint64
dlp_record_batch_count_records (const DlpRecordBatch *self, guint n)
{
  return self->training != NULL ? self->training->records : n;
}

/* (transfer full): the same values with other coordinates: those of the first record, its row or
 * file counted up. */
DlpRecordBatch *
dlp_record_batch_relabel (DlpRecordBatch *self, const DlpCoordinate *first, gboolean count_files);
/* (transfer full): no records, at position 0. */
DlpRecordBatch *dlp_record_batch_new_empty (DlpSchema *schema);
/* (transfer full): all rows; columns: (transfer full). */
DlpRecordBatch *dlp_record_batch_new_take (DlpColumns *columns);

/* (transfer none) (nullable): lives as long as the batch; a slice has the mark of the whole. */
static inline gpointer
dlp_record_batch_get_mark (const DlpRecordBatch *self)
{
  return self->mark;
}

/* What whoever builds did wrong with a record; the records before it are good. */
typedef struct
{
  char *message; /* NULL: nothing */
  guint record;  /* of those in the builder */
  gboolean has_coordinate;
  DlpCoordinate coordinate;
} DlpRecordFault;

/* FALSE: a record was begun and not ended, which is a fault, or there is a fault already. */
gboolean dlp_record_batch_builder_check_ended (DlpRecordBatchBuilder *self);
/* (nullable): of a record that was ended. */
const DlpRecordFault *dlp_record_batch_builder_get_fault (const DlpRecordBatchBuilder *self);
/* The builder can be used again; the records before the fault are in it. */
void dlp_record_batch_builder_take_fault (DlpRecordBatchBuilder *self, DlpRecordFault *fault);
/* (transfer full): what was built; a fault stays, an open record is dropped. */
DlpRecordBatch *dlp_record_batch_builder_take (DlpRecordBatchBuilder *self);

/* The accessors without their checks. */
static inline guint
dlp_record_batch_length (const DlpRecordBatch *self)
{
  return self->length;
}

static inline const DlpColumn *
dlp_record_batch_column (const DlpRecordBatch *self, guint field)
{
  return &self->columns->columns[field];
}

static inline const DlpCoordinate *
dlp_record_batch_coordinate (const DlpRecordBatch *self, guint row)
{
  return &self->columns->coordinates[(gsize) self->offset + row];
}

/* String, binary and list fields; *n in bytes or list values, the pointer NULL if null. */
static inline gconstpointer
dlp_record_batch_value (const DlpRecordBatch *self, guint field, guint row, gsize *n)
{
  const DlpColumn *column = dlp_record_batch_column (self, field);
  gsize i = (gsize) self->offset + row;

  if (G_UNLIKELY (dlp_column_is_null (column, i)))
    {
      *n = 0;
      return NULL;
    }
  return dlp_column_get_value (column, i, n);
}

G_END_DECLS
