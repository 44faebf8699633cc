/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * DlpRandom:
 *
 * A stream of counter-based random numbers: a draw is a pure function of (seed, stage, stream name,
 * source, counter), so the state of a stream is one integer, which its user keeps. The stream name
 * is folded in by 64 bit FNV-1a, the rest by the SplitMix64 finaliser (Steele, Lea, Flood: Fast
 * splittable pseudorandom number generators, OOPSLA 2014). All arithmetic is unsigned 64 bit and
 * wraps.
 */
typedef struct
{
  guint64 key;
} DlpRandom;

DLP_API DlpRandom dlp_random_init (guint64 seed, guint64 stage, const char *name, guint64 source);
/* Draw number @counter of the stream. */
DLP_API guint64 dlp_random_draw (DlpRandom self, guint64 counter);
/* The same in [0, 1): the upper 53 bits times 2^-53. */
DLP_API double dlp_random_draw_double (DlpRandom self, guint64 counter);

G_END_DECLS
