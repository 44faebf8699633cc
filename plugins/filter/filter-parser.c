/* SPDX-License-Identifier: MIT */

/* Operators wait on a stack of bounded depth, each with the place where it stands; their operands
 * are compiled as they come. Nothing recurses.
 *
 *   condition  = [not] predicate, joined by and, or (and first), in parentheses
 *   predicate  = value comparison value | value [not] in (literal, ...) | FIELD is [not] null
 *              | BOOLEAN | function (value, value)
 *   value      = FIELD | literal | function (FIELD)
 */

#include "filter-lexer.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#define SYNTAX DLP_GRAPH_ERROR_SYNTAX
#define TYPE DLP_GRAPH_ERROR_TYPE

typedef enum
{
  WAITING_OPEN,
  WAITING_NOT,
  WAITING_AND,
  WAITING_OR,
} Waiting;

typedef struct
{
  Waiting kind;
  gsize start;
  guint skip; /* of AND, OR: the instruction that skips what is behind it */
} Operator;

typedef struct
{
  FilterLexer lexer;
  DlpSchema *schema;
  GArray *program;
  Operator stack[FILTER_MAX_DEPTH];
  guint depth;
} Parser;

static bool
fail_token (Parser *self, GError **error, const char *message)
{
  const FilterToken *token = &self->lexer.token;

  return filter_fail (self->lexer.text, token->start, token->end, SYNTAX, error, "%s", message);
}

static bool
fail_operand (Parser *self, const FilterOperand *operand, GError **error, const char *message)
{
  return filter_fail (self->lexer.text, operand->start, operand->end, TYPE, error, "%s", message);
}

static bool
next (Parser *self, GError **error)
{
  return filter_lexer_next (&self->lexer, error);
}

static bool
expect (Parser *self, FilterTokenKind kind, const char *message, GError **error)
{
  if (self->lexer.token.kind != kind)
    return fail_token (self, error, message);
  return next (self, error);
}

static FilterInstruction *
emit (Parser *self, FilterOp op)
{
  FilterInstruction instruction = { .op = op };

  g_array_append_val (self->program, instruction);
  return &g_array_index (self->program, FilterInstruction, self->program->len - 1);
}

/* ---- values ---- */

static FilterType
get_type (DlpFieldType type)
{
  static const FilterType types[] = {
    [DLP_FIELD_STRING] = FILTER_BYTES,     [DLP_FIELD_BINARY] = FILTER_BYTES,
    [DLP_FIELD_BOOLEAN] = FILTER_BOOLEAN,  [DLP_FIELD_INT64] = FILTER_INT64,
    [DLP_FIELD_UINT64] = FILTER_UINT64,    [DLP_FIELD_DOUBLE] = FILTER_DOUBLE,
    [DLP_FIELD_LIST_UINT16] = FILTER_LIST, [DLP_FIELD_LIST_UINT32] = FILTER_LIST,
    [DLP_FIELD_LIST_INT32] = FILTER_LIST,  [DLP_FIELD_LIST_INT64] = FILTER_LIST,
    [DLP_FIELD_LIST_FLOAT] = FILTER_LIST,  [DLP_FIELD_LIST_DOUBLE] = FILTER_LIST,
  };

  return types[type];
}

static const char *
describe_type (const FilterOperand *operand)
{
  static const char *const names[] = { "an integer", "an integer", "a double",
                                       "a boolean",  "a string",   "a list" };

  if (operand->source == FILTER_SOURCE_FIELD)
    return dlp_field_type_to_string (operand->field_type);
  return names[operand->type];
}

static bool
fail_field (Parser *self, const char *name, gsize start, gsize end, GError **error)
{
  guint n = dlp_schema_get_n_fields (self->schema);
  g_autofree const char **names = g_new0 (const char *, n + 1);
  g_autofree char *all = NULL;
  const char *near;

  for (guint i = 0; i < n; i++)
    names[i] = dlp_schema_get_field_name (self->schema, i);
  all = g_strjoinv (", ", (char **) names);
  near = dlp_suggest (name, names);
  return filter_fail (self->lexer.text, start, end, DLP_GRAPH_ERROR_VALUE, error,
                      "the input has no field “%s”%s%s%s; its fields: %s", name,
                      near != NULL ? ", did you mean “" : "", near != NULL ? near : "",
                      near != NULL ? "”?" : "", n > 0 ? all : "none");
}

