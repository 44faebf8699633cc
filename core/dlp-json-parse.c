/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-json.h>

#include <stdarg.h>
#include <string.h>

#define REPLACEMENT 0xFFFD

/* clang-format off */
G_DEFINE_QUARK (dlp-json-error-quark, dlp_json_error)
/* clang-format on */

/* An open object or array. */
typedef struct
{
  gboolean is_object;
  gboolean any;          /* it has a member */
  GVariantBuilder *made; /* NULL: only checked */
  char *key;             /* of the member that is read */
} Frame;

typedef struct
{
  const char *begin;
  const char *at;
  const char *end;
  gboolean build;
  GArray *stack; /* of Frame */
  GVariant *result;
  GError *error;
} Parser;

static void
clear_frame (gpointer data)
{
  Frame *frame = data;

  g_clear_pointer (&frame->made, g_variant_builder_unref);
  g_free (frame->key);
}

static gboolean fail (Parser *self, const char *at, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
fail (Parser *self, const char *at, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  if (self->error == NULL)
    g_set_error (&self->error, DLP_JSON_ERROR, DLP_JSON_ERROR_SYNTAX,
                 "not JSON: %s at byte %" G_GSIZE_FORMAT, what, (gsize) (at - self->begin));
  return FALSE;
}

static void
skip_space (Parser *self)
{
  while (self->at < self->end &&
         (*self->at == ' ' || *self->at == '\n' || *self->at == '\t' || *self->at == '\r'))
    self->at++;
}

static gboolean
fail_unexpected (Parser *self, const char *wanted)
{
  guchar c;

  if (self->at == self->end)
    return fail (self, self->at, "the end of the text, %s was expected", wanted);

  c = (guchar) *self->at;
  if (c > 0x20 && c < 0x7F)
    return fail (self, self->at, "“%c”, %s was expected", c, wanted);
  return fail (self, self->at, "byte 0x%02x, %s was expected", c, wanted);
}

static gboolean
skip (Parser *self, char c)
{
  if (self->at == self->end || *self->at != c)
    return FALSE;

  self->at++;
  return TRUE;
}

/* ---- numbers ---- */

static gsize
skip_digits (Parser *self)
{
  const char *begin = self->at;

  while (self->at < self->end && g_ascii_isdigit (*self->at))
    self->at++;
  return (gsize) (self->at - begin);
}

static GVariant *
make_number (const char *text, gsize size, gboolean is_integer)
{
  g_autofree char *copy = g_strndup (text, size);
  gint64 number;
  guint64 large;

  if (is_integer && g_ascii_string_to_signed (copy, 10, G_MININT64, G_MAXINT64, &number, NULL))
    return g_variant_new_int64 (number);
  if (is_integer && g_ascii_string_to_unsigned (copy, 10, 0, G_MAXUINT64, &large, NULL))
    return g_variant_new_uint64 (large);
  return g_variant_new_double (g_ascii_strtod (copy, NULL));
}

static gboolean
read_number (Parser *self, GVariant **value)
{
  const char *begin = self->at;
  gboolean is_integer = TRUE;

  skip (self, '-');
  if (!skip (self, '0') && skip_digits (self) == 0)
    return fail_unexpected (self, "a digit");
  if (skip (self, '.'))
    {
      is_integer = FALSE;
      if (skip_digits (self) == 0)
        return fail_unexpected (self, "a digit");
    }
  if (self->at < self->end && (*self->at == 'e' || *self->at == 'E'))
    {
      self->at++;
      is_integer = FALSE;
      if (!skip (self, '+'))
        skip (self, '-');
      if (skip_digits (self) == 0)
        return fail_unexpected (self, "a digit");
    }

  if (self->build)
    *value = make_number (begin, (gsize) (self->at - begin), is_integer);
  return TRUE;
}

/* ---- strings ---- */

static gboolean
read_hex (Parser *self, guint *unit)
{
  *unit = 0;
  for (guint i = 0; i < 4; i++)
    {
      if (self->at == self->end || !g_ascii_isxdigit (*self->at))
        return fail_unexpected (self, "a hexadecimal digit");
      *unit = *unit << 4 | (guint) g_ascii_xdigit_value (*self->at++);
    }
  return TRUE;
}

/* Behind "\u". A surrogate without its other half is U+FFFD. */
static gboolean
read_unicode_escape (Parser *self, GString *out)
{
  guint high, low;

  if (!read_hex (self, &high))
    return FALSE;
  if (high >= 0xD800 && high < 0xDC00 && self->end - self->at >= 2 && self->at[0] == '\\' &&
      self->at[1] == 'u')
    {
      const char *back = self->at;

      self->at += 2;
      if (!read_hex (self, &low))
        return FALSE;
      if (low >= 0xDC00 && low < 0xE000)
        high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
      else
        self->at = back;
    }
  if (high >= 0xD800 && high < 0xE000)
    high = REPLACEMENT;
  if (out != NULL && high == 0)
    return fail (self, self->at, "U+0000, which has no place here,");
  if (out != NULL)
    g_string_append_unichar (out, high);
  return TRUE;
}

static gboolean
read_escape (Parser *self, GString *out)
{
  static const char letters[] = "\"\\/bfnrt";
  const char *found;

  if (self->at == self->end)
    return fail_unexpected (self, "an escape");
  if (skip (self, 'u'))
    return read_unicode_escape (self, out);

  found = *self->at != '\0' ? strchr (letters, *self->at) : NULL;
  if (found == NULL)
    return fail_unexpected (self, "an escape");
  self->at++;
  if (out != NULL)
    g_string_append_c (out, "\"\\/\b\f\n\r\t"[found - letters]);
  return TRUE;
}

/* Up to the quote, an escape, or a fault. */
static gboolean
read_plain (Parser *self, GString *out)
{
  const char *begin = self->at;
  const char *bad;

  while (self->at < self->end && (guchar) *self->at >= 0x20 && *self->at != '"' &&
         *self->at != '\\')
    self->at++;
  if (!g_utf8_validate_len (begin, (gsize) (self->at - begin), &bad))
    return fail (self, bad, "bytes that are not UTF-8");
  if (out != NULL)
    g_string_append_len (out, begin, (gssize) (self->at - begin));
  return TRUE;
}

/* Behind the opening quote. *text: (nullable). */
static gboolean
read_string (Parser *self, char **text)
{
  GString *out = text != NULL ? g_string_new (NULL) : NULL;
  gboolean ok = TRUE;

  while (ok && !skip (self, '"'))
    {
      if (skip (self, '\\'))
        ok = read_escape (self, out);
      else if (self->at == self->end || (guchar) *self->at < 0x20)
        ok = fail_unexpected (self, "the end of the string");
      else
        ok = read_plain (self, out);
    }

  if (out != NULL && ok)
    *text = g_string_free (out, FALSE);
  else if (out != NULL)
    g_string_free (out, TRUE);
  return ok;
}

/* ---- values ---- */

static gboolean
read_word (Parser *self, GVariant **value)
{
  static const struct
  {
    const char *text;
    gsize size;
  } words[] = { { "true", 4 }, { "false", 5 }, { "null", 4 } };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      if ((gsize) (self->end - self->at) < words[i].size ||
          memcmp (self->at, words[i].text, words[i].size) != 0)
        continue;
      self->at += words[i].size;
      if (self->build)
        *value = i == 2 ? g_variant_new_maybe (G_VARIANT_TYPE_VARIANT, NULL) :
                          g_variant_new_boolean (i == 0);
      return TRUE;
    }
  return fail_unexpected (self, "a value");
}

