/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "dlp-pattern.h"
#include "dlp-unicode.h"

#include <pcre2.h>
#include <string.h>

#define N_POINTS 0x110000

/* White_Space, as the inside of a class */
const char dlp_dialect_space[] =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"
    "\\x{205f}\\x{3000}";

/* in the order of unicode/make-table.py */
static const char *const categories[][2] = {
  { "Cn", "Unassigned" },
  { "Lu", "Uppercase_Letter" },
  { "Ll", "Lowercase_Letter" },
  { "Lt", "Titlecase_Letter" },
  { "Lm", "Modifier_Letter" },
  { "Lo", "Other_Letter" },
  { "Mn", "Nonspacing_Mark" },
  { "Mc", "Spacing_Mark" },
  { "Me", "Enclosing_Mark" },
  { "Nd", "Decimal_Number" },
  { "Nl", "Letter_Number" },
  { "No", "Other_Number" },
  { "Pc", "Connector_Punctuation" },
  { "Pd", "Dash_Punctuation" },
  { "Ps", "Open_Punctuation" },
  { "Pe", "Close_Punctuation" },
  { "Pi", "Initial_Punctuation" },
  { "Pf", "Final_Punctuation" },
  { "Po", "Other_Punctuation" },
  { "Sm", "Math_Symbol" },
  { "Sc", "Currency_Symbol" },
  { "Sk", "Modifier_Symbol" },
  { "So", "Other_Symbol" },
  { "Zs", "Space_Separator" },
  { "Zl", "Line_Separator" },
  { "Zp", "Paragraph_Separator" },
  { "Cc", "Control" },
  { "Cf", "Format" },
  { "Cs", "Surrogate" },
  { "Co", "Private_Use" },
};

static const char *const groups[][2] = {
  { "L", "Letter" }, { "M", "Mark" },      { "N", "Number" }, { "P", "Punctuation" },
  { "S", "Symbol" }, { "Z", "Separator" }, { "C", "Other" },
};

static gboolean
is_name (const char *const pair[2], const char *name, gsize len)
{
  return (strlen (pair[0]) == len && memcmp (pair[0], name, len) == 0) ||
         (strlen (pair[1]) == len && memcmp (pair[1], name, len) == 0);
}

/* a set of categories, one bit each; 0 if there is no such name */
static guint32
categories_of (const char *name, gsize len, const char **short_name)
{
  guint32 set = 0;

  for (guint i = 0; i < G_N_ELEMENTS (categories); i++)
    if (is_name (categories[i], name, len))
      {
        *short_name = categories[i][0];
        return 1u << i;
      }
  for (guint g = 0; g < G_N_ELEMENTS (groups); g++)
    if (is_name (groups[g], name, len))
      {
        *short_name = groups[g][0];
        for (guint i = 0; i < G_N_ELEMENTS (categories); i++)
          if (categories[i][0][0] == groups[g][0][0])
            set |= 1u << i;
      }
  return set;
}

static void
append_ranges (GString *out, const guint8 *in_set)
{
  for (guint32 i = 0; i < N_POINTS; i++)
    if (in_set[i])
      {
        guint32 last = i;

        while (last + 1 < N_POINTS && in_set[last + 1])
          last++;
        g_string_append_printf (out, i == last ? "\\x{%x}" : "\\x{%x}-\\x{%x}", i, last);
        i = last;
      }
}

/* Every character but surrogates, so that a match says which of them PCRE2 has in a property. */
static char *
all_characters (gsize *len)
{
  GString *text = g_string_sized_new (4 * N_POINTS);

  for (gunichar c = 0; c < N_POINTS; c++)
    if (c < 0xd800 || c > 0xdfff)
      g_string_append_unichar (text, c);
  *len = text->len;
  return g_string_free (text, FALSE);
}

