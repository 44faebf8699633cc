/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "json-reference.h"

typedef struct
{
  const guint8 *line;
  gsize len; /* without a CR at its end */
  gsize at;
  guint depth;
  gboolean allow_non_finite;
  RefResult result;
} RefParser;

static RefNode *parse_value (RefParser *self);

void
ref_node_free (RefNode *node)
{
  if (node == NULL)
    return;
  if (node->string != NULL)
    g_byte_array_unref (node->string);
  if (node->members != NULL)
    g_ptr_array_unref (node->members);
  if (node->items != NULL)
    g_ptr_array_unref (node->items);
  g_free (node);
}

static void
member_free (RefMember *member)
{
  g_byte_array_unref (member->key);
  ref_node_free (member->value);
  g_free (member);
}

/* The first fault counts, and one at the end of the line is always the same. */
static gpointer
fail (RefParser *self, gsize offset, JsonErrorKind kind)
{
  if (self->result.kind == JSON_ERROR_NONE)
    {
      self->result.kind = offset >= self->len ? JSON_ERROR_UNTERMINATED : kind;
      self->result.offset = MIN (offset, self->len);
    }
  return NULL;
}

static int
peek (const RefParser *self)
{
  return self->at < self->len ? self->line[self->at] : -1;
}

static void
skip_space (RefParser *self)
{
  while (peek (self) == ' ' || peek (self) == '\t' || peek (self) == '\n' || peek (self) == '\r')
    self->at++;
}

static gboolean
looking_at (const RefParser *self, const char *word)
{
  gsize len = strlen (word);

  return self->len - self->at >= len && memcmp (self->line + self->at, word, len) == 0;
}

static gboolean
is_well_formed (const guint8 bytes[4], gsize len)
{
  static const guint32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  guint32 c = bytes[0] & (0xff >> (len + 1));

  for (gsize i = 1; i < len; i++)
    {
      if ((bytes[i] & 0xc0) != 0x80)
        return FALSE;
      c = c << 6 | (bytes[i] & 0x3f);
    }

  return c >= least[len] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

/* One character that is not ASCII. */
static gboolean
parse_utf8 (RefParser *self, GByteArray *out)
{
  const guint8 *p = self->line + self->at;
  gsize left = self->len - self->at;
  gsize len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
  guint8 bytes[4];

  if (p[0] < 0xc0 || p[0] > 0xf7)
    return fail (self, self->at, JSON_ERROR_UTF_8) != NULL;

  if (left < len)
    {
      /* Cut, if there is a character that begins like this. */
      memcpy (bytes, p, left);
      for (guint second = 0x80; second <= 0xbf; second++)
        {
          memset (bytes + left, (int) second, 4 - left);
          if (is_well_formed (bytes, len))
            return fail (self, self->len, JSON_ERROR_UNTERMINATED) != NULL;
        }
      return fail (self, self->at, JSON_ERROR_UTF_8) != NULL;
    }

  memcpy (bytes, p, len);
  if (!is_well_formed (bytes, len))
    return fail (self, self->at, JSON_ERROR_UTF_8) != NULL;
  g_byte_array_append (out, p, len);
  self->at += len;
  return TRUE;
}

/* Four digits behind \u at @at; -1 and a fault, or only -1 if @quiet. */
static int
parse_hex (RefParser *self, gsize backslash, gboolean quiet)
{
  int value = 0;

  for (gsize i = backslash + 2; i < backslash + 6; i++)
    {
      if (i >= self->len || !g_ascii_isxdigit (self->line[i]))
        {
          if (!quiet)
            fail (self, i >= self->len ? self->len : backslash, JSON_ERROR_ESCAPE);
          return -1;
        }
      value = value * 16 + g_ascii_xdigit_value (self->line[i]);
    }

  return value;
}

static gboolean
parse_unicode_escape (RefParser *self, GByteArray *out)
{
  int unit = parse_hex (self, self->at, FALSE);
  gunichar c = unit;
  char utf8[6];

  if (unit < 0)
    return FALSE;
  self->at += 6;

  if (unit >= 0xd800 && unit <= 0xdfff)
    {
      int low = looking_at (self, "\\u") ? parse_hex (self, self->at, TRUE) : -1;

      if (unit < 0xdc00 && low >= 0xdc00 && low <= 0xdfff)
        {
          c = 0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00);
          self->at += 6;
        }
      else
        {
          c = 0xfffd;
          self->result.lone_surrogates++;
        }
    }

  g_byte_array_append (out, (const guint8 *) utf8, g_unichar_to_utf8 (c, utf8));
  return TRUE;
}

