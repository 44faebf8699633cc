/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer.h"
#include "dlp-splitter.h"
DlpNormalizer *dlp_normalizer_new (DlpJsonNode n, GError **e) { g_error ("x"); }
void dlp_normalizer_free (DlpNormalizer *s) {}
void dlp_normalizer_run (const DlpNormalizer *s, DlpNormalizerScratch *c, const guint8 **t, gsize *l) {}
gboolean dlp_normalizer_is_byte_level (const DlpNormalizer *s) { return FALSE; }
void dlp_normalizer_hash (const DlpNormalizer *s, GChecksum *c) {}
void dlp_normalizer_scratch_clear (DlpNormalizerScratch *s) {}
DlpSplitter *dlp_splitter_new (DlpJsonNode n, gboolean b, GError **e) { g_error ("x"); }
void dlp_splitter_free (DlpSplitter *s) {}
gboolean dlp_splitter_run (const DlpSplitter *s, const guint8 *t, gsize l, gboolean f, DlpPieces *p) { return TRUE; }
gboolean dlp_splitter_is_byte_level (const DlpSplitter *s) { return FALSE; }
const DlpPattern *dlp_splitter_get_pattern (const DlpSplitter *s) { return NULL; }
void dlp_splitter_hash (const DlpSplitter *s, GChecksum *c) {}
void dlp_pieces_clear (DlpPieces *s) {}