/* The field that the current token names. */
static bool
parse_field (Parser *self, FilterOperand *operand, GError **error)
{
  const FilterToken *token = &self->lexer.token;
  int field;

  if (token->kind != FILTER_TOKEN_WORD && token->kind != FILTER_TOKEN_FIELD)
    return fail_token (self, error, "the name of a field is expected here");
  field = dlp_schema_find (self->schema, token->name);
  if (field < 0)
    return fail_field (self, token->name, token->start, token->end, error);
  *operand = (FilterOperand){
    .source = FILTER_SOURCE_FIELD,
    .field = (guint) field,
    .field_type = dlp_schema_get_field_type (self->schema, (guint) field),
    .optional = dlp_schema_get_field_optional (self->schema, (guint) field),
    .start = token->start,
    .end = token->end,
  };
  operand->type = get_type (operand->field_type);
  return next (self, error);
}

static bool
parse_boolean (Parser *self, FilterOperand *operand, bool value, GError **error)
{
  operand->value = (FilterValue){ .type = FILTER_BOOLEAN, .b = value };
  operand->type = FILTER_BOOLEAN;
  operand->end = self->lexer.token.end;
  return next (self, error);
}

/* A field or a literal. */
static bool
parse_plain (Parser *self, FilterOperand *operand, GError **error)
{
  const FilterToken *token = &self->lexer.token;

  *operand = (FilterOperand){ .start = token->start, .end = token->end };
  if (token->kind == FILTER_TOKEN_LITERAL)
    {
      operand->value = token->value;
      operand->type = token->value.type;
      return next (self, error);
    }
  if (filter_lexer_is_word (&self->lexer, "true") || filter_lexer_is_word (&self->lexer, "false"))
    return parse_boolean (self, operand, filter_lexer_is_word (&self->lexer, "true"), error);
  if (filter_lexer_is_word (&self->lexer, "null"))
    return fail_token (self, error, "null is asked for by “FIELD is null” or “FIELD is not null”");
  if (token->kind != FILTER_TOKEN_WORD && token->kind != FILTER_TOKEN_FIELD)
    return fail_token (self, error, "a field, a number, a string or a function is expected here");
  return parse_field (self, operand, error);
}

static const struct
{
  const char *name;
  bool is_test; /* of two values, else the value of a field */
  FilterOp op;
  FilterSource source;
} functions[] = {
  { "length", false, 0, FILTER_SOURCE_LENGTH },
  { "chars", false, 0, FILTER_SOURCE_CHARS },
  { "n-tokens", false, 0, FILTER_SOURCE_N_TOKENS },
  { "starts-with", true, FILTER_OP_STARTS_WITH, 0 },
  { "ends-with", true, FILTER_OP_ENDS_WITH, 0 },
  { "contains", true, FILTER_OP_CONTAINS, 0 },
  { "matches", true, FILTER_OP_MATCHES, 0 },
};

static bool
fail_function (Parser *self, const char *name, gsize start, gsize end, GError **error)
{
  const char *names[G_N_ELEMENTS (functions) + 1] = { NULL };
  g_autofree char *all = NULL;
  const char *near;

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    names[i] = functions[i].name;
  near = dlp_suggest (name, names);
  all = g_strjoinv (", ", (char **) names);
  return filter_fail (self->lexer.text, start, end, SYNTAX, error,
                      "there is no function “%s”%s%s%s; there are %s", name,
                      near != NULL ? ", did you mean “" : "", near != NULL ? near : "",
                      near != NULL ? "”?" : "", all);
}

static bool
check_measured (Parser *self, FilterSource source, const FilterOperand *of, GError **error)
{
  if (source == FILTER_SOURCE_N_TOKENS)
    return of->type == FILTER_LIST ||
           fail_operand (self, of, error, "n-tokens is of a list; length is of other fields");
  if (source == FILTER_SOURCE_CHARS)
    return of->field_type == DLP_FIELD_STRING ||
           fail_operand (self, of, error, "chars is of a string; length is of bytes");
  if (of->type == FILTER_LIST)
    return fail_operand (self, of, error, "length is in bytes; n-tokens is of a list");
  return of->type == FILTER_BYTES ||
         fail_operand (self, of, error, "length is of a string or binary field");
}

/* Behind the parenthesis of length, chars or n-tokens. */
static bool
parse_measure (Parser *self,
               FilterSource source,
               gsize start,
               FilterOperand *operand,
               GError **error)
{
  if (!parse_field (self, operand, error) || !check_measured (self, source, operand, error))
    return false;
  operand->source = source;
  operand->type = FILTER_UINT64;
  operand->start = start;
  operand->end = self->lexer.token.end;
  return expect (self, FILTER_TOKEN_CLOSE, "“)” is expected behind the field", error);
}

/* ---- predicates ---- */

