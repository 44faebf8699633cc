/* SPDX-License-Identifier: MIT */
#include "dlp-json-tree.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

#define MAX_DEPTH 128
#define NO_NODE G_MAXUINT32

typedef struct
{
  guint32 start; /* in the text; of a string behind its quote */
  guint32 len;   /* of a number or an unescaped string; children of an array or an object */
  guint32 next;  /* the node behind this one and all that is in it */
  guint32 type;
} Node;

struct _DlpJsonTree
{
  char *where;
  char *text;
  GArray *nodes;
};

typedef struct
{
  DlpJsonTree *tree;
  const char *begin;
  const char *end;
  char *p;
  guint depth;
  GError **error;
} Parser;

static gboolean parse_value (Parser *self);

static gboolean
fail_at (const char *where, gsize at, GError **error, const char *what)
{
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
               "%s: at byte %" G_GSIZE_FORMAT ": %s", where, at, what);
  return FALSE;
}

static gboolean
fail (Parser *self, const char *what)
{
  return fail_at (self->tree->where, self->p - self->begin, self->error, what);
}

static void
skip_space (Parser *self)
{
  while (self->p < self->end &&
         (*self->p == ' ' || *self->p == '\n' || *self->p == '\t' || *self->p == '\r'))
    self->p++;
}

static guint32
add_node (Parser *self, DlpJsonType type, const char *start)
{
  Node node = { start - self->begin, 0, 0, type };

  g_array_append_val (self->tree->nodes, node);
  return self->tree->nodes->len - 1;
}

static void
close_node (Parser *self, guint32 index, guint32 len)
{
  Node *node = &g_array_index (self->tree->nodes, Node, index);

  node->len = len;
  node->next = self->tree->nodes->len;
}

static gboolean
parse_hex (Parser *self, const char *p, gunichar *c)
{
  *c = 0;
  if (self->end - p < 4)
    return FALSE;
  for (guint i = 0; i < 4; i++)
    {
      if (!g_ascii_isxdigit (p[i]))
        return FALSE;
      *c = *c << 4 | g_ascii_xdigit_value (p[i]);
    }
  return TRUE;
}

/* self->p is behind "\u"; a surrogate needs its other half. */
static gboolean
parse_code (Parser *self, char **out)
{
  gunichar c, low;

  if (!parse_hex (self, self->p, &c))
    return fail (self, "\\u without four hexadecimal digits");
  if (c >= 0xdc00 && c < 0xe000)
    return fail (self, "half a surrogate pair");
  if (c >= 0xd800 && c < 0xdc00)
    {
      if (self->end - self->p < 10 || self->p[4] != '\\' || self->p[5] != 'u' ||
          !parse_hex (self, self->p + 6, &low) || low < 0xdc00 || low >= 0xe000)
        return fail (self, "half a surrogate pair");
      c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
      self->p += 6;
    }
  self->p += 4;
  *out += g_unichar_to_utf8 (c, *out);
  return TRUE;
}

