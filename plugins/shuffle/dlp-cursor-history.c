/* SPDX-License-Identifier: MIT */

#include "dlp-cursor-history.h"

#include <string.h>

static void
forget (DlpCursorHistory *self, guint index)
{
  dlp_cursor_clear (&self->cursors[index]);
  memmove (&self->cursors[index], &self->cursors[index + 1],
           (self->n - index - 1) * sizeof (DlpCursor));
  self->n--;
  memset (&self->cursors[self->n], 0, sizeof (DlpCursor));
}

static void
thin (DlpCursorHistory *self)
{
  guint best = 1;
  guint64 least = G_MAXUINT64;

  for (guint i = 1; i + 1 < self->n; i++)
    {
      guint64 gap = self->cursors[i + 1].position - self->cursors[i - 1].position;

      if (gap < least)
        {
          least = gap;
          best = i;
        }
    }
  forget (self, best);
}

void
dlp_cursor_history_add (DlpCursorHistory *self, const DlpCursor *cursor, guint64 oldest)
{
  if (cursor->mark == NULL || (self->n > 0 && cursor->mark == self->cursors[self->n - 1].mark))
    return;
  while (self->n > 1 && self->cursors[1].position <= oldest)
    forget (self, 0);
  if (self->n == DLP_CURSOR_HISTORY_MAX)
    thin (self);
  dlp_cursor_set (&self->cursors[self->n++], cursor);
}

const DlpCursor *
dlp_cursor_history_find (const DlpCursorHistory *self, guint64 oldest)
{
  guint k = 0;

  if (self->n == 0)
    return NULL;
  while (k + 1 < self->n && self->cursors[k + 1].position <= oldest)
    k++;
  return &self->cursors[k];
}

void
dlp_cursor_history_clear (DlpCursorHistory *self)
{
  while (self->n > 0)
    forget (self, self->n - 1);
}
