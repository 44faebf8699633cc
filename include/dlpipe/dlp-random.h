/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_RANDOM (dlp_random_get_type ())
/**
 * DlpRandom:
 * @key: all that decides the draws
 *
 * A stream of counter-based random numbers: a draw is a pure function of (seed, stage, stream name,
 * source, counter), so the state of a stream is one integer, which its user keeps. The stream name
 * is folded in by 64 bit FNV-1a, the rest by the SplitMix64 finaliser (Steele, Lea, Flood: Fast
 * splittable pseudorandom number generators, OOPSLA 2014). All arithmetic is unsigned 64 bit and
 * wraps. In C it goes by value, being one integer; other languages have dlp_random_new().
 *
 * Since: 0.1
 */
typedef struct
{
  guint64 key;
} DlpRandom;

DLP_AVAILABLE_IN_0_2
GType dlp_random_get_type (void) G_GNUC_CONST;

/**
 * dlp_random_init: (skip)
 * @seed: the seed of the pipeline
 * @stage: the stage
 * @name: the name of the stream
 * @source: the ordinal of the source
 *
 * Makes a stream.
 *
 * Threads: any.
 *
 * Returns: a stream of numbers
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRandom dlp_random_init (guint64 seed, guint64 stage, const char *name, guint64 source);

/**
 * dlp_random_draw: (skip)
 * @self: a stream of numbers
 * @counter: the number of the draw
 *
 * Draws a number.
 *
 * Threads: any.
 *
 * Returns: draw number @counter of the stream
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_random_draw (DlpRandom self, guint64 counter);

/**
 * dlp_random_draw_double: (skip)
 * @self: a stream of numbers
 * @counter: the number of the draw
 *
 * Draws a number in [0, 1): the upper 53 bits of dlp_random_draw() times 2^-53.
 *
 * Threads: any.
 *
 * Returns: draw number @counter of the stream
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
double dlp_random_draw_double (DlpRandom self, guint64 counter);

/**
 * dlp_random_new:
 * @seed: the seed of the pipeline
 * @stage: the stage
 * @name: the name of the stream
 * @source: the ordinal of the source
 *
 * Makes a stream, as dlp_random_init().
 *
 * Threads: any.
 *
 * Returns: (transfer full): a stream of numbers, to be freed by g_free()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpRandom *dlp_random_new (guint64 seed, guint64 stage, const char *name, guint64 source);

/**
 * dlp_random_draw_at: (rename-to dlp_random_draw)
 * @self: a stream of numbers
 * @counter: the number of the draw
 *
 * Draws a number, as dlp_random_draw().
 *
 * Threads: any.
 *
 * Returns: draw number @counter of the stream
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint64 dlp_random_draw_at (const DlpRandom *self, guint64 counter);

/**
 * dlp_random_draw_double_at: (rename-to dlp_random_draw_double)
 * @self: a stream of numbers
 * @counter: the number of the draw
 *
 * Draws a number in [0, 1), as dlp_random_draw_double().
 *
 * Threads: any.
 *
 * Returns: draw number @counter of the stream
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
double dlp_random_draw_double_at (const DlpRandom *self, guint64 counter);

G_END_DECLS
