/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "dlp-char-set.h"
#include "dlp-dialect.h"
#include "dlp-pattern.h"
#include "dlp-unicode.h"

#include <pcre2.h>
#include <pthread.h>
#include <string.h>

/* A property is a look into a table, a range a comparison: below this many characters the ranges
 * are as good. */
#define MIN_COUNT 32
#define MANY 100
#define TEXT_MAX (4 * DLP_N_POINTS)

/* For the whole process, made once. */
static GArray *differences; /* of DlpCategoryRun: what the engine has there */
static DlpCharSet *disputed;

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
  dlp_regex_compile_jit (code);
  return code;
}

static void
note_differences (const char *p, const char *end, guint category)
{
  for (; p < end; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);
      DlpCategoryRun *last =
          differences->len ? &g_array_index (differences, DlpCategoryRun, differences->len - 1) :
                             NULL;
      DlpCategoryRun next = { c, c, category };

      if (dlp_unicode_category (c) == category)
        continue;
      if (last && last->last + 1 == c && last->category == category)
        last->last = c;
      else
        g_array_append_val (differences, next);
    }
}

static void
find_differences (void)
{
  pcre2_code *code = compile_categories ();
  pcre2_match_data *data = pcre2_match_data_create_from_pattern (code, NULL);
  const PCRE2_SIZE *borders = pcre2_get_ovector_pointer (data);
  g_autofree char *text = NULL;
  gsize len, at = 0;
  int rc;

  differences = g_array_new (FALSE, FALSE, sizeof (DlpCategoryRun));
  text = all_characters (&len);
  while ((rc = pcre2_match (code, (PCRE2_SPTR) text, len, at, PCRE2_NO_UTF_CHECK, data, NULL)) > 1)
    {
      note_differences (text + borders[0], text + borders[1], rc - 2);
      at = borders[1];
    }
  g_assert (at == len);
  pcre2_match_data_free (data);
  pcre2_code_free (code);

  disputed = dlp_char_set_new ();
  for (guint i = 0; i < differences->len; i++)
    {
      const DlpCategoryRun *d = &g_array_index (differences, DlpCategoryRun, i);

      dlp_char_set_add_range (disputed, d->first, d->last);
    }
}

/* The characters that the engine has in another category than we have. */
const DlpCharSet *
dlp_char_set_get_disputed (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, find_differences);
  return disputed;
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

/* What the categories that were chosen have of what the engine and we agree on, and of the rest. */
static DlpCharSet *
covered_set (guint32 categories)
{
  DlpCharSet *set = dlp_char_set_new ();

  dlp_char_set_add_categories (set, categories);
  dlp_char_set_remove (set, disputed);
  for (guint i = 0; i < differences->len; i++)
    {
      const DlpCategoryRun *d = &g_array_index (differences, DlpCategoryRun, i);

      if (categories >> d->category & 1)
        dlp_char_set_add_range (set, d->first, d->last);
    }
  return set;
}

/* The ranges that are left of the categories, and what fits in a byte, which is looked up in a
 * bitmap before any property. */
static void
find_rest (Members *self, const DlpCharSet *wanted)
{
  g_autoptr (DlpCharSet) covered = covered_set (self->categories);
  gunichar first = 0, last = 0;

  memset (covered->bits, 0, 0x100 / 8);
  dlp_char_set_add_set (&self->rest, wanted);
  dlp_char_set_remove (&self->rest, covered);
  for (; dlp_char_set_next_range (&self->rest, &first, &last); first = last + 1)
    self->n_items++;
}

static void
count_run (const DlpCategoryRun *run,
           const DlpCharSet *wanted,
           const DlpCharSet *unwanted,
           guint *counts,
           guint32 *outside)
{
  counts[run->category] += dlp_char_set_count_range (wanted, run->first, run->last);
  if (dlp_char_set_count_range (unwanted, run->first, run->last) > 0)
    *outside |= 1u << run->category;
}

