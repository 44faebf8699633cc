/* SPDX-License-Identifier: MIT */

#include "json-writer.h"

#include <math.h>
#include <string.h>

#define CAPACITY ((gsize) 64 * 1024)
/* Longest text of a number, or of one escaped character with a word behind it. */
#define SHORT_TEXT 64

struct _JsonWriter
{
  JsonWriteFunc write;
  GCancellable *cancellable; /* not owned */
  gpointer target;
  GError *error;
  gsize filled;
  char buffer[CAPACITY];
};

JsonWriter *
json_writer_new (JsonWriteFunc write, gpointer target)
{
  JsonWriter *self = g_new (JsonWriter, 1);

  self->write = write;
  self->cancellable = NULL;
  self->target = target;
  self->error = NULL;
  self->filled = 0;
  return self;
}

void
json_writer_free (JsonWriter *self)
{
  if (self == NULL)
    return;

  g_clear_error (&self->error);
  g_free (self);
}

static void
hand_over (JsonWriter *self)
{
  if (self->filled > 0 && self->error == NULL)
    self->write (self->target, self->buffer, self->filled, self->cancellable, &self->error);
  self->filled = 0;
}

void
json_writer_begin (JsonWriter *self, GCancellable *cancellable)
{
  self->cancellable = cancellable;
}

gboolean
json_writer_flush (JsonWriter *self, GError **error)
{
  hand_over (self);
  self->cancellable = NULL;
  if (self->error == NULL)
    return TRUE;

  g_propagate_error (error, g_error_copy (self->error));
  return FALSE;
}

/* Where SHORT_TEXT bytes can be written. */
static inline char *
make_room (JsonWriter *self)
{
  if (G_UNLIKELY (CAPACITY - self->filled < SHORT_TEXT))
    hand_over (self);
  return self->buffer + self->filled;
}

static inline void
add_char (JsonWriter *self, char c)
{
  *make_room (self) = c;
  self->filled++;
}

void
json_writer_add_raw (JsonWriter *self, const char *text, gsize size)
{
  while (size > 0)
    {
      char *room = make_room (self);
      gsize n = MIN (size, CAPACITY - self->filled);

      memcpy (room, text, n);
      self->filled += n;
      text += n;
      size -= n;
    }
}

void
json_writer_add_null (JsonWriter *self)
{
  json_writer_add_raw (self, "null", 4);
}

void
json_writer_add_boolean (JsonWriter *self, gboolean value)
{
  json_writer_add_raw (self, value ? "true" : "false", value ? 4 : 5);
}

/* ---- numbers ---- */

static char *
format_unsigned (char *out, guint64 value)
{
  char digits[20];
  guint n = 0;

  do
    {
      digits[n++] = (char) ('0' + value % 10);
      value /= 10;
    }
  while (value > 0);
  while (n > 0)
    *out++ = digits[--n];
  return out;
}

void
json_writer_add_uint64 (JsonWriter *self, guint64 value)
{
  char *room = make_room (self);

  self->filled += (gsize) (format_unsigned (room, value) - room);
}

void
json_writer_add_int64 (JsonWriter *self, gint64 value)
{
  if (value < 0)
    add_char (self, '-');
  json_writer_add_uint64 (self, value < 0 ? -(guint64) value : (guint64) value);
}

static gboolean
reads_as (const char *text, double value, gboolean is_float)
{
  double read = g_ascii_strtod (text, NULL);

  return is_float ? (float) read == (float) value : read == value;
}

/* With so many digits as say which one it is, from the number that always come out as they went in
 * to the number that always do. */
static void
add_real (JsonWriter *self, double value, gboolean is_float)
{
  static const char *const formats[] = {
    "%.6g", "%.7g", "%.8g", "%.9g", "%.15g", "%.16g", "%.17g"
  };
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  guint last = is_float ? 3 : G_N_ELEMENTS (formats) - 1;

  if (!isfinite (value))
    {
      json_writer_add_null (self);
      return;
    }

  for (guint i = is_float ? 0 : 4; i <= last; i++)
    {
      g_ascii_formatd (text, sizeof text, formats[i], value);
      if (reads_as (text, value, is_float))
        break;
    }
  json_writer_add_raw (self, text, strlen (text));
  if (strpbrk (text, ".e") == NULL)
    json_writer_add_raw (self, ".0", 2);
}

void
json_writer_add_double (JsonWriter *self, double value)
{
  add_real (self, value, FALSE);
}

