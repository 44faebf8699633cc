/* SPDX-License-Identifier: MIT */
#pragma once

#include "filter-private.h"

G_BEGIN_DECLS

typedef enum
{
  FILTER_TOKEN_END,
  FILTER_TOKEN_WORD,  /* a keyword, a field, a function */
  FILTER_TOKEN_FIELD, /* in back quotes: a field */
  FILTER_TOKEN_LITERAL,
  FILTER_TOKEN_COMPARISON,
  FILTER_TOKEN_OPEN,
  FILTER_TOKEN_CLOSE,
  FILTER_TOKEN_COMMA,
} FilterTokenKind;

typedef struct
{
  FilterTokenKind kind;
  gsize start; /* in the text */
  gsize end;
  guint wanted;      /* of a comparison */
  char *name;        /* of a word or field: valid until the next token */
  FilterValue value; /* of a literal; bytes are kept in literals */
} FilterToken;

typedef struct
{
  const char *text;
  gsize at;
  GPtrArray *literals; /* takes the memory of strings */
  FilterToken token;
} FilterLexer;

/* The next token, into token. */
bool filter_lexer_next (FilterLexer *self, GError **error);
void filter_lexer_clear (FilterLexer *self);
bool filter_lexer_is_word (const FilterLexer *self, const char *word);

G_END_DECLS
