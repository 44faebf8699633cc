/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-state-file.h>

#include "dlp-record-store.h"

G_BEGIN_DECLS

/* The records of a shuffle buffer in a file: a header, and a zstd frame in which the block of each
 * record is behind a u64 with its size. The layout is in README.md. */

/* What the header says, beside the schema. */
typedef struct
{
  guint64 records;
  guint64 taken;
  guint64 drawn;
} DlpHeldHeader;

gboolean dlp_held_file_write (DlpStateFile *file,
                              const DlpHeldHeader *header,
                              DlpRecordSnapshot *records,
                              GError **error);

/* Reads @size bytes at @offset, fewer only at the end; -1: an error. */
typedef gssize (
    *DlpHeldSource) (gpointer source, guint64 offset, gpointer data, gsize size, GError **error);

typedef struct _DlpHeldReader DlpHeldReader;

/* NULL with %DLP_STATE_ERROR_CORRUPT: not such a file, or not of @header and @schema. @name: for
 * messages. */
DlpHeldReader *dlp_held_reader_new (DlpHeldSource read,
                                    gpointer source,
                                    const char *name,
                                    const DlpHeldHeader *header,
                                    DlpSchema *schema,
                                    GError **error);
void dlp_held_reader_free (DlpHeldReader *self);
/* (transfer none): the block of the next record, valid until the next call; NULL with @error. There
 * are as many as the header says. */
const guint8 *dlp_held_reader_next (DlpHeldReader *self, gsize *size, GError **error);
/* Behind the last one: there is nothing more. */
gboolean dlp_held_reader_finish (DlpHeldReader *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpHeldReader, dlp_held_reader_free)

G_END_DECLS
