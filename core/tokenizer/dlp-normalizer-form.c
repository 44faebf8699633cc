/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer-step.h"

/* NFC, NFD, NFKC and NFKD of Unicode 9.0. Only characters of the form's set can change or make
 * others change; what is between two others is decomposed, ordered and composed by itself. */

#define FEW 24
#define BLOCK 32

typedef struct
{
  const char *type;
  const DlpPageSet *set;
  const DlpPageTable *table;
  gboolean composes;
} DlpForm;

static const DlpForm forms[] = {
  { "NFC", &dlp_nfc_set, &dlp_canonical_table, TRUE },
  { "NFD", &dlp_nfd_set, &dlp_canonical_table, FALSE },
  { "NFKC", &dlp_nfkc_set, &dlp_compatible_table, TRUE },
  { "NFKD", &dlp_nfkd_set, &dlp_compatible_table, FALSE },
};

/* A character and, above it, its combining class. */
#define POINT(c, ccc) ((c) | (guint32) (ccc) << 24)
#define CHAR(point) ((point) &0xffffffu)
#define CLASS(point) ((point) >> 24)

#define N_VOWELS 21u
#define N_TAILS 28u
#define IS_SYLLABLE(c) ((c) -0xac00u < 11172u)

/* What the two compose to, 0 if they do not; neither has a decomposition but a syllable. */
static gunichar
compose (gunichar first, gunichar second)
{
  guint at;

  if (second - 0x1161u < N_VOWELS)
    return first - 0x1100u < 19u ?
               0xac00 + ((first - 0x1100) * N_VOWELS + second - 0x1161) * N_TAILS :
               0;
  if (second - 0x11a8u < N_TAILS - 1)
    return IS_SYLLABLE (first) && (first - 0xac00) % N_TAILS == 0 ? first + second - 0x11a7 : 0;

  for (at = (first * 0x9e3779b1u + second * 0x85ebca6bu) >> 21; dlp_pairs[at]; at = (at + 1) % 2048)
    if (dlp_pairs[at] >> 21 == ((guint64) first << 21 | second))
      return dlp_pairs[at] & 0x1fffff;
  return 0;
}

static guint32 *
reserve_points (DlpNormalizerScratch *scratch, gsize n)
{
  if (G_UNLIKELY (scratch->size_points < n))
    {
      scratch->size_points = MAX (2 * scratch->size_points, n + 64);
      scratch->points = g_renew (guint32, scratch->points, scratch->size_points);
    }
  return scratch->points;
}

static void
sort_few (guint32 *points, gsize n)
{
  for (gsize i = 1; i < n; i++)
    {
      guint32 point = points[i];
      gsize at = i;

      for (; at > 0 && CLASS (points[at - 1]) > CLASS (point); at--)
        points[at] = points[at - 1];
      points[at] = point;
    }
}

/* Stable; @room has place for @n more. */
static void
sort_many (guint32 *points, gsize n, guint32 *room)
{
  gsize starts[257] = { 0 };

  for (gsize i = 0; i < n; i++)
    starts[CLASS (points[i]) + 1]++;
  for (guint i = 1; i < 257; i++)
    starts[i] += starts[i - 1];
  for (gsize i = 0; i < n; i++)
    room[starts[CLASS (points[i])]++] = points[i];
  memcpy (points, room, n * sizeof *points);
}

static void
sort_marks (DlpNormalizerScratch *scratch)
{
  gsize n = scratch->n_points;
  guint32 *points = scratch->points;
  gsize first, last;

  for (first = 0; first < n; first = last + 1)
    {
      for (last = first; last < n && CLASS (points[last]) > 0; last++)
        ;
      if (last - first <= FEW)
        sort_few (points + first, last - first);
      else
        {
          points = reserve_points (scratch, 2 * n);
          sort_many (points + first, last - first, points + n);
        }
    }
}

/* A mark composes with the last starter unless one of its own class or above is between. */
static void
compose_points (DlpNormalizerScratch *scratch)
{
  guint32 *points = scratch->points;
  gsize starter = G_MAXSIZE, n = 0;

  for (gsize i = 0; i < scratch->n_points; i++)
    {
      if (starter != G_MAXSIZE && (n - 1 == starter || CLASS (points[n - 1]) < CLASS (points[i])))
        {
          gunichar c = compose (CHAR (points[starter]), CHAR (points[i]));

          if (c != 0)
            {
              points[starter] = c;
              continue;
            }
        }
      if (CLASS (points[i]) == 0)
        starter = n;
      points[n++] = points[i];
    }
  scratch->n_points = n;
}

static void
flush_points (const DlpForm *form, DlpNormalizerScratch *scratch, DlpNormalizerText *out)
{
  guint8 *p;

  if (scratch->n_points > 1)
    {
      sort_marks (scratch);
      if (form->composes)
        compose_points (scratch);
    }
  p = dlp_text_reserve (out, 4 * scratch->n_points);
  for (gsize i = 0; i < scratch->n_points; i++)
    p = dlp_utf8_write (p, CHAR (scratch->points[i]));
  out->len = p - out->bytes;
  scratch->n_points = 0;
}

