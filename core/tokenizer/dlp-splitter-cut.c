/* SPDX-License-Identifier: MIT */
#include "dlp-splitter-private.h"
#include "dlp-utf8.h"

#include <string.h>

/* Takes what a step finds in a piece, match or not match, from left to right and without a hole,
 * and makes the pieces of it. The piece made last is kept back, since the next may join it. */
typedef struct
{
  DlpPieces *pieces;
  guint room;
  DlpPiece *items;
  gsize n;
  gsize capacity;

  DlpCut cut;
  gboolean invert;
  gboolean has_last;
  gboolean was_match;
  guint32 start; /* of the piece made last */
  guint32 stop;
} Cutter;

static void __attribute__ ((noinline)) grow (Cutter *self)
{
  self->items = dlp_pieces_reserve (self->pieces, self->room, self->n + 1);
  self->capacity = self->pieces->capacities[self->room];
}

static inline void
add_piece (Cutter *self, guint32 start, guint32 stop)
{
  if (start == stop)
    return;
  if (G_UNLIKELY (self->n == self->capacity))
    grow (self);
  self->items[self->n++] = (DlpPiece){ start, stop - start };
}

static inline void
flush (Cutter *self)
{
  if (self->has_last)
    add_piece (self, self->start, self->stop);
  self->has_last = FALSE;
  self->was_match = FALSE;
}

static inline gboolean
joins_last (const Cutter *self, gboolean is_match)
{
  if (!self->has_last)
    return FALSE;
  switch (self->cut)
    {
    case DLP_CUT_MERGED_WITH_PREVIOUS:
      return is_match && !self->was_match;

    case DLP_CUT_MERGED_WITH_NEXT:
      return !is_match && self->was_match;

    case DLP_CUT_CONTIGUOUS:
      return is_match == self->was_match;

    case DLP_CUT_REMOVED:
    case DLP_CUT_ISOLATED:
    default:
      return FALSE;
    }
}

static inline void
take (Cutter *self, guint32 start, guint32 stop, gboolean is_match)
{
  is_match = is_match != self->invert;
  if (self->cut == DLP_CUT_REMOVED)
    {
      if (!is_match)
        add_piece (self, start, stop);
      return;
    }
  if (joins_last (self, is_match))
    self->stop = stop;
  else
    {
      if (self->has_last)
        add_piece (self, self->start, self->stop);
      self->start = start;
      self->stop = stop;
    }
  self->has_last = TRUE;
  self->was_match = is_match;
}

/* A match in the piece @piece, and what is between it and the match that ended at *@last. */
static inline void
take_match (Cutter *self, guint32 *last, guint32 start, guint32 stop)
{
  if (start > *last)
    take (self, *last, start, FALSE);
  take (self, start, stop, TRUE);
  *last = stop;
}

static inline void
take_rest (Cutter *self, guint32 last, guint32 end)
{
  if (end > last)
    take (self, last, end, FALSE);
  flush (self);
}

static void
cut_by_scan (Cutter *self, const DlpStep *step, DlpPiece piece)
{
  const guint8 *text = self->pieces->text;
  const guint8 *p = text + piece.start, *end = p + piece.len;

  while (p < end)
    {
      const guint8 *stop = step->scan (p, end);

      add_piece (self, p - text, stop - text);
      p = stop;
    }
}

static gboolean
cut_by_regex (Cutter *self, DlpMatcher *matcher, DlpPiece piece)
{
  const guint8 *text = self->pieces->text + piece.start;
  guint32 last = piece.start;
  DlpMatch match = { 0 };
  int rc;

  while ((rc = dlp_matcher_find (matcher, text, piece.len, &match)) == 1)
    take_match (self, &last, piece.start + match.start, piece.start + match.stop);
  take_rest (self, last, piece.start + piece.len);
  return rc == 0;
}

/* A string without characters matches before each one and at the end. */
static void
cut_by_nothing (Cutter *self, DlpPiece piece)
{
  const guint8 *text = self->pieces->text;
  guint32 end = piece.start + piece.len, last = piece.start;

  for (guint32 at = last; at < end; at += dlp_utf8_len (text[at]))
    take_match (self, &last, at, at);
  take_match (self, &last, end, end);
  take_rest (self, last, end);
}

