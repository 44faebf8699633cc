/* SPDX-License-Identifier: MIT */

#include "dlp-source-tallies-private.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#define STAGE "stage"
#define SOURCE "source"

void
dlp_source_tallies_clear (DlpSourceTallies *self)
{
  g_free (self->items);
  *self = (DlpSourceTallies){ NULL };
}

static int
compare (const DlpSourceTally *item, guint32 stage, guint32 source)
{
  if (item->stage != stage)
    return item->stage < stage ? -1 : 1;
  return item->source < source ? -1 : item->source > source;
}

/* Where it is, or belongs. */
static guint
find (const DlpSourceTallies *self, guint32 stage, guint32 source)
{
  guint low = 0, high = self->n;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (compare (&self->items[middle], stage, source) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
insert (DlpSourceTallies *self, guint at, guint32 stage, guint32 source)
{
  if (self->n == self->capacity)
    {
      self->capacity = MAX (4, self->capacity * 2);
      self->items = g_renew (DlpSourceTally, self->items, self->capacity);
    }
  memmove (&self->items[at + 1], &self->items[at], (self->n - at) * sizeof (DlpSourceTally));
  self->items[at] = (DlpSourceTally){ .stage = stage, .source = source };
  self->n++;
}

DlpSourceTally *
dlp_source_tallies_get (DlpSourceTallies *self, guint32 stage, guint32 source)
{
  if (self->last < self->n && compare (&self->items[self->last], stage, source) == 0)
    return &self->items[self->last];
  self->last = find (self, stage, source);
  if (self->last == self->n || compare (&self->items[self->last], stage, source) != 0)
    insert (self, self->last, stage, source);
  return &self->items[self->last];
}

void
dlp_source_tallies_add (DlpSourceTallies *self, const DlpSourceTallies *other)
{
  for (guint i = 0; i < other->n; i++)
    {
      const DlpSourceTally *from = &other->items[i];
      DlpSourceTally *to = dlp_source_tallies_get (self, from->stage, from->source);

      for (guint k = 0; k < G_N_ELEMENTS (to->n); k++)
        to->n[k] += from->n[k];
    }
}

/* ---- as a value ---- */

GVariant *
dlp_source_tallies_describe (const DlpSourceTally *items, gsize n, const char *const *names)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{st}"));
  for (gsize i = 0; i < n; i++)
    {
      g_variant_builder_open (&builder, G_VARIANT_TYPE ("a{st}"));
      g_variant_builder_add (&builder, "{st}", STAGE, (guint64) items[i].stage);
      g_variant_builder_add (&builder, "{st}", SOURCE, (guint64) items[i].source);
      for (guint k = 0; names[k] != NULL; k++)
        g_variant_builder_add (&builder, "{st}", names[k], items[i].n[k]);
      g_variant_builder_close (&builder);
    }
  return g_variant_builder_end (&builder);
}

static bool
take (GVariant *item, const char *key, guint64 max, guint64 *value, guint *taken, GError **error)
{
  if (g_variant_lookup (item, key, "t", value) && *value <= max)
    {
      ++*taken;
      return true;
    }
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “by-source”: “%s” is missing, or above the %" G_GUINT64_FORMAT " allowed", key,
               max);
  return false;
}

static bool
load_one (DlpSourceTallies *self, GVariant *item, const char *const *names, GError **error)
{
  guint64 stage, source;
  guint taken = 0;
  DlpSourceTally *to;

  if (!take (item, STAGE, G_MAXUINT32, &stage, &taken, error) ||
      !take (item, SOURCE, G_MAXUINT32, &source, &taken, error))
    return false;
  if (self->n > 0 && compare (&self->items[self->n - 1], (guint32) stage, (guint32) source) >= 0)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "key “by-source”: stage %" G_GUINT64_FORMAT " source %" G_GUINT64_FORMAT
                   " is not behind the one before it",
                   stage, source);
      return false;
    }
  to = dlp_source_tallies_get (self, (guint32) stage, (guint32) source);
  for (guint k = 0; names[k] != NULL; k++)
    if (!take (item, names[k], G_MAXUINT64, &to->n[k], &taken, error))
      return false;
  if (g_variant_n_children (item) == taken)
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “by-source”: of stage %" G_GUINT64_FORMAT " source %" G_GUINT64_FORMAT
               " there are %zu values; known are %u",
               stage, source, g_variant_n_children (item), taken);
  return false;
}

bool
dlp_source_tallies_load (DlpSourceTallies *self,
                         GVariant *described,
                         const char *const *names,
                         GError **error)
{
  dlp_source_tallies_clear (self);
  for (gsize i = 0; i < g_variant_n_children (described); i++)
    {
      g_autoptr (GVariant) item = g_variant_get_child_value (described, i);

      if (!load_one (self, item, names, error))
        return false;
    }
  return true;
}
