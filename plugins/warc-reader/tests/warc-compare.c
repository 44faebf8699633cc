/* SPDX-License-Identifier: MIT */

#include "warc-compare.h"

static void
check_frame (const WarcFrame *frame, gsize size)
{
  g_assert_cmpuint (frame->next, >, 0);
  g_assert_cmpuint (frame->next, <=, size);
  g_assert_cmpuint (frame->start, <=, frame->next);
  if (frame->fault != WARC_FAULT_NONE || frame->start == frame->next)
    return;
  g_assert_cmpuint (frame->start, <, frame->block);
  g_assert_cmpuint (frame->block, <=, frame->block_end);
  g_assert_cmpuint (frame->block_end, <=, frame->next);
  g_assert_cmpuint (frame->block_end - frame->block, ==, frame->length);
}

static GArray *
list_frames (const guint8 *data, gsize size, guint64 max_bytes)
{
  GArray *frames = g_array_new (FALSE, FALSE, sizeof (WarcFrame));
  WarcFrame frame;

  for (gsize at = 0; at < size; at += frame.next)
    {
      g_assert_true (warc_frame (data + at, size - at, TRUE, max_bytes, &frame));
      check_frame (&frame, size - at);
      g_array_append_val (frames, frame);
    }
  return frames;
}

static void
assert_same (const WarcFrame *a, const WarcFrame *b)
{
  g_assert_cmpint (a->fault, ==, b->fault);
  g_assert_cmpuint (a->start, ==, b->start);
  g_assert_cmpuint (a->block, ==, b->block);
  g_assert_cmpuint (a->block_end, ==, b->block_end);
  g_assert_cmpuint (a->next, ==, b->next);
  g_assert_cmpuint (a->length, ==, b->length);
  g_assert_cmpint (a->lacks_line_ends, ==, b->lacks_line_ends);
}

/* Of the first @size bytes. */
static gsize
cut (const guint8 *data, gsize size, guint64 max_bytes)
{
  gsize at = 0;
  WarcFrame frame;

  while (warc_frame (data + at, size - at, FALSE, max_bytes, &frame))
    at += frame.next;
  return at;
}

static void
compare_cut (const guint8 *data, gsize size, const GArray *whole, guint64 max_bytes)
{
  gsize at = cut (data, size, max_bytes);
  g_autoptr (GArray) part = list_frames (data, at, max_bytes);
  gsize end = 0;

  g_assert_cmpuint (part->len, <=, whole->len);
  for (guint i = 0; i < part->len; i++)
    {
      assert_same (&g_array_index (part, WarcFrame, i), &g_array_index (whole, WarcFrame, i));
      end += g_array_index (part, WarcFrame, i).next;
    }
  g_assert_cmpuint (end, ==, at);
}

static gsize
skip (const guint8 *data, gsize size, gsize piece)
{
  guint64 state[4] = { 0 };
  gboolean ended = FALSE;
  gsize taken = 0;

  for (gsize seen = MIN (piece, size); !ended; seen = MIN (seen + piece, size))
    {
      gsize n = warc_frame_skip (state, data + taken, seen - taken, &ended);

      g_assert_cmpuint (n, <=, seen - taken);
      taken += n;
      if (!ended && seen == size)
        return size;
    }
  return taken;
}

void
warc_compare (const guint8 *data, gsize size, gsize piece, guint64 max_bytes)
{
  g_autoptr (GArray) whole = list_frames (data, size, max_bytes);

  piece = MAX (piece, 1);
  for (gsize n = 0; n <= size; n += MAX (piece, size / 64))
    compare_cut (data, n, whole, max_bytes);
  g_assert_cmpuint (skip (data, size, piece), ==, skip (data, size, MAX (size, 1)));
}
