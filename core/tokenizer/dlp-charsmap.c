/* SPDX-License-Identifier: MIT */
#include "dlp-charsmap.h"

/* In the file: the bytes that the trie takes, the trie, the strings, each with a nul. A unit of the
 * trie holds the label of the edge that leads to it and how far its children are; at child 0 of a
 * unit with a leaf is the place of its string. */

#define N_PAGES (0x110000 / DLP_PAGE)

typedef struct
{
  DlpPageSet set;
  guint8 *index;
  GArray *masks;
} Builder;

struct _DlpCharsmap
{
  guint8 *bytes;
  gsize size;
  guint32 *units;
  gsize n_units;
  const char *strings;
  gsize strings_len;
  Builder single;
  Builder first;
};

static inline gboolean
has_leaf (guint32 unit)
{
  return unit >> 8 & 1;
}

static inline guint32
get_label (guint32 unit)
{
  return unit & (1u << 31 | 0xff);
}

static inline guint32
get_offset (guint32 unit)
{
  return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

static void
builder_init (Builder *self)
{
  guint64 none = 0;

  self->index = g_malloc0 (N_PAGES);
  self->masks = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_array_append_val (self->masks, none);
}

static void
builder_clear (Builder *self)
{
  g_free (self->index);
  if (self->masks)
    g_array_unref (self->masks);
}

/* Where there are more pages than an index can tell apart, the last one serves for all others: the
 * set then has more in it than was added, which costs time only. */
static void
builder_add (Builder *self, gunichar c)
{
  guint8 *page = &self->index[c / DLP_PAGE];

  if (*page == 0)
    {
      guint64 none = 0;

      if (self->masks->len < 256)
        g_array_append_val (self->masks, none);
      *page = self->masks->len - 1;
    }
  g_array_index (self->masks, guint64, *page) |= G_GUINT64_CONSTANT (1) << (c % DLP_PAGE);
}

static void
builder_end (Builder *self)
{
  const guint64 *masks = (const guint64 *) self->masks->data;
  guint64 controls = masks[self->index[0]] & G_MAXUINT32;
  gboolean any = masks[self->index[0]] != controls || masks[self->index[1]] << 1;

  self->set = (DlpPageSet){ N_PAGES, any ? DLP_ASCII_ANY : DLP_ASCII_CONTROLS, self->index, masks };
}

/* Checks the string that the leaf of the unit at @at leads to. */
static const char *
check_leaf (const DlpCharsmap *self, gsize at)
{
  gsize leaf = at ^ get_offset (self->units[at]);
  gsize place;

  if (leaf >= self->n_units)
    return "a trie that leads out of itself";
  place = self->units[leaf] & G_MAXINT32;
  if (place >= self->strings_len)
    return "a string that is not in the file";
  return (self->strings[place] & 0xc0) == 0x80 ? "a string that begins inside a character" : NULL;
}

/* Looks at each unit that can be reached once: what strings end with may be shared by many. */
static const char *
check_trie (const DlpCharsmap *self)
{
  g_autofree guint8 *seen = g_malloc0 (self->n_units);
  g_autofree guint32 *open = g_new (guint32, self->n_units);
  const char *fault = NULL;
  gsize n_open = 1;

  open[0] = 0;
  seen[0] = 1;
  while (n_open > 0 && fault == NULL)
    {
      gsize at = open[--n_open];
      gsize base = at ^ get_offset (self->units[at]);

      if (has_leaf (self->units[at]))
        fault = check_leaf (self, at);
      for (guint label = 1; label < 256; label++)
        {
          gsize child = base ^ label;

          if (child >= self->n_units || get_label (self->units[child]) != label || seen[child])
            continue;
          seen[child] = 1;
          open[n_open++] = child;
        }
    }
  return fault;
}

/* Whether no string has to do with characters that begin so. */
static gboolean
is_idle (const DlpCharsmap *self, const guint8 *bytes, gsize len)
{
  return !dlp_charsmap_has_prefix (self, bytes, len) &&
         dlp_charsmap_find_shortest (self, bytes, len) == NULL;
}

static void
add_chars (DlpCharsmap *self)
{
  guint8 bytes[4];

  for (gunichar c = 1; c < 0x110000; c++)
    {
      gsize len = dlp_utf8_write (bytes, c) - bytes;

      if (len > 2 && c % 4096 == 0 && is_idle (self, bytes, len - 2))
        c += 4095;
      else if (len > 1 && c % 64 == 0 && is_idle (self, bytes, len - 1))
        c += 63;
      else if (dlp_charsmap_find_shortest (self, bytes, len))
        {
          builder_add (&self->single, c);
          builder_add (&self->first, c);
        }
      else if (dlp_charsmap_has_prefix (self, bytes, len))
        builder_add (&self->first, c);
    }
}

static gboolean
check_strings (const DlpCharsmap *self)
{
  const char *end = self->strings + self->strings_len;

  for (const char *p = self->strings; p < end; p += strlen (p) + 1)
    if (!g_utf8_validate (p, -1, NULL))
      return FALSE;
  return TRUE;
}

static const char *
parse (DlpCharsmap *self)
{
  const char *fault;
  guint32 trie_size;

  if (self->size < 4)
    return "no size of a trie";
  memcpy (&trie_size, self->bytes, 4);
  trie_size = GUINT32_FROM_LE (trie_size);
  if (trie_size == 0 || trie_size % 4 != 0 || trie_size > self->size - 4)
    return "a trie of a size that cannot be";

  self->n_units = trie_size / 4;
  self->units = g_new (guint32, self->n_units);
  memcpy (self->units, self->bytes + 4, trie_size);
  for (gsize i = 0; i < self->n_units; i++)
    self->units[i] = GUINT32_FROM_LE (self->units[i]);
  self->strings = (const char *) self->bytes + 4 + trie_size;
  self->strings_len = self->size - 4 - trie_size;
  fault = check_strings (self) ? check_trie (self) : "a string that is not UTF-8";
  if (fault == NULL)
    add_chars (self);
  return fault;
}

DlpCharsmap *
dlp_charsmap_new (gconstpointer bytes, gsize size, const char **fault)
{
  g_autoptr (DlpCharsmap) self = g_new0 (DlpCharsmap, 1);

  /* With a nul behind the last string in any case. */
  self->bytes = g_malloc (size + 1);
  if (size > 0)
    memcpy (self->bytes, bytes, size);
  self->bytes[size] = '\0';
  self->size = size;
  builder_init (&self->single);
  builder_init (&self->first);
  *fault = parse (self);
  if (*fault)
    return NULL;
  builder_end (&self->single);
  builder_end (&self->first);
  return g_steal_pointer (&self);
}

void
dlp_charsmap_free (DlpCharsmap *self)
{
  builder_clear (&self->single);
  builder_clear (&self->first);
  g_free (self->units);
  g_free (self->bytes);
  g_free (self);
}

gconstpointer
dlp_charsmap_get_bytes (const DlpCharsmap *self, gsize *size)
{
  *size = self->size;
  return self->bytes;
}

const DlpPageSet *
dlp_charsmap_get_single (const DlpCharsmap *self)
{
  return &self->single.set;
}

const DlpPageSet *
dlp_charsmap_get_first (const DlpCharsmap *self)
{
  return &self->first.set;
}

static inline const char *
find (const DlpCharsmap *self, const guint8 *p, gsize len, gboolean longest, gsize *found)
{
  gsize at = get_offset (self->units[0]);
  const char *string = NULL;

  for (gsize i = 0; i < len && p[i] != 0; i++)
    {
      guint32 unit;

      at ^= p[i];
      if (at >= self->n_units)
        break;
      unit = self->units[at];
      if (get_label (unit) != p[i])
        break;
      at ^= get_offset (unit);
      if (!has_leaf (unit))
        continue;
      string = self->strings + (self->units[at] & G_MAXINT32);
      *found = i + 1;
      if (!longest)
        break;
    }
  return string;
}

const char *
dlp_charsmap_find_shortest (const DlpCharsmap *self, const guint8 *p, gsize len)
{
  gsize found;

  return find (self, p, len, FALSE, &found);
}

const char *
dlp_charsmap_find_longest (const DlpCharsmap *self, const guint8 *p, gsize len, gsize *found)
{
  return find (self, p, len, TRUE, found);
}

/* Whether a string begins so, @len > 0 bytes of it. */
gboolean
dlp_charsmap_has_prefix (const DlpCharsmap *self, const guint8 *p, gsize len)
{
  gsize at = get_offset (self->units[0]);

  for (gsize i = 0; i < len; i++)
    {
      at ^= p[i];
      if (p[i] == 0 || at >= self->n_units || get_label (self->units[at]) != p[i])
        return FALSE;
      at ^= get_offset (self->units[at]);
    }
  return TRUE;
}