static gboolean
parse_escape (RefParser *self, GByteArray *out)
{
  static const char *const from = "\"\\/bfnrt";
  static const char *const to = "\"\\/\b\f\n\r\t";
  int c = self->at + 1 < self->len ? self->line[self->at + 1] : -1;
  const char *found;

  if (c == 'u')
    return parse_unicode_escape (self, out);
  if (c < 0)
    return fail (self, self->len, JSON_ERROR_UNTERMINATED) != NULL;
  if (c == 0 || (found = strchr (from, c)) == NULL)
    return fail (self, self->at, JSON_ERROR_ESCAPE) != NULL;

  g_byte_array_append (out, (const guint8 *) to + (found - from), 1);
  self->at += 2;
  return TRUE;
}

/* From the opening quote to behind the closing one. */
static GByteArray *
parse_string (RefParser *self)
{
  g_autoptr (GByteArray) out = g_byte_array_new ();

  self->at++;
  for (;;)
    {
      int c = peek (self);
      guint8 byte = (guint8) c;

      if (c < 0)
        return fail (self, self->len, JSON_ERROR_UNTERMINATED);
      if (c < 0x20)
        return fail (self, self->at, JSON_ERROR_CONTROL_CHARACTER);
      if (c == '"')
        {
          self->at++;
          return g_steal_pointer (&out);
        }

      if (c == '\\')
        {
          if (!parse_escape (self, out))
            return NULL;
        }
      else if (c >= 0x80)
        {
          if (!parse_utf8 (self, out))
            return NULL;
        }
      else
        {
          g_byte_array_append (out, &byte, 1);
          self->at++;
        }
    }
}

static gboolean
parse_digits (RefParser *self)
{
  if (!g_ascii_isdigit (peek (self)))
    return fail (self, self->at, JSON_ERROR_NUMBER) != NULL;
  while (peek (self) >= 0 && g_ascii_isdigit (peek (self)))
    self->at++;
  return TRUE;
}

static gboolean
parse_number (RefParser *self)
{
  if (peek (self) == '-')
    self->at++;

  if (peek (self) == '0')
    {
      if (self->at + 1 < self->len && g_ascii_isdigit (self->line[self->at + 1]))
        return fail (self, self->at, JSON_ERROR_NUMBER) != NULL;
      self->at++;
    }
  else if (!parse_digits (self))
    return FALSE;

  if (peek (self) == '.')
    {
      self->at++;
      if (!parse_digits (self))
        return FALSE;
    }

  if (peek (self) == 'e' || peek (self) == 'E')
    {
      self->at++;
      if (peek (self) == '+' || peek (self) == '-')
        self->at++;
      if (!parse_digits (self))
        return FALSE;
    }

  return TRUE;
}

static gboolean
parse_members (RefParser *self, RefNode *node)
{
  node->members = g_ptr_array_new_with_free_func ((GDestroyNotify) member_free);

  self->at++;
  skip_space (self);
  if (peek (self) == '}')
    {
      self->at++;
      return TRUE;
    }

  for (;;)
    {
      g_autoptr (GByteArray) key = NULL;
      RefMember *member;

      skip_space (self);
      if (peek (self) != '"')
        return fail (self, self->at, JSON_ERROR_SYNTAX) != NULL;
      if ((key = parse_string (self)) == NULL)
        return FALSE;
      skip_space (self);
      if (peek (self) != ':')
        return fail (self, self->at, JSON_ERROR_SYNTAX) != NULL;
      self->at++;

      member = g_new0 (RefMember, 1);
      member->key = g_steal_pointer (&key);
      g_ptr_array_add (node->members, member);
      if ((member->value = parse_value (self)) == NULL)
        return FALSE;

      skip_space (self);
      if (peek (self) == '}')
        {
          self->at++;
          return TRUE;
        }
      if (peek (self) != ',')
        return fail (self, self->at, JSON_ERROR_SYNTAX) != NULL;
      self->at++;
    }
}

