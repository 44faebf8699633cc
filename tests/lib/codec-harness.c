/* SPDX-License-Identifier: MIT */

#include "codec-harness.h"

#include <stdlib.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

void
codec_result_free (CodecResult *self)
{
  g_byte_array_unref (self->data);
  g_clear_error (&self->error);
  g_free (self->warning);
  g_free (self);
}

static CodecResult *
codec_result_new (void)
{
  CodecResult *self = g_new0 (CodecResult, 1);

  self->data = g_byte_array_new ();
  return self;
}

static guint8 *
heap_copy (const guint8 *data, gsize size)
{
  guint8 *copy = malloc (MAX (size, 1));

  g_assert_nonnull (copy);
  if (size > 0)
    memcpy (copy, data, size);

  return copy;
}

/* One call, checked against the contract of DlpDecoder. Returns whether anything moved. */
static gboolean
decode_once (CodecResult *result,
             DlpDecoder *decoder,
             const guint8 *in,
             gsize in_size,
             gsize *in_used,
             gsize out_size)
{
  guint8 *in_copy = heap_copy (in, in_size);
  guint8 *out = malloc (out_size);
  gsize written = 12345;
  gboolean ok;

  *in_used = 12345;
  ok = DLP_DECODER_GET_CLASS (decoder)->decode (decoder, in_copy, in_size, in_used, out, out_size,
                                                &written, &result->error);
  g_assert_cmpint (ok, ==, result->error == NULL);
  g_assert_cmpuint (*in_used, <=, in_size);
  g_assert_cmpuint (written, <=, out_size);
  g_byte_array_append (result->data, out, (guint) written);

  free (in_copy);
  free (out);
  return *in_used > 0 || written > 0;
}

CodecResult *
codec_run (DlpDecoder *decoder, const guint8 *data, gsize size, gsize in_chunk, gsize out_chunk)
{
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (decoder);
  CodecResult *result = codec_result_new ();
  gsize position = 0;

  while (result->error == NULL)
    {
      gsize n = MIN (in_chunk, size - position), used;
      gboolean moved = decode_once (result, decoder, data + position, n, &used, out_chunk);

      position += used;
      if (moved || result->error != NULL)
        continue;

      g_assert_cmpuint (n, ==, 0);
      if (!klass->finish (decoder, &result->error))
        g_assert_error (result->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
      break;
    }

  if (klass->get_warning != NULL)
    result->warning = g_strdup (klass->get_warning (decoder));
  g_object_unref (decoder);
  return result;
}

static void
check_border (GType type,
              const guint8 *data,
              gsize size,
              const DlpDecoderBorder *border,
              const CodecResult *whole)
{
  DlpDecoder *decoder = g_object_new (type, NULL);
  g_autoptr (CodecResult) rest = NULL;

  g_assert_cmpuint (border->raw, <=, size);
  g_assert_cmpuint (border->decoded, <=, whole->data->len);
  DLP_DECODER_GET_CLASS (decoder)->go_to_border (decoder, border);
  rest = codec_run (decoder, data + border->raw, size - border->raw, 1000, 1000);
  g_assert_cmpmem (rest->data->data, rest->data->len, whole->data->data + border->decoded,
                   whole->data->len - border->decoded);
  g_assert_cmpstr (rest->warning, ==, whole->warning);
  g_assert_cmpstr (rest->error != NULL ? rest->error->message : NULL, ==,
                   whole->error != NULL ? whole->error->message : NULL);
}

guint
codec_check_borders (GType type, const guint8 *data, gsize size)
{
  g_autoptr (CodecResult) whole = codec_run (g_object_new (type, NULL), data, size, 1000, 1000);
  g_autoptr (CodecResult) again = codec_result_new ();
  g_autoptr (DlpDecoder) decoder = g_object_new (type, NULL);
  DlpDecoderBorder border = { 0 }, last = { 0 };
  gsize position = 0, used;
  guint n = 0;

  /* A byte at a time, so that each one is seen. */
  while (again->error == NULL)
    {
      gboolean moved =
          decode_once (again, decoder, data + position, MIN (1, size - position), &used, 1000);

      position += used;
      if (DLP_DECODER_GET_CLASS (decoder)->get_border (decoder, &border) && border.raw != last.raw)
        {
          g_assert_cmpuint (border.raw, <=, position);
          g_assert_cmpuint (border.decoded, ==, again->data->len);
          check_border (type, data, size, &border, whole);
          last = border;
          n++;
        }
      if (!moved && position == size)
        break;
    }
  return n;
}

CodecResult *
codec_run_path (const char *path,
                guint64 offset,
                guint window_log_max,
                gsize read_size,
                gsize out_chunk)
{
  CodecResult *result = codec_result_new ();
  g_autoptr (DlpFile) file = dlp_file_new (path, -1, NULL);
  g_autoptr (DlpByteStream) stream = NULL;
  g_autoptr (GError) again = NULL;
  gssize n;

  stream = dlp_byte_stream_open (file, offset, window_log_max, read_size, NULL, &result->error);
  if (stream == NULL)
    {
      g_assert_nonnull (result->error);
      return result;
    }

  do
    {
      guint8 *out = malloc (out_chunk);

      n = dlp_byte_stream_read (stream, out, out_chunk, NULL, &result->error);
      g_assert_cmpint (n, <=, (gssize) out_chunk);
      if (n > 0)
        g_byte_array_append (result->data, out, (guint) n);
      free (out);
    }
  while (n > 0);

  /* The end stays the end, and an error the same error. */
  for (guint i = 0; i < 3; i++)
    {
      guint8 byte;

      g_clear_error (&again);
      g_assert_cmpint (dlp_byte_stream_read (stream, &byte, 1, NULL, &again), ==, n);
      g_assert_cmpint (n, ==, result->error == NULL ? 0 : -1);
      if (n < 0)
        g_assert_cmpstr (again->message, ==, result->error->message);
    }

  result->warning = g_strdup (dlp_byte_stream_get_warning (stream));
  return result;
}

char *
codec_case_path (const char *name)
{
  const char *folder = g_getenv ("DLPIPE_TEST_DATA");

  if (folder == NULL)
    g_error ("DLPIPE_TEST_DATA is not set: it names the folder tests/data");

  return g_build_filename (folder, "cases", name, NULL);
}

CodecResult *
codec_run_case (const char *name, guint window_log_max, gsize read_size, gsize out_chunk)
{
  g_autofree char *path = codec_case_path (name);

  return codec_run_path (path, 0, window_log_max, read_size, out_chunk);
}

void
codec_assert_equal (const CodecResult *a, const CodecResult *b)
{
  g_assert_cmpmem (a->data->data, a->data->len, b->data->data, b->data->len);
  g_assert_cmpstr (a->error == NULL ? NULL : a->error->message, ==,
                   b->error == NULL ? NULL : b->error->message);
  g_assert_cmpstr (a->warning, ==, b->warning);
}

void
codec_assert_result (const CodecResult *result, const char *data, gssize size, const char *message)
{
  gsize length = size < 0 ? strlen (data) : (gsize) size;

  g_assert_cmpmem (result->data->data, result->data->len, data, length);
  if (message == NULL)
    {
      g_assert_no_error (result->error);
      return;
    }

  g_assert_nonnull (result->error);
  if (strstr (result->error->message, message) == NULL)
    g_error ("\"%s\" is not in \"%s\"", message, result->error->message);
}

guint
codec_scaled (guint n)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  double scaled = n * (scale == NULL ? 1.0 : g_ascii_strtod (scale, NULL));

  return (guint) CLAMP (scaled, 1.0, 1e9);
}
