/* SPDX-License-Identifier: MIT */

#include "dlp-border-list-private.h"

#include <string.h>

/* Frames may hold a few bytes each: what lies between two that are kept is decoded again. */
#define MIN_GAP (64 * 1024)

/* Every second one goes, but never the last. */
static void
thin (DlpBorderList *self)
{
  guint n = 0;

  for (guint i = self->n % 2 == 0 ? 1 : 0; i < self->n; i += 2)
    self->borders[n++] = self->borders[i];
  self->n = n;
  self->gap *= 2;
}

void
dlp_border_list_add (DlpBorderList *self, const DlpDecoderBorder *border)
{
  DlpDecoderBorder *last = self->n > 0 ? &self->borders[self->n - 1] : NULL;

  self->gap = MAX (self->gap, MIN_GAP);
  /* Behind frames without content less of the file is to be read. */
  if (last != NULL && border->decoded == last->decoded)
    {
      *last = *border;
      return;
    }
  if (last != NULL && border->decoded - last->decoded < self->gap)
    return;
  if (self->n == DLP_BORDER_LIST_MAX)
    thin (self);
  self->borders[self->n++] = *border;
}

void
dlp_border_list_find (DlpBorderList *self, guint64 decoded, DlpDecoderBorder *border)
{
  guint n = self->n;

  while (n > 0 && self->borders[n - 1].decoded > decoded)
    n--;
  if (n == 0)
    {
      *border = (DlpDecoderBorder){ 0 };
      return;
    }
  *border = self->borders[n - 1];
  self->n -= n - 1;
  memmove (self->borders, &self->borders[n - 1], self->n * sizeof *self->borders);
  if (self->n == 1)
    self->gap = MIN_GAP;
}
