/* SPDX-License-Identifier: MIT */

#include "stage-advances.h"

#include "stage-state.h"

static guint64
get_place (const StageAdvances *self, guint i)
{
  return g_array_index (self->places, guint64, i);
}

void
stage_advances_init (StageAdvances *self)
{
  self->places = g_array_new (FALSE, FALSE, sizeof (guint64));
  self->passed = 0;
}

void
stage_advances_clear (StageAdvances *self)
{
  g_clear_pointer (&self->places, g_array_unref);
}

void
stage_advances_add (StageAdvances *self, guint64 at)
{
  guint i = self->places->len;

  while (i > 0 && get_place (self, i - 1) > at)
    i--;
  if (i == 0 || get_place (self, i - 1) != at)
    g_array_insert_val (self->places, i, at);
}

guint64
stage_advances_find (const StageAdvances *self, guint64 start, gboolean is_first)
{
  for (guint i = 0; i < self->places->len; i++)
    {
      guint64 at = get_place (self, i);

      if (at > start || (at == 0 && is_first))
        return at;
    }
  return STAGE_NEVER;
}

void
stage_advances_describe (const StageAdvances *self, guint64 passed, GVariantDict *dict)
{
  g_variant_dict_insert_value (dict, "advances",
                               g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, self->places->data,
                                                          self->places->len, sizeof (guint64)));
  g_variant_dict_insert (dict, "passed", "t", MAX (self->passed, passed));
}

static gboolean
load_places (StageAdvances *self, GVariant *described, GError **error)
{
  g_autoptr (GVariant) places =
      dlp_state_get_value (described, "advances", G_VARIANT_TYPE ("at"), error);
  const guint64 *values;
  gsize n;

  if (places == NULL)
    return FALSE;
  values = g_variant_get_fixed_array (places, &n, sizeof *values);
  g_array_set_size (self->places, 0);
  for (gsize i = 0; i < n; i++)
    {
      if (i > 0 && values[i] <= values[i - 1])
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                       "key “advances”: %" G_GUINT64_FORMAT " behind %" G_GUINT64_FORMAT
                       "; they must ascend",
                       values[i], values[i - 1]);
          return FALSE;
        }
      g_array_append_val (self->places, values[i]);
    }
  return TRUE;
}

gboolean
stage_advances_load (StageAdvances *self, GVariant *described, guint64 least, GError **error)
{
  if (!dlp_state_get_uint64 (described, "passed", G_MAXINT64, &self->passed, error))
    return FALSE;
  if (self->passed >= least)
    return load_places (self, described, error);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “passed” is %" G_GUINT64_FORMAT ", below the %" G_GUINT64_FORMAT
               " of all stages",
               self->passed, least);
  return FALSE;
}
