/* SPDX-License-Identifier: MIT */

#include "split-ratios.h"

#include <stdbool.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

#define DECIMALS 9
/* The sum of all sides stays below 2^63. */
#define MAX_DIGITS 8

#define NAME_CHARACTERS G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-"

static bool
fail (const char *text, guint n, const char *message, GError **error)
{
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "ratios=%s: entry %u %s; it is a list such as train:0.99,valid:0.01", text, n,
               message);
  return false;
}

/* A decimal number, exactly: in units of 10^-9. */
static bool
parse_ratio (const char *text, gsize length, guint64 *units)
{
  const char *end = text + length;
  const char *point = memchr (text, '.', length);
  gsize whole = point != NULL ? (gsize) (point - text) : length;
  gsize decimals = point != NULL ? (gsize) (end - point) - 1 : 0;

  if (whole > MAX_DIGITS || decimals > DECIMALS || whole + decimals == 0)
    return false;
  *units = 0;
  for (const char *p = text; p < end; p++)
    {
      if (p == point)
        continue;
      if (!g_ascii_isdigit (*p))
        return false;
      *units = *units * 10 + (guint64) (*p - '0');
    }
  for (gsize i = decimals; i < DECIMALS; i++)
    *units *= 10;
  return true;
}

static bool
check_name (const SplitRatios *self, const char *text, guint n, const char *name, GError **error)
{
  if (*name == '\0' || strspn (name, NAME_CHARACTERS) < strlen (name))
    return fail (text, n, "has no name of letters, digits, _ and - before its colon", error);
  if (strcmp (name, "in") == 0)
    return fail (text, n, "is called “in”, as the input is", error);
  if (strcmp (name, "rejected") == 0)
    return fail (text, n, "is called “rejected”, as pads of what counts as bad are", error);
  if (split_ratios_find (self, name) >= 0)
    return fail (text, n, "has the name of one before it", error);
  return true;
}

static bool
parse_side (SplitRatios *self, const char *text, const char *entry, gsize length, GError **error)
{
  const char *colon = memchr (entry, ':', length);
  guint n = self->n_sides + 1;
  gsize name_length = colon != NULL ? (gsize) (colon - entry) : length;
  g_autofree char *name = g_strndup (entry, name_length);
  guint64 units;

  if (n > SPLIT_MAX_SIDES)
    return fail (text, n, "is one too many, there are 32 at most", error);
  if (!check_name (self, text, n, name, error))
    return false;
  if (colon == NULL)
    return fail (text, n, "has no colon and ratio behind its name", error);
  if (!parse_ratio (colon + 1, length - name_length - 1, &units) || units == 0)
    return fail (text, n,
                 "has no ratio of at most 8 digits, and 9 behind the point, above 0, behind its "
                 "colon",
                 error);
  self->names[self->n_sides] = g_steal_pointer (&name);
  self->ends[self->n_sides] = units + (self->n_sides > 0 ? self->ends[self->n_sides - 1] : 0);
  self->n_sides++;
  return true;
}

SplitRatios *
split_ratios_parse (const char *text, GError **error)
{
  g_autoptr (SplitRatios) self = g_new0 (SplitRatios, 1);
  const char *p = text != NULL ? text : "";

  for (;;)
    {
      gsize length = strcspn (p, ",");

      if (!parse_side (self, text != NULL ? text : "", p, length, error))
        return NULL;
      p += length;
      if (*p == '\0')
        return g_steal_pointer (&self);
      p++;
    }
}

void
split_ratios_free (SplitRatios *self)
{
  for (guint i = 0; i < self->n_sides; i++)
    g_free (self->names[i]);
  g_free (self);
}

int
split_ratios_find (const SplitRatios *self, const char *name)
{
  for (guint i = 0; i < self->n_sides; i++)
    if (strcmp (self->names[i], name) == 0)
      return (int) i;
  return -1;
}
