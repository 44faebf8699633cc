/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-char-set.h"

#define DLP_ONIG_MAX_DEPTH 64

/* A group that is open. */
typedef struct
{
  gboolean fold;    /* (?i) */
  gboolean dot_all; /* (?m) */
  gboolean implied; /* ends with the group around it */
  gssize start;     /* in the text written, below 0 if it has no width */
} DlpOnigFrame;

/* Of a pattern in Oniguruma's syntax, see dlp-dialect-onig.c. */
typedef struct
{
  const char *regex;
  const char *p;
  GString *out;
  DlpOnigFrame frames[DLP_ONIG_MAX_DEPTH];
  guint depth;
  gssize atom; /* where in @out begins what a repeat would repeat; below 0 if there is nothing */
  gboolean in_class;
  gboolean exact; /* see dlp_char_set_append_class() */
  char folded;    /* the letter in front, if its case is ignored, or 0 */
  GError **error;
} DlpOnigRewriter;

gboolean dlp_onig_refuse (DlpOnigRewriter *self, const char *reason);
void dlp_onig_add_word (DlpCharSet *set);
gboolean dlp_onig_parse_class (DlpOnigRewriter *self, gboolean fold, DlpCharSet *set);
gboolean
dlp_onig_parse_escape (DlpOnigRewriter *self, DlpCharSet *set, gboolean *is_set, gunichar *c);
