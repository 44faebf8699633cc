/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#define DLP_N_POINTS 0x110000

/* A set of characters, a bit for each code point. Bits of surrogates mean nothing. */
typedef struct
{
  guint64 bits[DLP_N_POINTS / 64];
} DlpCharSet;

/* Characters in a row that have the same general category. */
typedef struct
{
  gunichar first;
  gunichar last;
  guint category; /* as dlp_unicode_category() numbers them */
} DlpCategoryRun;

const DlpCategoryRun *dlp_category_get_runs (gsize *n);

DlpCharSet *dlp_char_set_new (void);
void dlp_char_set_free (DlpCharSet *self);
void dlp_char_set_add_range (DlpCharSet *self, gunichar first, gunichar last);
void dlp_char_set_add_categories (DlpCharSet *self, guint32 categories);
void dlp_char_set_add_set (DlpCharSet *self, const DlpCharSet *other);
void dlp_char_set_intersect (DlpCharSet *self, const DlpCharSet *other);
void dlp_char_set_remove (DlpCharSet *self, const DlpCharSet *other);
void dlp_char_set_invert (DlpCharSet *self);
guint dlp_char_set_count_range (const DlpCharSet *self, gunichar first, gunichar last);
gboolean dlp_char_set_next_range (const DlpCharSet *self, gunichar *first, gunichar *last);

/* The set in the words of PCRE2, whose Unicode may be another than ours: as what stands inside of a
 * class, and as something that matches one character. Unless it is to be @exact, it is so only for
 * texts without any of the disputed characters, and faster. */
void dlp_char_set_append_members (const DlpCharSet *self, gboolean exact, GString *out);
void dlp_char_set_append_class (const DlpCharSet *self, gboolean exact, GString *out);
const DlpCharSet *dlp_char_set_get_disputed (void);

static inline gboolean
dlp_char_set_contains (const DlpCharSet *self, gunichar c)
{
  return self->bits[c >> 6] >> (c & 63) & 1;
}

static inline void
dlp_char_set_add (DlpCharSet *self, gunichar c)
{
  self->bits[c >> 6] |= G_GUINT64_CONSTANT (1) << (c & 63);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpCharSet, dlp_char_set_free)
