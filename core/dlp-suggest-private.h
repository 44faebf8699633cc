/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-error.h>

G_BEGIN_DECLS

/* A sentence "did you mean "X"?", or NULL. */
char *dlp_suggest_hint (const char *name, const char *const *candidates);

G_END_DECLS