static bool
check_text (Parser *self, const FilterOperand *operand, GError **error)
{
  return operand->type == FILTER_BYTES ||
         fail_operand (self, operand, error, "this is neither a string nor a binary field");
}

static bool
compile_regex (Parser *self, FilterInstruction *test, GError **error)
{
  bool utf = test->a.source == FILTER_SOURCE_LITERAL || test->a.field_type == DLP_FIELD_STRING;
  g_autofree char *message = NULL;
  gsize offset = 0;

  if (test->b.source != FILTER_SOURCE_LITERAL)
    return fail_operand (self, &test->b, error, "the pattern of matches is a string in quotes");
  test->regex = filter_regex_new (test->b.value.bytes, test->b.value.size, utf, &message, &offset);
  if (test->regex != NULL)
    return true;
  return filter_fail (self->lexer.text, test->b.start, test->b.end, DLP_GRAPH_ERROR_VALUE, error,
                      "the pattern is no regular expression, at its byte %zu: %s", offset, message);
}

/* Behind the parenthesis of a function of two values. */
static bool
parse_test (Parser *self, FilterOp op, GError **error)
{
  FilterInstruction *test = emit (self, op);

  if (!parse_plain (self, &test->a, error) || !check_text (self, &test->a, error) ||
      !expect (self, FILTER_TOKEN_COMMA, "“,” and a second value are expected here", error) ||
      !parse_plain (self, &test->b, error) || !check_text (self, &test->b, error))
    return false;
  if (op == FILTER_OP_MATCHES && !compile_regex (self, test, error))
    return false;
  return expect (self, FILTER_TOKEN_CLOSE, "“)” is expected behind the second value", error);
}

/* Whether a word begins a function: nothing but blanks before its parenthesis. */
static bool
is_call (const FilterLexer *lexer)
{
  const char *p = lexer->text + lexer->at;

  while (g_ascii_isspace (*p))
    p++;
  return lexer->token.kind == FILTER_TOKEN_WORD && *p == '(';
}

/* A value, or (*is_test) a whole predicate, of a function. */
static bool
parse_call (Parser *self, FilterOperand *operand, bool *is_test, GError **error)
{
  g_autofree char *name = g_strdup (self->lexer.token.name);
  gsize start = self->lexer.token.start;
  gsize end = self->lexer.token.end;

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      if (strcmp (functions[i].name, name) != 0)
        continue;
      *is_test = functions[i].is_test;
      if (!next (self, error) || !next (self, error))
        return false;
      return *is_test ? parse_test (self, functions[i].op, error) :
                        parse_measure (self, functions[i].source, start, operand, error);
    }
  return fail_function (self, name, start, end, error);
}

static bool
parse_value (Parser *self, FilterOperand *operand, GError **error)
{
  gsize start = self->lexer.token.start;
  bool is_test = false;

  if (!is_call (&self->lexer))
    return parse_plain (self, operand, error);
  if (!parse_call (self, operand, &is_test, error))
    return false;
  return !is_test ||
         filter_fail (self->lexer.text, start, self->lexer.token.start, TYPE, error,
                      "this is a condition, not a value; it stands by itself, joined by and, or");
}

static bool
check_comparable (Parser *self,
                  const FilterOperand *a,
                  const FilterOperand *b,
                  bool ordered,
                  gsize start,
                  gsize end,
                  GError **error)
{
  if (a->type == FILTER_LIST || b->type == FILTER_LIST)
    return fail_operand (self, a->type == FILTER_LIST ? a : b, error,
                         "this is a list; what can be compared is its length: n-tokens (FIELD)");
  if (a->type == FILTER_BOOLEAN && b->type == FILTER_BOOLEAN && ordered)
    return filter_fail (self->lexer.text, start, end, TYPE, error,
                        "booleans have no order; compare them by == or !=");
  if (filter_type_is_number (a->type) ? filter_type_is_number (b->type) : a->type == b->type)
    return true;
  return filter_fail (self->lexer.text, start, end, TYPE, error, "%s cannot be compared with %s",
                      describe_type (a), describe_type (b));
}

static bool
parse_comparison (Parser *self, const FilterOperand *a, GError **error)
{
  const FilterToken *token = &self->lexer.token;
  guint wanted = token->wanted;
  bool ordered = wanted != FILTER_EQUAL && !(wanted & FILTER_UNORDERED);
  gsize start = token->start;
  gsize end = token->end;
  FilterInstruction *compare;
  FilterOperand b;

  if (!next (self, error) || !parse_value (self, &b, error) ||
      !check_comparable (self, a, &b, ordered, start, end, error))
    return false;
  if (token->kind == FILTER_TOKEN_COMPARISON)
    return fail_token (self, error, "comparisons are not chained; join two of them by “and”");
  compare = emit (self, FILTER_OP_COMPARE);
  compare->a = *a;
  compare->b = b;
  compare->wanted = wanted;
  return true;
}

