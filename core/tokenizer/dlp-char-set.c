/* SPDX-License-Identifier: MIT */
#include "dlp-char-set.h"
#include "dlp-unicode.h"

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

void
dlp_char_set_add_range (DlpCharSet *self, gunichar first, gunichar last)
{
  for (gunichar c = first; c <= last; c++)
    dlp_char_set_add (self, c);
}

void
dlp_char_set_add_categories (DlpCharSet *self, guint32 categories)
{
  for (gunichar c = 0; c < DLP_N_POINTS; c++)
    if (categories >> dlp_unicode_category (c) & 1)
      dlp_char_set_add (self, c);
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

/* The first range that begins at or after *@first. */
gboolean
dlp_char_set_next_range (const DlpCharSet *self, gunichar *first, gunichar *last)
{
  gunichar c = skip_surrogates (*first);

  while (c < DLP_N_POINTS && !dlp_char_set_contains (self, c))
    {
      if ((c & 63) == 0 && self->bits[c >> 6] == 0)
        c += 64;
      else
        c++;
      c = skip_surrogates (c);
    }
  *first = c;
  if (c >= DLP_N_POINTS)
    return FALSE;
  for (; c < DLP_N_POINTS && dlp_char_set_contains (self, c); c = skip_surrogates (c + 1))
    *last = c;
  return TRUE;
}
