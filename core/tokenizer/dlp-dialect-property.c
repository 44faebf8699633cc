/* SPDX-License-Identifier: MIT */
#include "dlp-dialect.h"
#include "dlp-unicode.h"

#include <string.h>

/* White_Space, as the inside of a class */
const char dlp_dialect_space[] =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"
    "\\x{205f}\\x{3000}";

/* in the order of unicode/make-table.py */
const char *const dlp_category_names[DLP_N_CATEGORIES][2] = {
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

const char *const dlp_category_groups[DLP_N_CATEGORY_GROUPS][2] = {
  { "L", "Letter" }, { "M", "Mark" },      { "N", "Number" }, { "P", "Punctuation" },
  { "S", "Symbol" }, { "Z", "Separator" }, { "C", "Other" },
};

/* the set of all categories that begin with @letter */
guint32
dlp_category_group (char letter)
{
  guint32 set = 0;

  for (guint i = 0; i < DLP_N_CATEGORIES; i++)
    if (dlp_category_names[i][0][0] == letter)
      set |= 1u << i;
  return set;
}

static gboolean
is_name (const char *const pair[2], const char *name, gsize len)
{
  return (strlen (pair[0]) == len && memcmp (pair[0], name, len) == 0) ||
         (strlen (pair[1]) == len && memcmp (pair[1], name, len) == 0);
}

/* a set of categories, one bit each; 0 if there is no such name */
static guint32
categories_of (const char *name, gsize len)
{
  for (guint i = 0; i < DLP_N_CATEGORIES; i++)
    if (is_name (dlp_category_names[i], name, len))
      return 1u << i;
  for (guint g = 0; g < DLP_N_CATEGORY_GROUPS; g++)
    if (is_name (dlp_category_groups[g], name, len))
      return dlp_category_group (dlp_category_groups[g][0][0]);
  return 0;
}

void
dlp_char_set_add_han (DlpCharSet *self)
{
  for (guint i = 0; i < dlp_unicode_n_han; i++)
    dlp_char_set_add_range (self, dlp_unicode_han[i][0], dlp_unicode_han[i][1]);
}

/* FALSE if @name is not one of those whose members we know. */
static gboolean
add_property (DlpCharSet *set, const char *name, gsize len)
{
  static const char *const prefixes[] = { "Script=", "script=", "sc=" };
  guint32 wanted;

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (name, prefixes[i]))
      {
        gsize n = MIN (len, strlen (prefixes[i]));

        name += n;
        len -= n;
        break;
      }
  if (len == 3 && memcmp (name, "Han", 3) == 0)
    {
      dlp_char_set_add_han (set);
      return TRUE;
    }
  wanted = categories_of (name, len);
  dlp_char_set_add_categories (set, wanted);
  return wanted != 0;
}

/* Appends the property @name, or its complement, as the inside of a class. FALSE if it is not one
 * of those whose members we know: the general categories and the script Han. */
gboolean
dlp_dialect_property (const char *name, gsize len, gboolean negated, gboolean exact, GString *out)
{
  g_autoptr (DlpCharSet) set = dlp_char_set_new ();

  if (!add_property (set, name, len))
    return FALSE;
  if (negated)
    dlp_char_set_invert (set);
  dlp_char_set_append_members (set, exact, out);
  return TRUE;
}

#define CIRCLED                                                                                    \
  { 0x1f130, 0x1f149 }, { 0x1f150, 0x1f169 }, { 0x1f170, 0x1f189 }

/* As Oniguruma names them, in lower case. Categories are written one behind another. */
static const struct
{
  const char *name;
  const char *categories;
  gunichar ranges[6][2]; /* up to one that ends with 0 */
} onig_sets[] = {
  { "any", "LMNPSZC", { { 0 } } },
  { "ascii", "", { { 0, 0x7f } } },
  { "assigned", "LMNPSZCcCfCo", { { 0 } } },
  { "blank", "Zs", { { '\t', '\t' } } },
  { "cntrl", "Cc", { { 0 } } },
  { "digit", "Nd", { { 0 } } },
  { "graph", "LMNPSCfCo", { { 0 } } },
  { "lc", "LuLlLt", { { 0 } } },
  { "posixpunct", "PS", { { 0 } } },
  { "print", "LMNPSCfCoZs", { { 0 } } },
  { "punct", "P", { { 0 } } },
  { "space", "Z", { { '\t', '\r' }, { 0x85, 0x85 } } },
  { "upper", "Lu", { { 0x2160, 0x216f }, { 0x24b6, 0x24cf }, CIRCLED } },
  { "uppercase", "Lu", { { 0x2160, 0x216f }, { 0x24b6, 0x24cf }, CIRCLED } },
  { "whitespace", "Z", { { '\t', '\r' }, { 0x85, 0x85 } } },
  { "word", "LMNdNlPc", { { 0x24b6, 0x24e9 }, CIRCLED } },
  { "xdigit", "", { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } } },
};

static guint32
parse_categories (const char *text)
{
  guint32 set = 0;

  for (gsize len; *text; text += len)
    {
      len = 1 + !!g_ascii_islower (text[1]);
      set |= categories_of (text, len);
    }
  return set;
}

static gboolean
add_onig_set (DlpCharSet *set, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (onig_sets); i++)
    if (strcmp (onig_sets[i].name, name) == 0)
      {
        dlp_char_set_add_categories (set, parse_categories (onig_sets[i].categories));
        for (guint r = 0; r < G_N_ELEMENTS (onig_sets[i].ranges); r++)
          if (onig_sets[i].ranges[r][1] != 0)
            dlp_char_set_add_range (set, onig_sets[i].ranges[r][0], onig_sets[i].ranges[r][1]);
        return TRUE;
      }
  return FALSE;
}

/* What is left of @name is in lower case. */
static char *
simplify_name (const char *name, gsize len)
{
  GString *out = g_string_new (NULL);

  for (gsize i = 0; i < len; i++)
    if (name[i] != ' ' && name[i] != '-' && name[i] != '_')
      g_string_append_c (out, g_ascii_tolower (name[i]));
  return g_string_free (out, FALSE);
}

static guint32
simplified_categories_of (const char *name)
{
  for (guint i = 0; i < DLP_N_CATEGORIES + DLP_N_CATEGORY_GROUPS; i++)
    {
      const char *const *pair =
          i < DLP_N_CATEGORIES ? dlp_category_names[i] : dlp_category_groups[i - DLP_N_CATEGORIES];

      for (guint k = 0; k < 2; k++)
        {
          g_autofree char *simple = simplify_name (pair[k], strlen (pair[k]));

          if (strcmp (simple, name) == 0)
            return categories_of (pair[0], strlen (pair[0]));
        }
    }
  return 0;
}

gboolean
dlp_dialect_add_onig_property (DlpCharSet *set, const char *name, gsize len)
{
  g_autofree char *simple = simplify_name (name, len);
  guint32 wanted = simplified_categories_of (simple);

  if (strcmp (simple, "han") == 0)
    dlp_char_set_add_han (set);
  else if (wanted != 0)
    dlp_char_set_add_categories (set, wanted);
  else
    return add_onig_set (set, simple);
  return TRUE;
}
