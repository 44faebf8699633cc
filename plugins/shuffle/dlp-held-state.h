/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-held-file.h"

G_BEGIN_DECLS

/* What a buffer held at a mark: records, until they are asked for, then a file of them. Reference
 * counted; any thread. */
typedef struct _DlpHeldState DlpHeldState;

/* Takes @records. */
DlpHeldState *dlp_held_state_new (const DlpHeldHeader *header, DlpRecordSnapshot *records);
/* Takes @file. */
DlpHeldState *dlp_held_state_new_for_file (DlpStateFile *file);
DlpHeldState *dlp_held_state_ref (DlpHeldState *self);
void dlp_held_state_unref (DlpHeldState *self);

/* Writes the file, unless that was done. */
gboolean dlp_held_state_write (DlpHeldState *self, DlpElement *element, GError **error);
/* (transfer full) (nullable): the file, once it is written. */
DlpStateFile *dlp_held_state_dup_file (DlpHeldState *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpHeldState, dlp_held_state_unref)

G_END_DECLS