static gboolean
parse_items (RefParser *self, RefNode *node)
{
  node->items = g_ptr_array_new_with_free_func ((GDestroyNotify) ref_node_free);

  self->at++;
  skip_space (self);
  if (peek (self) == ']')
    {
      self->at++;
      return TRUE;
    }

  for (;;)
    {
      RefNode *item = parse_value (self);

      if (item == NULL)
        return FALSE;
      g_ptr_array_add (node->items, item);

      skip_space (self);
      if (peek (self) == ']')
        {
          self->at++;
          return TRUE;
        }
      if (peek (self) != ',')
        return fail (self, self->at, JSON_ERROR_SYNTAX) != NULL;
      self->at++;
    }
}

static gboolean
parse_container (RefParser *self, RefNode *node)
{
  gboolean good;

  if (self->depth == JSON_MAX_DEPTH)
    return fail (self, self->at, JSON_ERROR_DEPTH) != NULL;

  self->depth++;
  node->kind = peek (self) == '{' ? JSON_VALUE_OBJECT : JSON_VALUE_ARRAY;
  good = node->kind == JSON_VALUE_OBJECT ? parse_members (self, node) : parse_items (self, node);
  self->depth--;
  return good;
}

static gboolean
parse_word (RefParser *self, RefNode *node)
{
  static const struct
  {
    const char *word;
    JsonValueKind kind;
  } words[] = { { "null", JSON_VALUE_NULL },       { "true", JSON_VALUE_TRUE },
                { "false", JSON_VALUE_FALSE },     { "NaN", JSON_VALUE_NUMBER },
                { "Infinity", JSON_VALUE_NUMBER }, { "-Infinity", JSON_VALUE_NUMBER } };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      gsize left = self->len - self->at;

      if (looking_at (self, words[i].word))
        {
          if (i >= 3 && !self->allow_non_finite)
            return fail (self, self->at, JSON_ERROR_NON_FINITE) != NULL;
          self->at += strlen (words[i].word);
          node->kind = words[i].kind;
          return TRUE;
        }
      if (i < 3 && left > 0 && left < strlen (words[i].word) &&
          memcmp (self->line + self->at, words[i].word, left) == 0)
        return fail (self, self->len, JSON_ERROR_UNTERMINATED) != NULL;
    }

  return fail (self, self->at, JSON_ERROR_SYNTAX) != NULL;
}

static RefNode *
parse_value (RefParser *self)
{
  RefNode *node = g_new0 (RefNode, 1);
  gboolean good;

  skip_space (self);
  node->start = self->at;

  if (peek (self) == '"')
    {
      node->kind = JSON_VALUE_STRING;
      good = (node->string = parse_string (self)) != NULL;
    }
  else if (peek (self) == '{' || peek (self) == '[')
    good = parse_container (self, node);
  else if ((peek (self) == '-' && !looking_at (self, "-Infinity")) ||
           (peek (self) >= 0 && g_ascii_isdigit (peek (self))))
    {
      node->kind = JSON_VALUE_NUMBER;
      good = parse_number (self);
    }
  else
    good = parse_word (self, node);

  if (!good)
    {
      ref_node_free (node);
      return NULL;
    }

  node->end = self->at;
  return node;
}

