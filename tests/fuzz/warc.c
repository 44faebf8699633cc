/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "warc-body.h"
#include "warc-charset.h"
#include "warc-compare.h"
#include "warc-digest.h"

/*
 * One input is a WARC file, behind a byte that says into pieces of which size it is cut. What is in
 * its blocks is read as HTTP too, decoded and converted.
 */

#define MAX_BYTES (1024 * 1024)

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
convert (const guint8 *body, gsize size)
{
  static const char html[] = "text/html";
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *unknown = NULL;
  guint64 replaced = 0;
  gsize mark, fault;
  const char *name = warc_charset_find (body, size, html, strlen (html), &mark, &unknown);

  g_assert_cmpuint (mark, <=, size);
  if (name == NULL)
    return;
  if (!warc_charset_convert (text, name, body + mark, size - mark, NULL, &fault))
    g_assert_cmpuint (fault, <=, size - mark);
  g_assert_true (warc_charset_convert (text, name, body + mark, size - mark, &replaced, &fault));
  g_assert_true (g_utf8_validate_len (text->str, text->len, NULL) ||
                 memchr (text->str, '\0', text->len) != NULL);
}

static void
read_block (const guint8 *block, gsize size)
{
  GByteArray *rooms[2] = { g_byte_array_sized_new (64), g_byte_array_sized_new (64) };
  HttpMessage message;

  for (guint may_end_early = 0; may_end_early < 2 && http_message_read (&message, block, size);
       may_end_early++)
    {
      WarcBodyFault fault = { NULL };
      const guint8 *body;
      gsize body_size;

      if (http_message_decode (&message, may_end_early != 0, MAX_BYTES, rooms, &body, &body_size,
                               &fault))
        convert (body, body_size);
      else
        g_assert_nonnull (fault.kind);
      g_free (fault.message);
    }
  g_byte_array_unref (rooms[0]);
  g_byte_array_unref (rooms[1]);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  WarcFrame frame;

  if (size == 0)
    return 0;
  warc_compare (data + 1, size - 1, data[0], MAX_BYTES);
  for (gsize at = 1; at < size; at += frame.next)
    {
      warc_frame (data + at, size - at, TRUE, MAX_BYTES, &frame);
      if (frame.fault != WARC_FAULT_NONE || frame.start == frame.next)
        continue;
      read_block (data + at + frame.block, frame.block_end - frame.block);
      warc_digest_check ((const char *) data + at + frame.start, frame.block - frame.start,
                         data + at + frame.block, frame.block_end - frame.block);
    }
  return 0;
}
