/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* Weights from a position of the mix on. */
typedef struct
{
  guint64 at;
  gboolean in_records; /* else in tokens */
  double *weights;     /* one for each input */
} MixPeriod;

/* (transfer full) (element-type MixPeriod): the first is from 0 on, the others as they are given,
 * each POSITION:WEIGHTS. @weights, @later: (nullable). */
GPtrArray *
mix_periods_new (const char *weights, const char *const *later, DlpElement *mix, GError **error);
/* Whether an input has a weight above 0 in period @from or a later one. */
gboolean mix_periods_use (const GPtrArray *self, guint from, guint input);

G_END_DECLS
