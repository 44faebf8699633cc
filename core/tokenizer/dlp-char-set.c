/* SPDX-License-Identifier: MIT */
#include "dlp-char-set.h"
#include "dlp-unicode.h"

#include <pthread.h>

DlpCharSet *
dlp_char_set_new (void)
{
  return g_new0 (DlpCharSet, 1);
}

void
dlp_char_set_free (DlpCharSet *self)
{
  g_free (self);
}

/* the bits from @first to @last that are in word @i */
static inline guint64
mask_of (gunichar first, gunichar last, gunichar i)
{
  guint64 mask = G_MAXUINT64;

  if (i == first >> 6)
    mask &= G_MAXUINT64 << (first & 63);
  if (i == last >> 6)
    mask &= G_MAXUINT64 >> (63 - (last & 63));
  return mask;
}

void
dlp_char_set_add_range (DlpCharSet *self, gunichar first, gunichar last)
{
  for (gunichar i = first >> 6; i <= last >> 6; i++)
    self->bits[i] |= mask_of (first, last, i);
}

guint
dlp_char_set_count_range (const DlpCharSet *self, gunichar first, gunichar last)
{
  guint n = 0;

  for (gunichar i = first >> 6; i <= last >> 6; i++)
    n += __builtin_popcountll (self->bits[i] & mask_of (first, last, i));
  return n;
}

static GArray *runs; /* of DlpCategoryRun; made once, for the whole process */

static void
find_runs (void)
{
  runs = g_array_new (FALSE, FALSE, sizeof (DlpCategoryRun));
  for (gunichar c = 0; c < DLP_N_POINTS; c++)
    {
      DlpCategoryRun run = { c, c, dlp_unicode_category (c) };

      while (run.last + 1 < DLP_N_POINTS && dlp_unicode_category (run.last + 1) == run.category)
        run.last++;
      g_array_append_val (runs, run);
      c = run.last;
    }
}

/* All characters by their category. */
const DlpCategoryRun *
dlp_category_get_runs (gsize *n)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, find_runs);
  *n = runs->len;
  return (const DlpCategoryRun *) runs->data;
}

void
dlp_char_set_add_categories (DlpCharSet *self, guint32 categories)
{
  gsize n;
  const DlpCategoryRun *all = dlp_category_get_runs (&n);

  for (gsize i = 0; i < n; i++)
    if (categories >> all[i].category & 1)
      dlp_char_set_add_range (self, all[i].first, all[i].last);
}

void
dlp_char_set_add_set (DlpCharSet *self, const DlpCharSet *other)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->bits); i++)
    self->bits[i] |= other->bits[i];
}

void
dlp_char_set_intersect (DlpCharSet *self, const DlpCharSet *other)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->bits); i++)
    self->bits[i] &= other->bits[i];
}

void
dlp_char_set_remove (DlpCharSet *self, const DlpCharSet *other)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->bits); i++)
    self->bits[i] &= ~other->bits[i];
}

void
dlp_char_set_invert (DlpCharSet *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->bits); i++)
    self->bits[i] = ~self->bits[i];
}

static gunichar
skip_surrogates (gunichar c)
{
  return c == 0xd800 ? 0xe000 : c;
}

/* The first character from @c on that is (@in) or is not in the set. */
static gunichar
find_next (const DlpCharSet *self, gunichar c, gboolean in)
{
  guint64 skipped = in ? 0 : G_MAXUINT64;

  for (c = skip_surrogates (c); c < DLP_N_POINTS; c = skip_surrogates (c))
    {
      if (dlp_char_set_contains (self, c) == in)
        return c;
      c += (c & 63) == 0 && self->bits[c >> 6] == skipped ? 64 : 1;
    }
  return DLP_N_POINTS;
}

/* The first range that begins at or after *@first. */
gboolean
dlp_char_set_next_range (const DlpCharSet *self, gunichar *first, gunichar *last)
{
  *first = find_next (self, *first, TRUE);
  if (*first == DLP_N_POINTS)
    return FALSE;
  *last = find_next (self, *first, FALSE) - 1;
  if (*last == 0xdfff)
    *last = 0xd7ff;
  return TRUE;
}
