/* SPDX-License-Identifier: MIT */

#include "json-string.h"

const guint8 json_escapes[256] = {
  ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
  ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

#define N8 -1, -1, -1, -1, -1, -1, -1, -1
#define N32 N8, N8, N8, N8

const gint8 json_hex[256] = {
  N32,
  N8,
  N8,
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  9,
  -1,
  -1,
  -1,
  -1,
  -1,
  -1,
  /* 0x40 */ -1,
  10,
  11,
  12,
  13,
  14,
  15,
  -1,
  N8,
  N8,
  N8,
  /* 0x60 */ -1,
  10,
  11,
  12,
  13,
  14,
  15,
  -1,
  N8,
  N8,
  N8,
  /* 0x80 */ N32,
  N32,
  N32,
  N32,
};

/* The escape at @p, byte by byte: how many bytes it has, 0 malformed, -1 the line ends in it. */
static int
escape_length (const guint8 *p, const guint8 *end, gint32 *code_unit)
{
  *code_unit = -1;
  if (p + 1 >= end)
    return -1;
  if (json_escapes[p[1]] != 0)
    return 2;
  if (p[1] != 'u')
    return 0;

  for (int i = 2; i < 6; i++)
    {
      if (p + i >= end)
        return -1;
      if (json_hex[p[i]] < 0)
        return 0;
    }

  *code_unit = json_read_hex (p + 2);
  return 6;
}

static gboolean
low_surrogate_follows (const guint8 *p, const guint8 *end)
{
  gint32 unit;

  return p < end && *p == '\\' && escape_length (p, end, &unit) == 6 &&
         JSON_IS_LOW_SURROGATE (unit);
}

const guint8 *
json_string_find_fault (const guint8 *p, const guint8 *end, gboolean strict, JsonErrorKind *kind)
{
  for (int len; p < end; p += len)
    {
      gint32 unit = 0;

      if (*p == '"')
        return NULL;
      if (*p < 0x20)
        {
          *kind = JSON_ERROR_CONTROL_CHARACTER;
          return p;
        }

      len = 1;
      if (*p >= 0x80)
        len = json_utf8_sequence (p, end);
      else if (*p == '\\')
        len = escape_length (p, end, &unit);

      if (len < 0)
        break;
      if (len == 0)
        {
          *kind = *p == '\\' ? JSON_ERROR_ESCAPE : JSON_ERROR_UTF_8;
          return p;
        }
      if (JSON_IS_HIGH_SURROGATE (unit) && low_surrogate_follows (p + len, end))
        len += 6;
      else if (strict && unit >= 0xd800 && unit <= 0xdfff)
        {
          *kind = JSON_ERROR_LONE_SURROGATE;
          return p;
        }
    }

  *kind = JSON_ERROR_UNTERMINATED;
  return end;
}

/* @raw to @raw_end: a key between its quotes, known to be well-formed. */
gboolean
json_key_equals (const guint8 *raw, const guint8 *raw_end, const JsonPlanNode *node)
{
  const guint8 *key = node->needle;
  const guint8 *key_end = key + node->key_len;
  guint64 ignored = 0;

  while (raw < raw_end)
    {
      guint8 decoded[4];
      guint8 *dst = decoded;

      if (*raw != '\\')
        *dst++ = *raw++;
      else if ((raw = json_read_escape (raw, &dst, FALSE, &ignored)) == NULL)
        return FALSE;

      if (key_end - key < dst - decoded || memcmp (key, decoded, dst - decoded) != 0)
        return FALSE;
      key += dst - decoded;
    }

  return key == key_end;
}

const guint8 *
json_match_non_finite (const guint8 *p, const guint8 *end)
{
  static const char *const words[] = { "NaN", "Infinity", "-Infinity" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      gsize len = strlen (words[i]);

      if ((gsize) (end - p) >= len && memcmp (p, words[i], len) == 0)
        return p + len;
    }

  return NULL;
}
