/* SPDX-License-Identifier: MIT */
#include "dlp-huge.h"
#include "dlp-trie.h"

#include <string.h>

#define BLOCK 256u
#define NO_UNIT G_MAXUINT32
#define TRIES 128 /* free places that are tried for a node with several children */

/* The keys [begin, end) all begin with the @depth bytes that lead to @unit. */
typedef struct
{
  guint32 unit;
  guint32 begin;
  guint32 end;
  guint32 depth;
} Range;

typedef struct
{
  guint8 bytes[256];
  guint32 begins[257];
  guint n;
} Children;

typedef struct
{
  const DlpTrieKey *keys;
  GArray *units;
  GArray *links; /* of units: a ring of the free ones */
  GArray *used;  /* of units: whether it is the base of some node */
  GArray *ranges;
  guint32 cursor; /* in the ring; NO_UNIT if nothing is free */
} Builder;

typedef struct
{
  guint32 next;
  guint32 previous;
} Link;

#define UNIT(self, i) g_array_index ((self)->units, guint64, i)
#define LINK(self, i) g_array_index ((self)->links, Link, i)
#define USED(self, i) g_array_index ((self)->used, guint8, i)
#define IS_FREE(self, i) ((UNIT (self, i) & 0x1ff) == DLP_TRIE_NO_BYTE)

static guint64
make_unit (guint label, guint32 value, guint32 base)
{
  return (guint64) base << 32 | (guint64) value << 9 | label;
}

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const DlpTrieKey *left = a, *right = b;
  int order = memcmp (left->p, right->p, MIN (left->len, right->len));

  return order != 0 ? order : (left->len > right->len) - (left->len < right->len);
}

static void
link_free (Builder *self, guint32 unit)
{
  if (self->cursor == NO_UNIT)
    {
      LINK (self, unit) = (Link){ unit, unit };
      self->cursor = unit;
      return;
    }
  LINK (self, unit) = (Link){ self->cursor, LINK (self, self->cursor).previous };
  LINK (self, LINK (self, unit).previous).next = unit;
  LINK (self, self->cursor).previous = unit;
}

static void
take (Builder *self, guint32 unit)
{
  Link link = LINK (self, unit);

  LINK (self, link.previous).next = link.next;
  LINK (self, link.next).previous = link.previous;
  if (self->cursor == unit)
    self->cursor = link.next == unit ? NO_UNIT : link.next;
}

static guint32
add_block (Builder *self)
{
  guint32 start = self->units->len;

  g_array_set_size (self->units, start + BLOCK);
  g_array_set_size (self->links, start + BLOCK);
  g_array_set_size (self->used, start + BLOCK);
  for (guint32 i = start; i < start + BLOCK; i++)
    {
      UNIT (self, i) = make_unit (DLP_TRIE_NO_BYTE, DLP_TRIE_NONE, 0);
      link_free (self, i);
    }
  return start;
}

static gboolean
fits (const Builder *self, guint32 base, const Children *children)
{
  if (USED (self, base))
    return FALSE;
  for (guint i = 0; i < children->n; i++)
    if (!IS_FREE (self, base ^ children->bytes[i]))
      return FALSE;
  return TRUE;
}

static guint32
find_base (Builder *self, const Children *children)
{
  for (guint i = 0; i < TRIES && self->cursor != NO_UNIT; i++)
    {
      guint32 base = self->cursor ^ children->bytes[0];

      if (fits (self, base, children))
        return base;
      self->cursor = LINK (self, self->cursor).next;
    }
  return add_block (self);
}

static void
find_children (const Builder *self, const Range *range, Children *children)
{
  children->n = 0;
  for (guint32 i = range->begin; i < range->end; i++)
    {
      guint8 byte = self->keys[i].p[range->depth];

      if (children->n > 0 && children->bytes[children->n - 1] == byte)
        continue;
      children->bytes[children->n] = byte;
      children->begins[children->n++] = i;
    }
  children->begins[children->n] = range->end;
}

/* Gives the node its value, its base and its children, whose turn comes later. */
static void
expand (Builder *self, Range range)
{
  Children children;
  guint label = UNIT (self, range.unit) & 0x1ff;
  guint32 value = DLP_TRIE_NONE, base;

  if (range.begin < range.end && self->keys[range.begin].len == range.depth)
    value = self->keys[range.begin++].value;
  UNIT (self, range.unit) = make_unit (label, value, 0);
  if (range.begin == range.end)
    return;

  find_children (self, &range, &children);
  base = find_base (self, &children);
  USED (self, base) = TRUE;
  UNIT (self, range.unit) = make_unit (label, value, base);
  for (guint i = 0; i < children.n; i++)
    {
      guint32 unit = base ^ children.bytes[i];
      Range child = { unit, children.begins[i], children.begins[i + 1], range.depth + 1 };

      take (self, unit);
      UNIT (self, unit) = make_unit (children.bytes[i], DLP_TRIE_NONE, 0);
      g_array_append_val (self->ranges, child);
    }
}

DlpTrie *
dlp_trie_new (DlpTrieKey *keys, gsize n)
{
  DlpTrie *self = g_new0 (DlpTrie, 1);
  g_autoptr (GArray) units = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (Link));
  g_autoptr (GArray) used = g_array_new (FALSE, TRUE, sizeof (guint8));
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  Range root = { 0, 0, n, 0 };
  Builder builder = { keys, units, links, used, ranges, NO_UNIT };

  g_qsort_with_data (keys, n, sizeof *keys, compare_keys, NULL);
  /* The root is a unit that no byte leads to; base 0 means that there are no children. */
  add_block (&builder);
  take (&builder, 0);
  USED (&builder, 0) = TRUE;
  UNIT (&builder, 0) = make_unit (DLP_TRIE_NO_BYTE | 1, DLP_TRIE_NONE, 0);
  g_array_append_val (ranges, root);
  for (guint i = 0; i < ranges->len; i++)
    expand (&builder, g_array_index (ranges, Range, i));

  self->n_units = units->len;
  self->units = dlp_huge_alloc0 (units->len * sizeof (guint64));
  memcpy (self->units, units->data, units->len * sizeof (guint64));
  return self;
}

void
dlp_trie_free (DlpTrie *self)
{
  dlp_huge_free (self->units);
  g_free (self);
}
