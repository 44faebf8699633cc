/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* What a mix took of one input. */
typedef struct
{
  guint64 records;
  guint64 tokens;
  guint64 epochs; /* begun */
  guint64 before; /* tokens up to where the weights changed last */
} MixCount;

typedef struct
{
  guint64 draws;
  guint64 records;
  guint64 tokens;
  guint64 period; /* of the weights */
  MixCount counts[];
} MixState;

gsize mix_state_get_size (guint n_inputs);
/* (floating). @mix: whose inputs they are. */
GVariant *mix_state_describe (const MixState *self, DlpElement *mix);
gboolean mix_state_load (MixState *self,
                         GVariant *described,
                         guint version,
                         DlpElement *mix,
                         guint n_periods,
                         GError **error);
/* (floating): asked and got, of each input. @weights: in effect. */
GVariant *
mix_state_report (const MixState *self, DlpElement *mix, const double *weights, gboolean by_tokens);

G_END_DECLS