static void
cut_by_string (Cutter *self, const DlpStep *step, DlpPiece piece)
{
  const guint8 *text = self->pieces->text;
  const guint8 *p = text + piece.start, *end = p + piece.len;
  guint32 last = piece.start;

  if (step->text_len == 0)
    {
      cut_by_nothing (self, piece);
      return;
    }
  while ((p = memmem (p, end - p, step->text, step->text_len)) != NULL)
    {
      take_match (self, &last, p - text, p - text + step->text_len);
      p += step->text_len;
    }
  take_rest (self, last, end - text);
}

static void
cut_by_set (Cutter *self, const DlpStep *step, DlpPiece piece)
{
  const guint8 *text = self->pieces->text;
  const guint8 *p = text + piece.start, *end = p + piece.len;
  guint32 last = piece.start;
  guint len;

  for (; p < end; p += len)
    {
      len = dlp_utf8_len (*p);
      if (dlp_char_set_contains (step->set, dlp_utf8_get (p)))
        take_match (self, &last, p - text, p - text + len);
    }
  take_rest (self, last, end - text);
}

static void
cut_by_length (Cutter *self, const DlpStep *step, DlpPiece piece)
{
  const guint8 *text = self->pieces->text;
  guint32 end = piece.start + piece.len, at = piece.start;

  while (at < end)
    {
      guint32 start = at;

      for (guint64 n = 0; n < step->length && at < end; n++)
        at += dlp_utf8_len (text[at]);
      add_piece (self, start, at);
    }
}

/* A space goes with any script. What stands before the first character of a script is dropped: so
 * is it where the tables come from. */
static void
cut_by_script (Cutter *self, DlpPiece piece)
{
  const guint8 *text = self->pieces->text;
  guint32 end = piece.start + piece.len, start = end;
  guint script, last = DLP_SCRIPT_ANY;

  for (guint32 at = piece.start; at < end; at += dlp_utf8_len (text[at]))
    {
      script = dlp_splitter_script (dlp_utf8_get (text + at));
      if (script == DLP_SCRIPT_ANY)
        continue;
      if (script != last)
        {
          if (start < at)
            add_piece (self, start, at);
          start = at;
        }
      last = script;
    }
  add_piece (self, start, end);
}

static DlpMatcher *
get_matcher (DlpPieces *pieces, const DlpStep *step, guint index)
{
  if (g_ptr_array_index (pieces->matchers, index) == NULL)
    g_ptr_array_index (pieces->matchers, index) = dlp_matcher_new (step->pattern);
  return g_ptr_array_index (pieces->matchers, index);
}

static gboolean
cut_piece (Cutter *self, const DlpStep *step, guint index, DlpPiece piece)
{
  switch (step->type)
    {
    case DLP_STEP_SCAN:
      cut_by_scan (self, step, piece);
      return TRUE;

    case DLP_STEP_REGEX:
      return cut_by_regex (self, get_matcher (self->pieces, step, index), piece);

    case DLP_STEP_STRING:
      cut_by_string (self, step, piece);
      return TRUE;

    case DLP_STEP_SET:
      cut_by_set (self, step, piece);
      return TRUE;

    case DLP_STEP_SCRIPTS:
      cut_by_script (self, piece);
      return TRUE;

    case DLP_STEP_LENGTH:
      cut_by_length (self, step, piece);
      return TRUE;

    case DLP_STEP_PREFIX:
    case DLP_STEP_REPLACE:
    case DLP_STEP_MAP:
    case DLP_STEP_UNMAP:
    default:
      g_return_val_if_reached (FALSE);
    }
}

/* Cuts each piece by itself. @index is that of the step in its splitter. */
gboolean
dlp_step_cut (const DlpStep *self, guint index, DlpPieces *pieces)
{
  guint room = !pieces->room;
  Cutter cutter = { .pieces = pieces,
                    .room = room,
                    .items = pieces->rooms[room],
                    .capacity = pieces->capacities[room],
                    .cut = self->cut,
                    .invert = self->invert };

  for (gsize i = 0; i < pieces->n; i++)
    if (!cut_piece (&cutter, self, index, pieces->items[i]))
      return FALSE;
  pieces->items = cutter.items;
  pieces->n = cutter.n;
  pieces->room = room;
  return TRUE;
}
