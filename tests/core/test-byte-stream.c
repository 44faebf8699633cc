/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>

#include "codec-harness.h"

/* A codec of the test's own: "TOY:", then pairs of a count and a byte; a count of 0 ends the stream
 * with the byte 'E', warns with 'W', stands still with 'S', and is damage with any other. */
#define TOY_MAGIC "TOY:"

typedef struct
{
  DlpDecoder parent_instance;

  guint magic_seen, count;
  guint8 value;
  gboolean has_count, ended, warned, stands_still;
  guint64 position;
  guint window_log_max;
} ToyDecoder;

typedef DlpDecoderClass ToyDecoderClass;

static guint last_window_log_max;

static GType toy_decoder_get_type (void);
G_DEFINE_TYPE (ToyDecoder, toy_decoder, DLP_TYPE_DECODER)

static gboolean
toy_match (const guint8 *head, gsize size)
{
  return size >= 4 && memcmp (head, TOY_MAGIC, 4) == 0;
}

static gboolean
toy_take_control (ToyDecoder *self, guint8 value, GError **error)
{
  self->ended |= value == 'E';
  self->warned |= value == 'W';
  self->stands_still |= value == 'S';
  if (strchr ("EWS", value) != NULL && value != '\0')
    return TRUE;

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "toy damaged at byte %" G_GUINT64_FORMAT, self->position);
  return FALSE;
}

static gboolean
toy_take_byte (ToyDecoder *self, guint8 byte, GError **error)
{
  self->position++;
  if (self->magic_seen < 4)
    {
      self->magic_seen++;
      return TRUE;
    }
  if (!self->has_count)
    {
      self->has_count = TRUE;
      self->count = byte;
      return TRUE;
    }

  self->has_count = FALSE;
  self->value = byte;
  return self->count > 0 || toy_take_control (self, byte, error);
}

