/* SPDX-License-Identifier: MIT */
#include "dlp-splitter-private.h"

/* Above these the room of a text is given back before the next one. */
#define TEXT_KEPT (1u << 20)
#define PIECES_KEPT (1u << 17)
/* What a step may write is up to five times as long. */
#define MAX_REWRITTEN ((gsize) 1 << 28)

static guint64
next_serial (void)
{
  static guint64 last;

  return __atomic_add_fetch (&last, 1, __ATOMIC_RELAXED);
}

/* The only step, if it is a scanner: then that is what the splitter is. */
static const DlpPattern *
find_pattern (const DlpSplitter *self)
{
  const DlpStep *step = self->steps->len == 1 ? g_ptr_array_index (self->steps, 0) : NULL;

  return step && step->type == DLP_STEP_SCAN ? step->pattern : NULL;
}

DlpSplitter *
dlp_splitter_new (DlpJsonNode node, gboolean byte_level, GError **error)
{
  g_autoptr (GPtrArray) steps = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_step_free);
  DlpSplitterParser parser = { .steps = steps, .byte_level = byte_level, .mapped = byte_level };
  DlpSplitter *self;

  if (dlp_json_get_type (node) != DLP_JSON_NONE && dlp_json_get_type (node) != DLP_JSON_NULL &&
      !dlp_splitter_parse (&parser, node, error))
    return NULL;
  dlp_splitter_simplify (steps);
  if (parser.mapped)
    g_ptr_array_add (steps, dlp_step_new (DLP_STEP_UNMAP, DLP_CUT_ISOLATED));

  self = g_new0 (DlpSplitter, 1);
  self->steps = g_steal_pointer (&steps);
  self->byte_level = parser.byte_level;
  self->pattern = find_pattern (self);
  self->serial = next_serial ();
  return self;
}

void
dlp_splitter_free (DlpSplitter *self)
{
  g_ptr_array_unref (self->steps);
  g_free (self);
}

gboolean
dlp_splitter_is_byte_level (const DlpSplitter *self)
{
  return self->byte_level;
}

const DlpPattern *
dlp_splitter_get_pattern (const DlpSplitter *self)
{
  return self->pattern;
}

void
dlp_splitter_hash (const DlpSplitter *self, GChecksum *checksum)
{
  guint8 byte_level = self->byte_level;

  g_checksum_update (checksum, &byte_level, 1);
  for (guint i = 0; i < self->steps->len; i++)
    dlp_step_hash (g_ptr_array_index (self->steps, i), checksum);
}

/* Room for at least @n pieces; what is in it is kept. */
DlpPiece *
dlp_pieces_reserve (DlpPieces *self, guint room, gsize n)
{
  if (self->capacities[room] < n)
    {
      self->capacities[room] = MAX (n, MAX (256, 2 * self->capacities[room]));
      self->rooms[room] = g_renew (DlpPiece, self->rooms[room], self->capacities[room]);
    }
  return self->rooms[room];
}

static void
give_back (DlpPieces *self)
{
  for (guint i = 0; i < 2; i++)
    {
      if (self->texts[i] && self->texts[i]->len > TEXT_KEPT)
        g_clear_pointer (&self->texts[i], g_byte_array_unref);
      if (self->capacities[i] > PIECES_KEPT)
        {
          g_clear_pointer (&self->rooms[i], g_free);
          self->capacities[i] = 0;
        }
    }
}

static void
free_matcher (gpointer matcher)
{
  if (matcher)
    dlp_matcher_free (matcher);
}

static void
prepare (const DlpSplitter *self, DlpPieces *pieces)
{
  give_back (pieces);
  if (pieces->serial == self->serial)
    return;
  g_clear_pointer (&pieces->matchers, g_ptr_array_unref);
  pieces->matchers = g_ptr_array_new_full (self->steps->len, free_matcher);
  g_ptr_array_set_size (pieces->matchers, self->steps->len);
  pieces->serial = self->serial;
}

gboolean
dlp_splitter_run (const DlpSplitter *self,
                  const guint8 *text,
                  gsize len,
                  gboolean is_first,
                  DlpPieces *pieces)
{
  gboolean is_origin = is_first;

  prepare (self, pieces);
  pieces->text = text;
  pieces->text_len = len;
  pieces->room = 0;
  pieces->items = dlp_pieces_reserve (pieces, 0, 1);
  pieces->items[0] = (DlpPiece){ 0, len };
  pieces->n = len > 0;
  if (len > DLP_SPLITTER_MAX_TEXT)
    return FALSE;

  for (guint i = 0; i < self->steps->len; i++)
    {
      const DlpStep *step = g_ptr_array_index (self->steps, i);

      if (!dlp_step_rewrites (step))
        {
          if (!dlp_step_cut (step, i, pieces))
            return FALSE;
          is_origin = is_origin && pieces->n > 0 && pieces->items[0].start == 0;
        }
      else if (pieces->text_len > MAX_REWRITTEN)
        return FALSE;
      else
        dlp_step_rewrite (step, pieces, is_origin);
    }
  return TRUE;
}

void
dlp_pieces_clear (DlpPieces *self)
{
  g_clear_pointer (&self->matchers, g_ptr_array_unref);
  for (guint i = 0; i < 2; i++)
    {
      g_clear_pointer (&self->texts[i], g_byte_array_unref);
      g_clear_pointer (&self->rooms[i], g_free);
    }
  *self = (DlpPieces){ 0 };
}