static void
push_point (const DlpForm *form,
            DlpNormalizerScratch *scratch,
            DlpNormalizerText *out,
            gunichar c,
            guint ccc)
{
  if (ccc == 0 && scratch->n_points > 0 && !dlp_page_set_has (form->set, c))
    flush_points (form, scratch, out);
  reserve_points (scratch, scratch->n_points + 1)[scratch->n_points] = POINT (c, ccc);
  scratch->n_points++;
}

static void
push_syllable (const DlpForm *form,
               DlpNormalizerScratch *scratch,
               DlpNormalizerText *out,
               gunichar c)
{
  guint index = c - 0xac00;

  push_point (form, scratch, out, 0x1100 + index / (N_VOWELS * N_TAILS), 0);
  push_point (form, scratch, out, 0x1161 + index / N_TAILS % N_VOWELS, 0);
  if (index % N_TAILS)
    push_point (form, scratch, out, 0x11a7 + index % N_TAILS, 0);
}

/* Syllables need not be decomposed to be composed again. */
static void
push_decomposed (const DlpForm *form,
                 DlpNormalizerScratch *scratch,
                 DlpNormalizerText *out,
                 gunichar c)
{
  guint value = dlp_page_table_get (form->table, c);
  const guint8 *p, *end;

  if (!form->composes && IS_SYLLABLE (c))
    {
      push_syllable (form, scratch, out, c);
      return;
    }
  if (value < DLP_FIRST_MAPPING)
    {
      push_point (form, scratch, out, c, value & 255);
      return;
    }
  p = dlp_mappings + value - DLP_FIRST_MAPPING;
  end = p + 1 + *p;
  for (p++; p < end;)
    {
      p = dlp_utf8_read (p, &c);
      push_point (form, scratch, out, c, dlp_page_table_get (form->table, c) & 255);
    }
}

/* A starter that has a decomposition may compose in another way. */
static gboolean
may_compose (const DlpForm *form, gunichar starter, gunichar c)
{
  return dlp_page_table_get (form->table, starter) >= DLP_FIRST_MAPPING ||
         compose (starter, c) != 0;
}

/* @p is the first of the set behind @start, which is the one before it if there is one. Returns the
 * first that makes something change, or NULL with *@stop behind all that are of the set. */
static const guint8 *
find_change (const DlpForm *form,
             const guint8 *start,
             const guint8 *p,
             const guint8 *end,
             const guint8 **stop)
{
  gunichar starter = 0, c;
  const guint8 *next;
  guint last = 0;

  if (start < p)
    dlp_utf8_read (start, &starter);
  for (; p < end; p = next)
    {
      guint value;

      next = dlp_utf8_read (p, &c);
      if (!dlp_page_set_has (form->set, c))
        break;
      value = dlp_page_table_get (form->table, c);
      if (value == 0 || value >= DLP_FIRST_MAPPING || (value & 255) < last ||
          (value >= DLP_MAPPING_MAYBE && form->composes && may_compose (form, starter, c)))
        return p;
      last = value & 255;
      if (last == 0)
        starter = c;
    }
  *stop = p;
  return NULL;
}

/* The first of the set from @p on. */
static const guint8 *
find_first (const DlpForm *form, const guint8 *p, const guint8 *end)
{
  if (form->set != &dlp_nfc_set)
    return dlp_page_set_find (form->set, p, end);
  while (p < end)
    {
      const guint8 *next, *stop;
      gunichar c;

      p = dlp_nfc_skip (p, end);
      stop = end - p > BLOCK ? p + BLOCK : end;
      for (; p < stop; p = next)
        {
          next = dlp_utf8_read (p, &c);
          if (dlp_page_set_has (form->set, c))
            return p;
        }
    }
  return p;
}

/* Returns where to go on: at the end, or at a character that is not of the set. */
static const guint8 *
normalize_at (const DlpForm *form, DlpNormalizerScratch *scratch, DlpEdit *edit, const guint8 *p)
{
  const guint8 *start = p > edit->text ? dlp_utf8_previous (p) : p;
  const guint8 *change, *next;
  gunichar c;

  change = find_change (form, start, p, edit->end, &next);
  if (change == NULL)
    return next;
  dlp_edit_cut (edit, start, start);
  for (p = start; p < edit->end; p = next)
    {
      next = dlp_utf8_read (p, &c);
      if (p > change && !dlp_page_set_has (form->set, c))
        break;
      push_decomposed (form, scratch, edit->out, c);
    }
  flush_points (form, scratch, edit->out);
  edit->done = p;
  return p;
}

static gboolean
run_form (const DlpNormalizerStep *self,
          DlpNormalizerScratch *scratch,
          DlpNormalizerText *out,
          const guint8 **text,
          gsize *len)
{
  const DlpForm *form = self->table;
  DlpEdit edit = dlp_edit_begin (*text, *len, out);
  const guint8 *p = *text;

  while ((p = find_first (form, p, edit.end)) < edit.end)
    p = normalize_at (form, scratch, &edit, p);
  dlp_edit_end (&edit, text, len);
  return TRUE;
}

DlpNormalizerRun
dlp_normalizer_find_form (const char *type, gconstpointer *table)
{
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (strcmp (forms[i].type, type) == 0)
      {
        *table = &forms[i];
        return run_form;
      }
  return NULL;
}
