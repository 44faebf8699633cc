/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader-value.h"
#include "tar-fields.h"
#include "tar-member.h"

G_BEGIN_DECLS

/* The members of one key, as they are met, and the record that they make. A worker keeps one. */

typedef struct _TarSample TarSample;

TarSample *tar_sample_new (const TarFields *fields);
void tar_sample_free (TarSample *self);
/* Gives back what a large sample left behind. */
void tar_sample_trim (TarSample *self, gsize max_bytes);

/* Whether there is one, and whether @member belongs to it. */
gboolean tar_sample_is_open (const TarSample *self);
gboolean tar_sample_has (const TarSample *self, const TarMember *member, gsize key_size);

/* Begins one that the member is the first of. */
void tar_sample_begin (TarSample *self, const TarMember *member, gsize key_size);
/* The name of the last member that was met of it. */
const char *tar_sample_get_last (const TarSample *self, gsize *size);
/* The member is met; @data: all of it, or NULL where the archive is cut in it. A fault of the
 * sample is kept for the end of it. */
void tar_sample_add (TarSample *self, const TarMember *member, const guint8 *data);

/* Whether all members that are wanted are there, and none is wrong. */
gboolean tar_sample_is_complete (const TarSample *self);
/* Ends it, and appends its fields; FALSE: see @fault. Texts have to be readable for JSON_PADDING
 * bytes behind their end. */
gboolean tar_sample_append (TarSample *self,
                            DlpRecordBatchBuilder *builder,
                            JsonCounts *counts,
                            ReaderFault *fault);
/* Ends it without a record. */
void tar_sample_drop (TarSample *self);

G_END_DECLS
