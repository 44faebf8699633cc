/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Byte strings and their values, to be walked byte by byte: one load a step. Read-only once made.
 *
 * A node is a unit: the byte that leads to it (9 bits; no byte if the unit is free), its value (23
 * bits) and its base: the child for byte b is at base ^ b. No two nodes have the same base, so that
 * the byte alone tells whether a unit is the child. */
typedef struct
{
  guint64 *units;
  gsize n_units;
} DlpTrie;

typedef struct
{
  const guint8 *p;
  guint32 len; /* > 0 */
  guint32 value;
} DlpTrieKey;

#define DLP_TRIE_NONE 0x7fffffu
#define DLP_TRIE_NO_BYTE 0x100u

/* Sorts @keys, no two of which are equal; values are below DLP_TRIE_NONE. */
DlpTrie *dlp_trie_new (DlpTrieKey *keys, gsize n);
void dlp_trie_free (DlpTrie *self);

static inline guint64
dlp_trie_root (const DlpTrie *self)
{
  return self->units[0];
}

/* From @node to its child for @byte; FALSE if there is none. */
static inline gboolean
dlp_trie_step (const DlpTrie *self, guint64 *node, guint8 byte)
{
  *node = self->units[(*node >> 32) ^ byte];
  return (*node & 0x1ff) == byte;
}

/* DLP_TRIE_NONE if no string ends here. */
static inline guint32
dlp_trie_value (guint64 node)
{
  return node >> 9 & DLP_TRIE_NONE;
}

/* The value of the whole string. */
static inline guint32
dlp_trie_lookup (const DlpTrie *self, const guint8 *p, gsize len)
{
  guint64 node = dlp_trie_root (self);

  for (gsize i = 0; i < len; i++)
    if (!dlp_trie_step (self, &node, p[i]))
      return DLP_TRIE_NONE;
  return dlp_trie_value (node);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpTrie, dlp_trie_free)
