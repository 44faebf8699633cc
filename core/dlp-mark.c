/* SPDX-License-Identifier: MIT */

#include "dlp-mark-private.h"

static gpointer
dlp_cursor_copy (gpointer self)
{
  DlpCursor *copy = g_new0 (DlpCursor, 1);

  dlp_cursor_set (copy, self);
  return copy;
}

static void
dlp_cursor_free (gpointer self)
{
  dlp_cursor_clear (self);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (DlpMark, dlp_mark, dlp_mark_ref, dlp_mark_unref)
G_DEFINE_BOXED_TYPE (DlpCursor, dlp_cursor, dlp_cursor_copy, dlp_cursor_free)

DlpMark *
dlp_mark_new (guint n_outputs, guint n_inputs)
{
  gsize inputs_at = sizeof (DlpMark) + n_outputs * sizeof (guint64);
  DlpMark *self = g_malloc0 (inputs_at + n_inputs * sizeof (DlpCursor));

  self->ref_count = 1;
  self->n_outputs = n_outputs;
  self->n_inputs = n_inputs;
  self->emitted = (guint64 *) (self + 1);
  self->inputs = (DlpCursor *) ((char *) self + inputs_at);
  return self;
}

DlpMark *
dlp_mark_ref (DlpMark *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_mark_add_refs (DlpMark *self, int n)
{
  __atomic_fetch_add (&self->ref_count, n, __ATOMIC_ACQ_REL);
}

/* Recursion is as deep as the graph. */
void
dlp_mark_unref (DlpMark *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  for (guint i = 0; i < self->n_inputs; i++)
    dlp_cursor_clear (&self->inputs[i]);
  g_clear_pointer (&self->state, dlp_state_unref);
  g_free (self);
}

gboolean
dlp_mark_is_unshared (DlpMark *self)
{
  return g_atomic_int_get (&self->ref_count) == 1;
}

void
dlp_cursor_set (DlpCursor *self, const DlpCursor *from)
{
  DlpMark *old = self->mark;

  if (from->mark != old)
    {
      self->mark = from->mark != NULL ? dlp_mark_ref (from->mark) : NULL;
      if (old != NULL)
        dlp_mark_unref (old);
    }
  self->position = from->position;
}

void
dlp_cursor_clear (DlpCursor *self)
{
  g_clear_pointer (&self->mark, dlp_mark_unref);
  self->position = 0;
}