static int
compare_values (gconstpointer a, gconstpointer b)
{
  guint result = filter_value_compare (a, b);

  return result == FILTER_LESS ? -1 : result == FILTER_GREATER ? 1 : 0;
}

static bool
parse_member (Parser *self, const FilterOperand *a, GArray *set, GError **error)
{
  FilterOperand literal;

  if (!parse_plain (self, &literal, error))
    return false;
  if (literal.source != FILTER_SOURCE_LITERAL)
    return fail_operand (self, &literal, error, "between the parentheses of “in” are literals");
  if (!check_comparable (self, a, &literal, false, literal.start, literal.end, error))
    return false;
  g_array_append_val (set, literal.value);
  return true;
}

/* From the word “in” on. */
static bool
parse_in (Parser *self, const FilterOperand *a, bool negated, GError **error)
{
  FilterInstruction *in = emit (self, FILTER_OP_IN);

  in->a = *a;
  in->set = g_array_new (FALSE, FALSE, sizeof (FilterValue));
  if (!next (self, error) ||
      !expect (self, FILTER_TOKEN_OPEN, "“(” and literals are expected behind “in”", error))
    return false;
  for (;;)
    {
      if (!parse_member (self, a, in->set, error))
        return false;
      if (self->lexer.token.kind != FILTER_TOKEN_COMMA)
        break;
      if (!next (self, error))
        return false;
    }
  g_array_sort (in->set, compare_values);
  if (!expect (self, FILTER_TOKEN_CLOSE, "“,” or “)” is expected in the list of “in”", error))
    return false;
  if (negated)
    emit (self, FILTER_OP_NOT);
  return true;
}

/* Behind the word “is”. */
static bool
parse_is (Parser *self, const FilterOperand *a, GError **error)
{
  bool negated = filter_lexer_is_word (&self->lexer, "not");

  if (a->source != FILTER_SOURCE_FIELD)
    return fail_operand (self, a, error, "only a field can be null");
  if (negated && !next (self, error))
    return false;
  if (!filter_lexer_is_word (&self->lexer, "null"))
    return fail_token (self, error, "“null” or “not null” is expected behind “is”");
  emit (self, FILTER_OP_IS_NULL)->a = *a;
  if (negated)
    emit (self, FILTER_OP_NOT);
  return next (self, error);
}

static bool
parse_truth (Parser *self, const FilterOperand *a, GError **error)
{
  if (a->type != FILTER_BOOLEAN)
    return fail_token (self, error,
                       "a comparison is expected here: ==, !=, <, <=, >, >=, in (...), is null");
  emit (self, FILTER_OP_TRUTH)->a = *a;
  return true;
}

static bool
parse_predicate (Parser *self, GError **error)
{
  FilterOperand a = { 0 };
  bool is_test = false;

  if (is_call (&self->lexer) ? !parse_call (self, &a, &is_test, error) :
                               !parse_plain (self, &a, error))
    return false;
  if (is_test)
    return true;
  if (self->lexer.token.kind == FILTER_TOKEN_COMPARISON)
    return parse_comparison (self, &a, error);
  if (filter_lexer_is_word (&self->lexer, "is"))
    return next (self, error) && parse_is (self, &a, error);
  if (filter_lexer_is_word (&self->lexer, "in"))
    return parse_in (self, &a, false, error);
  if (!filter_lexer_is_word (&self->lexer, "not"))
    return parse_truth (self, &a, error);
  if (!next (self, error))
    return false;
  if (!filter_lexer_is_word (&self->lexer, "in"))
    return fail_token (self, error, "“in” is expected behind “not”");
  return parse_in (self, &a, true, error);
}

/* ---- operators ---- */

static bool
push (Parser *self, Waiting kind, GError **error)
{
  if (self->depth == FILTER_MAX_DEPTH)
    {
      g_autofree char *message =
          g_strdup_printf ("parentheses and “not” are nested deeper than %u", FILTER_MAX_DEPTH);

      return fail_token (self, error, message);
    }
  self->stack[self->depth] = (Operator){ .kind = kind, .start = self->lexer.token.start };
  if (kind == WAITING_AND || kind == WAITING_OR)
    {
      self->stack[self->depth].skip = self->program->len;
      emit (self, kind == WAITING_AND ? FILTER_OP_SKIP_IF_FALSE : FILTER_OP_SKIP_IF_TRUE);
    }
  self->depth++;
  return next (self, error);
}

