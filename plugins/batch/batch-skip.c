/* SPDX-License-Identifier: MIT */

#include "batch-skip.h"

GArray *
batch_skip_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (BatchRange));
}

BatchSkip
batch_skip_find (GArray *skip, guint64 index, guint64 position)
{
  BatchSkip found = BATCH_SKIP_NO;

  for (guint i = 0; i < skip->len; i++)
    {
      const BatchRange *range = &g_array_index (skip, BatchRange, i);

      if (index < range->first || index > range->last)
        continue;
      if (position >= range->from)
        return BATCH_SKIP_YES;
      found = BATCH_SKIP_TOO_LATE;
    }
  return found;
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
    {
      if (range.last > G_MAXINT64 || range.first > range.last || range.from > G_MAXINT64)
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                       "key “skip”: range %u is %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                       ", behind %" G_GUINT64_FORMAT
                       " that went out; the first is not behind the last, and all are below 2^63",
                       skip->len, range.first, range.last, range.from);
          return FALSE;
        }
      g_array_append_val (skip, range);
    }
  return TRUE;
}
