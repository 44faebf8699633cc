/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-cursor.h>
#include <dlpipe/dlp-state.h>

G_BEGIN_DECLS

struct _DlpMark
{
  gint ref_count;
  /* Marks of one element and process are ordered by their making. */
  guint64 serial;
  DlpState *state; /* NULL: the element has none */
  guint n_outputs;
  guint n_inputs;
  guint64 *emitted;  /* n_outputs; behind the struct */
  DlpCursor *inputs; /* n_inputs; behind the struct */
};

DlpMark *dlp_mark_new (guint n_outputs, guint n_inputs);
DlpMark *dlp_mark_ref (DlpMark *self);
void dlp_mark_unref (DlpMark *self);
/* Several references at once; never the last one. */
void dlp_mark_add_refs (DlpMark *self, int n);
/* Whether the caller holds the only reference, and so may write to it again. */
gboolean dlp_mark_is_unshared (DlpMark *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpMark, dlp_mark_unref)

G_END_DECLS
