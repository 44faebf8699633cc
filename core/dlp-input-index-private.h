/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An open-addressing table from a 32-bit hash to offsets, which the caller compares in full. 12
 * bytes a slot, at most 3/4 full. Offset 0 is not stored.
 */
typedef struct
{
  guint32 hash, low, high;
} DlpInputSlot;

typedef struct
{
  DlpInputSlot *slots;
  gsize n_slots; /* 0, or a power of two */
  gsize n_used;
} DlpInputIndex;

void dlp_input_index_clear (DlpInputIndex *self);
void dlp_input_index_add (DlpInputIndex *self, guint32 hash, guint64 offset);
/* Each offset of @hash in turn, those added later last; 0 at the end. *@position begins at 0. */
guint64 dlp_input_index_next (DlpInputIndex *self, guint32 hash, gsize *position);

G_END_DECLS
