/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-stages.h>

G_DEFINE_INTERFACE (DlpStages, dlp_stages, DLP_TYPE_ELEMENT)

static void
dlp_stages_default_init (DlpStagesInterface *iface)
{
}

gboolean
dlp_stages_advance (DlpStages *self, guint64 *at, GError **error)
{
  guint64 place = G_MAXUINT64;

  g_return_val_if_fail (DLP_IS_STAGES (self), FALSE);

  if (!DLP_STAGES_GET_IFACE (self)->advance (self, &place, error))
    return FALSE;
  if (at != NULL)
    *at = place;
  return TRUE;
}

gboolean
dlp_stages_advance_at (DlpStages *self, guint64 at, GError **error)
{
  g_return_val_if_fail (DLP_IS_STAGES (self), FALSE);
  g_return_val_if_fail (at < G_MAXUINT64, FALSE);

  return DLP_STAGES_GET_IFACE (self)->advance (self, &at, error);
}

guint
dlp_stages_get_stage (DlpStages *self)
{
  g_return_val_if_fail (DLP_IS_STAGES (self), 0);

  return DLP_STAGES_GET_IFACE (self)->get_stage (self);
}
