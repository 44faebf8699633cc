/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Strings of which the longest is wanted that a text begins with. Read-only once made. */
typedef struct _DlpSymbols DlpSymbols;

DlpSymbols *dlp_symbols_new (const char *const *strings);
void dlp_symbols_free (DlpSymbols *self);
gsize dlp_symbols_match (const DlpSymbols *self, const guint8 *p, gsize len);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpSymbols, dlp_symbols_free)