/* What an escape stands for is never longer than the escape: it is written over it. */
static gboolean
parse_escape (Parser *self, char **out)
{
  static const char letters[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  const char *letter;

  if (++self->p == self->end)
    return fail (self, "the end of the file inside a string");
  if (*self->p == 'u')
    {
      self->p++;
      return parse_code (self, out);
    }
  letter = strchr (letters, *self->p);
  if (letter == NULL)
    return fail (self, "an escape that JSON does not have");
  *(*out)++ = meanings[letter - letters];
  self->p++;
  return TRUE;
}

static gboolean
parse_string (Parser *self)
{
  guint32 index = add_node (self, DLP_JSON_STRING, ++self->p);
  char *start = self->p;
  char *out = start;

  for (;;)
    {
      if (self->p == self->end)
        return fail (self, "the end of the file inside a string");
      if (*self->p == '"')
        break;
      if ((guchar) *self->p < 0x20)
        return fail (self, "a control character inside a string");
      if (*self->p == '\\')
        {
          if (!parse_escape (self, &out))
            return FALSE;
        }
      else
        *out++ = *self->p++;
    }
  self->p++;
  close_node (self, index, out - start);
  *out = '\0';
  return TRUE;
}

static gsize
skip_digits (Parser *self)
{
  const char *start = self->p;

  while (self->p < self->end && g_ascii_isdigit (*self->p))
    self->p++;
  return self->p - start;
}

static gboolean
parse_number (Parser *self)
{
  guint32 index = add_node (self, DLP_JSON_NUMBER, self->p);
  const char *start = self->p;

  if (*self->p == '-')
    self->p++;
  if (self->end - self->p > 1 && self->p[0] == '0' && g_ascii_isdigit (self->p[1]))
    return fail (self, "not JSON: a number that begins with 0");
  if (skip_digits (self) == 0)
    return fail (self, "not JSON: a value was expected");
  if (self->p < self->end && *self->p == '.')
    {
      self->p++;
      if (skip_digits (self) == 0)
        return fail (self, "not JSON: a digit was expected");
    }
  if (self->p < self->end && (*self->p == 'e' || *self->p == 'E'))
    {
      self->p++;
      if (self->p < self->end && (*self->p == '+' || *self->p == '-'))
        self->p++;
      if (skip_digits (self) == 0)
        return fail (self, "not JSON: a digit was expected");
    }
  close_node (self, index, self->p - start);
  return TRUE;
}

static gboolean
parse_word (Parser *self)
{
  static const struct
  {
    const char *word;
    DlpJsonType type;
  } words[] = { { "null", DLP_JSON_NULL }, { "false", DLP_JSON_FALSE }, { "true", DLP_JSON_TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      gsize len = strlen (words[i].word);

      if ((gsize) (self->end - self->p) < len || memcmp (self->p, words[i].word, len) != 0)
        continue;
      close_node (self, add_node (self, words[i].type, self->p), len);
      self->p += len;
      return TRUE;
    }
  return fail (self, "not JSON: a value was expected");
}

static gboolean
parse_key (Parser *self)
{
  if (self->p == self->end || *self->p != '"')
    return fail (self, "not JSON: a key was expected");
  if (!parse_string (self))
    return FALSE;
  skip_space (self);
  if (self->p == self->end || *self->p != ':')
    return fail (self, "not JSON: a colon was expected");
  self->p++;
  skip_space (self);
  return TRUE;
}

static gboolean
parse_container (Parser *self, DlpJsonType type, char close)
{
  guint32 index = add_node (self, type, self->p);
  guint32 n = 0;

  if (++self->depth > MAX_DEPTH)
    return fail (self, "nested more than " G_STRINGIFY (MAX_DEPTH) " deep");
  self->p++;
  skip_space (self);
  if (self->p < self->end && *self->p == close)
    self->p++;
  else
    for (;;)
      {
        if (type == DLP_JSON_OBJECT && !parse_key (self))
          return FALSE;
        if (!parse_value (self))
          return FALSE;
        n++;
        skip_space (self);
        if (self->p == self->end || (*self->p != ',' && *self->p != close))
          return fail (self, "not JSON: a comma or the end of the list was expected");
        if (*self->p++ == close)
          break;
        skip_space (self);
      }
  self->depth--;
  close_node (self, index, n);
  return TRUE;
}

static gboolean
parse_value (Parser *self)
{
  if (self->p == self->end)
    return fail (self, "not JSON: a value was expected");
  switch (*self->p)
    {
    case '{':
      return parse_container (self, DLP_JSON_OBJECT, '}');
    case '[':
      return parse_container (self, DLP_JSON_ARRAY, ']');
    case '"':
      return parse_string (self);
    case 't':
    case 'f':
    case 'n':
      return parse_word (self);
    default:
      return parse_number (self);
    }
}

/* @where names the text in errors. */
DlpJsonTree *
dlp_json_tree_new (const char *data, gsize size, const char *where, GError **error)
{
  g_autoptr (DlpJsonTree) self = g_new0 (DlpJsonTree, 1);
  Parser parser = { .tree = self, .error = error };
  const char *bad;

  self->where = g_strdup (where);
  if (size >= G_MAXINT32)
    {
      fail_at (where, 0, error, "a file of 2 GiB or more");
      return NULL;
    }
  if (!g_utf8_validate_len (data, size, &bad))
    {
      fail_at (where, bad - data, error, "not UTF-8, or a nul");
      return NULL;
    }
  self->text = g_malloc (size + 1);
  memcpy (self->text, data, size);
  self->text[size] = '\0';
  self->nodes = g_array_new (FALSE, FALSE, sizeof (Node));

  parser.begin = parser.p = self->text;
  parser.end = self->text + size;
  skip_space (&parser);
  if (!parse_value (&parser))
    return NULL;
  skip_space (&parser);
  if (parser.p != parser.end)
    {
      fail (&parser, "not JSON: something behind the value");
      return NULL;
    }
  return g_steal_pointer (&self);
}

void
dlp_json_tree_free (DlpJsonTree *self)
{
  g_free (self->where);
  g_free (self->text);
  if (self->nodes)
    g_array_unref (self->nodes);
  g_free (self);
}

DlpJsonNode
dlp_json_tree_get_root (const DlpJsonTree *self)
{
  return (DlpJsonNode){ self, 0 };
}

const char *
dlp_json_tree_get_where (const DlpJsonTree *self)
{
  return self->where;
}

static const Node *
get_node (DlpJsonNode node)
{
  return &g_array_index (node.tree->nodes, Node, node.index);
}

DlpJsonType
dlp_json_get_type (DlpJsonNode node)
{
  return node.index == NO_NODE ? DLP_JSON_NONE : (DlpJsonType) get_node (node)->type;
}

/* Of a string behind its quote. */
gsize
dlp_json_get_position (DlpJsonNode node)
{
  return node.index == NO_NODE ? 0 : get_node (node)->start;
}

/* Elements of an array, members of an object. */
guint
dlp_json_get_n_children (DlpJsonNode node)
{
  DlpJsonType type = dlp_json_get_type (node);

  return type == DLP_JSON_ARRAY || type == DLP_JSON_OBJECT ? get_node (node)->len : 0;
}

/* The first of the children; how many there are is to be counted by the caller. */
DlpJsonNode
dlp_json_get_first (DlpJsonNode node)
{
  return (DlpJsonNode){ node.tree, dlp_json_get_n_children (node) > 0 ? node.index + 1 : NO_NODE };
}

/* What follows @node at its depth: the value of a key, the next element. Not to be asked of the
 * last one. */
DlpJsonNode
dlp_json_get_next (DlpJsonNode node)
{
  return (DlpJsonNode){ node.tree, get_node (node)->next };
}

/* The value of the last member of that name, as every reader of tokenizer.json takes it. */
DlpJsonNode
dlp_json_get_member (DlpJsonNode object, const char *key)
{
  DlpJsonNode found = { object.tree, NO_NODE };

  if (dlp_json_get_type (object) == DLP_JSON_OBJECT)
    {
      guint n = dlp_json_get_n_children (object);
      DlpJsonNode at = dlp_json_get_first (object);

      for (guint i = 0; i < n; i++)
        {
          DlpJsonNode value = dlp_json_get_next (at);

          if (dlp_json_is_string (at, key))
            found = value;
          at = dlp_json_get_next (value);
        }
    }
  return found;
}

/* Of a string or a key: its bytes, with a nul behind them; there may be others among them. */
const char *
dlp_json_get_string (DlpJsonNode node, gsize *len)
{
  g_return_val_if_fail (dlp_json_get_type (node) == DLP_JSON_STRING, NULL);

  if (len)
    *len = get_node (node)->len;
  return node.tree->text + get_node (node)->start;
}

gboolean
dlp_json_is_string (DlpJsonNode node, const char *string)
{
  return dlp_json_get_type (node) == DLP_JSON_STRING && get_node (node)->len == strlen (string) &&
         memcmp (node.tree->text + get_node (node)->start, string, get_node (node)->len) == 0;
}

gboolean
dlp_json_fail (DlpJsonNode node, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  return fail_at (node.tree->where, dlp_json_get_position (node), error, what);
}

static const char *const type_names[] = { "nothing",  "null",     "false",    "true",
                                          "a number", "a string", "an array", "an object" };

/* @what names the node in the error. */
gboolean
dlp_json_check_type (DlpJsonNode node, DlpJsonType type, const char *what, GError **error)
{
  DlpJsonType found = dlp_json_get_type (node);

  return found == type ||
         dlp_json_fail (node, error, "%s is %s, not %s", what, type_names[found], type_names[type]);
}

/* Fails at the first member whose name is not in @known (up to a NULL). */
gboolean
dlp_json_check_members (DlpJsonNode object, const char *const *known, GError **error)
{
  guint n = dlp_json_get_n_children (object);
  DlpJsonNode at = dlp_json_get_first (object);

  for (guint i = 0; i < n; i++)
    {
      const char *name = dlp_json_get_string (at, NULL);
      g_autofree char *all = NULL;

      if (!g_strv_contains (known, name))
        {
          all = g_strjoinv (", ", (char **) known);
          return dlp_json_fail (at, error, "unknown field \"%.60s\"; known are %s", name, all);
        }
      at = dlp_json_get_next (dlp_json_get_next (at));
    }
  return TRUE;
}

/* A whole number from 0 to @max. */
gboolean
dlp_json_read_uint (DlpJsonNode node, guint64 max, guint64 *value, GError **error)
{
  if (dlp_json_get_type (node) == DLP_JSON_NUMBER)
    {
      const Node *number = get_node (node);
      g_autofree char *text = g_strndup (node.tree->text + number->start, number->len);

      if (g_ascii_string_to_unsigned (text, 10, 0, max, value, NULL))
        return TRUE;
      return dlp_json_fail (node, error, "%.40s is not a whole number from 0 to %" G_GUINT64_FORMAT,
                            text, max);
    }
  return dlp_json_check_type (node, DLP_JSON_NUMBER, "what should be a number", error);
}

gboolean
dlp_json_read_double (DlpJsonNode node, double *value, GError **error)
{
  const Node *number;
  g_autofree char *text = NULL;

  if (!dlp_json_check_type (node, DLP_JSON_NUMBER, "what should be a number", error))
    return FALSE;
  number = get_node (node);
  text = g_strndup (node.tree->text + number->start, number->len);
  *value = g_ascii_strtod (text, NULL);
  return TRUE;
}

/* The member @key of @object; @fallback where it is missing or null, unless that is below 0: then
 * it must be there. */
gboolean
dlp_json_read_boolean (DlpJsonNode object,
                       const char *key,
                       int fallback,
                       gboolean *value,
                       GError **error)
{
  DlpJsonNode node = dlp_json_get_member (object, key);
  DlpJsonType type = dlp_json_get_type (node);

  if (type == DLP_JSON_TRUE || type == DLP_JSON_FALSE)
    *value = type == DLP_JSON_TRUE;
  else if (fallback >= 0 && (type == DLP_JSON_NONE || type == DLP_JSON_NULL))
    *value = fallback;
  else if (type == DLP_JSON_NONE)
    return dlp_json_fail (object, error, "no field \"%s\"", key);
  else
    return dlp_json_fail (node, error, "\"%s\" is %s, not true or false", key, type_names[type]);
  return TRUE;
}
