/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-joints.h"
#include "dlp-model-private.h"

#define DLP_BPE_AFFIX_MAX 100

/* Byte-pair encoding by a list of merges, of bytes or of characters. */
typedef struct
{
  DlpModel parent;

  /* Before each symbol of a piece but the first, behind the last one; seldom there. */
  guint8 *prefix;
  guint8 *suffix;
  gsize prefix_len;
  gsize suffix_len;

  gboolean fuse_unknown;
  gboolean ignore_merges; /* a piece that is an entry is that entry */
  gboolean byte_fallback;
  gboolean all_bytes;       /* nothing is unknown */
  guint32 byte_tokens[256]; /* what stands for the bytes of an unknown character */
  guint32 *char_ids;        /* of characters below U+10000; NULL if symbols are bytes */

  guint32 n_merges;
  DlpTrie *user_defined; /* entries that are found in a text before all else; may be NULL */
  guint64 *whole;        /* by id, a bit for each entry that its own merges make; NULL where a table
                          * knows, and where prefix or suffix change what is looked up */
  DlpJoints joints;
} DlpBpeModel;

/* To be called last, once the pairs are set: makes what speeds it up. */
void dlp_bpe_model_prepare (DlpBpeModel *self);

/* The symbols that the merges of a piece begin with. */
gsize dlp_bpe_model_split (const DlpBpeModel *self, const guint8 *p, gsize len, guint32 *ids);

/* In place: ids behind the model's own are characters that only merges know, and so are unknown. */
gsize dlp_bpe_model_replace_unlisted (const DlpBpeModel *self, guint32 *ids, gsize n);

gsize dlp_bpe_model_encode (const DlpModel *model,
                            DlpModelScratch *scratch,
                            const guint8 *p,
                            gsize len,
                            guint32 *ids);
gsize dlp_bpe_model_find_cut (const DlpModel *model, const guint8 *p, gsize len, gsize from);
void dlp_bpe_model_free (DlpModel *model);