static gboolean
toy_decode (DlpDecoder *decoder,
            const guint8 *in,
            gsize in_size,
            gsize *in_used,
            guint8 *out,
            gsize out_size,
            gsize *out_written,
            GError **error)
{
  ToyDecoder *self = (ToyDecoder *) decoder;

  *in_used = *out_written = 0;
  while (!self->stands_still && *out_written < out_size)
    {
      if (self->count > 0 && !self->has_count)
        {
          out[(*out_written)++] = self->value;
          self->count--;
        }
      else if (*in_used == in_size)
        break;
      else if (!toy_take_byte (self, in[(*in_used)++], error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
toy_finish (DlpDecoder *decoder, GError **error)
{
  ToyDecoder *self = (ToyDecoder *) decoder;

  if (self->ended)
    return TRUE;

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "toy cut at byte %" G_GUINT64_FORMAT,
               self->position);
  return FALSE;
}

static const char *
toy_get_warning (DlpDecoder *decoder)
{
  return ((ToyDecoder *) decoder)->warned ? "toy warning" : NULL;
}

static void
toy_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  last_window_log_max = g_value_get_uint (value);
}

static void
toy_decoder_class_init (ToyDecoderClass *klass)
{
  G_OBJECT_CLASS (klass)->set_property = toy_set_property;
  klass->decode = toy_decode;
  klass->finish = toy_finish;
  klass->get_warning = toy_get_warning;
  g_object_class_install_property (
      G_OBJECT_CLASS (klass), 1,
      g_param_spec_uint ("window-log-max", NULL, NULL, 0, 31, 0, G_PARAM_WRITABLE));
}

static void
toy_decoder_init (ToyDecoder *self)
{
}

static const gsize read_sizes[] = { 1, 7, 64, 100, 4096, 0 };
static const gsize out_sizes[] = { 1, 3, 64, 65536 };

/* A file that is deleted with its test. */
typedef struct
{
  char *folder, *path;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("dlpipe-byte-stream-XXXXXX", NULL);
  g_assert_nonnull (fixture->folder);
  fixture->path = g_build_filename (fixture->folder, data != NULL ? data : "in\nput", NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_unlink (fixture->path);
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0);
  g_free (fixture->folder);
  g_free (fixture->path);
}

static void
write_file (Fixture *fixture, const char *data, gssize size)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (fixture->path, data, size, &error);
  g_assert_no_error (error);
}

/* The same whatever the sizes of reads; returns the result. */
static CodecResult *
run_everywhere (Fixture *fixture, const char *data, gssize size, guint64 offset)
{
  CodecResult *first;

  write_file (fixture, data, size);
  first = codec_run_path (fixture->path, offset, 0, 0, 65536);

  for (guint i = 0; i < G_N_ELEMENTS (read_sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (out_sizes); j++)
      {
        g_autoptr (CodecResult) result =
            codec_run_path (fixture->path, offset, 0, read_sizes[i], out_sizes[j]);

        codec_assert_equal (result, first);
      }

  return first;
}

static void
check (Fixture *fixture,
       const char *stored,
       gssize stored_size,
       const char *expected,
       gssize expected_size,
       const char *message,
       const char *warning)
{
  g_autoptr (CodecResult) result = run_everywhere (fixture, stored, stored_size, 0);

  codec_assert_result (result, expected, expected_size, message);
  g_assert_cmpstr (result->warning, ==, warning);
}

static void
test_plain (Fixture *fixture, gconstpointer data)
{
  g_autofree char *text = g_strnfill (1000, 'x');

  check (fixture, "short", -1, "short", -1, NULL, NULL);
  check (fixture, text, 1000, text, 1000, NULL, NULL);
  check (fixture, text, 64, text, 64, NULL, NULL);
  check (fixture, "", 0, "", 0, NULL, NULL);
}

static void
test_plain_offset (Fixture *fixture, gconstpointer data)
{
  char text[200];

  for (guint i = 0; i < sizeof text; i++)
    text[i] = (char) i;

  for (guint offset = 0; offset <= sizeof text; offset += offset > 60 && offset < 68 ? 1 : 20)
    {
      g_autoptr (CodecResult) result = run_everywhere (fixture, text, sizeof text, offset);

      codec_assert_result (result, text + offset, (gssize) (sizeof text - offset), NULL);
    }
}

static void
test_plain_offset_behind_the_end (Fixture *fixture, gconstpointer data)
{
  g_autoptr (CodecResult) result = run_everywhere (fixture, "short", 5, 6);

  codec_assert_result (result, "", 0, "it is 5 bytes, and was read up to byte 6 before");
  g_assert_error (result->error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
}

static void
test_toy (Fixture *fixture, gconstpointer data)
{
  check (fixture, "TOY:\003a\002b\000E", 10, "aaabb", -1, NULL, NULL);
  check (fixture, "TOY:\000E", 6, "", 0, NULL, NULL);
  check (fixture, "TOY:\003a\000W\000E", 10, "aaa", -1, NULL, "toy warning");
}

static void
test_toy_damaged (Fixture *fixture, gconstpointer data)
{
  check (fixture, "TOY:\003a\000X\003b", 10, "aaa", -1,
         "in\\x0aput: toy damaged at byte 8 (after 3 decoded bytes)", NULL);
  check (fixture, "TOY:\000X", 6, "", 0, "toy damaged at byte 6 (after 0 decoded bytes)", NULL);
  check (fixture, "TOY:\003a\002", 7, "aaa", -1, "toy cut at byte 7 (after 3 decoded bytes)", NULL);
  check (fixture, "TOY:", 4, "", 0, "toy cut at byte 4", NULL);
}

/* Also where more was decoded than is looked at for a codec inside. */
static void
test_toy_damaged_late (Fixture *fixture, gconstpointer data)
{
  g_autofree char *expected = g_strnfill (400, 'c');

  check (fixture, "TOY:\377c\221c\000?", 10, expected, 400,
         "toy damaged at byte 10 (after 400 decoded bytes)", NULL);
}

static void
test_stands_still (Fixture *fixture, gconstpointer data)
{
  g_autoptr (CodecResult) result = NULL;

  write_file (fixture, "TOY:\003a\000Smore", 12);
  result = codec_run_path (fixture->path, 0, 0, 0, 100);
  codec_assert_result (result, "aaa", -1, "the codec toy (ToyDecoder) stands still at byte 8");
  g_assert_error (result->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL);
}

static void
test_twice (Fixture *fixture, gconstpointer data)
{
  check (fixture, "TOY:\001T\001O\001Y\001:\001\001\001z\000E", 18, "", 0,
         "in\\x0aput: the bytes decoded from toy are toy: compressed twice?", NULL);
  check (fixture, "TOY:\001T\001O\001Y\001:\000X", 14, "", 0, "compressed twice?", NULL);
  check (fixture, "TOY:\001T\001O\001Y\001;\000E", 14, "TOY;", -1, NULL, NULL);
}

static void
test_offset (Fixture *fixture, gconstpointer data)
{
  const char stored[] = "TOY:\100a\100b\001c\000E";
  g_autoptr (GString) expected = g_string_new (NULL);

  for (guint i = 0; i < 129; i++)
    g_string_append_c (expected, i < 64 ? 'a' : i < 128 ? 'b' : 'c');

  for (guint offset = 0; offset <= 129; offset++)
    {
      g_autoptr (CodecResult) result = NULL;

      write_file (fixture, stored, sizeof stored - 1);
      result = codec_run_path (fixture->path, offset, 0, 3, 10);
      codec_assert_result (result, expected->str + offset, -1, NULL);
    }
}

static void
test_offset_behind_the_end (Fixture *fixture, gconstpointer data)
{
  g_autoptr (CodecResult) beyond = run_everywhere (fixture, "TOY:\003a\000E", 8, 4);
  g_autoptr (CodecResult) damaged = run_everywhere (fixture, "TOY:\003a\000X", 8, 4);

  codec_assert_result (beyond, "", 0, "it ends after 3 decoded bytes, and was read up to 4 before");
  g_assert_error (beyond->error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
  codec_assert_result (damaged, "", 0, "toy damaged at byte 8");
}

static void
test_properties (Fixture *fixture, gconstpointer data)
{
  g_autoptr (DlpFile) file = dlp_file_new (fixture->path, -1, NULL);
  g_autoptr (DlpByteStream) stream = NULL;
  guint8 buffer[2];

  write_file (fixture, "TOY:\003a\000E", 8);
  last_window_log_max = 0;
  stream = dlp_byte_stream_open (file, 0, 29, 4, NULL, NULL);
  g_assert_nonnull (stream);
  g_assert_cmpuint (last_window_log_max, ==, 29);
  g_assert_cmpstr (dlp_byte_stream_get_codec (stream), ==, "toy");
  g_assert_cmpuint (dlp_byte_stream_get_raw_position (stream), ==, 0);

  while (dlp_byte_stream_read (stream, buffer, 2, NULL, NULL) > 0)
    ;
  g_assert_cmpuint (dlp_byte_stream_get_raw_position (stream), ==, 8);
}

static void
test_name_and_content (Fixture *fixture, gconstpointer data)
{
  check (fixture, "plain", -1, "plain", -1, NULL,
         "not recognised as compressed, though its name says xz: read as it is");
  check (fixture, "", 0, "", 0, NULL, "an empty file, though its name says xz");
  check (fixture, "TOY:\001a\000E", 8, "a", -1, NULL, NULL);
}

/* A file whose recorded length is another than what is read to its end. */
static void
test_changed_length (Fixture *fixture, gconstpointer data)
{
  g_autoptr (DlpFile) file = dlp_file_new (fixture->path, 1000, NULL);
  g_autofree char *text = g_strnfill (1000, 't');
  g_autoptr (DlpByteStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  guint8 buffer[600];
  gssize n, total = 0;

  write_file (fixture, text, 1000);
  stream = dlp_byte_stream_open (file, 0, 0, 100, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (truncate (fixture->path, 500), ==, 0);

  while ((n = dlp_byte_stream_read (stream, buffer, sizeof buffer, NULL, &error)) > 0)
    total += n;
  g_assert_cmpint (total, ==, 500);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "the file has changed while it was read: it was 1000 "
                                            "bytes, now it ends at byte 500"));
}

static gsize
read_all (DlpByteStream *stream, GError **error)
{
  guint8 buffer[600];
  gsize total = 0;
  gssize n;

  while ((n = dlp_byte_stream_read (stream, buffer, sizeof buffer, NULL, error)) > 0)
    total += (gsize) n;
  return total;
}

/* Written over in place, its length kept: nothing that was written then is handed on, nor is the
 * end, where only the last byte is another. */
static void
test_rewritten (Fixture *fixture, gconstpointer data)
{
  g_autofree char *text = g_strnfill (1000, 't');

  for (guint before = 0; before <= 1000; before += 100)
    {
      g_autoptr (DlpFile) file = NULL;
      g_autoptr (DlpByteStream) stream = NULL;
      g_autoptr (GError) error = NULL;
      /* Older than the tick that the file system tells times by. */
      struct timespec times[2] = { { .tv_sec = 1700000000 }, { .tv_sec = 1700000000 } };
      guint8 buffer[100];
      int fd;

      write_file (fixture, text, 1000);
      g_assert_cmpint (utimensat (AT_FDCWD, fixture->path, times, 0), ==, 0);
      file = dlp_scheme_identify (dlp_scheme_for_uri (fixture->path, NULL), fixture->path, NULL,
                                  &error);
      stream = dlp_byte_stream_open (file, 0, 0, 100, NULL, &error);
      g_assert_no_error (error);
      for (guint i = 0; i < before; i += 100)
        g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, NULL, &error), ==, 100);

      fd = open (fixture->path, O_WRONLY | O_CLOEXEC);
      g_assert_cmpint (pwrite (fd, "n", 1, 999), ==, 1);
      close (fd);

      /* The first piece was read on opening. */
      g_assert_cmpuint (read_all (stream, &error), ==, before == 0 ? 100 : 0);
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
      g_assert_nonnull (strstr (error->message, "the file has changed: it was mtime=1700000000.0"));
    }
}

/* One whose identity nobody recorded may grow. */
static void
test_growing (Fixture *fixture, gconstpointer data)
{
  g_autoptr (DlpFile) file = dlp_file_new (fixture->path, -1, NULL);
  g_autoptr (DlpByteStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  int fd;

  write_file (fixture, "some", 4);
  stream = dlp_byte_stream_open (file, 0, 0, 16, NULL, &error);
  g_assert_no_error (error);
  fd = open (fixture->path, O_WRONLY | O_APPEND | O_CLOEXEC);
  g_assert_cmpint (write (fd, " more", 5), ==, 5);
  close (fd);
  g_assert_cmpuint (read_all (stream, &error), >=, 4);
  g_assert_no_error (error);
}

static gpointer
cancel_later (gpointer data)
{
  g_usleep (50 * 1000);
  g_cancellable_cancel (data);
  return NULL;
}

/* What has been written to a pipe comes out though its writer goes on, and a cancelled read loses
 * nothing. */
static void
test_pipe (Fixture *fixture, gconstpointer data)
{
  g_autoptr (DlpFile) file = dlp_file_new (fixture->path, -1, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (DlpByteStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  GThread *thread;
  guint8 buffer[100];
  int fd;

  g_assert_cmpint (mkfifo (fixture->path, 0600), ==, 0);
  fd = open (fixture->path, O_RDWR | O_CLOEXEC);
  /* The last run is longer than the buffers: the decoder holds it when the pipe is empty. */
  g_assert_cmpint (write (fd, TOY_MAGIC, 4), ==, 4);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpint (write (fd, "\000W", 2), ==, 2);
  g_assert_cmpint (write (fd, "\310a", 2), ==, 2);

  stream = dlp_byte_stream_open (file, 0, 0, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, NULL, &error), ==, 16);
  g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, NULL, &error), ==, 100);
  g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, NULL, &error), ==, 84);

  thread = g_thread_new ("cancel", cancel_later, cancellable);
  g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, cancellable, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_thread_join (thread);

  g_assert_cmpint (write (fd, "\002c\000E", 4), ==, 4);
  g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, NULL, &error), ==, 2);
  g_assert_cmpmem (buffer, 2, "cc", 2);
  close (fd);
  g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, NULL, &error), ==, 0);
  g_assert_no_error (error);
}

