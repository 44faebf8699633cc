/* SPDX-License-Identifier: MIT */

#include "hf-yaml.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#define MAX_DEPTH 32
#define MAX_INDENT 1000

typedef struct
{
  guint number;
  guint indent;
  char *text; /* without what is around it; never empty */
} Line;

typedef struct
{
  GArray *lines; /* of Line: what belongs to the key; no comments */
  guint at;
  guint depth;
  GError **error;
} Parser;

static HfNode *parse_node (Parser *self, guint indent);

static void
line_clear (gpointer data)
{
  g_free (((Line *) data)->text);
}

static HfNode *
node_new (HfKind kind, guint line)
{
  HfNode *self = g_new0 (HfNode, 1);

  self->kind = kind;
  self->line = line;
  if (kind == HF_MAP)
    self->keys = g_ptr_array_new_with_free_func (g_free);
  if (kind != HF_TEXT)
    self->items = g_ptr_array_new_with_free_func ((GDestroyNotify) hf_node_free);
  return self;
}

void
hf_node_free (HfNode *self)
{
  g_free (self->text);
  g_clear_pointer (&self->keys, g_ptr_array_unref);
  g_clear_pointer (&self->items, g_ptr_array_unref);
  g_free (self);
}

const HfNode *
hf_node_get (const HfNode *self, const char *key)
{
  for (guint i = 0; self->kind == HF_MAP && i < self->keys->len; i++)
    if (strcmp (g_ptr_array_index (self->keys, i), key) == 0)
      return g_ptr_array_index (self->items, i);
  return NULL;
}

/* The first one counts. */
static gpointer
refuse (GError **error, guint line, const char *what)
{
  if (*error == NULL)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "line %u: %s", line, what);
  return NULL;
}

/* ---- one line ---- */

static const Line *
peek (const Parser *self)
{
  return self->at < self->lines->len ? &g_array_index (self->lines, Line, self->at) : NULL;
}

static gboolean
is_item (const char *text)
{
  return *text == '-' && (text[1] == ' ' || text[1] == '\0');
}

/* What follows a value: nothing, or a comment. */
static gboolean
is_rest (const char *text)
{
  gsize blanks = strspn (text, " ");

  return text[blanks] == '\0' || (blanks > 0 && text[blanks] == '#');
}

/* (transfer full) (nullable): "..." or '...'; @end: behind it. NULL: it cannot be read. */
static char *
parse_quoted (const char *text, const char **end)
{
  GString *out = g_string_new (NULL);
  char quote = *text;
  const char *p = text + 1;

  for (; *p != '\0' && !(*p == quote && (quote == '"' || p[1] != quote)); p++)
    {
      if (quote == '\'' && *p == '\'')
        p++;
      else if (quote == '"' && *p == '\\')
        {
          p++;
          if (*p == '\0' || strchr ("\"\\/", *p) == NULL)
            break;
        }
      g_string_append_c (out, *p);
    }
  if (*p == quote)
    {
      *end = p + 1;
      return g_string_free (out, FALSE);
    }
  g_string_free (out, TRUE);
  return NULL;
}

/* (transfer full) (nullable): the key of "KEY: VALUE"; @value: behind the colon. */
static char *
parse_key (const char *text, const char **value)
{
  g_autofree char *key = NULL;
  const char *p = text;

  if (*text == '"' || *text == '\'')
    {
      key = parse_quoted (text, &p);
      if (key == NULL)
        return NULL;
      p += strspn (p, " ");
      if (*p != ':' || (p[1] != ' ' && p[1] != '\0'))
        return NULL;
    }
  else
    {
      while (*p != '\0' && !(*p == ':' && (p[1] == ' ' || p[1] == '\0')) &&
             !(*p == ' ' && p[1] == '#'))
        p++;
      if (*p != ':' || p == text || strchr ("[]{}&*!|>%@`?,", *text) != NULL)
        return NULL;
      key = g_strstrip (g_strndup (text, (gsize) (p - text)));
    }
  *value = p + 1 + strspn (p + 1, " ");
  return g_steal_pointer (&key);
}

