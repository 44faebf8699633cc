/* SPDX-License-Identifier: MIT */
#include "dlp-dialect.h"
#include "dlp-scan-parts.h"
#include "dlp-splitter-private.h"

#include <string.h>

/* Each of the crates that Hugging Face's pre-tokenizers use has a Unicode version of its own. */

typedef gunichar Range[2];

/* Punctuation that came after the tables of BertPreTokenizer and Punctuation. */
static const Range newer_punctuation[] = {
  { 0x61d, 0x61d },     { 0x9fd, 0x9fd },     { 0xa76, 0xa76 },     { 0xc77, 0xc77 },
  { 0xc84, 0xc84 },     { 0x1b4e, 0x1b4f },   { 0x1b7d, 0x1b7f },   { 0x2e43, 0x2e4f },
  { 0x2e52, 0x2e5d },   { 0x10d6e, 0x10d6e }, { 0x10ead, 0x10ead }, { 0x10f55, 0x10f59 },
  { 0x10f86, 0x10f89 }, { 0x113d4, 0x113d5 }, { 0x113d7, 0x113d8 }, { 0x1144b, 0x1144f },
  { 0x1145a, 0x1145b }, { 0x1145d, 0x1145d }, { 0x11660, 0x1166c }, { 0x116b9, 0x116b9 },
  { 0x1183b, 0x1183b }, { 0x11944, 0x11946 }, { 0x119e2, 0x119e2 }, { 0x11a3f, 0x11a46 },
  { 0x11a9a, 0x11a9c }, { 0x11a9e, 0x11aa2 }, { 0x11b00, 0x11b09 }, { 0x11be1, 0x11be1 },
  { 0x11c41, 0x11c45 }, { 0x11c70, 0x11c71 }, { 0x11ef7, 0x11ef8 }, { 0x11f43, 0x11f4f },
  { 0x11fff, 0x11fff }, { 0x12ff1, 0x12ff2 }, { 0x16d6d, 0x16d6f }, { 0x16e97, 0x16e9a },
  { 0x16fe2, 0x16fe2 }, { 0x1e5ff, 0x1e5ff }, { 0x1e95e, 0x1e95f }
};

/* Older tables had these two among it. */
static const Range older_punctuation[] = { { 0x166d, 0x166d }, { 0x111c9, 0x111c9 } };

static void
add_ranges (DlpCharSet *set, const Range *ranges, guint n)
{
  for (guint i = 0; i < n; i++)
    dlp_char_set_add_range (set, ranges[i][0], ranges[i][1]);
}

/* char::is_whitespace: White_Space */
DlpCharSet *
dlp_splitter_spaces (void)
{
  DlpCharSet *set = dlp_char_set_new ();

  dlp_dialect_add_onig_property (set, "space", strlen ("space"));
  return set;
}

/* \w of Rust's regex, which has the joiners */
DlpCharSet *
dlp_splitter_words (void)
{
  DlpCharSet *set = dlp_char_set_new ();

  dlp_dialect_add_onig_property (set, "word", strlen ("word"));
  dlp_char_set_add_range (set, 0x200c, 0x200d);
  return set;
}

/* ASCII but letters, digits and controls, and P of an old Unicode */
DlpCharSet *
dlp_splitter_punctuation (void)
{
  DlpCharSet *set = dlp_char_set_new ();
  g_autoptr (DlpCharSet) newer = dlp_char_set_new ();

  add_ranges (newer, newer_punctuation, G_N_ELEMENTS (newer_punctuation));
  dlp_char_set_invert (newer);
  dlp_char_set_add_categories (set, dlp_category_group ('P'));
  dlp_char_set_intersect (set, newer);
  add_ranges (set, older_punctuation, G_N_ELEMENTS (older_punctuation));
  for (gunichar c = 0; c < 0x80; c++)
    if (g_ascii_ispunct (c))
      dlp_char_set_add (set, c);
  return set;
}

/* char::is_numeric: N of Unicode 17 */
DlpCharSet *
dlp_splitter_numbers (void)
{
  DlpCharSet *set = dlp_char_set_new ();

  dlp_char_set_add_categories (set, dlp_category_group ('N'));
  for (guint i = 0; i < G_N_ELEMENTS (dlp_new_numbers); i++)
    dlp_char_set_add_range (set, dlp_new_numbers[i][0], dlp_new_numbers[i][1]);
  return set;
}
