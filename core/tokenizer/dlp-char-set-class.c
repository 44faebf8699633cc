/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "dlp-char-set.h"
#include "dlp-dialect.h"
#include "dlp-unicode.h"

#include <pcre2.h>
#include <string.h>

/* A property is a look into a table, a range a comparison: below this many characters the ranges
 * are as good. */
#define MIN_COUNT 32
#define TEXT_MAX (4 * DLP_N_POINTS)

/* Where the engine, whose Unicode may be older or newer than ours, has another category. */
typedef struct
{
  gunichar first;
  gunichar last;
  guint category;
} Difference;

static GArray *differences;

/* Every character but surrogates. */
static char *
all_characters (gsize *len)
{
  char *text = g_malloc (TEXT_MAX);
  char *end = text;

  for (gunichar c = 0; c < DLP_N_POINTS; c++)
    if (c < 0xd800 || c > 0xdfff)
      end += g_unichar_to_utf8 (c, end);
  *len = end - text;
  return text;
}

/* One group for each category, so that the last group set says which one matched. */
static pcre2_code *
compile_categories (void)
{
  g_autoptr (GString) regex = g_string_new (NULL);
  PCRE2_SIZE offset;
  int number;
  pcre2_code *code;

  for (guint i = 0; i < DLP_N_CATEGORIES; i++)
    g_string_append_printf (regex, "%s(\\p{%s}++)", i ? "|" : "", dlp_category_names[i][0]);
  code = pcre2_compile ((PCRE2_SPTR) regex->str, regex->len, PCRE2_UTF, &number, &offset, NULL);
  if (code == NULL)
    g_error ("PCRE2 does not know the general categories");
  pcre2_jit_compile (code, PCRE2_JIT_COMPLETE);
  return code;
}

static void
note_differences (GArray *found, const char *p, const char *end, guint category)
{
  for (; p < end; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);
      Difference *last = found->len ? &g_array_index (found, Difference, found->len - 1) : NULL;
      Difference next = { c, c, category };

      if (dlp_unicode_category (c) == category)
        continue;
      if (last && last->last + 1 == c && last->category == category)
        last->last = c;
      else
        g_array_append_val (found, next);
    }
}

static GArray *
find_differences (void)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (Difference));
  pcre2_code *code = compile_categories ();
  pcre2_match_data *data = pcre2_match_data_create_from_pattern (code, NULL);
  const PCRE2_SIZE *borders = pcre2_get_ovector_pointer (data);
  g_autofree char *text = NULL;
  gsize len, at = 0;
  int rc;

  text = all_characters (&len);
  while ((rc = pcre2_match (code, (PCRE2_SPTR) text, len, at, PCRE2_NO_UTF_CHECK, data, NULL)) > 1)
    {
      note_differences (found, text + borders[0], text + borders[1], rc - 2);
      at = borders[1];
    }
  g_assert (at == len);
  pcre2_match_data_free (data);
  pcre2_code_free (code);
  return found;
}

static const GArray *
get_differences (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      differences = find_differences ();
      g_once_init_leave (&once, 1);
    }
  return differences;
}

/* A set as categories that the engine has wholly inside of it, and the ranges that are left. */
typedef struct
{
  guint32 categories; /* those of the groups, and single ones */
  guint32 groups;
  guint32 singles;
  DlpCharSet rest;
  guint n_items;
} Members;

static guint8 *
engine_categories (void)
{
  const GArray *array = get_differences ();
  guint8 *categories = g_malloc (DLP_N_POINTS);

  for (gunichar c = 0; c < DLP_N_POINTS; c++)
    categories[c] = dlp_unicode_category (c);
  for (guint i = 0; i < array->len; i++)
    {
      const Difference *d = &g_array_index (array, Difference, i);

      memset (categories + d->first, d->category, d->last + 1 - d->first);
    }
  return categories;
}

/* The categories, first whole groups of them, that have nothing @outside and enough inside. */
static void
choose_categories (Members *self, const guint *counts, guint32 outside)
{
  for (guint g = 0; g < DLP_N_CATEGORY_GROUPS; g++)
    {
      guint32 group = dlp_category_group (dlp_category_groups[g][0][0]);
      guint sum = 0;

      for (guint i = 0; i < DLP_N_CATEGORIES; i++)
        sum += group >> i & 1 ? counts[i] : 0;
      if ((group & outside) == 0 && sum >= MIN_COUNT)
        {
          self->categories |= group;
          self->groups |= 1u << g;
          self->n_items++;
        }
    }
  for (guint i = 0; i < DLP_N_CATEGORIES; i++)
    if (!((self->categories | outside) >> i & 1) && counts[i] >= MIN_COUNT)
      {
        self->categories |= 1u << i;
        self->singles |= 1u << i;
        self->n_items++;
      }
}

static Members *
find_members (const DlpCharSet *set, gboolean inverted, const guint8 *categories)
{
  Members *self = g_new0 (Members, 1);
  guint counts[DLP_N_CATEGORIES] = { 0 };
  guint32 outside = 0;
  gunichar first = 0, last = 0;

  for (gunichar c = 0; c < DLP_N_POINTS; c++)
    if (c >= 0xd800 && c <= 0xdfff)
      continue;
    else if (dlp_char_set_contains (set, c) != inverted)
      counts[categories[c]]++;
    else
      outside |= 1u << categories[c];
  choose_categories (self, counts, outside);

  for (gunichar c = 0; c < DLP_N_POINTS; c++)
    if (dlp_char_set_contains (set, c) != inverted && !(self->categories >> categories[c] & 1))
      dlp_char_set_add (&self->rest, c);
  for (; dlp_char_set_next_range (&self->rest, &first, &last); first = last + 1)
    self->n_items++;
  return self;
}

static void
append_members (const Members *self, GString *out)
{
  gunichar first = 0, last = 0;

  for (guint g = 0; g < DLP_N_CATEGORY_GROUPS; g++)
    if (self->groups >> g & 1)
      g_string_append_printf (out, "\\p{%s}", dlp_category_groups[g][0]);
  for (guint i = 0; i < DLP_N_CATEGORIES; i++)
    if (self->singles >> i & 1)
      g_string_append_printf (out, "\\p{%s}", dlp_category_names[i][0]);
  for (; dlp_char_set_next_range (&self->rest, &first, &last); first = last + 1)
    g_string_append_printf (out, first == last ? "\\x{%x}" : "\\x{%x}-\\x{%x}", first, last);
}

void
dlp_char_set_append_members (const DlpCharSet *self, GString *out)
{
  g_autofree guint8 *categories = engine_categories ();
  g_autofree Members *members = find_members (self, FALSE, categories);

  append_members (members, out);
}

/* The shorter of the set and all that is not in it. */
void
dlp_char_set_append_class (const DlpCharSet *self, GString *out)
{
  g_autofree guint8 *categories = engine_categories ();
  g_autofree Members *inside = find_members (self, FALSE, categories);
  g_autofree Members *outside = find_members (self, TRUE, categories);

  if (inside->n_items == 0)
    g_string_append (out, "(?!)");
  else if (outside->n_items == 0)
    g_string_append (out, "(?s:.)");
  else
    {
      gboolean shorter = outside->n_items < inside->n_items;

      g_string_append (out, shorter ? "[^" : "[");
      append_members (shorter ? outside : inside, out);
      g_string_append_c (out, ']');
    }
}
