/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "dlp-dialect.h"
#include "dlp-pattern.h"
#include "dlp-scan-parts.h"
#include "dlp-utf8.h"
#include "dlpipe/dlp-tokenizer.h"

#include <pcre2.h>
#include <string.h>

#define JIT_STACK_MIN (32 * 1024)
#define JIT_STACK_MAX (16 * 1024 * 1024)

/* Where the engine has another Unicode than we have, there are two programs: one by its properties
 * for texts without the characters that make a difference, and one that lists these. */
typedef struct
{
  pcre2_code *fast;
  pcre2_code *exact; /* NULL if they are the same */
} Regex;

struct _DlpMatcher
{
  const Regex *regex;
  pcre2_match_data *data;
  pcre2_match_context *context;
  pcre2_jit_stack *stack;
  const DlpCharSet *disputed;
  guint8 first_lead; /* of UTF-8, of the first that is disputed */

  /* for the text that is being walked through */
  const pcre2_code *code;
  gboolean jit;
  const guint8 *starts; /* a bit for each byte that can begin a match, or NULL */
  const guint8 *text;
  gsize len;
};

/* Where there is no JIT the interpreter does the same, slower. */
void
dlp_regex_compile_jit (gpointer code)
{
  if (g_strcmp0 (g_getenv ("DLPIPE_JIT"), "no") != 0)
    pcre2_jit_compile (code, PCRE2_JIT_COMPLETE);
}

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
  dlp_regex_compile_jit (code);
  return code;
}

typedef char *(*RewriteFunc) (const char *regex, gboolean exact, GError **error);

static Regex *
compile (const char *regex, RewriteFunc rewrite, guint32 options, GError **error)
{
  g_autofree char *fast = rewrite (regex, FALSE, error);
  g_autofree char *exact = NULL;
  Regex *self;

  if (fast == NULL)
    return NULL;
  exact = rewrite (regex, TRUE, NULL);
  self = g_new0 (Regex, 1);
  self->fast = compile_rewritten (regex, fast, options, error);
  if (self->fast && strcmp (fast, exact) != 0)
    self->exact = compile_rewritten (regex, exact, options, error);
  if (self->fast == NULL || (strcmp (fast, exact) != 0 && self->exact == NULL))
    g_clear_pointer (&self, dlp_regex_free);
  return self;
}

/* As tiktoken takes it; for any bytes. No match is empty. */
gpointer
dlp_regex_compile (const char *regex, GError **error)
{
  Regex *self =
      compile (regex, dlp_dialect_rewrite, PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_INVALID_UTF, error);
  uint32_t can_be_empty = 0;

  if (self == NULL)
    return NULL;
  pcre2_pattern_info (self->fast, PCRE2_INFO_MATCHEMPTY, &can_be_empty);
  if (can_be_empty)
    {
      g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
                   "pattern \"%s\" can match nothing at all; each match must have a character",
                   regex);
      g_clear_pointer (&self, dlp_regex_free);
    }
  return self;
}

/* As a tokenizer.json has it (Oniguruma's syntax); for valid UTF-8 alone. */
gpointer
dlp_regex_compile_onig (const char *regex, GError **error)
{
  return compile (regex, dlp_dialect_rewrite_onig, 0, error);
}

void
dlp_regex_free (gpointer regex)
{
  Regex *self = regex;

  pcre2_code_free (self->fast);
  pcre2_code_free (self->exact);
  g_free (self);
}

static guint8
find_first_lead (const DlpCharSet *set)
{
  gunichar first = 0, last;
  char text[6];

  if (!dlp_char_set_next_range (set, &first, &last))
    return 0xff;
  g_unichar_to_utf8 (first, text);
  return text[0];
}

/* @code is what one of the functions above gave; it is to outlive the matcher. */
DlpMatcher *
dlp_matcher_new_for_code (gconstpointer code)
{
  DlpMatcher *self = g_new0 (DlpMatcher, 1);

  self->regex = code;
  self->disputed = dlp_char_set_get_disputed ();
  self->first_lead = find_first_lead (self->disputed);
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

static gboolean
is_disputed (const DlpMatcher *self, const guint8 *text, gsize len)
{
  const guint8 *p = text, *end = text + len;

  while (p < end)
    {
      DlpScanned scanned;

      if (*p < self->first_lead)
        {
          p++;
          continue;
        }
      scanned = dlp_scan_decode (p, end);
      if (scanned.c < DLP_N_POINTS && dlp_char_set_contains (self->disputed, scanned.c))
        return TRUE;
      p += scanned.len;
    }
  return FALSE;
}

static void
use_code (DlpMatcher *self, const pcre2_code *code)
{
  gsize size = 0;

  if (self->code == code)
    return;
  self->code = code;
  self->starts = NULL;
  self->jit = pcre2_pattern_info (code, PCRE2_INFO_JITSIZE, &size) == 0 && size > 0;
  pcre2_pattern_info (code, PCRE2_INFO_FIRSTBITMAP, &self->starts);
}

static void
begin_text (DlpMatcher *self, const guint8 *text, gsize len)
{
  gboolean exact = self->regex->exact && is_disputed (self, text, len);

  use_code (self, exact ? self->regex->exact : self->regex->fast);
  self->text = text;
  self->len = len;
}

/* The first skips checks of what never changes here. */
static inline int
match_at (DlpMatcher *self, const guint8 *text, gsize len, gsize at, guint32 options)
{
  return self->jit ? pcre2_jit_match (self->code, text, len, at, 0, self->data, self->context) :
                     pcre2_match (self->code, text, len, at, options, self->data, self->context);
}

/* The next piece at or after *@stop, which is 0 at the begin of a text. Returns 1 with its borders,
 * 0 if there is none, -1 if the engine gave up. */
int
dlp_matcher_next (DlpMatcher *self, const guint8 *text, gsize len, gsize *start, gsize *stop)
{
  const PCRE2_SIZE *borders = pcre2_get_ovector_pointer (self->data);
  int rc;

  if (*stop == 0 || text != self->text || len != self->len)
    begin_text (self, text, len);
  rc = match_at (self, text, len, *stop, 0);

  if (rc == PCRE2_ERROR_NOMATCH)
    return 0;
  if (rc < 0 || borders[1] <= *stop || borders[1] <= borders[0])
    return -1;
  *start = borders[0];
  *stop = borders[1];
  return 1;
}

/* Whether a match may begin at or after @at. To ask the engine costs more than to look at the few
 * bytes of a piece. */
static inline gboolean
may_match (const DlpMatcher *self, const guint8 *text, gsize len, gsize at)
{
  if (self->starts == NULL)
    return TRUE;
  while (at < len && !(self->starts[text[at] >> 3] >> (text[at] & 7) & 1))
    at++;
  return at < len;
}

/* The next match in a text of valid UTF-8, one that may be empty unless it is where the one before
 * it ended. @match is all zero at first. Returns what dlp_matcher_next() does. */
int
dlp_matcher_find (DlpMatcher *self, const guint8 *text, gsize len, DlpMatch *match)
{
  const PCRE2_SIZE *borders = pcre2_get_ovector_pointer (self->data);

  if (!match->found && match->next == 0)
    begin_text (self, text, len);
  for (;;)
    {
      int rc;

      if (match->next > len || !may_match (self, text, len, match->next))
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
