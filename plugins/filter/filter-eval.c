/* SPDX-License-Identifier: MIT */

#include "filter-private.h"

#include <string.h>

struct _FilterContext
{
  const FilterExpression *expression;
  FilterMatcher *matcher; /* NULL where nothing matches */
  int failure;
};

FilterContext *
filter_context_new (const FilterExpression *self)
{
  FilterContext *context = g_new0 (FilterContext, 1);

  context->expression = self;
  for (guint i = 0; i < self->program->len && context->matcher == NULL; i++)
    if (g_array_index (self->program, FilterInstruction, i).op == FILTER_OP_MATCHES)
      context->matcher = filter_matcher_new ();
  return context;
}

void
filter_context_free (FilterContext *context)
{
  g_clear_pointer (&context->matcher, filter_matcher_free);
  g_free (context);
}

char *
filter_context_get_failure (FilterContext *context)
{
  return filter_regex_describe (context->failure);
}

/* Bytes that do not continue a character, eight at a time: those that do have bit 7 and not 6. */
static guint64
count_chars (const guint8 *bytes, gsize size)
{
  guint64 n = size;
  gsize i = 0;

  for (; i + 8 <= size; i += 8)
    {
      guint64 word;

      memcpy (&word, bytes + i, sizeof word);
      word = (word >> 7) & (~word >> 6) & 0x0101010101010101;
      n -= (word * 0x0101010101010101) >> 56;
    }
  for (; i < size; i++)
    n -= (bytes[i] & 0xc0) == 0x80;
  return n;
}

/* Of a field that is not null. */
static void
load_field (const FilterOperand *operand,
            const DlpRecordBatch *batch,
            guint row,
            FilterValue *value)
{
  switch (operand->type)
    {
    case FILTER_INT64:
      value->i = dlp_record_batch_get_int64 (batch, operand->field, row);
      break;
    case FILTER_UINT64:
      value->u = dlp_record_batch_get_uint64 (batch, operand->field, row);
      break;
    case FILTER_DOUBLE:
      value->d = dlp_record_batch_get_double (batch, operand->field, row);
      break;
    case FILTER_BOOLEAN:
      value->b = dlp_record_batch_get_boolean (batch, operand->field, row);
      break;
    case FILTER_BYTES:
      value->bytes = dlp_record_batch_get_value (batch, operand->field, row, &value->size);
      break;
    case FILTER_LIST:
      g_assert_not_reached ();
    }
  value->type = operand->type;
}

static void
measure_field (const FilterOperand *operand,
               const DlpRecordBatch *batch,
               guint row,
               FilterValue *value)
{
  const guint8 *bytes = NULL;
  gsize n;

  if (operand->source == FILTER_SOURCE_N_TOKENS)
    dlp_record_batch_get_list (batch, operand->field, row, &n);
  else
    bytes = dlp_record_batch_get_value (batch, operand->field, row, &n);
  value->type = FILTER_UINT64;
  value->u = operand->source == FILTER_SOURCE_CHARS ? count_chars (bytes, n) : n;
}

static inline bool
is_null (const FilterOperand *operand, const DlpRecordBatch *batch, guint row)
{
  return operand->optional && dlp_record_batch_is_null (batch, operand->field, row);
}

/* (nullable): the value of an operand, which is in @space unless it is a literal; NULL: null. */
static inline const FilterValue *
load (const FilterOperand *operand, const DlpRecordBatch *batch, guint row, FilterValue *space)
{
  if (operand->source == FILTER_SOURCE_LITERAL)
    return &operand->value;
  if (is_null (operand, batch, row))
    return NULL;
  if (operand->source == FILTER_SOURCE_FIELD)
    load_field (operand, batch, row, space);
  else
    measure_field (operand, batch, row, space);
  return space;
}

static inline FilterTruth
truth (bool value)
{
  return value ? FILTER_TRUE : FILTER_FALSE;
}

static bool
is_member (const GArray *set, const FilterValue *value)
{
  guint begin = 0, end = set->len;

  while (begin < end)
    {
      guint middle = begin + (end - begin) / 2;
      guint result = filter_value_compare (value, &g_array_index (set, FilterValue, middle));

      if (result == FILTER_EQUAL)
        return true;
      if (result == FILTER_UNORDERED)
        return false;
      if (result == FILTER_LESS)
        end = middle;
      else
        begin = middle + 1;
    }
  return false;
}

static bool
has_part (FilterOp op, const FilterValue *a, const FilterValue *b)
{
  if (b->size > a->size)
    return false;
  if (b->size == 0)
    return true;
  if (op == FILTER_OP_STARTS_WITH)
    return memcmp (a->bytes, b->bytes, b->size) == 0;
  if (op == FILTER_OP_ENDS_WITH)
    return memcmp (a->bytes + a->size - b->size, b->bytes, b->size) == 0;
  return memmem (a->bytes, a->size, b->bytes, b->size) != NULL;
}

static FilterTruth
match (FilterContext *context, const FilterInstruction *test, const FilterValue *a)
{
  int code = filter_matcher_test (context->matcher, test->regex, a->bytes, a->size);

  if (G_LIKELY (code >= 0))
    return truth (code > 0);
  context->failure = code;
  return FILTER_FAILED;
}

static FilterTruth
test_one (FilterContext *context,
          const FilterInstruction *test,
          const DlpRecordBatch *batch,
          guint row)
{
  FilterValue a_space, b_space;
  const FilterValue *a, *b;

  if (test->op == FILTER_OP_IS_NULL)
    return truth (is_null (&test->a, batch, row));
  a = load (&test->a, batch, row, &a_space);
  if (a == NULL)
    return FILTER_NULL;
  if (test->op == FILTER_OP_TRUTH)
    return truth (a->b);
  if (test->op == FILTER_OP_IN)
    return truth (is_member (test->set, a));
  if (test->op == FILTER_OP_MATCHES)
    return match (context, test, a);
  b = load (&test->b, batch, row, &b_space);
  if (b == NULL)
    return FILTER_NULL;
  if (test->op == FILTER_OP_COMPARE)
    return truth ((filter_value_compare (a, b) & test->wanted) != 0);
  return truth (has_part (test->op, a, b));
}

FilterTruth
filter_context_test (FilterContext *context, const DlpRecordBatch *batch, guint row)
{
  const FilterInstruction *program = (const FilterInstruction *) context->expression->program->data;
  guint n = context->expression->program->len;
  guint8 stack[FILTER_MAX_DEPTH + 1];
  guint depth = 0;

  for (guint i = 0; i < n; i++)
    switch (program[i].op)
      {
      case FILTER_OP_NOT:
        stack[depth - 1] = FILTER_TRUE - stack[depth - 1];
        break;
      case FILTER_OP_AND:
        depth--;
        stack[depth - 1] = MIN (stack[depth - 1], stack[depth]);
        break;
      case FILTER_OP_OR:
        depth--;
        stack[depth - 1] = MAX (stack[depth - 1], stack[depth]);
        break;
      case FILTER_OP_SKIP_IF_FALSE:
        if (stack[depth - 1] == FILTER_FALSE)
          i = program[i].target - 1;
        break;
      case FILTER_OP_SKIP_IF_TRUE:
        if (stack[depth - 1] == FILTER_TRUE)
          i = program[i].target - 1;
        break;
      default:
        stack[depth] = test_one (context, &program[i], batch, row);
        if (G_UNLIKELY (stack[depth] == FILTER_FAILED))
          return FILTER_FAILED;
        depth++;
      }
  return stack[0];
}
