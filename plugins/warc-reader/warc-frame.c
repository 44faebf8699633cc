/* SPDX-License-Identifier: MIT */

#include "warc-frame.h"

#include <string.h>

#include "warc-header.h"

/* "WARC/1." */
#define VERSION_SIZE 7

static gboolean
is_version (const guint8 *data, gsize size)
{
  return size >= VERSION_SIZE && memcmp (data, "WARC/", 5) == 0 && g_ascii_isdigit (data[5]) &&
         data[6] == '.';
}

/* Behind the first byte of @data: where a line begins with a version; 0: none does. */
static gsize
find_version (const guint8 *data, gsize size)
{
  const guint8 *end = data + size;
  const guint8 *p = data;

  while ((p = memmem (p, (gsize) (end - p), "\nWARC/", 6)) != NULL)
    {
      p++;
      if (is_version (p, (gsize) (end - p)))
        return (gsize) (p - data);
    }
  return 0;
}

/* The next record is looked for from @from on. FALSE: it is not there yet. */
static gboolean
resynchronise (const guint8 *data, gsize size, gboolean is_end, gsize from, WarcFrame *frame)
{
  gsize found = find_version (data + from, size - from);

  frame->next = found > 0 ? from + found : size;
  return found > 0 || is_end;
}

static gsize
measure_line_ends (const guint8 *data, gsize size, guint *n)
{
  gsize at = 0;

  for (*n = 0; at < size && (data[at] == '\n' || data[at] == '\r'); at++)
    *n += data[at] == '\n';
  return at;
}

/* A header ends early where another record begins. */
static gboolean
find_block (const guint8 *data, gsize size, WarcFrame *frame)
{
  gsize length = warc_header_measure (data + frame->start, size - frame->start);
  gsize other = find_version (data + frame->start, length > 0 ? length : size - frame->start);

  if (other > 0)
    {
      frame->fault = WARC_FAULT_HEADER;
      frame->next = frame->start + other;
      return TRUE;
    }
  if (length > 0)
    frame->block = frame->start + length;
  return length > 0;
}

static gboolean
read_digits (const guint8 *text, gsize size, guint64 *number)
{
  *number = 0;
  for (gsize i = 0; i < size; i++)
    if (!g_ascii_isdigit (text[i]) || __builtin_mul_overflow (*number, 10, number) ||
        __builtin_add_overflow (*number, text[i] - '0', number))
      return FALSE;
  return size > 0;
}

static WarcFault
read_length (const guint8 *header, gsize size, guint64 *length)
{
  const guint8 *end = header + size;
  gsize n, other_size;
  const guint8 *value = warc_header_find (header, size, "Content-Length", &n);
  const guint8 *other;

  if (value == NULL)
    return WARC_FAULT_NO_LENGTH;
  if (!read_digits (value, n, length))
    return WARC_FAULT_BAD_LENGTH;
  other = warc_header_find (value + n, (gsize) (end - value - n), "Content-Length", &other_size);
  if (other != NULL && (other_size != n || memcmp (other, value, n) != 0))
    return WARC_FAULT_BAD_LENGTH;
  return WARC_FAULT_NONE;
}

/* Whether the block that ends there has a record or the end behind it; *known: whether that can be
 * told. */
static gboolean
is_followed (const guint8 *data, gsize size, gboolean is_end, WarcFrame *frame, gboolean *known)
{
  guint n;

  frame->next =
      frame->block_end + measure_line_ends (data + frame->block_end, size - frame->block_end, &n);
  frame->lacks_line_ends = n < 2;
  *known = is_end || size - frame->next >= VERSION_SIZE;
  return frame->next == size || is_version (data + frame->next, size - frame->next);
}

static gboolean
frame_block (const guint8 *data, gsize size, gboolean is_end, guint64 max_bytes, WarcFrame *frame)
{
  if (frame->length <= max_bytes)
    {
      gboolean known;

      if (frame->length > size - frame->block && !is_end)
        return FALSE;
      if (frame->length <= size - frame->block)
        {
          frame->block_end = frame->block + (gsize) frame->length;
          if (is_followed (data, size, is_end, frame, &known) || !known)
            return known;
        }
    }
  frame->lacks_line_ends = FALSE;
  if (!resynchronise (data, size, is_end, frame->block - 1, frame))
    return FALSE;
  frame->fault = WARC_FAULT_WRONG_LENGTH;
  frame->block_end = frame->next;
  return TRUE;
}

gboolean
warc_frame (const guint8 *data, gsize size, gboolean is_end, guint64 max_bytes, WarcFrame *frame)
{
  guint n;

  *frame = (WarcFrame){ .start = measure_line_ends (data, size, &n) };
  if (size - frame->start < VERSION_SIZE && !is_end)
    return FALSE;
  frame->next = size;
  if (frame->start == size)
    return TRUE;
  if (!is_version (data + frame->start, size - frame->start))
    {
      frame->fault = WARC_FAULT_NO_RECORD;
      return resynchronise (data, size, is_end, frame->start, frame);
    }

  if (!find_block (data, size, frame))
    {
      frame->fault = WARC_FAULT_HEADER;
      return is_end;
    }
  if (frame->fault != WARC_FAULT_NONE)
    return TRUE;
  frame->fault = read_length (data + frame->start, frame->block - frame->start, &frame->length);
  if (frame->fault != WARC_FAULT_NONE)
    return resynchronise (data, size, is_end, frame->block - 1, frame);
  return frame_block (data, size, is_end, max_bytes, frame);
}

/* Line ends before the record are passed first: they must not make its own version the next one. */
gsize
warc_frame_skip (guint64 *state, const guint8 *data, gsize size, gboolean *ended)
{
  guint n;
  gsize from = *state == 0 ? measure_line_ends (data, size, &n) : 0;
  gsize found = find_version (data + from, size - from);

  *state = from < size;
  *ended = found > 0;
  /* A line end and a version may be cut. */
  return found > 0 ? from + found : MAX (from, size - MIN (size, VERSION_SIZE));
}
