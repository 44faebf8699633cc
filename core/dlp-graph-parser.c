/* SPDX-License-Identifier: MIT */
#include "dlp-graph-private.h"
#include "dlp-graph-lexer-private.h"

#include <string.h>

#define MAX_NAME 255

/* What a chain has reached. */
typedef enum
{
  TAIL_NONE,
  TAIL_ELEMENT,
  TAIL_REFERENCE,
} TailType;

typedef struct
{
  DlpGraph *graph;
  GHashTable *names; /* node index + 1 by name, for the names in the text */
  const char *text;
  DlpGraphLexer lexer;
  guint n_properties;

  TailType tail_type;
  DlpGraphEnd tail;
  gboolean tail_is_linked;
  gboolean link_pending;
  DlpGraphToken link;

  /* An element that stands alone may be meant as a property without '='. */
  DlpGraphToken bare;
  gboolean have_bare;
} Parser;

static void
parser_clear (Parser *self)
{
  g_clear_pointer (&self->graph, dlp_graph_free);
  g_clear_pointer (&self->names, g_hash_table_unref);
  g_clear_pointer (&self->tail.pad, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Parser, parser_clear)

#define fail_syntax(self, error, start, end, hint, ...)                                            \
  (dlp_graph_set_error ((error), DLP_GRAPH_ERROR_SYNTAX, (self)->text, (start), (end), (hint),     \
                        __VA_ARGS__),                                                              \
   FALSE)

/* For "size 10": a hint that "size=10" was meant. NULL if there is nothing to say. */
static char *
hint_for_word (Parser *self, const DlpGraphToken *token)
{
  const char *word = self->text + token->start;
  int length = MIN (token->end - token->start, MAX_NAME);

  if (memchr (word, '"', length) != NULL || memchr (word, '\'', length) != NULL)
    return g_strdup ("quote the value only: location=\"a file\"");
  if (self->link_pending)
    return NULL;
  if (self->have_bare)
    return g_strdup_printf ("a property is written NAME=VALUE: %.*s=%.*s",
                            (int) (self->bare.end - self->bare.start),
                            self->text + self->bare.start, length, word);
  if (self->graph->nodes->len > 0)
    return g_strdup ("a property is written NAME=VALUE");
  return g_strdup ("a graph begins with an element: file-source location=a.jsonl ! ...");
}

static gboolean
check_name (Parser *self,
            gsize start,
            gsize end,
            gboolean is_pad,
            const char *kind,
            const char *hint,
            GError **error)
{
  const char *last = self->text + end;
  const char *bad = dlp_graph_check_name (self->text + start, last, is_pad);
  gsize place = bad - self->text;
  guint length;

  if (end - start > MAX_NAME)
    return fail_syntax (self, error, start, end, NULL, "%s is longer than %d bytes", kind,
                        MAX_NAME);
  if (bad == last)
    return TRUE;

  length = MIN (g_utf8_skip[(guchar) *bad], last - bad);
  if (place == start && g_ascii_isgraph (*bad))
    return fail_syntax (self, error, place, place + length, hint, "%s cannot begin with '%c'", kind,
                        *bad);
  if (g_ascii_isgraph (*bad))
    return fail_syntax (self, error, place, place + length, hint, "there can be no '%c' in %s",
                        *bad, kind);
  return fail_syntax (self, error, place, place + length, hint,
                      "%s has letters, digits, '-' and '_' only", kind);
}

/* Makes item the end of the chain, linked to what was there before. Takes item.pad. */
static gboolean
add_to_chain (Parser *self, TailType type, DlpGraphEnd item, GError **error)
{
  gboolean linked = self->link_pending;

  if (linked)
    {
      DlpGraphLink *link = dlp_graph_add_link (self->graph);

      link->from = self->tail;
      link->to = item;
      link->start = self->link.start;
      link->end = self->link.end;
      item.pad = NULL;
    }
  else
    g_free (self->tail.pad);

  self->tail = item;
  self->tail_type = type;
  self->tail_is_linked = linked;
  self->link_pending = FALSE;
  if (self->graph->links->len > DLP_GRAPH_MAX_LINKS)
    return fail_syntax (self, error, self->link.start, self->link.end, NULL,
                        "a graph has at most %d links", DLP_GRAPH_MAX_LINKS);
  return TRUE;
}

/* A chain must not end with a reference that nothing is linked to. */
static gboolean
check_chain_end (Parser *self, GError **error)
{
  DlpGraphToken word = { DLP_GRAPH_TOKEN_WORD, self->tail.start, self->tail.end, self->tail.end };
  g_autofree char *hint = NULL;

  if (self->link_pending || self->tail_is_linked || self->tail_type != TAIL_REFERENCE)
    return TRUE;

  if (self->have_bare)
    hint = hint_for_word (self, &word);
  return fail_syntax (self, error, word.start, word.end,
                      hint != NULL ? hint : "write \"... ! NAME.\" or \"NAME. ! ...\"",
                      "this reference is not linked to anything");
}

static gboolean
parse_reference (Parser *self, const DlpGraphToken *token, GError **error)
{
  const char *begin = self->text + token->start;
  gsize dot =
      token->start + ((const char *) memchr (begin, '.', token->end - token->start) - begin);
  g_autofree char *hint = hint_for_word (self, token);
  DlpGraphEnd end = { DLP_GRAPH_UNRESOLVED, NULL, token->start, token->end };

  if (dot == token->start)
    return fail_syntax (self, error, token->start, token->end,
                        self->have_bare ? hint : "a reference is written NAME. or NAME.PAD",
                        "there is no name before '.'");
  if (!check_name (self, token->start, dot, FALSE, "a name", hint, error) ||
      !check_name (self, dot + 1, token->end, TRUE, "the name of a pad", hint, error))
    return FALSE;

  if (dot + 1 < token->end)
    end.pad = g_strndup (self->text + dot + 1, token->end - dot - 1);
  return add_to_chain (self, TAIL_REFERENCE, end, error);
}

static gboolean
parse_element (Parser *self, const DlpGraphToken *token, GError **error)
{
  g_autofree char *hint = hint_for_word (self, token);
  DlpGraphEnd end = { self->graph->nodes->len, NULL, token->start, token->end };

  if (!check_name (self, token->start, token->end, FALSE, "the name of an element", hint, error))
    return FALSE;
  if (self->graph->nodes->len == DLP_GRAPH_MAX_NODES)
    return fail_syntax (self, error, token->start, token->end, NULL,
                        "a graph has at most %d elements", DLP_GRAPH_MAX_NODES);

  dlp_graph_add_node (self->graph, g_strndup (self->text + token->start, token->end - token->start),
                      token->start, token->end);
  self->have_bare = !self->link_pending && self->graph->nodes->len > 1;
  self->bare = *token;
  return add_to_chain (self, TAIL_ELEMENT, end, error);
}

static gboolean
set_name (Parser *self, DlpGraphNode *node, const DlpGraphToken *token, char *name, GError **error)
{
  g_autofree char *owned = name;
  gsize start = token->equals + 1;
  gpointer other;

  if (node->named)
    return fail_syntax (self, error, token->start, token->end, NULL,
                        "this element has the name \"%s\" already", node->name);
  if (*name == '\0' || strlen (name) > MAX_NAME ||
      *dlp_graph_check_name (name, name + strlen (name), FALSE) != '\0')
    return fail_syntax (self, error, start, token->end,
                        "a name has a letter, then letters, digits, '-' and '_'",
                        "this is not a name");

  other = g_hash_table_lookup (self->names, name);
  if (other != NULL)
    {
      gsize place = dlp_graph_get_node (self->graph, GPOINTER_TO_UINT (other) - 1)->start;
      g_autofree char *where = dlp_graph_describe_place (self->text, place);
      g_autofree char *hint = g_strdup_printf ("the other is at %s", where);

      return fail_syntax (self, error, token->start, token->end, hint,
                          "two elements are named \"%s\"", name);
    }
  node->name = g_steal_pointer (&owned);
  node->named = TRUE;
  g_hash_table_insert (self->names, node->name, GUINT_TO_POINTER (self->graph->nodes->len));
  return TRUE;
}

/* "size", or "http.timeout": of a scheme. */
static gboolean
check_key (Parser *self, const DlpGraphToken *token, GError **error)
{
  const char *begin = self->text + token->start;
  const char *dot = memchr (begin, '.', token->equals - token->start);
  gsize place = dot != NULL ? (gsize) (dot - self->text) : token->equals;

  if (dot == NULL || place == token->start)
    return check_name (self, token->start, token->equals, FALSE, "the name of a property", NULL,
                       error);
  if (place + 1 == token->equals)
    return fail_syntax (self, error, token->start, token->equals,
                        "what is set of a scheme is written SCHEME.PROPERTY=VALUE",
                        "there is no property between '.' and '='");
  return check_name (self, token->start, place, FALSE, "the name of a scheme", NULL, error) &&
         check_name (self, place + 1, token->equals, FALSE, "the name of a property", NULL, error);
}

/* Whether a property may stand here, with a value. */
static gboolean
check_property (Parser *self, const DlpGraphToken *token, GError **error)
{
  const char *hint = "write NAME=VALUE without spaces";

  if (token->equals == token->start)
    return fail_syntax (self, error, token->start, token->end, hint,
                        "there is no property before '='");
  if (self->link_pending)
    return fail_syntax (self, error, token->start, token->end, NULL,
                        "an element is expected after '!', not a property");
  if (self->tail_type == TAIL_NONE)
    return fail_syntax (self, error, token->start, token->end, NULL,
                        "there is no element before this property");
  if (self->tail_type == TAIL_REFERENCE)
    return fail_syntax (self, error, token->start, token->end, "write it where the element is",
                        "a reference takes no properties");
  if (!check_key (self, token, error))
    return FALSE;
  if (token->equals + 1 == token->end)
    return fail_syntax (self, error, token->start, token->end,
                        "write it without spaces; an empty value is \"\"",
                        "there is no value after '='");
  if (++self->n_properties > DLP_GRAPH_MAX_PROPERTIES)
    return fail_syntax (self, error, token->start, token->end, NULL,
                        "a graph has at most %d properties", DLP_GRAPH_MAX_PROPERTIES);
  return TRUE;
}

static gboolean
parse_property (Parser *self, const DlpGraphToken *token, GError **error)
{
  g_autofree char *key = g_strndup (self->text + token->start, token->equals - token->start);
  DlpGraphProperty *property;
  DlpGraphNode *node;
  gsize link;
  char *value;

  if (!check_property (self, token, error))
    return FALSE;
  link = dlp_graph_lexer_find_link (self->text, token->equals + 1, token->end);
  if (link < token->end)
    return fail_syntax (self, error, link, link + 1,
                        "to link, write a space before it; as part of the value, quote it",
                        "this '!' is inside a value");

  self->have_bare = FALSE;
  node = dlp_graph_get_node (self->graph, self->graph->nodes->len - 1);
  value = dlp_graph_lexer_unquote (self->text, token->equals + 1, token->end);
  if (strcmp (key, "name") == 0)
    return set_name (self, node, token, value, error);

  property = dlp_graph_node_add_property (node, key, value);
  property->start = token->start;
  property->end = token->end;
  property->value_start = token->equals + 1;
  return TRUE;
}

static gboolean
parse_word (Parser *self, const DlpGraphToken *token, GError **error)
{
  const char *begin = self->text + token->start;
  gsize length = token->end - token->start;

  if (token->equals < token->end)
    return parse_property (self, token, error);
  if (!check_chain_end (self, error))
    return FALSE;
  if (memchr (begin, '.', length) != NULL &&
      *dlp_graph_check_name (begin, begin + length, FALSE) == '.')
    return parse_reference (self, token, error);
  return parse_element (self, token, error);
}

static gboolean
parse_link (Parser *self, const DlpGraphToken *token, GError **error)
{
  if (self->link_pending)
    return fail_syntax (self, error, token->start, token->end, NULL,
                        "there is no element between this '!' and the one before");
  if (self->tail_type == TAIL_NONE)
    return fail_syntax (self, error, token->start, token->end, NULL,
                        "there is no element before this '!'");
  if (self->tail_type == TAIL_REFERENCE && self->tail_is_linked)
    {
      DlpGraphLink *link = dlp_graph_get_link (self->graph, self->graph->links->len - 1);

      if (link->to.pad != NULL)
        return fail_syntax (self, error, self->tail.start, self->tail.end,
                            "to go on from it, begin a new chain: NAME. ! ...",
                            "this is an input pad: nothing can be linked from it");
    }
  self->link_pending = TRUE;
  self->link = *token;
  self->have_bare = FALSE;
  return TRUE;
}

static gboolean
parse_end (Parser *self, GError **error)
{
  if (self->link_pending)
    return fail_syntax (self, error, self->link.start, self->link.end, NULL,
                        "there is no element after this '!'");
  if (!check_chain_end (self, error))
    return FALSE;
  if (self->graph->nodes->len == 0)
    return fail_syntax (self, error, DLP_GRAPH_NO_PLACE, 0,
                        "such as: file-source location=a.jsonl ! jsonl-reader ! null-sink",
                        "the graph is empty");
  return TRUE;
}

static gboolean
parse_tokens (Parser *self, GError **error)
{
  for (;;)
    {
      DlpGraphToken token;

      if (!dlp_graph_lexer_read (&self->lexer, &token, error))
        return FALSE;
      switch (token.type)
        {
        case DLP_GRAPH_TOKEN_END:
          return parse_end (self, error);
        case DLP_GRAPH_TOKEN_LINK:
          if (!parse_link (self, &token, error))
            return FALSE;
          break;
        case DLP_GRAPH_TOKEN_WORD:
          if (!parse_word (self, &token, error))
            return FALSE;
          break;
        default:
          g_assert_not_reached ();
        }
    }
}

DlpGraph *
dlp_graph_parse (const char *text, GError **error)
{
  g_auto (Parser) self = { 0 };

  g_return_val_if_fail (text != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  self.text = text;
  self.lexer = (DlpGraphLexer){ text, strnlen (text, DLP_GRAPH_MAX_TEXT + 1), 0 };
  if (self.lexer.length > DLP_GRAPH_MAX_TEXT)
    {
      dlp_graph_set_error (error, DLP_GRAPH_ERROR_SYNTAX, NULL, 0, 0, NULL,
                           "the graph is longer than %d bytes", DLP_GRAPH_MAX_TEXT);
      return NULL;
    }

  self.graph = dlp_graph_new (text);
  self.names = g_hash_table_new (g_str_hash, g_str_equal);
  if (!parse_tokens (&self, error) || !dlp_graph_resolve (self.graph, self.names, error))
    return NULL;
  return g_steal_pointer (&self.graph);
}
