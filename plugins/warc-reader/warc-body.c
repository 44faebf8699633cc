/* SPDX-License-Identifier: MIT */

#include "warc-body.h"

#include <string.h>
#include <zlib.h>

#include "warc-header.h"

#define PIECE_BYTES (64 * 1024)

typedef struct
{
  const guint8 *data;
  gsize size;
  gboolean may_end_early;
  gsize max_bytes;
  GByteArray *room;
  WarcBodyFault *fault;
} Coding;

static gboolean
fail (Coding *self, const char *kind, char *message)
{
  self->fault->kind = kind;
  self->fault->message = message;
  return FALSE;
}

static gboolean
fail_too_long (Coding *self)
{
  return fail (self, "too-long",
               g_strdup_printf ("its body has more than the max-record-bytes=%" G_GSIZE_FORMAT
                                " allowed",
                                self->max_bytes));
}

/* ---- the message ---- */

static gint64
read_status (const guint8 *data, gsize size)
{
  const guint8 *blank = memchr (data, ' ', size);
  gsize at = blank != NULL ? (gsize) (blank - data) + 1 : size;

  if (size - at < 3 || !g_ascii_isdigit (data[at]) || !g_ascii_isdigit (data[at + 1]) ||
      !g_ascii_isdigit (data[at + 2]))
    return -1;
  return (data[at] - '0') * 100 + (data[at + 1] - '0') * 10 + (data[at + 2] - '0');
}

/* Whether its first line ends as that of a request does. */
static gboolean
is_request (const guint8 *line, gsize size)
{
  const guint8 *newline = memchr (line, '\n', size);
  const guint8 *end = newline != NULL ? newline : line + size;

  return memmem (line, (gsize) (end - line), " HTTP/", 6) != NULL;
}

gboolean
http_message_read (HttpMessage *self, const guint8 *data, gsize size)
{
  gboolean is_response = size >= 5 && memcmp (data, "HTTP/", 5) == 0;
  gsize length;

  if (!is_response && !is_request (data, size))
    return FALSE;
  length = warc_header_measure (data, size);
  self->header = data;
  self->header_size = length > 0 ? length : size;
  self->body = data + self->header_size;
  self->body_size = size - self->header_size;
  self->status = is_response ? read_status (data, self->header_size) : -1;
  return TRUE;
}

/* ---- chunks ---- */

/* The line that says how long a chunk is, or FALSE. *next: behind it. */
static gboolean
read_chunk_size (const guint8 *data, gsize size, gsize *next, guint64 *length)
{
  const guint8 *newline = memchr (data, '\n', size);
  gsize at = 0;

  *length = 0;
  for (; at < size && g_ascii_isxdigit (data[at]); at++)
    if (__builtin_mul_overflow (*length, 16, length) ||
        __builtin_add_overflow (*length, (guint64) g_ascii_xdigit_value ((char) data[at]), length))
      return FALSE;
  *next = newline != NULL ? (gsize) (newline - data) + 1 : size;
  return at > 0 && at < size && newline != NULL && strchr (" \t;\r\n", data[at]) != NULL;
}

static gboolean
end_chunks_early (Coding *self, gsize at, const char *what)
{
  if (self->may_end_early)
    return TRUE;
  return fail (self, "chunked",
               g_strdup_printf ("Transfer-Encoding chunked: %s at byte %" G_GSIZE_FORMAT
                                " of the body",
                                what, at));
}

static gboolean
join_chunks (Coding *self)
{
  for (gsize at = 0; at < self->size;)
    {
      guint64 length;
      gsize next, rest;

      if (!read_chunk_size (self->data + at, self->size - at, &next, &length))
        return end_chunks_early (self, at, "no length of a chunk is");
      if (length == 0)
        return TRUE;
      at += next;
      rest = self->size - at;
      g_byte_array_append (self->room, self->data + at, (guint) MIN (length, rest));
      if (length > rest)
        return end_chunks_early (self, at, "a chunk is cut");
      at += (gsize) length;
      /* The line end behind a chunk. */
      if (at < self->size && self->data[at] == '\r')
        at++;
      if (at < self->size && self->data[at] == '\n')
        at++;
    }
  return end_chunks_early (self, self->size, "the last chunk is missing");
}

/* ---- compression ---- */

static gboolean
fail_inflate (Coding *self, const z_stream *stream, const char *name, int code)
{
  if (code == Z_BUF_ERROR && self->may_end_early)
    return TRUE;
  return fail (self, "content-encoding",
               g_strdup_printf ("Content-Encoding %s: %s at byte %" G_GSIZE_FORMAT " of the body",
                                name,
                                code == Z_BUF_ERROR ? "it is cut" :
                                stream->msg != NULL ? stream->msg :
                                                      "damaged",
                                self->size - stream->avail_in));
}

