/* SPDX-License-Identifier: MIT */

#include "http-rig.h"

#include <string.h>

#include <glib/gstdio.h>
#include <zlib.h>
#include <zstd.h>

#include "dlp-byte-stream-private.h"
#include "dlp-gzip-decoder.h"
#include "dlp-http-scheme.h"
#include "dlp-zstd-decoder.h"

void
http_rig_register (void)
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

      /* It comes by a rename; that it is whole is looked at all the same. */
      if (g_file_get_contents (path, &text, NULL, NULL) && g_str_has_suffix (text, "\n"))
        return (guint) g_ascii_strtoull (text, NULL, 10);
      g_usleep (10000);
    }
  g_error ("the server did not start");
}

double
http_rig_get_scale (void)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");

  return scale != NULL ? g_ascii_strtod (scale, NULL) : 1;
}

/* A server lives no longer than it may be wanted, should nobody end it. */
static gboolean
is_slow (void)
{
  return http_rig_get_scale () > 1 || g_getenv ("DLPIPE_TEST_PATIENCE") != NULL;
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

  http_rig_register ();
  self->folder = g_dir_make_tmp ("dlpipe-http-XXXXXX", &error);
  g_assert_no_error (error);
  port_file = g_build_filename (self->folder, "port", NULL);
  self->server = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error, "python3",
      g_getenv ("DLPIPE_TEST_SERVER"), "--root", self->folder, "--port-file", port_file, "--packet",
      packet_text, "--seed", seed_text, "--rate", rate_text, "--max-requests", "1000000",
      "--max-seconds", is_slow () ? "3500" : "300", NULL);
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

/* (transfer full) */
static char *
ask_for_counts (HttpRig *self)
{
  static const char request[] = "GET /_stats HTTP/1.1\r\n\r\n";
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocketConnection) connection =
      g_socket_client_connect_to_host (client, "127.0.0.1", (guint16) self->port, NULL, &error);
  GString *text = g_string_new (NULL);
  char byte;

  g_assert_no_error (error);
  g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), request,
                             sizeof request - 1, NULL, NULL, &error);
  g_assert_no_error (error);
  while (strchr (text->str, '}') == NULL &&
         g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (connection)), &byte, 1,
                              NULL, &error) == 1)
    g_string_append_c (text, byte);
  g_assert_no_error (error);
  return g_string_free (text, FALSE);
}

guint
http_rig_count (HttpRig *self, const char *fault)
{
  g_autofree char *text = ask_for_counts (self);
  g_autofree char *key = g_strdup_printf ("\"%s\": ", fault);
  const char *found = strstr (text, key);

  return found != NULL ? (guint) g_ascii_strtoull (found + strlen (key), NULL, 10) : 0;
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
  g_object_set (scheme, "timeout", (gint64) timeout_s * G_USEC_PER_SEC, "retry-time",
                retry_time_ms * 1000, "first-wait", first_wait_ms * 1000, "retries", -1, NULL);
}

void
http_rig_set_retries (int n)
{
  g_object_set (dlp_scheme_for_uri ("http://localhost/", NULL), "retries", n, NULL);
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
