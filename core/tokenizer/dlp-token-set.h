/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#define DLP_TOKEN_NONE G_MAXUINT32

typedef struct
{
  const char *bytes;
  gsize len; /* > 0 */
  guint32 value;
} DlpTokenString;

/* Strings that are looked for in a text, as a trie. */
typedef struct
{
  guint n;
  gboolean first[256]; /* bytes that one of them begins with */
  gsize prefix_len;    /* so many bytes all of them begin with */
  gsize rare;          /* which of these is seldom in text */
  char *prefix;
  guint32 *tokens; /* by node: the value of the string that ends there, or DLP_TOKEN_NONE */
  guint32 n_nodes;
  guint64 *edges; /* node, byte and child: a hash table */
  guint32 edges_mask;
} DlpTokenSet;

void dlp_token_set_init (DlpTokenSet *self, const DlpTokenString *strings, guint n);
void dlp_token_set_clear (DlpTokenSet *self);
const char *dlp_token_set_find (const DlpTokenSet *self,
                                const char *text,
                                const char *end,
                                gsize *len,
                                guint32 *value);
