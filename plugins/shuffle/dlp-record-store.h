/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* Records held one by one, each copied to a block of its own: a slice would pin its whole record
 * batch. Beyond a limit of bytes they go to a scratch file, which is written anew when half of it
 * is dead. Used by one thread. */
typedef struct _DlpRecordStore DlpRecordStore;

/* One record; plain, to be moved about by the caller. */
typedef struct
{
  guint8 *data; /* NULL: in the file at offset */
  guint64 offset;
  gsize size;
} DlpStoredRecord;

DlpRecordStore *dlp_record_store_new (DlpElement *element, DlpSchema *schema, gsize max_bytes);
/* For what is added from now on. */
void dlp_record_store_set_limit (DlpRecordStore *self, gsize max_bytes);
void dlp_record_store_free (DlpRecordStore *self);

gboolean dlp_record_store_add (DlpRecordStore *self,
                               const DlpRecordBatch *batch,
                               guint row,
                               DlpStoredRecord *record,
                               GError **error);
/* Appends it to a pad's open record batch, ending the record there, and lets go of it. */
gboolean
dlp_record_store_emit (DlpRecordStore *self, DlpStoredRecord *record, DlpPad *pad, GError **error);
void dlp_record_store_drop (DlpRecordStore *self, DlpStoredRecord *record);
/* To be called now and then with all records that live: writes the scratch file anew where that
 * pays. */
gboolean
dlp_record_store_compact (DlpRecordStore *self, DlpStoredRecord *records, gsize n, GError **error);

G_END_DECLS
