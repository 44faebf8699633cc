/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* A file without a name, appended to by one thread and read by any; reference counted. What was
 * appended last is gathered in memory first: its thread alone sees that. */
typedef struct _DlpScratch DlpScratch;

DlpScratch *dlp_scratch_new (DlpElement *element, GError **error);
DlpScratch *dlp_scratch_ref (DlpScratch *self);
void dlp_scratch_unref (DlpScratch *self);

guint64 dlp_scratch_get_end (const DlpScratch *self);
/* (transfer none): room for @size bytes at the end, to be filled at once; NULL with @error. */
guint8 *dlp_scratch_append (DlpScratch *self, gsize size, GError **error);
/* After it was filled: a large piece does not stay in memory. */
gboolean dlp_scratch_settle (DlpScratch *self, GError **error);
/* All of it can be read by any thread. */
gboolean dlp_scratch_flush (DlpScratch *self, GError **error);
/* (transfer none): bytes, in @buffer or not, valid until the next append or use of @buffer.
 * @appender: the caller is the thread that appends. */
const guint8 *dlp_scratch_read (DlpScratch *self,
                                guint64 offset,
                                gsize size,
                                GByteArray *buffer,
                                gboolean appender,
                                GError **error);

/* After what was read was used: @buffer is another one if the piece was large. */
void dlp_scratch_trim (GByteArray **buffer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpScratch, dlp_scratch_unref)

G_END_DECLS
