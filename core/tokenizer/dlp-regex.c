/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "dlp-pattern.h"
#include "dlpipe/dlp-tokenizer.h"

#include <pcre2.h>

#define JIT_STACK_MIN (32 * 1024)
#define JIT_STACK_MAX (16 * 1024 * 1024)

struct _DlpMatcher
{
  const pcre2_code *code;
  pcre2_match_data *data;
  pcre2_match_context *context;
  pcre2_jit_stack *stack;
  gboolean jit;
};

static gpointer
compile_rewritten (const char *regex, const char *rewritten, GError **error)
{
  pcre2_compile_context *context = pcre2_compile_context_create (NULL);
  pcre2_code *code;
  PCRE2_SIZE offset;
  int number;
  uint32_t can_be_empty = 0;

  pcre2_set_newline (context, PCRE2_NEWLINE_LF);
  code = pcre2_compile ((PCRE2_SPTR) rewritten, PCRE2_ZERO_TERMINATED,
                        PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_INVALID_UTF |
                            PCRE2_NEVER_BACKSLASH_C,
                        &number, &offset, context);
  pcre2_compile_context_free (context);

  if (code == NULL)
    {
      PCRE2_UCHAR message[256];

      pcre2_get_error_message (number, message, sizeof message);
      g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
                   "pattern \"%s\": %s", regex, (const char *) message);
      return NULL;
    }

  pcre2_pattern_info (code, PCRE2_INFO_MATCHEMPTY, &can_be_empty);
  if (can_be_empty)
    {
      g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
                   "pattern \"%s\" can match nothing at all; each match must have a character",
                   regex);
      pcre2_code_free (code);
      return NULL;
    }
  return code;
}

gpointer
dlp_regex_compile (const char *regex, GError **error)
{
  g_autofree char *rewritten = dlp_dialect_rewrite (regex, error);
  gpointer code;

  if (rewritten == NULL)
    return NULL;
  code = compile_rewritten (regex, rewritten, error);
  /* Where there is no JIT the interpreter does the same, slower. */
  if (code)
    pcre2_jit_compile (code, PCRE2_JIT_COMPLETE);
  return code;
}

void
dlp_regex_free (gpointer code)
{
  pcre2_code_free (code);
}

DlpMatcher *
dlp_matcher_new (const DlpPattern *pattern)
{
  DlpMatcher *self = g_new0 (DlpMatcher, 1);

  gsize size = 0;

  self->code = pattern->code;
  self->jit = pcre2_pattern_info (self->code, PCRE2_INFO_JITSIZE, &size) == 0 && size > 0;
  self->data = pcre2_match_data_create (1, NULL);
  self->context = pcre2_match_context_create (NULL);
  self->stack = pcre2_jit_stack_create (JIT_STACK_MIN, JIT_STACK_MAX, NULL);
  if (self->stack)
    pcre2_jit_stack_assign (self->context, NULL, self->stack);
  return self;
}

void
dlp_matcher_free (DlpMatcher *self)
{
  pcre2_match_data_free (self->data);
  pcre2_match_context_free (self->context);
  pcre2_jit_stack_free (self->stack);
  g_free (self);
}

/* The next piece at or after *@stop. Returns 1 with its borders, 0 if there is none, -1 if the
 * engine gave up. */
int
dlp_matcher_next (DlpMatcher *self, const guint8 *text, gsize len, gsize *start, gsize *stop)
{
  /* The first skips checks of what never changes here. */
  int rc = self->jit ?
               pcre2_jit_match (self->code, text, len, *stop, 0, self->data, self->context) :
               pcre2_match (self->code, text, len, *stop, 0, self->data, self->context);
  const PCRE2_SIZE *borders = pcre2_get_ovector_pointer (self->data);

  if (rc == PCRE2_ERROR_NOMATCH)
    return 0;
  if (rc < 0 || borders[1] <= *stop || borders[1] <= borders[0])
    return -1;
  *start = borders[0];
  *stop = borders[1];
  return 1;
}
