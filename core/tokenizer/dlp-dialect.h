/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-char-set.h"

/* What the rewriters of regular expressions share. */

#define DLP_N_CATEGORIES 30
#define DLP_N_CATEGORY_GROUPS 7

/* short and long, in the order of unicode/make-table.py */
extern const char *const dlp_category_names[DLP_N_CATEGORIES][2];
extern const char *const dlp_category_groups[DLP_N_CATEGORY_GROUPS][2];
extern const char dlp_dialect_space[];

guint32 dlp_category_group (char letter);
void dlp_char_set_add_han (DlpCharSet *self);

/* For @exact see dlp_char_set_append_class(). */
char *dlp_dialect_rewrite (const char *regex, gboolean exact, GError **error);
char *dlp_dialect_rewrite_onig (const char *regex, gboolean exact, GError **error);
gboolean
dlp_dialect_property (const char *name, gsize len, gboolean negated, gboolean exact, GString *out);

/* For a regular expression as Oniguruma takes it: @name is as it stands between the braces of \p,
 * in any case, with blanks, "-" and "_" that mean nothing. FALSE if its members are not known. */
gboolean dlp_dialect_add_onig_property (DlpCharSet *set, const char *name, gsize len);
