/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-token-set.h"

/* A token that is found in the text itself, before anything else is done to it. */
typedef struct
{
  char *content; /* followed by a nul; there may be others in it */
  gsize len;
  guint32 id;
  gboolean special;     /* may be wanted as ordinary text; the others are always found */
  gboolean single_word; /* not beside a letter, a digit or the like */
  gboolean lstrip;      /* takes the white space before it with it */
  gboolean rstrip;
  gboolean normalized; /* looked for in the normalized text, and its content is normalized */
} DlpAddedToken;

/* (transfer full): the normalized form of a content. */
typedef char *(*DlpNormalizeFunc) (gpointer data, const char *content, gsize len, gsize *out_len);

/* Read-only once they are made; used by any thread. */
typedef struct
{
  DlpAddedToken *items; /* in the order of their ids */
  guint n;
  DlpTokenSet sets[2];   /* of those that are not normalized, of those that are */
  gboolean has_plain[2]; /* whether one of them is not special */
  DlpTokenSet specials;  /* the contents of all special ones as they are */
} DlpAddedTokens;

/* A stretch of text, or a token found in it. */
typedef struct
{
  gsize start;
  gsize end;
  const DlpAddedToken *token; /* NULL: text */
} DlpSegment;

/* Cuts one text into segments. */
typedef struct
{
  const DlpAddedTokens *tokens;
  const DlpTokenSet *set;
  gboolean allow_special;
  const char *text;
  gsize len;
  gsize searched; /* what is before has been looked through */
  gsize at;       /* what is before has been handed out */
  DlpSegment found;
} DlpSegmenter;

void dlp_added_tokens_init (DlpAddedTokens *self,
                            const DlpAddedToken *items,
                            guint n,
                            DlpNormalizeFunc normalize,
                            gpointer data);
void dlp_added_tokens_clear (DlpAddedTokens *self);
void dlp_added_tokens_hash (const DlpAddedTokens *self, GChecksum *checksum);
const DlpAddedToken *
dlp_added_tokens_lookup (const DlpAddedTokens *self, const char *content, gsize len);
const DlpAddedToken *dlp_added_tokens_lookup_id (const DlpAddedTokens *self, guint32 id);

/* Whether any of them is looked for in text that is not, or that is normalized. */
static inline gboolean
dlp_added_tokens_matter (const DlpAddedTokens *self, gboolean normalized, gboolean allow_special)
{
  return allow_special ? self->sets[normalized].n > 0 : self->has_plain[normalized];
}

void dlp_segmenter_init (DlpSegmenter *self,
                         const DlpAddedTokens *tokens,
                         gboolean normalized,
                         gboolean allow_special,
                         const char *text,
                         gsize len);
gboolean dlp_segmenter_next (DlpSegmenter *self, DlpSegment *segment);