static gboolean
read_scalar (Parser *self, GVariant **value)
{
  char *text = NULL;

  if (skip (self, '"'))
    {
      if (!read_string (self, self->build ? &text : NULL))
        return FALSE;
      if (self->build)
        *value = g_variant_new_take_string (text);
      return TRUE;
    }
  if (self->at < self->end && (*self->at == '-' || g_ascii_isdigit (*self->at)))
    return read_number (self, value);
  return read_word (self, value);
}

/* Gives a whole value to what it is part of. */
static void
add_value (Parser *self, GVariant *value)
{
  Frame *frame;

  if (value == NULL)
    return;
  if (self->stack->len == 0)
    {
      self->result = g_variant_ref_sink (value);
      return;
    }

  frame = &g_array_index (self->stack, Frame, self->stack->len - 1);
  if (frame->is_object)
    g_variant_builder_add (frame->made, "{sv}", frame->key, value);
  else
    g_variant_builder_add (frame->made, "v", value);
  g_clear_pointer (&frame->key, g_free);
}

static gboolean
open_container (Parser *self, gboolean is_object)
{
  Frame frame = { is_object, FALSE, NULL, NULL };

  if (self->stack->len == DLP_JSON_MAX_DEPTH)
    {
      fail (self, self->at, "more than %d levels", DLP_JSON_MAX_DEPTH);
      self->error->code = DLP_JSON_ERROR_DEPTH;
      return FALSE;
    }
  if (self->build)
    frame.made = g_variant_builder_new (is_object ? G_VARIANT_TYPE_VARDICT : G_VARIANT_TYPE ("av"));
  g_array_append_val (self->stack, frame);
  return TRUE;
}

