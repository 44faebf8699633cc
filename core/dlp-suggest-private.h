/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The entry of candidates (NULL-terminated, may be NULL) that name most likely meant, or NULL if
 * none is near enough. '-' and '_', and upper and lower case, count as nearly the same. */
const char *dlp_suggest (const char *name, const char *const *candidates);

/* A sentence "did you mean "X"?", or NULL. */
char *dlp_suggest_hint (const char *name, const char *const *candidates);

G_END_DECLS
