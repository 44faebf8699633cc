/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where the records of a WARC file (ISO 28500) begin and end. */

typedef enum
{
  WARC_FAULT_NONE,
  WARC_FAULT_NO_RECORD,    /* something else, up to the next record */
  WARC_FAULT_HEADER,       /* without the blank line at its end */
  WARC_FAULT_NO_LENGTH,    /* no Content-Length */
  WARC_FAULT_BAD_LENGTH,   /* one that is no number, or two that differ */
  WARC_FAULT_WRONG_LENGTH, /* no record begins behind so many bytes */
} WarcFault;

typedef struct
{
  WarcFault fault;
  gsize start; /* behind line ends that belong to nobody; as @next where there is nothing else */
  gsize block; /* where the header ends, if it does */
  gsize block_end;
  gsize next;
  guint64 length;           /* as the header says, if it does */
  gboolean lacks_line_ends; /* fewer than the two behind the block */
} WarcFrame;

/*
 * The record at the start of @data. FALSE: more bytes are needed to tell; never where @is_end says
 * that a record or nothing follows. What it says of a record is the same however many bytes of the
 * records behind it are there.
 *
 * A Content-Length is taken as right where a record or the end follows, and is at most
 * @max_bytes; else the record ends where a line begins with the version of the next one.
 */
gboolean
warc_frame (const guint8 *data, gsize size, gboolean is_end, guint64 max_bytes, WarcFrame *frame);

/* Passes over a record whose length is not believed, as DlpReaderClass::skip() does. */
gsize warc_frame_skip (guint64 *state, const guint8 *data, gsize size, gboolean *ended);

G_END_DECLS
