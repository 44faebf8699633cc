/* SPDX-License-Identifier: MIT */

/* Decoders whose windows are not to be in memory while nothing is decoded. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "dlp-zstd-decoder.h"

#define MIB (1024 * 1024)
#define WINDOW_LOG 22
#define DATA_BYTES (6 * MIB)
#define OUT_BYTES (64 * 1024)
#define N_DECODERS 8

typedef struct
{
  DlpDecoder *decoder;
  gsize in, out; /* bytes consumed and decoded */
} Stream;

static GByteArray *data, *packed;

/* Text that refers to what is up to a window behind it. */
static void
make_data (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  ZSTD_CCtx *context = ZSTD_createCCtx ();
  gsize size;

  data = g_byte_array_new ();
  while (data->len < DATA_BYTES)
    {
      guint32 bytes[16];

      if (data->len > MIB && g_rand_boolean (rand))
        {
          gsize back = (gsize) g_rand_int_range (rand, 64,
                                                 (gint32) MIN (data->len, (1u << WINDOW_LOG) - 64));

          g_byte_array_set_size (data, data->len + 64);
          memcpy (data->data + data->len - 64, data->data + data->len - 64 - back, 64);
          continue;
        }
      for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
        bytes[i] = g_rand_int (rand);
      g_byte_array_append (data, (const guint8 *) bytes, sizeof bytes);
    }

  packed = g_byte_array_new ();
  g_byte_array_set_size (packed, (guint) ZSTD_compressBound (data->len));
  ZSTD_CCtx_setParameter (context, ZSTD_c_windowLog, WINDOW_LOG);
  size = ZSTD_compress2 (context, packed->data, packed->len, data->data, data->len);
  g_assert_false (ZSTD_isError (size));
  g_byte_array_set_size (packed, (guint) size);
  ZSTD_freeCCtx (context);
}

static void
stream_init (Stream *self, gsize limit, const char *folder)
{
  *self = (Stream){ .decoder = g_object_new (DLP_TYPE_ZSTD_DECODER, NULL) };
  if (folder != NULL)
    DLP_DECODER_GET_CLASS (self->decoder)->limit_memory (self->decoder, limit, folder);
}

/* Up to OUT_BYTES more, which are compared, and then a rest. */
static void
stream_go_on (Stream *self, guint8 *out)
{
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (self->decoder);
  GError *error = NULL;
  gsize used, written;

  klass->decode (self->decoder, packed->data + self->in, packed->len - self->in, &used, out,
                 OUT_BYTES, &written, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (self->out + written, <=, data->len);
  g_assert_cmpmem (out, written, data->data + self->out, written);
  self->in += used;
  self->out += written;
  klass->rest (self->decoder);
}

/* Those that follow a window's worth of output; the rest of the file is not read. */
static gsize
measure (gsize limit, const char *folder, gsize until)
{
  g_autofree guint8 *out = g_malloc (OUT_BYTES);
  Stream streams[N_DECODERS];
  gsize resident;
  FILE *statm;
  long pages;

  for (guint i = 0; i < N_DECODERS; i++)
    stream_init (&streams[i], limit, folder);
  for (gsize reached = 0; reached < until; reached += OUT_BYTES)
    for (guint i = 0; i < N_DECODERS; i++)
      stream_go_on (&streams[i], out);

  statm = fopen ("/proc/self/statm", "r");
  g_assert_cmpint (fscanf (statm, "%*d %ld", &pages), ==, 1);
  fclose (statm);
  resident = (gsize) pages * (gsize) sysconf (_SC_PAGESIZE);

  for (guint i = 0; i < N_DECODERS; i++)
    {
      if (until >= data->len)
        g_assert_cmpuint (streams[i].out, ==, data->len);
      g_object_unref (streams[i].decoder);
    }
  return resident;
}

static void
test_same_bytes (void)
{
  measure (0, g_get_tmp_dir (), data->len + OUT_BYTES);
  measure (MIB, g_get_tmp_dir (), data->len + OUT_BYTES);
  measure (G_MAXSIZE, g_get_tmp_dir (), data->len + OUT_BYTES);
}

static void
test_resident (void)
{
  const gsize window = (gsize) 1 << WINDOW_LOG;
  gsize limited = measure (MIB, g_get_tmp_dir (), window + MIB);
  gsize free_ = measure (0, NULL, window + MIB);

  g_test_message ("%zu MiB, with a limit %zu MiB", free_ / MIB, limited / MIB);
  g_assert_cmpuint (limited + (N_DECODERS - 1) * window, <, free_);
}

/* There is no such folder: memory it is. */
static void
test_no_file (void)
{
  measure (0, "/nonexistent", data->len + OUT_BYTES);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  make_data ();
  g_test_add_func ("/zstd/memory/same-bytes", test_same_bytes);
  g_test_add_func ("/zstd/memory/resident", test_resident);
  g_test_add_func ("/zstd/memory/no-file", test_no_file);
  return g_test_run ();
}
