/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  DLP_GRAPH_TOKEN_END,
  DLP_GRAPH_TOKEN_LINK,
  DLP_GRAPH_TOKEN_WORD,
} DlpGraphTokenType;

/* The word [start, end), quotes and all; equals is the place of the first '=' outside quotes, or
 * end. */
typedef struct
{
  DlpGraphTokenType type;
  gsize start;
  gsize equals;
  gsize end;
} DlpGraphToken;

typedef struct
{
  const char *text;
  gsize length;
  gsize pos;
} DlpGraphLexer;

gboolean dlp_graph_lexer_read (DlpGraphLexer *self, DlpGraphToken *token, GError **error);

/* A value [start, end) of a word without its quotes. */
char *dlp_graph_lexer_unquote (const char *text, gsize start, gsize end);

/* The place of the first '!' of a value that is not quoted, or end. */
gsize dlp_graph_lexer_find_link (const char *text, gsize start, gsize end);

G_END_DECLS
