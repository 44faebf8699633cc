/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A regular expression of PCRE2 with Unicode, and what one thread needs to match it. */
typedef struct _FilterRegex FilterRegex;
typedef struct _FilterMatcher FilterMatcher;

/* (transfer full) (nullable): @message (transfer full) and @offset, in bytes, say what is wrong.
 * @utf: what it is matched with is UTF-8, not bytes. */
FilterRegex *
filter_regex_new (const guint8 *pattern, gsize size, gboolean utf, char **message, gsize *offset);
void filter_regex_free (FilterRegex *self);

FilterMatcher *filter_matcher_new (void);
void filter_matcher_free (FilterMatcher *self);
/* 1: it matches somewhere, 0: it does not, below 0: it gave up, see filter_regex_describe(). */
int
filter_matcher_test (FilterMatcher *self, const FilterRegex *regex, const guint8 *text, gsize size);
/* (transfer full) */
char *filter_regex_describe (int code);

G_END_DECLS
