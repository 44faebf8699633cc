/* SPDX-License-Identifier: MIT */
#pragma once

#include "codec-harness.h"

G_BEGIN_DECLS

/* What the tests of all codecs have in common. */

#define CODEC_ONE "{\"text\":\"one\"}\n"
#define CODEC_TWO "{\"text\":\"two\"}\n"
#define CODEC_THREE "{\"text\":\"three\"}\n"

/* A file of tests/data/cases, in many sizes of reads and of output: @size bytes of @data (-1: up to
 * the NUL), what is in the error's message, and the warning. */
void codec_check_case (const char *name,
                       guint window_log_max,
                       const char *data,
                       gssize size,
                       const char *message,
                       const char *warning);
/* The same for bytes, whole and byte by byte. */
void codec_check_stream (GType type,
                         gconstpointer bytes,
                         gsize size,
                         const char *data,
                         const char *message,
                         const char *warning);
/* Flips a bit of @stream: never other bytes than @text without an error where all of it
 * @is_checked, and always the same outcome however the input is cut. */
void codec_check_flip (GType type,
                       GRand *rand,
                       const GByteArray *text,
                       const GByteArray *stream,
                       gboolean is_checked);

typedef struct
{
  const char *name;
  GType type;
  /* Appends one stream, frame or member; @is_checked: with a checksum. */
  void (*append) (GByteArray *stream,
                  GRand *rand,
                  const guint8 *data,
                  gsize size,
                  gboolean is_checked);
  /* How often the bit flips are repeated; 0: 60. */
  guint flip_rounds;
} CodecKind;

/* Text, noise and runs. */
GByteArray *codec_make_text (GRand *rand, gsize size);
/* Several pieces of random sizes, empty ones among them. @ends: (nullable): of pieces, compressed.
 */
GByteArray *codec_make_stream (const CodecKind *kind,
                               GRand *rand,
                               const GByteArray *text,
                               gboolean is_checked,
                               GArray *ends);

/* "/NAME/truncation", "bit-flips", "bit-flips-unchecked", "borders", "expansion", "many". */
void codec_add_tests (const CodecKind *kind);

G_END_DECLS