/* Ends the operators on top that bind at least as tightly as @kind. */
static void
reduce (Parser *self, Waiting kind)
{
  static const FilterOp ops[] = {
    [WAITING_NOT] = FILTER_OP_NOT, [WAITING_AND] = FILTER_OP_AND, [WAITING_OR] = FILTER_OP_OR
  };

  while (self->depth > 0)
    {
      const Operator *top = &self->stack[self->depth - 1];

      if (top->kind == WAITING_OPEN || top->kind > kind)
        return;
      emit (self, ops[top->kind]);
      if (top->kind != WAITING_NOT)
        g_array_index (self->program, FilterInstruction, top->skip).target = self->program->len;
      self->depth--;
    }
}

/* What comes before a predicate. */
static bool
parse_prefixes (Parser *self, GError **error)
{
  for (;;)
    {
      bool is_not = filter_lexer_is_word (&self->lexer, "not");

      if (!is_not && self->lexer.token.kind != FILTER_TOKEN_OPEN)
        return true;
      if (!push (self, is_not ? WAITING_NOT : WAITING_OPEN, error))
        return false;
    }
}

/* Any number of closing parentheses. */
static bool
parse_suffixes (Parser *self, GError **error)
{
  while (self->lexer.token.kind == FILTER_TOKEN_CLOSE)
    {
      reduce (self, WAITING_OR);
      if (self->depth == 0)
        return fail_token (self, error, "no “(” belongs to this");
      self->depth--;
      if (!next (self, error))
        return false;
    }
  return true;
}

static bool
fail_join (Parser *self, GError **error)
{
  static const char *const words[] = { "and", "or", NULL };
  const FilterToken *token = &self->lexer.token;
  const char *near = token->kind == FILTER_TOKEN_WORD ? dlp_suggest (token->name, words) : NULL;
  g_autofree char *message = NULL;

  message = g_strdup_printf ("“and”, “or” or the end is expected here%s%s%s",
                             near != NULL ? ", did you mean “" : "", near != NULL ? near : "",
                             near != NULL ? "”?" : "");
  return fail_token (self, error, message);
}

static bool
finish (Parser *self, GError **error)
{
  reduce (self, WAITING_OR);
  if (self->depth > 0)
    {
      gsize start = self->stack[self->depth - 1].start;

      return filter_fail (self->lexer.text, start, start + 1, SYNTAX, error,
                          "no “)” belongs to this");
    }
  return true;
}

static bool
parse (Parser *self, GError **error)
{
  if (!next (self, error))
    return false;
  for (;;)
    {
      bool is_and, is_or;

      if (!parse_prefixes (self, error) || !parse_predicate (self, error) ||
          !parse_suffixes (self, error))
        return false;
      if (self->lexer.token.kind == FILTER_TOKEN_END)
        return finish (self, error);
      is_and = filter_lexer_is_word (&self->lexer, "and");
      is_or = filter_lexer_is_word (&self->lexer, "or");
      if (!is_and && !is_or)
        return fail_join (self, error);
      reduce (self, is_and ? WAITING_AND : WAITING_OR);
      if (!push (self, is_and ? WAITING_AND : WAITING_OR, error))
        return false;
    }
}

/* ---- the expression ---- */

static void
clear_instruction (gpointer data)
{
  FilterInstruction *instruction = data;

  g_clear_pointer (&instruction->set, g_array_unref);
  g_clear_pointer (&instruction->regex, filter_regex_free);
}

FilterExpression *
filter_expression_new (const char *text, DlpSchema *schema, GError **error)
{
  g_autoptr (FilterExpression) self = g_new0 (FilterExpression, 1);
  Parser parser = { .schema = schema };
  const char *bad;
  bool ok;

  self->program = g_array_new (FALSE, FALSE, sizeof (FilterInstruction));
  g_array_set_clear_func (self->program, clear_instruction);
  self->literals = g_ptr_array_new_with_free_func (g_free);
  if (!g_utf8_validate (text, -1, &bad))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "where: byte %zu is not UTF-8; bytes are written as x'00ff'",
                   (gsize) (bad - text));
      return NULL;
    }
  parser.lexer.text = text;
  parser.lexer.literals = self->literals;
  parser.program = self->program;
  ok = parse (&parser, error);
  filter_lexer_clear (&parser.lexer);
  return ok ? g_steal_pointer (&self) : NULL;
}

void
filter_expression_free (FilterExpression *self)
{
  g_array_unref (self->program);
  g_ptr_array_unref (self->literals);
  g_free (self);
}
