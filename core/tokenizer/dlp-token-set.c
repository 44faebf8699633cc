/* SPDX-License-Identifier: MIT */
#include "dlp-token-set.h"

#include <string.h>

#define NO_CHILD G_MAXUINT32
#define CHILD_BITS 28

static guint32
find_child (const DlpTokenSet *self, guint32 node, guint8 byte)
{
  guint64 key = (guint64) node << 8 | byte;
  guint32 i = (key * 0x9e3779b97f4a7c15u) >> 32;

  for (;; i++)
    {
      guint64 edge = self->edges[i & self->edges_mask];

      if (edge == G_MAXUINT64)
        return NO_CHILD;
      if (edge >> CHILD_BITS == key)
        return edge & ((1u << CHILD_BITS) - 1);
    }
}

static guint32
add_child (DlpTokenSet *self, guint32 node, guint8 byte)
{
  guint64 key = (guint64) node << 8 | byte;
  guint32 i = (key * 0x9e3779b97f4a7c15u) >> 32;
  guint32 child = self->n_nodes++;

  while (self->edges[i & self->edges_mask] != G_MAXUINT64)
    i++;
  self->edges[i & self->edges_mask] = key << CHILD_BITS | child;
  self->tokens[child] = DLP_TOKEN_NONE;
  return child;
}

static void
find_common_prefix (DlpTokenSet *self, const DlpTokenString *strings)
{
  self->prefix_len = self->n > 0 ? strings[0].len : 0;
  for (guint i = 1; i < self->n; i++)
    {
      gsize common = 0;

      while (common < MIN (self->prefix_len, strings[i].len) &&
             strings[i].bytes[common] == strings[0].bytes[common])
        common++;
      self->prefix_len = common;
    }
  self->prefix = self->n > 0 ? g_memdup2 (strings[0].bytes, self->prefix_len) : NULL;

  self->rare = 0;
  for (gsize i = 0; i < self->prefix_len; i++)
    if (self->prefix[i] == '|')
      self->rare = i;
}

/* @strings are not empty; of equal ones the last counts. */
void
dlp_token_set_init (DlpTokenSet *self, const DlpTokenString *strings, guint n)
{
  gsize total = 1, capacity;

  memset (self, 0, sizeof *self);
  self->n = n;
  for (guint i = 0; i < n; i++)
    total += strings[i].len;
  g_return_if_fail (total < 1u << CHILD_BITS);

  capacity = (gsize) 1 << g_bit_storage (2 * total);
  self->edges_mask = capacity - 1;
  self->edges = g_new (guint64, capacity);
  memset (self->edges, 0xff, capacity * sizeof *self->edges);
  self->tokens = g_new (guint32, total);
  self->tokens[0] = DLP_TOKEN_NONE;
  self->n_nodes = 1;

  for (guint i = 0; i < n; i++)
    {
      guint32 node = 0;

      self->first[(guint8) strings[i].bytes[0]] = TRUE;
      for (gsize k = 0; k < strings[i].len; k++)
        {
          guint32 child = find_child (self, node, strings[i].bytes[k]);

          node = child != NO_CHILD ? child : add_child (self, node, strings[i].bytes[k]);
        }
      self->tokens[node] = strings[i].value;
    }
  find_common_prefix (self, strings);
}

void
dlp_token_set_clear (DlpTokenSet *self)
{
  g_clear_pointer (&self->edges, g_free);
  g_clear_pointer (&self->tokens, g_free);
  g_clear_pointer (&self->prefix, g_free);
  self->n = 0;
}

/* A single byte is looked for five times as fast as a string; not where every line has it, as in
 * tables. */
static const char *
find_prefix (const DlpTokenSet *self, const char *text, const char *end)
{
  gsize in_vain = 0;
  const char *p;

  if ((gsize) (end - text) < self->prefix_len)
    return NULL;
  for (p = text + self->rare; in_vain * 64 <= (gsize) (p - text) + 256; p++, in_vain++)
    {
      p = memchr (p, self->prefix[self->rare], end - p);
      if (p == NULL || (gsize) (end - p) < self->prefix_len - self->rare)
        return NULL;
      if (memcmp (p - self->rare, self->prefix, self->prefix_len) == 0)
        return p - self->rare;
    }
  p -= self->rare;
  return memmem (p, end - p, self->prefix, self->prefix_len);
}

static const char *
find_candidate (const DlpTokenSet *self, const char *text, const char *end)
{
  if (self->prefix_len > 0)
    return find_prefix (self, text, end);
  while (text < end && !self->first[(guint8) *text])
    text++;
  return text < end ? text : NULL;
}

/* The longest string of the set that @text begins with; its value, or DLP_TOKEN_NONE. */
static guint32
match (const DlpTokenSet *self, const char *text, const char *end, gsize *len)
{
  guint32 node = 0, best = DLP_TOKEN_NONE;

  for (const char *p = text; p < end; p++)
    {
      node = find_child (self, node, *p);
      if (node == NO_CHILD)
        break;
      if (self->tokens[node] != DLP_TOKEN_NONE)
        {
          best = self->tokens[node];
          *len = p + 1 - text;
        }
    }
  return best;
}

/* The first place where one of the strings stands, and the longest of those there; NULL if there is
 * none. Takes time in proportion to the text, times the longest string where the text is full of
 * beginnings of it. */
const char *
dlp_token_set_find (const DlpTokenSet *self,
                    const char *text,
                    const char *end,
                    gsize *len,
                    guint32 *value)
{
  if (self->n == 0)
    return NULL;
  for (; (text = find_candidate (self, text, end)) != NULL; text++)
    {
      *value = match (self, text, end, len);
      if (*value != DLP_TOKEN_NONE)
        return text;
    }
  return NULL;
}
