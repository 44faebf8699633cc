/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "filter-regex.h"

#include <pcre2.h>

#define JIT_STACK_MIN (32 * 1024)
#define JIT_STACK_MAX (8 * 1024 * 1024)
/* What matching without the compiler may take, in KiB. */
#define HEAP_LIMIT (64 * 1024)

struct _FilterRegex
{
  pcre2_code *code;
};

struct _FilterMatcher
{
  pcre2_match_data *data;
  pcre2_match_context *context;
  pcre2_jit_stack *stack;
};

char *
filter_regex_describe (int code)
{
  PCRE2_UCHAR message[256];

  if (pcre2_get_error_message (code, message, sizeof message) < 0)
    return g_strdup_printf ("error %d", code);
  return g_strdup ((const char *) message);
}

FilterRegex *
filter_regex_new (const guint8 *pattern, gsize size, gboolean utf, char **message, gsize *offset)
{
  guint32 options = PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
  FilterRegex *self;
  pcre2_code *code;
  int number;

  if (utf)
    options |= PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
  code = pcre2_compile (pattern, size, options, &number, offset, NULL);
  if (code == NULL)
    {
      *message = filter_regex_describe (number);
      return NULL;
    }
  /* Where there is no compiler the interpreter does the same, slower. */
  pcre2_jit_compile (code, PCRE2_JIT_COMPLETE);
  self = g_new (FilterRegex, 1);
  self->code = code;
  return self;
}

void
filter_regex_free (FilterRegex *self)
{
  pcre2_code_free (self->code);
  g_free (self);
}

FilterMatcher *
filter_matcher_new (void)
{
  FilterMatcher *self = g_new (FilterMatcher, 1);

  self->data = pcre2_match_data_create (1, NULL);
  self->context = pcre2_match_context_create (NULL);
  self->stack = pcre2_jit_stack_create (JIT_STACK_MIN, JIT_STACK_MAX, NULL);
  pcre2_set_heap_limit (self->context, HEAP_LIMIT);
  if (self->stack != NULL)
    pcre2_jit_stack_assign (self->context, NULL, self->stack);
  return self;
}

void
filter_matcher_free (FilterMatcher *self)
{
  pcre2_match_data_free (self->data);
  pcre2_match_context_free (self->context);
  pcre2_jit_stack_free (self->stack);
  g_free (self);
}

int
filter_matcher_test (FilterMatcher *self, const FilterRegex *regex, const guint8 *text, gsize size)
{
  int code = pcre2_match (regex->code, text, size, 0, 0, self->data, self->context);

  if (code == PCRE2_ERROR_NOMATCH)
    return 0;
  return code < 0 ? code : 1;
}
