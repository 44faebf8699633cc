/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "filter-expression.h"
#include "filter-regex.h"

G_BEGIN_DECLS

/* Of parentheses and not: what is nested deeper is refused. */
#define FILTER_MAX_DEPTH 64

typedef enum
{
  FILTER_INT64,
  FILTER_UINT64,
  FILTER_DOUBLE,
  FILTER_BOOLEAN,
  FILTER_BYTES, /* of strings and of binary fields */
  FILTER_LIST,
} FilterType;

typedef struct
{
  FilterType type;
  union
  {
    gint64 i;
    guint64 u;
    double d;
    bool b;
    gsize size;
  };
  const guint8 *bytes;
} FilterValue;

typedef enum
{
  FILTER_SOURCE_LITERAL,
  FILTER_SOURCE_FIELD,
  FILTER_SOURCE_LENGTH,
  FILTER_SOURCE_CHARS,
  FILTER_SOURCE_N_TOKENS,
} FilterSource;

typedef struct
{
  FilterSource source;
  FilterType type;
  guint field;
  DlpFieldType field_type;
  bool optional;     /* the field */
  FilterValue value; /* of a literal */
  gsize start;       /* where it stands in the text */
  gsize end;
} FilterOperand;

typedef enum
{
  FILTER_OP_COMPARE,
  FILTER_OP_IN,
  FILTER_OP_IS_NULL,
  FILTER_OP_TRUTH, /* a boolean by itself */
  FILTER_OP_STARTS_WITH,
  FILTER_OP_ENDS_WITH,
  FILTER_OP_CONTAINS,
  FILTER_OP_MATCHES,
  FILTER_OP_NOT,
  FILTER_OP_AND,
  FILTER_OP_OR,
  FILTER_OP_SKIP_IF_FALSE, /* leaves the value, goes on at target */
  FILTER_OP_SKIP_IF_TRUE,
} FilterOp;

/* What a comparison may come to: a set of these. */
enum
{
  FILTER_LESS = 1,
  FILTER_EQUAL = 2,
  FILTER_GREATER = 4,
  FILTER_UNORDERED = 8, /* one is NaN */
};

/* Works on a stack of truths. */
typedef struct
{
  FilterOp op;
  guint wanted; /* of COMPARE */
  guint target; /* of SKIP */
  FilterOperand a;
  FilterOperand b;
  GArray *set; /* of IN: FilterValue, ascending */
  FilterRegex *regex;
} FilterInstruction;

struct _FilterExpression
{
  GArray *program; /* of FilterInstruction */
  GPtrArray *literals;
};

guint filter_value_compare (const FilterValue *a, const FilterValue *b);

static inline bool
filter_type_is_number (FilterType type)
{
  return type <= FILTER_DOUBLE;
}

/* Sets the error, which names the column of @start, and shows the text with a caret under
 * [start, end). Returns false. */
bool filter_fail (const char *text,
                  gsize start,
                  gsize end,
                  int code,
                  GError **error,
                  const char *format,
                  ...) G_GNUC_PRINTF (6, 7);

G_END_DECLS