void
json_writer_add_float (JsonWriter *self, float value)
{
  add_real (self, (double) value, TRUE);
}

#define DEFINE_LIST(name, type)                                                                    \
  void name (JsonWriter *self, const type *values, gsize n)                                        \
  {                                                                                                \
    add_char (self, '[');                                                                          \
    for (gsize i = 0; i < n; i++)                                                                  \
      {                                                                                            \
        char *room = make_room (self);                                                             \
        char *end = room;                                                                          \
                                                                                                   \
        if (i > 0)                                                                                 \
          *end++ = ',';                                                                            \
        end = format_unsigned (end, values[i]);                                                    \
        self->filled += (gsize) (end - room);                                                      \
      }                                                                                            \
    add_char (self, ']');                                                                          \
  }

DEFINE_LIST (json_writer_add_list16, guint16)
DEFINE_LIST (json_writer_add_list32, guint32)

#define DEFINE_LIST_BY(name, type, add)                                                            \
  void name (JsonWriter *self, const type *values, gsize n)                                        \
  {                                                                                                \
    add_char (self, '[');                                                                          \
    for (gsize i = 0; i < n; i++)                                                                  \
      {                                                                                            \
        if (i > 0)                                                                                 \
          add_char (self, ',');                                                                    \
        add (self, values[i]);                                                                     \
      }                                                                                            \
    add_char (self, ']');                                                                          \
  }

DEFINE_LIST_BY (json_writer_add_list_int32, gint32, json_writer_add_int64)
DEFINE_LIST_BY (json_writer_add_list_int64, gint64, json_writer_add_int64)
DEFINE_LIST_BY (json_writer_add_list_float, float, json_writer_add_float)
DEFINE_LIST_BY (json_writer_add_list_double, double, json_writer_add_double)

/* ---- strings ---- */

/* Whether one of eight bytes is a control character, a quote or a backslash; exact: nothing else
 * makes it non-zero. */
static inline guint64
find_special (guint64 word)
{
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101);
  const guint64 high = ones << 7;
  guint64 quote = word ^ (ones * '"');
  guint64 backslash = word ^ (ones * '\\');

  return (((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) |
          ((backslash - ones) & ~backslash)) &
         high;
}

static char *
escape (char *out, guint8 c)
{
  static const char hex[] = "0123456789abcdef";
  static const char letters[32] = {
    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
  };

  *out++ = '\\';
  if (c >= 0x20)
    *out++ = (char) c;
  else if (letters[c] != 0)
    *out++ = letters[c];
  else
    {
      memcpy (out, "u00", 3);
      out[3] = hex[c >> 4];
      out[4] = hex[c & 15];
      out += 5;
    }
  return out;
}

/* From @text to what does not fit at the moment; how many bytes were taken. */
static gsize
add_escaped (JsonWriter *self, const guint8 *text, gsize size)
{
  char *out = make_room (self);
  char *last = self->buffer + CAPACITY - SHORT_TEXT / 2;
  gsize i = 0;

  while (i < size && out <= last)
    {
      guint64 word;

      if (size - i >= sizeof word)
        {
          memcpy (&word, text + i, sizeof word);
          memcpy (out, &word, sizeof word);
          if (find_special (word) == 0)
            {
              out += sizeof word;
              i += sizeof word;
              continue;
            }
        }
      /* Up to and with the special one, or the last few. */
      do
        {
          guint8 c = text[i++];

          if (c < 0x20 || c == '"' || c == '\\')
            {
              out = escape (out, c);
              break;
            }
          *out++ = (char) c;
        }
      while (i < size && out <= last);
    }

  self->filled = (gsize) (out - self->buffer);
  return i;
}

void
json_writer_add_string (JsonWriter *self, const guint8 *text, gsize size)
{
  add_char (self, '"');
  while (size > 0)
    {
      gsize n = add_escaped (self, text, size);

      text += n;
      size -= n;
    }
  add_char (self, '"');
}

void
json_writer_add_base64 (JsonWriter *self, const guint8 *data, gsize size)
{
  int state = 0;
  int save = 0;

  add_char (self, '"');
  while (size > 0)
    {
      gsize n = MIN (size, 36);
      char *room = make_room (self);

      self->filled += g_base64_encode_step (data, n, FALSE, room, &state, &save);
      data += n;
      size -= n;
    }
  self->filled += g_base64_encode_close (FALSE, make_room (self), &state, &save);
  add_char (self, '"');
}