/* On the way to an offset in a file that needs no wait. */
static void
test_cancelled (Fixture *fixture, gconstpointer data)
{
  const char stored[] = "TOY:\100a\100b\001c\000E";
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (DlpFile) file = NULL;
  g_autoptr (DlpByteStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  guint8 buffer[100];

  write_file (fixture, stored, sizeof stored - 1);
  file = dlp_file_new (fixture->path, -1, NULL);
  stream = dlp_byte_stream_open (file, 100, 0, 0, NULL, &error);
  g_assert_no_error (error);
  g_cancellable_cancel (cancellable);
  g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, cancellable, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_cmpint (dlp_byte_stream_read (stream, buffer, 100, NULL, &error), ==, 29);
  g_assert_no_error (error);
}

static void
test_open_fails (Fixture *fixture, gconstpointer data)
{
  g_autoptr (CodecResult) result = codec_run_path (fixture->path, 0, 0, 0, 10);

  codec_assert_result (result, "", 0, "in\\x0aput: no such file");
  write_file (fixture, "", 0);
}

static void
test_registry (void)
{
  g_autoptr (DlpDecoder) decoder = NULL;
  const char *name = "unset";

  g_assert_null (dlp_codec_open ((const guint8 *) "plain", 5, &name));
  g_assert_null (name);
  g_assert_null (dlp_codec_open (NULL, 0, &name));

  decoder = dlp_codec_open ((const guint8 *) TOY_MAGIC, 4, &name);
  g_assert_cmpstr (name, ==, "toy");
  g_assert_cmpstr (G_OBJECT_TYPE_NAME (decoder), ==, "ToyDecoder");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_codec_register ("toy", toy_match, toy_decoder_get_type ());
  dlp_codec_register ("toy", toy_match, toy_decoder_get_type ());

#define ADD(name, function) g_test_add (name, Fixture, NULL, set_up, function, tear_down)
  g_test_add_func ("/byte-stream/registry", test_registry);
  ADD ("/byte-stream/plain", test_plain);
  ADD ("/byte-stream/plain-offset", test_plain_offset);
  ADD ("/byte-stream/plain-offset-behind-the-end", test_plain_offset_behind_the_end);
  ADD ("/byte-stream/toy", test_toy);
  ADD ("/byte-stream/toy-damaged", test_toy_damaged);
  ADD ("/byte-stream/toy-damaged-late", test_toy_damaged_late);
  ADD ("/byte-stream/stands-still", test_stands_still);
  ADD ("/byte-stream/twice", test_twice);
  ADD ("/byte-stream/offset", test_offset);
  ADD ("/byte-stream/offset-behind-the-end", test_offset_behind_the_end);
  ADD ("/byte-stream/properties", test_properties);
  g_test_add ("/byte-stream/name-and-content", Fixture, "a.jsonl.xz", set_up, test_name_and_content,
              tear_down);
  ADD ("/byte-stream/changed-length", test_changed_length);
  ADD ("/byte-stream/rewritten", test_rewritten);
  ADD ("/byte-stream/growing", test_growing);
  ADD ("/byte-stream/pipe", test_pipe);
  ADD ("/byte-stream/cancelled", test_cancelled);
  ADD ("/byte-stream/open-fails", test_open_fails);

  return g_test_run ();
}
