/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

typedef enum
{
  DLP_PATTERN_GPT2,
  DLP_PATTERN_CL100K,
  DLP_PATTERN_CL100K_OLD,
  DLP_PATTERN_O200K,
  DLP_PATTERN_QWEN2, /* and 2.5, and 3 */
  DLP_PATTERN_QWEN35,
  DLP_PATTERN_TEKKEN, /* and Nemotron */
  DLP_PATTERN_KIMI_K2,
  DLP_PATTERN_DEEPSEEK, /* V3: three stages */
  DLP_PATTERN_DIGITS,   /* each digit by itself, then gpt2: StarCoder, SmolLM, Command-R */
  DLP_PATTERN_REGEX,
} DlpPatternKind;

/* How a text is cut into pieces: by a scanner if the pattern is a known one, else by PCRE2. */
typedef struct
{
  DlpPatternKind kind;
  char *text; /* of equal spellings always the same one */
  gpointer code;
} DlpPattern;

typedef struct _DlpMatcher DlpMatcher;

typedef struct
{
  gsize start;
  gsize stop;

  /* private */
  gsize next;
  gboolean found;
} DlpMatch;

extern const char dlp_pattern_names[];

DlpPattern *dlp_pattern_new (const char *name_or_regex, GError **error);
DlpPattern *dlp_pattern_new_regex (const char *regex, GError **error);
DlpPattern *dlp_pattern_new_kind (DlpPatternKind kind);
DlpPattern *dlp_pattern_new_onig (const char *regex, GError **error);
DlpPattern *dlp_pattern_new_onig_regex (const char *regex, GError **error);
gboolean dlp_pattern_is_chain (DlpPatternKind kind, const char *const *regexes, guint n);
void dlp_pattern_free (DlpPattern *self);

DlpMatcher *dlp_matcher_new (const DlpPattern *pattern);
DlpMatcher *dlp_matcher_new_for_code (gconstpointer code);
void dlp_matcher_free (DlpMatcher *self);
int dlp_matcher_next (DlpMatcher *self, const guint8 *text, gsize len, gsize *start, gsize *stop);
int dlp_matcher_find (DlpMatcher *self, const guint8 *text, gsize len, DlpMatch *match);

gpointer dlp_regex_compile (const char *regex, GError **error);
gpointer dlp_regex_compile_onig (const char *regex, GError **error);
void dlp_regex_free (gpointer regex);
/* @code: a pcre2_code. Makes machine code of it, but where the environment says DLPIPE_JIT=no: what
 * cannot look into that code (valgrind), or must not have memory that is written and run. */
void dlp_regex_compile_jit (gpointer code);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpMatcher, dlp_matcher_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpPattern, dlp_pattern_free)
