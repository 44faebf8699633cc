/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "dlp-dialect.h"
#include "dlp-pattern.h"
#include "dlp-utf8.h"
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

static pcre2_code *
compile_rewritten (const char *regex, const char *rewritten, guint32 options, GError **error)
{
  pcre2_compile_context *context = pcre2_compile_context_create (NULL);
  pcre2_code *code;
  PCRE2_SIZE offset;
  int number;

  pcre2_set_newline (context, PCRE2_NEWLINE_LF);
  code = pcre2_compile ((PCRE2_SPTR) rewritten, PCRE2_ZERO_TERMINATED,
                        PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | options, &number, &offset,
                        context);
  pcre2_compile_context_free (context);
  if (code == NULL)
    {
      PCRE2_UCHAR message[256];

      pcre2_get_error_message (number, message, sizeof message);
      g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
                   "pattern \"%s\": %s", regex, (const char *) message);
      return NULL;
    }
  /* Where there is no JIT the interpreter does the same, slower. */
  pcre2_jit_compile (code, PCRE2_JIT_COMPLETE);
  return code;
}

/* As tiktoken takes it; for any bytes. No match is empty. */
gpointer
dlp_regex_compile (const char *regex, GError **error)
{
  g_autofree char *rewritten = dlp_dialect_rewrite (regex, error);
  uint32_t can_be_empty = 0;
  pcre2_code *code;

  if (rewritten == NULL)
    return NULL;
  code =
      compile_rewritten (regex, rewritten, PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_INVALID_UTF, error);
  if (code == NULL)
    return NULL;

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

/* As a tokenizer.json has it (Oniguruma's syntax); for valid UTF-8 alone. */
gpointer
dlp_regex_compile_onig (const char *regex, GError **error)
{
  g_autofree char *rewritten = dlp_dialect_rewrite_onig (regex, error);

  return rewritten ? compile_rewritten (regex, rewritten, 0, error) : NULL;
}

void
dlp_regex_free (gpointer code)
{
  pcre2_code_free (code);
}

/* @code is what one of the functions above gave; it is to outlive the matcher. */
DlpMatcher *
dlp_matcher_new_for_code (gconstpointer code)
{
  DlpMatcher *self = g_new0 (DlpMatcher, 1);
  gsize size = 0;

  self->code = code;
  self->jit = pcre2_pattern_info (self->code, PCRE2_INFO_JITSIZE, &size) == 0 && size > 0;
  self->data = pcre2_match_data_create (1, NULL);
  self->context = pcre2_match_context_create (NULL);
  self->stack = pcre2_jit_stack_create (JIT_STACK_MIN, JIT_STACK_MAX, NULL);
  if (self->stack)
    pcre2_jit_stack_assign (self->context, NULL, self->stack);
  return self;
}

DlpMatcher *
dlp_matcher_new (const DlpPattern *pattern)
{
  return dlp_matcher_new_for_code (pattern->code);
}

void
dlp_matcher_free (DlpMatcher *self)
{
  pcre2_match_data_free (self->data);
  pcre2_match_context_free (self->context);
  pcre2_jit_stack_free (self->stack);
  g_free (self);
}

/* The first skips checks of what never changes here. */
static inline int
match_at (DlpMatcher *self, const guint8 *text, gsize len, gsize at, guint32 options)
{
  return self->jit ? pcre2_jit_match (self->code, text, len, at, 0, self->data, self->context) :
                     pcre2_match (self->code, text, len, at, options, self->data, self->context);
}

/* The next piece at or after *@stop. Returns 1 with its borders, 0 if there is none, -1 if the
 * engine gave up. */
int
dlp_matcher_next (DlpMatcher *self, const guint8 *text, gsize len, gsize *start, gsize *stop)
{
  int rc = match_at (self, text, len, *stop, 0);
  const PCRE2_SIZE *borders = pcre2_get_ovector_pointer (self->data);

  if (rc == PCRE2_ERROR_NOMATCH)
    return 0;
  if (rc < 0 || borders[1] <= *stop || borders[1] <= borders[0])
    return -1;
  *start = borders[0];
  *stop = borders[1];
  return 1;
}

/* The next match in a text of valid UTF-8, one that may be empty unless it is where the one before
 * it ended. @match is all zero at first. Returns what dlp_matcher_next() does. */
int
dlp_matcher_find (DlpMatcher *self, const guint8 *text, gsize len, DlpMatch *match)
{
  const PCRE2_SIZE *borders = pcre2_get_ovector_pointer (self->data);

  for (;;)
    {
      int rc;

      if (match->next > len)
        return 0;
      rc = match_at (self, text, len, match->next, PCRE2_NO_UTF_CHECK);
      if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
      if (rc < 0 || borders[1] < borders[0] || borders[0] < match->next)
        return -1;
      if (borders[1] > borders[0] || !match->found || borders[1] != match->stop)
        break;
      match->next += match->next < len ? dlp_utf8_len (text[match->next]) : 1;
    }

  match->found = TRUE;
  match->start = borders[0];
  match->stop = match->next = borders[1];
  return 1;
}