/* Into the room; *code: how it ended. FALSE: too much. */
static gboolean
inflate_stream (Coding *self, z_stream *stream, int *code)
{
  *code = Z_OK;
  while (*code == Z_OK)
    {
      guint length = self->room->len;

      g_byte_array_set_size (self->room, length + PIECE_BYTES);
      stream->next_out = self->room->data + length;
      stream->avail_out = PIECE_BYTES;
      *code = inflate (stream, Z_NO_FLUSH);
      g_byte_array_set_size (self->room, length + PIECE_BYTES - stream->avail_out);
      if (self->room->len > self->max_bytes)
        return fail_too_long (self);
    }
  return TRUE;
}

/* A gzip body may have several members. */
static gboolean
inflate_members (Coding *self, z_stream *stream, const char *name)
{
  int code;

  do
    {
      if (!inflate_stream (self, stream, &code))
        return FALSE;
      if (code != Z_STREAM_END)
        return fail_inflate (self, stream, name, code);
    }
  while (stream->avail_in >= 2 && stream->next_in[0] == 0x1f && stream->next_in[1] == 0x8b &&
         inflateReset (stream) == Z_OK);
  return TRUE;
}

/* @window_bits: of zlib, which is told by it what the stream is. */
static gboolean
decompress (Coding *self, int window_bits, const char *name)
{
  z_stream stream = { .next_in = (guint8 *) self->data, .avail_in = (uInt) self->size };
  gboolean done;

  if (inflateInit2 (&stream, window_bits) != Z_OK)
    g_error ("zlib: out of memory");
  done = inflate_members (self, &stream, name);
  inflateEnd (&stream);
  return done;
}

static gboolean
is_gzip (const guint8 *data, gsize size)
{
  return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* RFC 1950. */
static gboolean
is_zlib (const guint8 *data, gsize size)
{
  return size >= 2 && (data[0] & 0x0f) == 8 && (data[0] * 256 + data[1]) % 31 == 0;
}

static gboolean
is_any (const char *text, gsize size, const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (size == strlen (names[i]) && g_ascii_strncasecmp (text, names[i], size) == 0)
      return TRUE;
  return FALSE;
}

/* *used: whether the body is now in the room. */
static gboolean
decode_content (Coding *self, const char *name, gsize name_size, gboolean *used)
{
  static const char *const none[] = { "", "identity", "none", "utf-8", NULL };
  static const char *const gzip[] = { "gzip", "x-gzip", NULL };
  static const char *const deflate[] = { "deflate", NULL };

  *used = FALSE;
  if (self->size == 0 || is_any (name, name_size, none))
    return TRUE;
  if (is_any (name, name_size, gzip))
    {
      *used = is_gzip (self->data, self->size);
      return !*used || decompress (self, 15 + 16, "gzip");
    }
  if (is_any (name, name_size, deflate))
    {
      *used = TRUE;
      return decompress (self, is_zlib (self->data, self->size) ? 15 : -15, "deflate");
    }
  return fail (self, "content-encoding",
               g_strdup_printf ("Content-Encoding \"%.*s\", but only gzip and deflate are decoded",
                                (int) MIN (name_size, 40), name));
}

/* ---- both ---- */

static void
go_on_with_room (Coding *self, GByteArray *next)
{
  self->data = self->room->data;
  self->size = self->room->len;
  self->room = next;
}

/* Every coding that is named, the last one first. */
static gboolean
decode_contents (Coding *self, const HttpMessage *message, GByteArray *rooms[2])
{
  gsize size;
  const char *list = (const char *) warc_header_find (message->header, message->header_size,
                                                      "Content-Encoding", &size);

  while (list != NULL && size > 0)
    {
      const char *comma = memrchr (list, ',', size);
      const char *name = comma != NULL ? comma + 1 : list;
      gsize n = (gsize) (list + size - name);
      gboolean used;

      while (n > 0 && (*name == ' ' || *name == '\t'))
        {
          name++;
          n--;
        }
      while (n > 0 && (name[n - 1] == ' ' || name[n - 1] == '\t'))
        n--;
      g_byte_array_set_size (self->room, 0);
      if (!decode_content (self, name, n, &used))
        return FALSE;
      if (used)
        go_on_with_room (self, self->room == rooms[0] ? rooms[1] : rooms[0]);
      size = comma != NULL ? (gsize) (comma - list) : 0;
    }
  return TRUE;
}

gboolean
http_message_decode (const HttpMessage *message,
                     gboolean may_end_early,
                     gsize max_bytes,
                     GByteArray *rooms[2],
                     const guint8 **body,
                     gsize *size,
                     WarcBodyFault *fault)
{
  Coding self = { message->body, message->body_size, may_end_early, max_bytes, rooms[0], fault };
  gsize next;
  guint64 length;

  g_byte_array_set_size (rooms[0], 0);
  g_byte_array_set_size (rooms[1], 0);
  if (warc_header_has (message->header, message->header_size, "Transfer-Encoding", "chunked") &&
      read_chunk_size (self.data, self.size, &next, &length))
    {
      if (!join_chunks (&self))
        return FALSE;
      go_on_with_room (&self, rooms[1]);
    }
  if (!decode_contents (&self, message, rooms))
    return FALSE;
  *body = self.data;
  *size = self.size;
  return TRUE;
}
