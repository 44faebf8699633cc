/* SPDX-License-Identifier: MIT */

#include "filter-lexer.h"

#include <math.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

#define SYNTAX DLP_GRAPH_ERROR_SYNTAX

static bool
is_word_start (char c)
{
  return g_ascii_isalpha (c) || c == '_' || (guchar) c >= 0x80;
}

static bool
is_word (char c)
{
  return is_word_start (c) || g_ascii_isdigit (c) || c == '-' || c == '.';
}

static bool
fail_here (FilterLexer *self, gsize length, GError **error, const char *message)
{
  return filter_fail (self->text, self->at, self->at + length, SYNTAX, error, "%s", message);
}

/* What follows a number without a blank belongs to it. */
static gsize
scan_number (const char *p)
{
  gsize n = *p == '-' || *p == '+' ? 1 : 0;

  for (;;)
    {
      bool exponent = n > 0 && (p[n - 1] == 'e' || p[n - 1] == 'E');

      if (!g_ascii_isalnum (p[n]) && p[n] != '.' && p[n] != '_' &&
          !(exponent && (p[n] == '-' || p[n] == '+')))
        return n;
      n++;
    }
}

static bool
is_decimal (const char *number)
{
  const char *p = number + (*number == '-' || *number == '+' ? 1 : 0);
  gsize digits = strspn (p, "0123456789");

  p += digits;
  if (*p == '.')
    {
      digits += strspn (p + 1, "0123456789");
      p += 1 + strspn (p + 1, "0123456789");
    }
  if (digits > 0 && (*p == 'e' || *p == 'E'))
    {
      p += p[1] == '-' || p[1] == '+' ? 2 : 1;
      digits = strspn (p, "0123456789");
      p += digits;
    }
  return digits > 0 && *p == '\0';
}

static bool
convert_number (const char *number, FilterValue *value)
{
  const char *digits = *number == '+' ? number + 1 : number;

  *value = (FilterValue){ .type = FILTER_INT64 };
  if (strpbrk (number, ".eE") != NULL)
    {
      value->type = FILTER_DOUBLE;
      value->d = g_ascii_strtod (digits, NULL);
      return isfinite (value->d);
    }
  if (g_ascii_string_to_signed (digits, 10, G_MININT64, G_MAXINT64, &value->i, NULL))
    return true;
  value->type = FILTER_UINT64;
  return g_ascii_string_to_unsigned (digits, 10, 0, G_MAXUINT64, &value->u, NULL);
}

static bool
take_number (FilterLexer *self, GError **error)
{
  gsize length = scan_number (self->text + self->at);
  g_autofree char *number = g_strndup (self->text + self->at, length);

  if (!is_decimal (number))
    return fail_here (self, length, error,
                      "this is no number; one is written as 12, -3, 0.5 or 1e-3, without a suffix");
  if (!convert_number (number, &self->token.value))
    return fail_here (self, length, error,
                      "this number is too large: whole numbers go from -2^63 to 2^64 - 1, others "
                      "(with a point) up to 1.79e308");
  self->token.kind = FILTER_TOKEN_LITERAL;
  self->at += length;
  return true;
}

/* (transfer full) (nullable): between two of @quote, where two of it in a row are one. */
static GString *
take_quoted (FilterLexer *self, char quote, GError **error)
{
  g_autoptr (GString) content = g_string_new (NULL);
  const char *p = self->text + self->at + 1;

  for (;; p++)
    {
      if (*p == '\0')
        {
          fail_here (self, 1, error, "this quote has no end");
          return NULL;
        }
      if (*p == quote && *++p != quote)
        break;
      g_string_append_c (content, *p);
    }
  self->at = (gsize) (p - self->text);
  return g_steal_pointer (&content);
}

static void
set_bytes (FilterLexer *self, gpointer bytes, gsize size)
{
  g_ptr_array_add (self->literals, bytes);
  self->token.kind = FILTER_TOKEN_LITERAL;
  self->token.value = (FilterValue){ .type = FILTER_BYTES, .size = size, .bytes = bytes };
}

static bool
take_string (FilterLexer *self, GError **error)
{
  g_autoptr (GString) content = take_quoted (self, self->text[self->at], error);
  gsize size;

  if (content == NULL)
    return false;
  size = content->len;
  set_bytes (self, g_string_free (g_steal_pointer (&content), FALSE), size);
  return true;
}