/* Why a line does not begin like a record. */
static JsonErrorKind
judge_start (const RefParser *self)
{
  if (peek (self) < 0)
    return JSON_ERROR_EMPTY;
  if (looking_at (self, "\xff\xfe") || looking_at (self, "\xfe\xff"))
    return JSON_ERROR_UTF_16;
  if (peek (self) == 0 && self->at + 1 < self->len &&
      (self->line[self->at + 1] == '{' || self->line[self->at + 1] == '['))
    return JSON_ERROR_UTF_16;
  if (self->len - self->at >= 4 &&
      (looking_at (self, "\x1f\x8b\x08") || looking_at (self, "\x28\xb5\x2f\xfd")))
    return JSON_ERROR_COMPRESSED;
  if (peek (self) == '[')
    return JSON_ERROR_ARRAY_LINE;
  if (peek (self) == '"' || peek (self) == '-' || g_ascii_isdigit (peek (self)) ||
      looking_at (self, "true") || looking_at (self, "false") || looking_at (self, "null"))
    return JSON_ERROR_NOT_AN_OBJECT;
  return JSON_ERROR_SYNTAX;
}

RefResult
ref_parse (const guint8 *line, gsize len, gboolean allow_non_finite)
{
  RefParser self = { .line = line, .len = len, .allow_non_finite = allow_non_finite };
  RefNode *root;

  if (len > 0 && line[len - 1] == '\r')
    self.len--;
  if (looking_at (&self, "\xef\xbb\xbf"))
    self.at += 3;

  skip_space (&self);
  if (peek (&self) != '{')
    {
      self.result.kind = judge_start (&self);
      self.result.offset = self.at;
      return self.result;
    }

  root = parse_value (&self);
  skip_space (&self);
  if (root != NULL && self.at < self.len)
    {
      fail (&self, self.at, JSON_ERROR_TRAILING);
      g_clear_pointer (&root, ref_node_free);
    }
  /* UTF-16 shows as a NUL behind the first brace. */
  if (root == NULL && self.result.kind == JSON_ERROR_SYNTAX && self.result.offset == 1 &&
      line[1] == 0)
    {
      self.result.kind = JSON_ERROR_UTF_16;
      self.result.offset = 0;
    }

  self.result.root = root;
  return self.result;
}

static gboolean
key_is (const RefMember *member, const char *key, gsize len)
{
  return member->key->len == len && (len == 0 || memcmp (member->key->data, key, len) == 0);
}

const RefNode *
ref_find (const RefNode *root, const char *path)
{
  const RefNode *node = root;

  while (node != NULL)
    {
      gsize len = strcspn (path, ".");
      const RefNode *next = NULL;

      for (guint i = 0; node->members != NULL && i < node->members->len; i++)
        if (key_is (node->members->pdata[i], path, len))
          next = ((RefMember *) node->members->pdata[i])->value;

      node = next;
      if (path[len] == '\0')
        return node;
      path += len + 1;
    }

  return NULL;
}

/* All paths that go on behind @prefix of the one at hand, each first step once. */
static guint64
count_below (const RefNode *node, const char *const *paths, guint n_paths, const char *prefix)
{
  g_autoptr (GHashTable) steps = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer step;
  guint64 count = 0;

  if (node->members == NULL)
    return 0;

  for (guint i = 0; i < n_paths; i++)
    if (g_str_has_prefix (paths[i], prefix))
      {
        const char *rest = paths[i] + strlen (prefix);

        g_hash_table_add (steps, g_strndup (rest, strcspn (rest, ".")));
      }

  g_hash_table_iter_init (&iter, steps);
  while (g_hash_table_iter_next (&iter, &step, NULL))
    {
      g_autofree char *deeper = g_strconcat (prefix, step, ".", NULL);
      guint64 met = 0;

      for (guint i = 0; i < node->members->len; i++)
        if (key_is (node->members->pdata[i], step, strlen (step)))
          {
            met++;
            count += count_below (((RefMember *) node->members->pdata[i])->value, paths, n_paths,
                                  deeper);
          }
      count += met > 1 ? met - 1 : 0;
    }

  return count;
}

guint64
ref_count_duplicates (const RefNode *root, const char *const *paths, guint n_paths)
{
  return count_below (root, paths, n_paths, "");
}