static void
mark_matches (guint8 *set, const char *text, gsize len, pcre2_code *code)
{
  pcre2_match_data *data = pcre2_match_data_create (1, NULL);
  const PCRE2_SIZE *borders = pcre2_get_ovector_pointer (data);
  gsize at = 0;

  while (pcre2_match (code, (PCRE2_SPTR) text, len, at, PCRE2_NO_UTF_CHECK, data, NULL) > 0)
    {
      at = borders[1];
      for (const char *p = text + borders[0]; p < text + at; p = g_utf8_next_char (p))
        set[g_utf8_get_char (p)] = 1;
    }
  pcre2_match_data_free (data);
}

/* What PCRE2, whose Unicode may be older or newer than ours, has in the property @name. */
static guint8 *
engine_set (const char *name)
{
  g_autofree char *regex = g_strdup_printf ("\\p{%s}+", name);
  g_autofree char *text = NULL;
  guint8 *set = g_malloc0 (N_POINTS);
  PCRE2_SIZE offset;
  gsize len;
  int number;
  pcre2_code *code =
      pcre2_compile ((PCRE2_SPTR) regex, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &number, &offset, NULL);

  if (code == NULL)
    return set;
  pcre2_jit_compile (code, PCRE2_JIT_COMPLETE);
  text = all_characters (&len);
  mark_matches (set, text, len, code);
  pcre2_code_free (code);
  return set;
}

/* Our property in the words of the engine: its own property and what it lacks, or, where it has too
 * much or the complement is wanted, every range. */
static void
append_categories (GString *out, guint32 wanted, const char *name, gboolean negated)
{
  g_autofree guint8 *ours = g_malloc0 (N_POINTS);
  g_autofree guint8 *theirs = NULL;
  gboolean too_much = FALSE;

  for (gunichar c = 0; c < N_POINTS; c++)
    if (c < 0xd800 || c > 0xdfff)
      ours[c] = (wanted >> dlp_unicode_category (c) & 1) != (guint) negated;

  if (!negated)
    {
      theirs = engine_set (name);
      for (gunichar c = 0; c < N_POINTS && !too_much; c++)
        too_much = theirs[c] && !ours[c];
      for (gunichar c = 0; c < N_POINTS && !too_much; c++)
        ours[c] &= !theirs[c];
      if (!too_much)
        g_string_append_printf (out, "\\p{%s}", name);
    }
  append_ranges (out, ours);
}

static void
append_han (GString *out, gboolean negated)
{
  gunichar next = 0;

  for (guint i = 0; i < dlp_unicode_n_han; i++)
    {
      gunichar first = dlp_unicode_han[i][0], last = dlp_unicode_han[i][1];

      if (!negated)
        g_string_append_printf (out, "\\x{%x}-\\x{%x}", first, last);
      else if (first > next)
        g_string_append_printf (out, "\\x{%x}-\\x{%x}", next, first - 1);
      next = last + 1;
    }
  if (negated)
    g_string_append_printf (out, "\\x{%x}-\\x{10ffff}", next);
}

/* Appends the property @name, or its complement, as the inside of a class. FALSE if it is not one
 * of those whose members we know: the general categories and the script Han. */
gboolean
dlp_dialect_property (const char *name, gsize len, GString *out, gboolean negated)
{
  const char *short_name = NULL;
  guint32 wanted;

  if (g_str_has_prefix (name, "Script=") || g_str_has_prefix (name, "script="))
    {
      name += strlen ("Script=");
      len -= MIN (len, strlen ("Script="));
    }
  else if (g_str_has_prefix (name, "sc="))
    {
      name += strlen ("sc=");
      len -= MIN (len, strlen ("sc="));
    }
  if (len == 3 && memcmp (name, "Han", 3) == 0)
    {
      append_han (out, negated);
      return TRUE;
    }

  wanted = categories_of (name, len, &short_name);
  if (wanted == 0)
    return FALSE;
  append_categories (out, wanted, short_name, negated);
  return TRUE;
}
