/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-json.h>

#include <math.h>
#include <string.h>

#define REPLACEMENT "\357\277\275"

static void
append_escaped (GString *out, guchar c)
{
  static const char letters[] = "\b\f\n\r\t";
  const char *found = c != 0 ? strchr (letters, c) : NULL;

  if (c == '"' || c == '\\')
    g_string_append_printf (out, "\\%c", c);
  else if (found != NULL)
    g_string_append_printf (out, "\\%c", "bfnrt"[found - letters]);
  else
    g_string_append_printf (out, "\\u%04x", c);
}

static void
append_valid (GString *out, const char *text, gsize size)
{
  gsize begin = 0;

  for (gsize i = 0; i < size; i++)
    {
      guchar c = (guchar) text[i];

      if (c >= 0x20 && c != '"' && c != '\\')
        continue;
      g_string_append_len (out, text + begin, (gssize) (i - begin));
      append_escaped (out, c);
      begin = i + 1;
    }
  g_string_append_len (out, text + begin, (gssize) (size - begin));
}

void
dlp_json_append_string (GString *out, const char *text, gsize size)
{
  g_return_if_fail (out != NULL && (text != NULL || size == 0));

  g_string_append_c (out, '"');
  while (size > 0)
    {
      const char *end;

      if (g_utf8_validate_len (text, size, &end))
        end = text + size;
      append_valid (out, text, (gsize) (end - text));
      size -= (gsize) (end - text);
      text = end;
      if (size > 0 && *text == '\0')
        g_string_append (out, "\\u0000");
      else if (size > 0)
        g_string_append (out, REPLACEMENT);
      if (size > 0)
        {
          text++;
          size--;
        }
    }
  g_string_append_c (out, '"');
}

static void
append_double (GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    {
      g_string_append (out, "null");
      return;
    }
  for (int digits = 15; digits <= 17; digits++)
    {
      char format[] = "%.1_g";

      format[3] = (char) ('0' + digits - 10);
      g_ascii_formatd (text, sizeof text, format, value);
      if (g_ascii_strtod (text, NULL) == value)
        break;
    }
  g_string_append (out, text);
  if (strpbrk (text, ".e") == NULL)
    g_string_append (out, ".0");
}

/* Whether @value is no container, and so is written. */
static gboolean
append_scalar (GString *out, GVariant *value)
{
  gsize n;
  const char *text;

  switch (g_variant_classify (value))
    {
    case G_VARIANT_CLASS_BOOLEAN:
      g_string_append (out, g_variant_get_boolean (value) ? "true" : "false");
      return TRUE;
    case G_VARIANT_CLASS_BYTE:
      g_string_append_printf (out, "%u", g_variant_get_byte (value));
      return TRUE;
    case G_VARIANT_CLASS_INT16:
      g_string_append_printf (out, "%d", g_variant_get_int16 (value));
      return TRUE;
    case G_VARIANT_CLASS_UINT16:
      g_string_append_printf (out, "%u", g_variant_get_uint16 (value));
      return TRUE;
    case G_VARIANT_CLASS_INT32:
      g_string_append_printf (out, "%d", g_variant_get_int32 (value));
      return TRUE;
    case G_VARIANT_CLASS_UINT32:
      g_string_append_printf (out, "%u", g_variant_get_uint32 (value));
      return TRUE;
    case G_VARIANT_CLASS_INT64:
      g_string_append_printf (out, "%" G_GINT64_FORMAT, g_variant_get_int64 (value));
      return TRUE;
    case G_VARIANT_CLASS_UINT64:
      g_string_append_printf (out, "%" G_GUINT64_FORMAT, g_variant_get_uint64 (value));
      return TRUE;
    case G_VARIANT_CLASS_DOUBLE:
      append_double (out, g_variant_get_double (value));
      return TRUE;
    case G_VARIANT_CLASS_STRING:
    case G_VARIANT_CLASS_OBJECT_PATH:
    case G_VARIANT_CLASS_SIGNATURE:
      text = g_variant_get_string (value, &n);
      dlp_json_append_string (out, text, n);
      return TRUE;
    case G_VARIANT_CLASS_HANDLE:
      g_string_append (out, "null");
      return TRUE;
    case G_VARIANT_CLASS_VARIANT:
    case G_VARIANT_CLASS_MAYBE:
    case G_VARIANT_CLASS_ARRAY:
    case G_VARIANT_CLASS_TUPLE:
    case G_VARIANT_CLASS_DICT_ENTRY:
      break;
    }
  return FALSE;
}