/* By the engine's categories: how much of each is wanted, and which have something that is not. */
static void
count_categories (const DlpCharSet *wanted,
                  const DlpCharSet *unwanted,
                  guint *counts,
                  guint32 *outside)
{
  g_autoptr (DlpCharSet) agreed = dlp_char_set_new (), not_agreed = dlp_char_set_new ();
  gsize n;
  const DlpCategoryRun *runs = dlp_category_get_runs (&n);

  dlp_char_set_add_set (agreed, wanted);
  dlp_char_set_remove (agreed, disputed);
  dlp_char_set_add_set (not_agreed, unwanted);
  dlp_char_set_remove (not_agreed, disputed);
  for (gsize i = 0; i < n; i++)
    count_run (&runs[i], agreed, not_agreed, counts, outside);
  for (guint i = 0; i < differences->len; i++)
    count_run (&g_array_index (differences, DlpCategoryRun, i), wanted, unwanted, counts, outside);
}

/* Of characters that are not in @decided it does not matter what becomes of them. */
static Members *
find_members (const DlpCharSet *set, const DlpCharSet *decided)
{
  Members *self = g_new0 (Members, 1);
  g_autoptr (DlpCharSet) wanted = dlp_char_set_new (), unwanted = dlp_char_set_new ();
  guint counts[DLP_N_CATEGORIES] = { 0 };
  guint32 outside = 0;

  dlp_char_set_add_set (wanted, set);
  dlp_char_set_intersect (wanted, decided);
  dlp_char_set_add_set (unwanted, decided);
  dlp_char_set_remove (unwanted, set);
  count_categories (wanted, unwanted, counts, &outside);
  choose_categories (self, counts, outside);
  find_rest (self, wanted);
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

/* All characters, or those on which the engine and we agree. */
static DlpCharSet *
decided_set (gboolean exact)
{
  DlpCharSet *set = dlp_char_set_new ();

  dlp_char_set_get_disputed ();
  dlp_char_set_add_range (set, 0xd800, 0xdfff);
  if (!exact)
    dlp_char_set_add_set (set, disputed);
  dlp_char_set_invert (set);
  return set;
}

void
dlp_char_set_append_members (const DlpCharSet *self, gboolean exact, GString *out)
{
  g_autoptr (DlpCharSet) decided = decided_set (exact);
  g_autofree Members *members = find_members (self, decided);

  append_members (members, out);
}

/* Members of the shorter of the set and all that is not in it, in brackets. Returns how many items
 * these are. */
static guint
append_shorter (const DlpCharSet *self, const DlpCharSet *decided, GString *out)
{
  g_autoptr (DlpCharSet) others = dlp_char_set_new ();
  g_autofree Members *inside = find_members (self, decided);
  g_autofree Members *outside = NULL;
  gboolean inverted;

  dlp_char_set_add_set (others, self);
  dlp_char_set_invert (others);
  outside = find_members (others, decided);
  inverted = outside->n_items < inside->n_items;

  if (inside->n_items == 0)
    g_string_append (out, "(?!)");
  else if (outside->n_items == 0)
    g_string_append (out, "(?s:.)");
  else
    {
      g_string_append (out, inverted ? "[^" : "[");
      append_members (inverted ? outside : inside, out);
      g_string_append_c (out, ']');
    }
  return MIN (inside->n_items, outside->n_items);
}

static gboolean
intersects (const DlpCharSet *a, const DlpCharSet *b)
{
  for (guint i = 0; i < G_N_ELEMENTS (a->bits); i++)
    if (a->bits[i] & b->bits[i])
      return TRUE;
  return FALSE;
}

/* Letters without Han are hundreds of ranges; all letters, where no Han is next, are few. */
void
dlp_char_set_append_class (const DlpCharSet *self, gboolean exact, GString *out)
{
  g_autoptr (DlpCharSet) decided = decided_set (exact);
  g_autoptr (GString) plain = g_string_new (NULL);
  g_autoptr (GString) with_han = g_string_new ("(?:(?!");
  g_autoptr (DlpCharSet) han = dlp_char_set_new ();
  guint n = append_shorter (self, decided, plain), m;

  dlp_char_set_add_han (han);
  if (n > MANY && !intersects (self, han))
    {
      m = append_shorter (han, decided, with_han);
      g_string_append_c (with_han, ')');
      dlp_char_set_add_set (han, self);
      m += append_shorter (han, decided, with_han);
      g_string_append_c (with_han, ')');
      if (m < n / 2)
        {
          g_string_append (out, with_han->str);
          return;
        }
    }
  g_string_append (out, plain->str);
}
