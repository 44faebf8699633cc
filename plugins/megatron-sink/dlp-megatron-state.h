/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How far the output is. */
typedef struct
{
  guint64 width;   /* bytes of a token */
  guint64 attempt; /* whose unfinished files these are */
  guint64 tokens;
  guint64 sequences;
  guint64 documents;
  guint64 finished; /* the index is written; no sequences: there is nothing to be published */
  guint64 bin_hash; /* DlpFileHash; chain: the same of the whole blocks */
  guint64 bin_chain;
  guint64 lengths_hash;
  guint64 lengths_chain;
  guint64 documents_hash;
  guint64 documents_chain;
  guint64 idx_hash;
} DlpMegatronState;

GVariant *dlp_megatron_state_describe (const DlpMegatronState *self);
/* What contradicts itself is DLP_STATE_ERROR_CORRUPT. */
gboolean dlp_megatron_state_load (DlpMegatronState *self, GVariant *described, GError **error);

G_END_DECLS
