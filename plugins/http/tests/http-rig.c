/* SPDX-License-Identifier: MIT */

#include "http-rig.h"

#include <glib/gstdio.h>
#include <zlib.h>
#include <zstd.h>

#include "dlp-byte-stream-private.h"
#include "dlp-gzip-decoder.h"
#include "dlp-http-scheme.h"
#include "dlp-zstd-decoder.h"

static void
register_all (void)
{
  dlp_scheme_register ("http", DLP_TYPE_HTTP_SCHEME);
  dlp_codec_register ("gzip", dlp_gzip_decoder_match, DLP_TYPE_GZIP_DECODER);
  dlp_codec_register ("zstd", dlp_zstd_decoder_match, DLP_TYPE_ZSTD_DECODER);
}

static guint
wait_for_port (const char *path)
{
  for (guint i = 0; i < 2000; i++)
    {
      g_autofree char *text = NULL;

      if (g_file_get_contents (path, &text, NULL, NULL))
        return (guint) g_ascii_strtoull (text, NULL, 10);
      g_usleep (10000);
    }
  g_error ("the server did not start");
}

HttpRig *
http_rig_new (guint packet, guint seed, double rate)
{
  HttpRig *self = g_new0 (HttpRig, 1);
  g_autofree char *port_file = NULL;
  g_autofree char *packet_text = g_strdup_printf ("%u", packet);
  g_autofree char *seed_text = g_strdup_printf ("%u", seed);
  g_autofree char *rate_text = g_strdup_printf ("%.2f", rate);
  g_autoptr (GError) error = NULL;

  register_all ();
  self->folder = g_dir_make_tmp ("dlpipe-http-XXXXXX", &error);
  g_assert_no_error (error);
  port_file = g_build_filename (self->folder, "port", NULL);
  self->server = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error, "python3",
      g_getenv ("DLPIPE_TEST_SERVER"), "--root", self->folder, "--port-file", port_file, "--packet",
      packet_text, "--seed", seed_text, "--rate", rate_text, "--max-requests", "1000000",
      "--max-seconds", "200", NULL);
  g_assert_no_error (error);
  self->port = wait_for_port (port_file);
  return self;
}

void
http_rig_free (HttpRig *self)
{
  g_autoptr (GDir) dir = g_dir_open (self->folder, 0, NULL);
  const char *name;

  g_subprocess_force_exit (self->server);
  g_subprocess_wait (self->server, NULL, NULL);
  g_object_unref (self->server);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (self->folder, name, NULL);

      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self);
}

void
http_rig_add_file (HttpRig *self, const char *name, GBytes *content)
{
  g_autofree char *path = g_build_filename (self->folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, g_bytes_get_data (content, NULL), (gssize) g_bytes_get_size (content),
                       &error);
  g_assert_no_error (error);
}

char *
http_rig_make_uri (HttpRig *self, const char *mode, const char *name)
{
  return g_strdup_printf ("http://127.0.0.1:%u/%s/%s", self->port, mode, name);
}

void
http_rig_set_waits (guint timeout_s, gint64 retry_time_ms, gint64 first_wait_ms)
{
  g_autoptr (GError) error = NULL;
  DlpScheme *scheme = dlp_scheme_for_uri ("http://localhost/", &error);

  g_assert_no_error (error);
  g_object_set (scheme, "timeout", timeout_s, "retry-time", retry_time_ms, "first-wait",
                first_wait_ms, NULL);
}

GBytes *
http_rig_load (const char *uri, gsize size, GCancellable *cancellable, GError **error)
{
  DlpScheme *scheme = dlp_scheme_for_uri (uri, error);
  g_autoptr (DlpFile) file = NULL;
  DlpByteStream *stream;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree guint8 *buffer = g_malloc (size);
  gssize n;

  g_assert_nonnull (scheme);
  file = dlp_scheme_identify (scheme, uri, cancellable, error);
  if (file == NULL)
    return NULL;
  stream = dlp_byte_stream_open (file, 0, 0, size, cancellable, error);
  if (stream == NULL)
    return NULL;
  while ((n = dlp_byte_stream_read (stream, buffer, size, cancellable, error)) > 0)
    g_byte_array_append (bytes, buffer, (guint) n);
  dlp_byte_stream_free (stream);
  return n < 0 ? NULL : g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

GBytes *
http_rig_make_lines (gsize size)
{
  GString *text = g_string_new (NULL);
  GRand *rand = g_rand_new_with_seed (1);

  while (text->len < size)
    g_string_append_printf (text, "{\"text\": \"%08x%08x%08x\"}\n", g_rand_int (rand),
                            g_rand_int (rand), g_rand_int (rand));
  g_rand_free (rand);
  return g_string_free_to_bytes (text);
}

GBytes *
http_rig_gzip (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  z_stream stream = { 0 };
  gsize room;
  guint8 *out;

  g_assert_cmpint (deflateInit2 (&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
  room = deflateBound (&stream, size);
  out = g_malloc (room);
  stream.next_in = (guint8 *) data;
  stream.avail_in = (uInt) size;
  stream.next_out = out;
  stream.avail_out = (uInt) room;
  g_assert_cmpint (deflate (&stream, Z_FINISH), ==, Z_STREAM_END);
  room = stream.total_out;
  deflateEnd (&stream);
  return g_bytes_new_take (out, room);
}

GBytes *
http_rig_zstd (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  gsize room = ZSTD_compressBound (size);
  guint8 *out = g_malloc (room);

  room = ZSTD_compress (out, room, data, size, 3);
  g_assert_false (ZSTD_isError (room));
  return g_bytes_new_take (out, room);
}
