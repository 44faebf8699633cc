/* SPDX-License-Identifier: MIT */
#include "dlp-graph-lexer-private.h"

#include "dlp-graph-parser-private.h"

#include <string.h>

static gboolean
is_blank (char c)
{
  return g_ascii_isspace (c) || c == '\v';
}

/* The bytes of a backslash before a line's end, which both vanish; 0 if it is not that. */
static gsize
get_continuation (const char *p)
{
  if (p[0] != '\\')
    return 0;
  if (p[1] == '\n')
    return 2;
  return p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

static void
skip_blanks (DlpGraphLexer *self)
{
  for (;;)
    {
      const char *p = self->text + self->pos;

      if (is_blank (*p))
        self->pos++;
      else if (*p == '#')
        self->pos += strcspn (p, "\n");
      else if (get_continuation (p) > 0)
        self->pos += get_continuation (p);
      else
        return;
    }
}

/* From a quote to behind its closing one. */
static gboolean
skip_quoted (DlpGraphLexer *self, GError **error)
{
  gsize start = self->pos;
  char quote = self->text[start];

  for (self->pos++; self->pos < self->length; self->pos++)
    {
      char c = self->text[self->pos];

      if (c == '\\' && quote == '"' && self->pos + 1 < self->length)
        self->pos++;
      else if (c == quote)
        {
          self->pos++;
          return TRUE;
        }
    }
  dlp_graph_set_error (error, DLP_GRAPH_ERROR_SYNTAX, self->text, start, start + 1,
                       quote == '"' ? "for a quote that is part of a value write \\\"" :
                                      "for a quote that is part of a value write \\'",
                       "this quote is never closed");
  return FALSE;
}

static gboolean
skip_escape (DlpGraphLexer *self, GError **error)
{
  if (self->pos + 1 < self->length)
    {
      self->pos += MAX (2, get_continuation (self->text + self->pos));
      return TRUE;
    }
  dlp_graph_set_error (error, DLP_GRAPH_ERROR_SYNTAX, self->text, self->pos, self->length,
                       "for a backslash that is part of a value write \\\\",
                       "there is nothing after this backslash");
  return FALSE;
}

/* A '!' ends a word, but not a value: there it is more often a typing error than meant to link. */
static gboolean
read_word (DlpGraphLexer *self, DlpGraphToken *token, GError **error)
{
  gboolean in_value = FALSE;

  while (self->pos < self->length)
    {
      char c = self->text[self->pos];

      if (is_blank (c) || (c == '!' && !in_value))
        break;
      if (c == '"' || c == '\'')
        {
          if (!skip_quoted (self, error))
            return FALSE;
          continue;
        }
      if (c == '\\')
        {
          if (!skip_escape (self, error))
            return FALSE;
          continue;
        }
      if (c == '=' && !in_value)
        {
          in_value = TRUE;
          token->equals = self->pos;
        }
      self->pos++;
    }

  token->end = self->pos;
  if (!in_value)
    token->equals = self->pos;
  return TRUE;
}

gboolean
dlp_graph_lexer_read (DlpGraphLexer *self, DlpGraphToken *token, GError **error)
{
  skip_blanks (self);
  token->start = token->end = token->equals = self->pos;
  if (self->pos == self->length)
    token->type = DLP_GRAPH_TOKEN_END;
  else if (self->text[self->pos] == '!')
    {
      token->type = DLP_GRAPH_TOKEN_LINK;
      token->end = ++self->pos;
    }
  else
    {
      token->type = DLP_GRAPH_TOKEN_WORD;
      return read_word (self, token, error);
    }
  return TRUE;
}

char *
dlp_graph_lexer_unquote (const char *text, gsize start, gsize end)
{
  GString *value = g_string_new (NULL);
  char quote = '\0';

  while (start < end)
    {
      const char *p = text + start;
      gsize skipped = quote != '\'' ? get_continuation (p) : 0;

      if (skipped > 0)
        start += skipped;
      else if (*p == '\\' && quote != '\'')
        {
          g_string_append_c (value, p[1]);
          start += 2;
        }
      else
        {
          if (quote == '\0' && (*p == '"' || *p == '\''))
            quote = *p;
          else if (quote != '\0' && *p == quote)
            quote = '\0';
          else
            g_string_append_c (value, *p);
          start++;
        }
    }
  return g_string_free (value, FALSE);
}

gsize
dlp_graph_lexer_find_link (const char *text, gsize start, gsize end)
{
  char quote = '\0';

  for (; start < end; start++)
    {
      if (text[start] == '\\' && quote != '\'')
        start++;
      else if (quote != '\0' && text[start] == quote)
        quote = '\0';
      else if (quote == '\0' && (text[start] == '"' || text[start] == '\''))
        quote = text[start];
      else if (quote == '\0' && text[start] == '!')
        return start;
    }
  return end;
}
