/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* Records held one by one, each copied to a block of its own: a slice would pin its whole record
 * batch. Beyond a limit of bytes they go to a scratch file, which is written anew, a piece at a
 * time, when half of it is dead. Used by one thread, its snapshots by any. */
typedef struct _DlpRecordStore DlpRecordStore;

/* One record; plain, to be moved about by the caller. */
typedef struct
{
  union
  {
    guint8 *data;
    guint64 offset; /* in what was ever spilled */
  };
  guint64 size : 63; /* 0: none */
  guint64 in_file : 1;
} DlpStoredRecord;

DlpRecordStore *dlp_record_store_new (DlpElement *element, DlpSchema *schema, gsize max_bytes);
/* For what is added from now on. */
void dlp_record_store_set_limit (DlpRecordStore *self, gsize max_bytes);
/* All records were dropped. */
void dlp_record_store_free (DlpRecordStore *self);

gboolean dlp_record_store_add (DlpRecordStore *self,
                               const DlpRecordBatch *batch,
                               guint row,
                               DlpStoredRecord *record,
                               GError **error);
/* The same of a block, see dlp-record-block.h. */
gboolean dlp_record_store_add_block (DlpRecordStore *self,
                                     const guint8 *block,
                                     gsize size,
                                     DlpStoredRecord *record,
                                     GError **error);
/* Appends it to a pad's open record batch, ending the record there, and lets go of it. */
gboolean
dlp_record_store_emit (DlpRecordStore *self, DlpStoredRecord *record, DlpPad *pad, GError **error);
void dlp_record_store_drop (DlpRecordStore *self, DlpStoredRecord *record);
/* To be called in each step, with all records that live (they may be dropped, replaced, added at
 * the end, and the last one moved to another's place meanwhile): where it pays to write the scratch
 * file anew a little of that is done. @n_taken: of the step; the work is in proportion to it. */
gboolean dlp_record_store_compact (DlpRecordStore *self,
                                   DlpStoredRecord *records,
                                   gsize n,
                                   guint n_taken,
                                   GError **error);

typedef struct
{
  guint64 spilled;   /* records that went to the scratch file, and were not written anew */
  guint64 rewritten; /* how often it was begun to write it anew */
  guint64 copied;    /* records, for that */
} DlpRecordStoreStats;

const DlpRecordStoreStats *dlp_record_store_get_stats (const DlpRecordStore *self);

/* Records as they were at some time, whatever becomes of them: 16 bytes each are copied, and blocks
 * in memory that are let go of meanwhile are kept as long, within the limit. It may outlive the
 * store. One thread at a time. */
typedef struct _DlpRecordSnapshot DlpRecordSnapshot;

/* NULL with @error: the file could not be written. */
DlpRecordSnapshot *dlp_record_store_snapshot (DlpRecordStore *self,
                                              const DlpStoredRecord *records,
                                              gsize n,
                                              GError **error);
void dlp_record_snapshot_free (DlpRecordSnapshot *self);
gsize dlp_record_snapshot_get_n (const DlpRecordSnapshot *self);
DlpSchema *dlp_record_snapshot_get_schema (const DlpRecordSnapshot *self);
/* (transfer none): the block of a record, valid until the next call. */
const guint8 *
dlp_record_snapshot_read (DlpRecordSnapshot *self, gsize index, gsize *size, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpRecordSnapshot, dlp_record_snapshot_free)

G_END_DECLS