/* Moves behind it. @ends: what ends a plain one, besides a comment. */
static HfNode *
parse_scalar (Parser *self, guint line, const char **text, const char *ends)
{
  g_autoptr (HfNode) node = node_new (HF_TEXT, line);
  const char *p = *text;

  if (*p == '"' || *p == '\'')
    {
      node->text = parse_quoted (p, text);
      if (node->text == NULL)
        return refuse (self->error, line,
                       "a text in quotes has to end on its line; of the escapes \\\" \\\\ \\/ are "
                       "read");
      return g_steal_pointer (&node);
    }
  if (*p != '\0' && strchr ("[]{}&*!|>%@`?,", *p) != NULL)
    return refuse (self->error, line,
                   "maps in {}, lists within lists in [], anchors, aliases, tags and texts over "
                   "several lines are not read; a text that begins with such a sign is put in "
                   "quotes");
  while (*p != '\0' && strchr (ends, *p) == NULL && !(*p == ' ' && p[1] == '#'))
    p++;
  node->text = g_strstrip (g_strndup (*text, (gsize) (p - *text)));
  *text = p;
  return g_steal_pointer (&node);
}

/* [a, "b"] */
static HfNode *
parse_flow (Parser *self, guint line, const char *text)
{
  g_autoptr (HfNode) node = node_new (HF_LIST, line);
  const char *p = text + 1 + strspn (text + 1, " ");

  while (*p != ']' && *p != '\0')
    {
      HfNode *item = parse_scalar (self, line, &p, ",]");

      if (item == NULL)
        return NULL;
      g_ptr_array_add (node->items, item);
      p += strspn (p, " ");
      if (*p == ',')
        p += 1 + strspn (p + 1, " ");
      else if (*p != ']')
        break;
    }
  if (*p != ']' || !is_rest (p + 1))
    return refuse (self->error, line,
                   "a list in [] has to end on its line, with nothing behind it");
  return g_steal_pointer (&node);
}

static HfNode *
parse_inline (Parser *self, guint line, const char *text)
{
  g_autoptr (HfNode) node = NULL;

  if (*text == '[')
    return parse_flow (self, line, text);
  node = parse_scalar (self, line, &text, "");
  if (node == NULL)
    return NULL;
  if (!is_rest (text))
    return refuse (self->error, line, "there is something behind a text in quotes");
  return g_steal_pointer (&node);
}

/* ---- blocks ---- */

/* What belongs to a "KEY:" or "-" with nothing behind it. */
static HfNode *
parse_below (Parser *self, guint line, guint indent, gboolean takes_items)
{
  const Line *next = peek (self);
  HfNode *none;

  if (next != NULL &&
      (next->indent > indent || (takes_items && next->indent == indent && is_item (next->text))))
    return parse_node (self, next->indent);
  none = node_new (HF_TEXT, line);
  none->text = g_strdup ("");
  return none;
}

/* Nothing may be left that is indented by more. */
static gboolean
check_end (Parser *self, guint indent)
{
  const Line *next = peek (self);

  if (next == NULL || next->indent <= indent)
    return TRUE;
  refuse (self->error, next->number,
          "it is indented by more than what it belongs to; a text has to be on one line");
  return FALSE;
}

static HfNode *
parse_list (Parser *self, guint indent)
{
  g_autoptr (HfNode) node = node_new (HF_LIST, peek (self)->number);

  while (peek (self) != NULL && peek (self)->indent == indent && is_item (peek (self)->text))
    {
      Line *line = &g_array_index (self->lines, Line, self->at);
      gsize offset = 1 + strspn (line->text + 1, " ");
      HfNode *item;

      if (line->text[offset] == '\0' || line->text[offset] == '#')
        {
          self->at++;
          item = parse_below (self, line->number, indent, FALSE);
        }
      else
        {
          /* What follows the '-' is a line of its own, further in. */
          memmove (line->text, line->text + offset, strlen (line->text + offset) + 1);
          line->indent += (guint) offset;
          item = parse_node (self, line->indent);
        }
      if (item == NULL)
        return NULL;
      g_ptr_array_add (node->items, item);
      if (!check_end (self, indent))
        return NULL;
    }
  return g_steal_pointer (&node);
}

static HfNode *
parse_map (Parser *self, guint indent)
{
  g_autoptr (HfNode) node = node_new (HF_MAP, peek (self)->number);

  while (peek (self) != NULL && peek (self)->indent == indent && !is_item (peek (self)->text))
    {
      const Line *line = peek (self);
      const char *value = NULL;
      g_autofree char *key = parse_key (line->text, &value);
      HfNode *item;

      if (key == NULL)
        return refuse (self->error, line->number, "\"KEY: VALUE\" was expected");
      if (hf_node_get (node, key) != NULL)
        return refuse (self->error, line->number, "a key is there twice");
      self->at++;
      if (*value == '\0' || *value == '#')
        item = parse_below (self, line->number, indent, TRUE);
      else
        item = parse_inline (self, line->number, value);
      if (item == NULL)
        return NULL;
      g_ptr_array_add (node->keys, g_steal_pointer (&key));
      g_ptr_array_add (node->items, item);
      if (!check_end (self, indent))
        return NULL;
    }
  return g_steal_pointer (&node);
}

