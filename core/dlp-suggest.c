/* SPDX-License-Identifier: MIT */
#include "dlp-suggest-private.h"

#include <string.h>

#define MAX_LENGTH 64
#define EDIT 4
#define NEARLY_SAME 1

static guint
substitution_cost (char a, char b)
{
  if (a == b)
    return 0;
  if (g_ascii_tolower (a) == g_ascii_tolower (b))
    return NEARLY_SAME;
  if ((a == '-' && b == '_') || (a == '_' && b == '-'))
    return NEARLY_SAME;
  return EDIT;
}

/* Damerau-Levenshtein: insertion, deletion, substitution, and two neighbours exchanged. */
static guint
distance (const char *a, gsize a_length, const char *b, gsize b_length)
{
  guint rows[3][MAX_LENGTH + 1];

  for (gsize j = 0; j <= b_length; j++)
    rows[0][j] = j * EDIT;
  for (gsize i = 1; i <= a_length; i++)
    {
      guint *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

      row[0] = i * EDIT;
      for (gsize j = 1; j <= b_length; j++)
        {
          guint best = last[j - 1] + substitution_cost (a[i - 1], b[j - 1]);

          best = MIN (best, last[j] + EDIT);
          best = MIN (best, row[j - 1] + EDIT);
          if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            best = MIN (best, before[j - 2] + EDIT);
          row[j] = best;
        }
    }
  return rows[a_length % 3][b_length];
}

/* "megatron" for "megatron-sink": what was begun, if only one begins so. */
static const char *
find_completion (const char *name, gsize length, const char *const *candidates)
{
  const char *found = NULL;

  if (length < 3)
    return NULL;
  for (gsize i = 0; candidates[i] != NULL; i++)
    {
      if (g_ascii_strncasecmp (candidates[i], name, length) != 0)
        continue;
      if (found != NULL)
        return NULL;
      found = candidates[i];
    }
  return found;
}

const char *
dlp_suggest (const char *name, const char *const *candidates)
{
  const char *found = NULL;
  gsize length;
  guint limit;

  g_return_val_if_fail (name != NULL, NULL);

  length = strlen (name);
  if (candidates == NULL || length == 0 || length > MAX_LENGTH)
    return NULL;

  /* One edit for every three letters, but never all of them. */
  limit = MIN ((length + 2) / 3 * EDIT, length * EDIT - 1);
  for (gsize i = 0; candidates[i] != NULL; i++)
    {
      gsize other = strlen (candidates[i]);
      gsize apart = other > length ? other - length : length - other;
      guint d;

      if (other > MAX_LENGTH || apart * EDIT > limit)
        continue;
      d = distance (name, length, candidates[i], other);
      if (d > limit || (found != NULL && d == limit))
        continue;
      found = candidates[i];
      limit = d;
    }
  return found != NULL ? found : find_completion (name, length, candidates);
}

char *
dlp_suggest_hint (const char *name, const char *const *candidates)
{
  const char *found = dlp_suggest (name, candidates);

  return found != NULL ? g_strdup_printf ("did you mean \"%s\"?", found) : NULL;
}