static void
close_container (Parser *self)
{
  Frame *frame = &g_array_index (self->stack, Frame, self->stack->len - 1);
  GVariant *value = frame->made != NULL ? g_variant_builder_end (frame->made) : NULL;

  g_array_set_size (self->stack, self->stack->len - 1);
  add_value (self, value);
}

static gboolean
read_key (Parser *self, Frame *frame)
{
  if (!skip (self, '"'))
    return fail_unexpected (self, "a key");
  if (!read_string (self, self->build ? &frame->key : NULL))
    return FALSE;

  skip_space (self);
  if (!skip (self, ':'))
    return fail_unexpected (self, "“:”");
  skip_space (self);
  return TRUE;
}

/* Up to the next value of the innermost container, or its end. */
static gboolean
advance (Parser *self, gboolean *ended)
{
  Frame *frame = &g_array_index (self->stack, Frame, self->stack->len - 1);

  skip_space (self);
  *ended = skip (self, frame->is_object ? '}' : ']');
  if (*ended)
    return TRUE;
  if (frame->any)
    {
      if (!skip (self, ','))
        return fail_unexpected (self, frame->is_object ? "“,” or “}”" : "“,” or “]”");
      skip_space (self);
    }
  frame->any = TRUE;
  return !frame->is_object || read_key (self, frame);
}

static gboolean
read_value (Parser *self)
{
  GVariant *value = NULL;

  if (skip (self, '{'))
    return open_container (self, TRUE);
  if (skip (self, '['))
    return open_container (self, FALSE);
  if (!read_scalar (self, &value))
    return FALSE;

  add_value (self, value);
  return TRUE;
}

static gboolean
read_text (Parser *self)
{
  gboolean ended;

  skip_space (self);
  if (!read_value (self))
    return FALSE;
  while (self->stack->len > 0)
    {
      if (!advance (self, &ended))
        return FALSE;
      if (ended)
        close_container (self);
      else if (!read_value (self))
        return FALSE;
    }
  skip_space (self);
  return self->at == self->end || fail_unexpected (self, "the end of the text");
}

static gboolean
run (Parser *self, GError **error)
{
  gboolean ok;

  self->stack = g_array_new (FALSE, FALSE, sizeof (Frame));
  g_array_set_clear_func (self->stack, clear_frame);
  ok = read_text (self);
  g_array_unref (self->stack);
  if (self->error != NULL)
    g_propagate_error (error, self->error);
  return ok;
}

GVariant *
dlp_json_parse (const char *text, gsize size, GError **error)
{
  Parser self = { text, text, text + size, TRUE, NULL, NULL, NULL };

  g_return_val_if_fail (text != NULL, NULL);

  if (run (&self, error))
    return self.result;
  g_clear_pointer (&self.result, g_variant_unref);
  return NULL;
}

gboolean
dlp_json_check (const char *text, gsize size, GError **error)
{
  Parser self = { text, text, text + size, FALSE, NULL, NULL, NULL };

  g_return_val_if_fail (text != NULL, FALSE);

  return run (&self, error);
}
