/* SPDX-License-Identifier: MIT */

#include "batch-skip.h"

GArray *
batch_skip_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (BatchRange));
}

gboolean
batch_skip_has (GArray *skip, guint64 index)
{
  for (guint i = 0; i < skip->len; i++)
    {
      const BatchRange *range = &g_array_index (skip, BatchRange, i);

      if (index <= range->last)
        return index >= range->first;
    }
  return FALSE;
}

GVariant *
batch_skip_describe (GArray *skip)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(ttt)"));
  for (guint i = 0; i < skip->len; i++)
    {
      const BatchRange *range = &g_array_index (skip, BatchRange, i);

      g_variant_builder_add (&builder, "(ttt)", range->first, range->last, range->from);
    }
  return g_variant_builder_end (&builder);
}

static gboolean
add_range (GArray *skip, const BatchRange *range, GError **error)
{
  guint64 end = skip->len > 0 ? g_array_index (skip, BatchRange, skip->len - 1).last + 1 : 0;

  if (range->first >= end && range->first <= range->last && range->last <= G_MAXINT64 &&
      range->from <= G_MAXINT64)
    {
      g_array_append_val (skip, *range);
      return TRUE;
    }
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “skip”: range %u is %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
               ", behind %" G_GUINT64_FORMAT
               " that went out; the first is at least %" G_GUINT64_FORMAT
               " and not behind the last, and all are below 2^63",
               skip->len, range->first, range->last, range->from, end);
  return FALSE;
}

gboolean
batch_skip_load (GArray *skip, GVariant *described, GError **error)
{
  g_autoptr (GVariant) ranges =
      dlp_state_get_value (described, "skip", G_VARIANT_TYPE ("a(ttt)"), error);
  GVariantIter iter;
  BatchRange range;

  if (ranges == NULL)
    return FALSE;
  g_array_set_size (skip, 0);
  g_variant_iter_init (&iter, ranges);
  while (g_variant_iter_next (&iter, "(ttt)", &range.first, &range.last, &range.from))
    if (!add_range (skip, &range, error))
      return FALSE;
  return TRUE;
}

gboolean
batch_skip_check (GArray *skip, guint64 batches, guint64 position, GError **error)
{
  for (guint i = 0; i < skip->len; i++)
    {
      const BatchRange *range = &g_array_index (skip, BatchRange, i);
      guint64 first = MAX (range->first, batches);

      if (range->last < batches)
        continue;
      position += first - batches;
      batches = range->last + 1;
      if (position >= range->from)
        continue;
      g_set_error (
          error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
          "batch %" G_GUINT64_FORMAT " is to be skipped, but was delivered before the "
          "state was saved; take it back (dlpipe-state skip --clear), or take an older state",
          first);
      return FALSE;
    }
  return TRUE;
}
