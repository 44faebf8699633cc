/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-sentencepiece.h"

/* How tokens become a text again: "decoder" of a tokenizer.json, or what SentencePiece does.
 * Read-only once made; used by any thread. */
typedef struct _DlpDetokenizer DlpDetokenizer;

/* Tokens as their file writes them, one behind another. */
typedef struct
{
  GString *text;
  GArray *ends;       /* gsize: where each of them ends */
  const guint32 *ids; /* of what was decoded; not of what a step has made */
} DlpTokenList;

void dlp_token_list_init (DlpTokenList *self);
void dlp_token_list_clear (DlpTokenList *self);
void dlp_token_list_truncate (DlpTokenList *self);

/* Appends to the text what valid UTF-8 stands for: bytes if it is all letters of byte-level BPE,
 * else itself. */
void dlp_token_list_append_letters (DlpTokenList *self, const guint8 *p, gsize len);

/* What was appended to the text since the last one is a token. */
static inline void
dlp_token_list_end (DlpTokenList *self)
{
  gsize end = self->text->len;

  g_array_append_val (self->ends, end);
}

static inline const guint8 *
dlp_token_list_get (const DlpTokenList *self, guint index, gsize *len)
{
  gsize start = index > 0 ? g_array_index (self->ends, gsize, index - 1) : 0;

  *len = g_array_index (self->ends, gsize, index) - start;
  return (const guint8 *) self->text->str + start;
}

/* @node is the value of "decoder": an object, or null or missing for tokens with spaces between. */
DlpDetokenizer *dlp_detokenizer_new (DlpJsonNode node, GError **error);
DlpDetokenizer *dlp_detokenizer_new_sentencepiece (const DlpSentencePiece *file, GError **error);
void dlp_detokenizer_free (DlpDetokenizer *self);

/* Whether what it begins with is to have tokens as bytes, where they can be read as letters of
 * byte-level BPE. */
gboolean dlp_detokenizer_wants_bytes (const DlpDetokenizer *self);

/* Appends the text, which is UTF-8, to @out; uses up @tokens. FALSE if a regular expression gave
 * up. */
gboolean dlp_detokenizer_run (const DlpDetokenizer *self, DlpTokenList *tokens, GString *out);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpTokenList, dlp_token_list_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpDetokenizer, dlp_detokenizer_free)
