/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

typedef enum
{
  DLP_PATTERN_GPT2,
  DLP_PATTERN_CL100K,
  DLP_PATTERN_CL100K_OLD,
  DLP_PATTERN_O200K,
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

extern const char dlp_pattern_names[];

DlpPattern *dlp_pattern_new (const char *name_or_regex, GError **error);
DlpPattern *dlp_pattern_new_regex (const char *regex, GError **error);
void dlp_pattern_free (DlpPattern *self);

DlpMatcher *dlp_matcher_new (const DlpPattern *pattern);
void dlp_matcher_free (DlpMatcher *self);
int dlp_matcher_next (DlpMatcher *self, const guint8 *text, gsize len, gsize *start, gsize *stop);

gpointer dlp_regex_compile (const char *regex, GError **error);
void dlp_regex_free (gpointer code);

char *dlp_dialect_rewrite (const char *regex, GError **error);
gboolean dlp_dialect_property (const char *name, gsize len, GString *out, gboolean negated);
extern const char dlp_dialect_space[];

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpPattern, dlp_pattern_free)
