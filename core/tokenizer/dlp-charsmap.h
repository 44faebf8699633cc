/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-normalizer-unicode.h"

/* The precompiled charsmap of a SentencePiece model: strings and what is put in their place, in a
 * double-array trie. Read-only once made. */
typedef struct _DlpCharsmap DlpCharsmap;

/* @fault becomes what is wrong with it. */
DlpCharsmap *dlp_charsmap_new (gconstpointer bytes, gsize size, const char **fault);
void dlp_charsmap_free (DlpCharsmap *self);
gconstpointer dlp_charsmap_get_bytes (const DlpCharsmap *self, gsize *size);

/* Characters that are a string by themselves, and those that strings begin with. */
const DlpPageSet *dlp_charsmap_get_single (const DlpCharsmap *self);
const DlpPageSet *dlp_charsmap_get_first (const DlpCharsmap *self);

/* What is put in the place of the shortest or longest string that @p begins with; NULL if there is
 * none. */
const char *dlp_charsmap_find_shortest (const DlpCharsmap *self, const guint8 *p, gsize len);
const char *
dlp_charsmap_find_longest (const DlpCharsmap *self, const guint8 *p, gsize len, gsize *found);
gboolean dlp_charsmap_has_prefix (const DlpCharsmap *self, const guint8 *p, gsize len);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpCharsmap, dlp_charsmap_free)
