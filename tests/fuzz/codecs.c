/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-gzip-decoder.h"
#include "dlp-zstd-decoder.h"
#ifdef HAVE_BZIP2
#include "dlp-bzip2-decoder.h"
#endif
#ifdef HAVE_LZ4
#include "dlp-lz4-decoder.h"
#endif
#ifdef HAVE_XZ
#include "dlp-xz-decoder.h"
#endif

/* The first byte chooses the codec (bits 5 to 7) and two ways to cut the input and the output; the
 * rest is the stream. Whatever it is, both ways must end in the same bytes and the same error; and
 * so must what goes on from the last border. */

#define OUTPUT_MAX (16 * 1024 * 1024)

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

typedef struct
{
  guint64 hash, length;
  guint64 rest; /* hash of the bytes behind the border */
  char *error;
  char *warning;
  DlpDecoderBorder border; /* the last one, or where to begin */
} Outcome;

static void
outcome_clear (Outcome *outcome)
{
  g_free (outcome->error);
  g_free (outcome->warning);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, outcome_clear)

static void
add_output (Outcome *outcome, const guint8 *bytes, gsize size)
{
  for (gsize i = 0; i < size; i++)
    {
      outcome->hash = (outcome->hash ^ bytes[i]) * G_GUINT64_CONSTANT (0x100000001b3);
      outcome->rest = (outcome->rest ^ bytes[i]) * G_GUINT64_CONSTANT (0x100000001b3);
    }
  outcome->length += size;
}

/* Only where nothing was written since is the rest known. */
static void
note_border (Outcome *outcome, DlpDecoder *decoder)
{
  DlpDecoderBorder border;

  if (!DLP_DECODER_GET_CLASS (decoder)->get_border (decoder, &border) ||
      border.decoded != outcome->length)
    return;
  outcome->border = border;
  outcome->rest = 0;
}

static void
take_error (Outcome *outcome, GError *error)
{
  /* Of the data only: memory, or a broken contract, would be something else. */
  g_assert_true (g_error_matches (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED));
  outcome->error = g_strdup (error->message);
  g_error_free (error);
}

static void
run (GType type, const guint8 *data, gsize size, gsize in_chunk, gsize out_chunk, Outcome *outcome)
{
  g_autoptr (DlpDecoder) decoder = g_object_new (type, NULL);
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (decoder);
  g_autofree guint8 *out = g_malloc (out_chunk);
  GError *error = NULL;
  gsize position = outcome->border.raw;

  if (position > 0)
    klass->go_to_border (decoder, &outcome->border);
  while (outcome->length < OUTPUT_MAX)
    {
      gsize n = MIN (in_chunk, size - position), used = 0, written = 0;
      gboolean ok = klass->decode (decoder, data + position, n, &used, out,
                                   MIN (out_chunk, OUTPUT_MAX - outcome->length), &written, &error);

      g_assert_true (used <= n && written <= out_chunk && ok == (error == NULL));
      add_output (outcome, out, written);
      position += used;
      note_border (outcome, decoder);

      if (ok && (used > 0 || written > 0))
        continue;

      g_assert_true (!ok || n == 0);
      if (ok)
        klass->finish (decoder, &error);
      break;
    }

  if (error != NULL)
    take_error (outcome, error);
  if (klass->get_warning != NULL)
    outcome->warning = g_strdup (klass->get_warning (decoder));
}

/* 0: the build has none. */
static GType
codec_type (guint number)
{
  switch (number)
    {
    case 0:
      return DLP_TYPE_GZIP_DECODER;

#ifdef HAVE_XZ
    case 1:
      return DLP_TYPE_XZ_DECODER;
#endif

#ifdef HAVE_LZ4
    case 2:
      return DLP_TYPE_LZ4_DECODER;
#endif

#ifdef HAVE_BZIP2
    case 3:
      return DLP_TYPE_BZIP2_DECODER;
#endif

    case 4:
      return DLP_TYPE_ZSTD_DECODER;

    default:
      return 0;
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const gsize chunks[] = { 1, 2, 3, 7, 64, 1000, 4096, 65536 };
  g_auto (Outcome) whole = { 0 }, pieces = { 0 }, rest = { 0 };
  guint8 choice;
  GType type;

  if (size == 0)
    return 0;

  choice = *data++;
  size--;
  type = codec_type (choice >> 5);
  if (type == 0)
    return 0;

  run (type, data, size, MAX (size, 1), 1 << 20, &whole);
  run (type, data, size, chunks[choice & 7], chunks[4 + (choice >> 3 & 3)], &pieces);

  g_assert_cmpuint (whole.length, ==, pieces.length);
  g_assert_cmpuint (whole.hash, ==, pieces.hash);
  /* Where the output reached its limit, the error behind it may or may not have been seen. */
  if (whole.length < OUTPUT_MAX)
    g_assert_cmpstr (whole.error, ==, pieces.error);

  rest.border = pieces.border;
  rest.length = pieces.border.decoded;
  run (type, data, size, 4096, 4096, &rest);
  if (pieces.length < OUTPUT_MAX)
    {
      g_assert_cmpuint (rest.length, ==, pieces.length);
      g_assert_cmpuint (rest.rest, ==, pieces.rest);
      g_assert_cmpstr (rest.error, ==, pieces.error);
      g_assert_cmpstr (rest.warning, ==, pieces.warning);
    }

  return 0;
}