static bool
take_hexadecimal (FilterLexer *self, GError **error)
{
  gsize start = self->at++;
  g_autoptr (GString) content = take_quoted (self, self->text[self->at], error);
  guint8 *bytes;

  if (content == NULL)
    return false;
  if (content->len % 2 != 0 || strspn (content->str, "0123456789abcdefABCDEF") < content->len)
    return filter_fail (self->text, start, self->at, SYNTAX, error,
                        "between the quotes of x'...' are bytes, two hexadecimal digits each");
  bytes = g_malloc0 (content->len / 2 + 1);
  for (gsize i = 0; i < content->len; i++)
    bytes[i / 2] |= g_ascii_xdigit_value (content->str[i]) << (i % 2 == 0 ? 4 : 0);
  set_bytes (self, bytes, content->len / 2);
  return true;
}

static bool
take_field (FilterLexer *self, GError **error)
{
  g_autoptr (GString) content = take_quoted (self, '`', error);

  if (content == NULL)
    return false;
  self->token.kind = FILTER_TOKEN_FIELD;
  self->token.name = g_string_free (g_steal_pointer (&content), FALSE);
  return true;
}

static void
take_word (FilterLexer *self)
{
  const char *p = self->text + self->at;
  gsize length = 0;

  while (is_word (p[length]))
    length++;
  self->token.kind = FILTER_TOKEN_WORD;
  self->token.name = g_strndup (p, length);
  self->at += length;
}

#define NOT_EQUAL (FILTER_LESS | FILTER_GREATER | FILTER_UNORDERED)

/* Longer ones before those that they begin with. With a message: what other languages write for
 * what is another sign or a word here. */
static const struct
{
  const char *text;
  FilterTokenKind kind;
  guint wanted;
  const char *message;
} symbols[] = {
  { "===", 0, 0, "“===” is written == here" },
  { "==", FILTER_TOKEN_COMPARISON, FILTER_EQUAL, NULL },
  { "=~", 0, 0, "“=~” is written matches (FIELD, PATTERN) here" },
  { "=", 0, 0, "“=” is written == here" },
  { "!=", FILTER_TOKEN_COMPARISON, NOT_EQUAL, NULL },
  { "!", 0, 0, "“!” is written not here" },
  { "<>", 0, 0, "“<>” is written != here" },
  { "<=", FILTER_TOKEN_COMPARISON, FILTER_LESS | FILTER_EQUAL, NULL },
  { "<", FILTER_TOKEN_COMPARISON, FILTER_LESS, NULL },
  { ">=", FILTER_TOKEN_COMPARISON, FILTER_GREATER | FILTER_EQUAL, NULL },
  { ">", FILTER_TOKEN_COMPARISON, FILTER_GREATER, NULL },
  { "&&", 0, 0, "“&&” is written and here" },
  { "&", 0, 0, "“&” is written and here" },
  { "||", 0, 0, "“||” is written or here" },
  { "|", 0, 0, "“|” is written or here" },
  { "(", FILTER_TOKEN_OPEN, 0, NULL },
  { ")", FILTER_TOKEN_CLOSE, 0, NULL },
  { ",", FILTER_TOKEN_COMMA, 0, NULL },
};

static bool
take_symbol (FilterLexer *self, GError **error)
{
  const char *p = self->text + self->at;

  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    {
      if (!g_str_has_prefix (p, symbols[i].text))
        continue;
      if (symbols[i].message != NULL)
        return fail_here (self, strlen (symbols[i].text), error, symbols[i].message);
      self->token.kind = symbols[i].kind;
      self->token.wanted = symbols[i].wanted;
      self->at += strlen (symbols[i].text);
      return true;
    }
  return fail_here (self, 1, error, "no part of an expression begins with this");
}

static bool
take_token (FilterLexer *self, GError **error)
{
  const char *p = self->text + self->at;
  bool sign = *p == '-' || *p == '+';

  if (*p == '\0')
    return true;
  if (g_ascii_isdigit (p[sign]) || (p[sign] == '.' && g_ascii_isdigit (p[sign + 1])))
    return take_number (self, error);
  if (*p == '\'' || *p == '"')
    return take_string (self, error);
  if (*p == 'x' && (p[1] == '\'' || p[1] == '"'))
    return take_hexadecimal (self, error);
  if (*p == '`')
    return take_field (self, error);
  if (!is_word_start (*p))
    return take_symbol (self, error);
  take_word (self);
  return true;
}

bool
filter_lexer_next (FilterLexer *self, GError **error)
{
  filter_lexer_clear (self);
  while (g_ascii_isspace (self->text[self->at]))
    self->at++;
  self->token.start = self->at;
  if (!take_token (self, error))
    return false;
  self->token.end = self->at;
  return true;
}

void
filter_lexer_clear (FilterLexer *self)
{
  g_free (self->token.name);
  self->token = (FilterToken){ .kind = FILTER_TOKEN_END };
}

bool
filter_lexer_is_word (const FilterLexer *self, const char *word)
{
  return self->token.kind == FILTER_TOKEN_WORD && strcmp (self->token.name, word) == 0;
}