static HfNode *
parse_node (Parser *self, guint indent)
{
  const Line *line = peek (self);
  const char *value;
  g_autofree char *key = NULL;
  HfNode *node;

  if (self->depth >= MAX_DEPTH)
    return refuse (self->error, line->number, "there is more in one another than is read");
  self->depth++;
  key = parse_key (line->text, &value);
  if (is_item (line->text))
    node = parse_list (self, indent);
  else if (key != NULL)
    node = parse_map (self, indent);
  else
    {
      self->at++;
      node = parse_inline (self, line->number, line->text);
    }
  self->depth--;
  return node;
}

/* ---- the front matter ---- */

/* FALSE and @error: it cannot be read. */
static gboolean
add_line (Parser *self, guint number, const char *text)
{
  gsize indent = strspn (text, " ");
  Line line = { number, (guint) indent, NULL };

  if (text[indent] == '\t' || indent > MAX_INDENT)
    {
      refuse (self->error, number, "lines are indented by blanks, a thousand at most");
      return FALSE;
    }
  if (text[indent] == '\0' || text[indent] == '#')
    return TRUE;
  line.text = g_strdup (text + indent);
  g_array_append_val (self->lines, line);
  return TRUE;
}

/* What is behind "KEY:" at the start of a line; NULL: another line. */
static const char *
find_value (const char *line, const char *key)
{
  const char *value = NULL;
  g_autofree char *name =
      !g_ascii_isspace (*line) && *line != '#' ? parse_key (line, &value) : NULL;

  return name != NULL && strcmp (name, key) == 0 ? value : NULL;
}

/* Takes the lines of the key. @first: what is behind its colon. */
static gboolean
gather (Parser *self, char **lines, const char *key, char **first, guint *number)
{
  gboolean is_inside = FALSE;
  guint i;

  for (i = 1; lines[i] != NULL && strcmp (lines[i], "---") != 0 && strcmp (lines[i], "...") != 0;
       i++)
    {
      const char *value = find_value (lines[i], key);

      if (value != NULL && *first != NULL)
        {
          refuse (self->error, i + 1, "a key is there twice");
          return FALSE;
        }
      if (value != NULL)
        {
          *first = g_strdup (value);
          *number = i + 1;
          is_inside = TRUE;
          continue;
        }
      is_inside &= *lines[i] == '\0' || strchr (" #\t", *lines[i]) != NULL || is_item (lines[i]);
      if (is_inside && !add_line (self, i + 1, lines[i]))
        return FALSE;
    }
  if (lines[i] != NULL)
    return TRUE;
  refuse (self->error, i, "what begins with a line --- has to end with one");
  return FALSE;
}

static HfNode *
parse (Parser *self, char **lines, const char *key)
{
  g_autofree char *first = NULL;
  guint number = 0;
  HfNode *node;

  if (!gather (self, lines, key, &first, &number) || first == NULL)
    return NULL;
  if (*first != '\0' && *first != '#')
    node = parse_inline (self, number, first);
  else
    node = parse_below (self, number, 0, TRUE);
  if (node != NULL && peek (self) != NULL)
    {
      hf_node_free (node);
      return refuse (self->error, peek (self)->number, "it does not belong to what is above it");
    }
  return node;
}

gboolean
hf_yaml_find (const char *text, gsize size, const char *key, HfNode **node, GError **error)
{
  g_autofree char *copy = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) cause = NULL;
  Parser self = { .error = &cause };

  *node = NULL;
  if (size >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0)
    {
      text += 3;
      size -= 3;
    }
  if (!g_utf8_validate (text, (gssize) size, NULL))
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "it is not UTF-8 without NUL");
      return FALSE;
    }
  copy = g_strndup (text, size);
  lines = g_strsplit (copy, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    g_strchomp (lines[i]);
  if (lines[0] == NULL || strcmp (lines[0], "---") != 0)
    return TRUE;

  self.lines = g_array_new (FALSE, FALSE, sizeof (Line));
  g_array_set_clear_func (self.lines, line_clear);
  *node = parse (&self, lines, key);
  g_array_unref (self.lines);
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}
