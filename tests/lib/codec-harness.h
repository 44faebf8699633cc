/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

/* What came out of a stream: the bytes, the error behind them if any, the warning. */
typedef struct
{
  GByteArray *data;
  GError *error;
  char *warning;
} CodecResult;

void codec_result_free (CodecResult *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CodecResult, codec_result_free)

/* Runs a decoder, which it takes, over bytes handed over @in_chunk at a time, into buffers of
 * @out_chunk bytes: each of exactly its length on the heap, so that AddressSanitizer sees an
 * overrun. Fails the test where the decoder breaks its contract. */
CodecResult *
codec_run (DlpDecoder *decoder, const guint8 *data, gsize size, gsize in_chunk, gsize out_chunk);
/* Runs a byte stream over a file of tests/data/cases, or any other path. */
CodecResult *codec_run_path (const char *path,
                             guint64 offset,
                             guint window_log_max,
                             gsize read_size,
                             gsize out_chunk);
CodecResult *
codec_run_case (const char *name, guint window_log_max, gsize read_size, gsize out_chunk);
char *codec_case_path (const char *name);

/* Goes on from each border that a run over the stream gives: the rest of the bytes, the error and
 * the warning are the same. Returns how many borders there were. */
guint codec_check_borders (GType type, const guint8 *data, gsize size);

/* The same bytes, the same error. */
void codec_assert_equal (const CodecResult *a, const CodecResult *b);
/* @message: (nullable): what is in the error's message, NULL where none is wanted. */
void
codec_assert_result (const CodecResult *result, const char *data, gssize size, const char *message);

/* How often a random test runs: @n times DLPIPE_TEST_SCALE, at least once. */
guint codec_scaled (guint n);

G_END_DECLS