/* Takes @value; (transfer full) (nullable): what is in it, if it is a variant or a maybe. */
static GVariant *
unwrap (GVariant *value)
{
  while (value != NULL)
    {
      GVariant *inner;

      if (g_variant_is_of_type (value, G_VARIANT_TYPE_VARIANT))
        inner = g_variant_get_variant (value);
      else if (g_variant_is_of_type (value, G_VARIANT_TYPE_MAYBE))
        inner = g_variant_get_maybe (value);
      else
        return value;
      g_variant_unref (value);
      value = inner;
    }
  return NULL;
}

typedef struct
{
  GVariant *container;
  gsize n;
  gsize next;
  gboolean is_object;
} Frame;

static void
clear_frame (gpointer frame)
{
  g_variant_unref (((Frame *) frame)->container);
}

static gboolean
is_object (GVariant *value)
{
  return g_variant_is_of_type (value, G_VARIANT_TYPE ("a{s*}"));
}

static void
append_break (GString *out, gboolean pretty, guint depth)
{
  if (!pretty)
    return;

  g_string_append_c (out, '\n');
  for (guint i = 0; i < depth; i++)
    g_string_append (out, "  ");
}

/* Takes @value: writes it, or its beginning, and then a frame is on the stack. */
static void
open_value (GString *out, GArray *stack, GVariant *value)
{
  Frame frame;

  value = unwrap (value);
  if (value == NULL)
    {
      g_string_append (out, "null");
      return;
    }
  if (append_scalar (out, value))
    {
      g_variant_unref (value);
      return;
    }

  frame = (Frame){ value, g_variant_n_children (value), 0, is_object (value) };
  g_string_append_c (out, frame.is_object ? '{' : '[');
  g_array_append_val (stack, frame);
}

/* (transfer full): the next child of the innermost container, its key written. */
static GVariant *
next_child (GString *out, GArray *stack, gboolean pretty)
{
  Frame *frame = &g_array_index (stack, Frame, stack->len - 1);
  GVariant *child = g_variant_get_child_value (frame->container, frame->next);
  GVariant *key, *value;
  const char *text;
  gsize n;

  if (frame->next++ > 0)
    g_string_append (out, pretty ? "," : ", ");
  append_break (out, pretty, stack->len);
  if (!frame->is_object)
    return child;

  key = g_variant_get_child_value (child, 0);
  value = g_variant_get_child_value (child, 1);
  text = g_variant_get_string (key, &n);
  dlp_json_append_string (out, text, n);
  g_string_append (out, ": ");
  g_variant_unref (key);
  g_variant_unref (child);
  return value;
}

char *
dlp_json_print (GVariant *value, gboolean pretty)
{
  GString *out = g_string_new (NULL);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Frame));

  g_return_val_if_fail (value != NULL, g_string_free (out, FALSE));

  g_array_set_clear_func (stack, clear_frame);
  open_value (out, stack, g_variant_ref_sink (value));
  while (stack->len > 0)
    {
      Frame *frame = &g_array_index (stack, Frame, stack->len - 1);

      if (frame->next < frame->n)
        {
          open_value (out, stack, next_child (out, stack, pretty));
          continue;
        }
      if (frame->n > 0)
        append_break (out, pretty, stack->len - 1);
      g_string_append_c (out, frame->is_object ? '}' : ']');
      g_array_set_size (stack, stack->len - 1);
    }
  if (pretty)
    g_string_append_c (out, '\n');

  return g_string_free (out, FALSE);
}
