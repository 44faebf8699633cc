/* SPDX-License-Identifier: MIT */

/* Reading gzip files, decoded and thrown away, against zlib, and against ISA-L where it is there.
 */

#include <stdio.h>
#include <string.h>

#include <dlpipe/dlpipe.h>
#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l.h>
#endif

#include "bench.h"

#define BUFFER_SIZE (256 * 1024)
/* Of the contents of each member, as bgzip makes them. */
#define MEMBER_SIZE 65280

typedef struct
{
  char *path;
  guint8 in[BUFFER_SIZE], out[BUFFER_SIZE];
  guint64 decoded;
} Job;

static void
compress_member (FILE *file, const guint8 *data, gsize size)
{
  z_stream z = { NULL };
  g_autofree guint8 *out = NULL;
  gsize bound;

  deflateInit2 (&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  bound = deflateBound (&z, size);
  out = g_malloc (bound);
  z.next_in = (Bytef *) data;
  z.avail_in = (uInt) size;
  z.next_out = out;
  z.avail_out = (uInt) bound;
  g_assert_cmpint (deflate (&z, Z_FINISH), ==, Z_STREAM_END);
  g_assert_cmpuint (fwrite (out, 1, z.total_out, file), ==, z.total_out);
  deflateEnd (&z);
}

static void
compress_file (const char *plain, const char *path, gsize member_size)
{
  g_autoptr (GMappedFile) map = g_mapped_file_new (plain, FALSE, NULL);
  const guint8 *data = (const guint8 *) g_mapped_file_get_contents (map);
  gsize size = g_mapped_file_get_length (map);
  FILE *file = fopen (path, "wb");

  g_assert_nonnull (file);
  for (gsize i = 0; i < size; i += member_size)
    compress_member (file, data + i, MIN (member_size, size - i));
  g_assert_cmpint (fclose (file), ==, 0);
}

static void
by_dlpipe (gpointer data)
{
  Job *job = data;
  g_autoptr (DlpFile) file = dlp_file_new (job->path, -1, NULL);
  GError *error = NULL;
  g_autoptr (DlpByteStream) stream = dlp_byte_stream_open (file, 0, 0, 0, NULL, &error);
  gssize n;

  g_assert_no_error (error);
  g_assert_cmpstr (dlp_byte_stream_get_codec (stream), ==, "gzip");
  for (job->decoded = 0;; job->decoded += (guint64) n)
    {
      n = dlp_byte_stream_read (stream, job->out, BUFFER_SIZE, NULL, &error);
      g_assert_no_error (error);
      if (n <= 0)
        return;
    }
}

static void
by_zlib (gpointer data)
{
  Job *job = data;
  FILE *file = fopen (job->path, "rb");
  z_stream z = { NULL };
  guint64 decoded = 0;
  int code = Z_OK;

  inflateInit2 (&z, MAX_WBITS + 16);
  while ((z.avail_in = (uInt) fread (job->in, 1, BUFFER_SIZE, file)) > 0)
    {
      z.next_in = job->in;
      do
        {
          if (code == Z_STREAM_END)
            inflateReset (&z);
          z.next_out = job->out;
          z.avail_out = BUFFER_SIZE;
          code = inflate (&z, Z_NO_FLUSH);
          decoded += BUFFER_SIZE - z.avail_out;
        }
      while (z.avail_in > 0 || z.avail_out == 0);
    }
  g_assert_cmpint (code, ==, Z_STREAM_END);
  inflateEnd (&z);
  fclose (file);
  g_assert_cmpuint (decoded, ==, job->decoded);
}

#ifdef HAVE_ISAL
static void
by_isal (gpointer data)
{
  Job *job = data;
  FILE *file = fopen (job->path, "rb");
  g_autofree struct inflate_state *state = g_new0 (struct inflate_state, 1);
  guint64 decoded = 0;

  isal_inflate_init (state);
  state->crc_flag = ISAL_GZIP;
  while ((state->avail_in = (guint32) fread (job->in, 1, BUFFER_SIZE, file)) > 0)
    {
      state->next_in = job->in;
      do
        {
          if (state->block_state == ISAL_BLOCK_FINISH)
            {
              isal_inflate_reset (state);
              state->crc_flag = ISAL_GZIP;
            }
          state->next_out = job->out;
          state->avail_out = BUFFER_SIZE;
          g_assert_cmpint (isal_inflate (state), ==, ISAL_DECOMP_OK);
          decoded += BUFFER_SIZE - state->avail_out;
        }
      while (state->avail_in > 0 || state->avail_out == 0);
    }
  fclose (file);
  g_assert_cmpuint (decoded, ==, job->decoded);
}
#endif

static gboolean
run (const char *plain, const char *folder, const char *name, gsize member_size)
{
  g_autofree Job *job = g_new (Job, 1);
  g_autofree char *title = g_strdup_printf ("gunzip of %s against zlib", name);
  g_autofree char *path = g_build_filename (folder, "bench.jsonl.gz", NULL);
  gboolean ok;

  job->path = path;
  compress_file (plain, path, member_size);
  by_dlpipe (job);
  {
    Bench bench = { title, by_dlpipe, by_zlib, job, (double) job->decoded * 1e-6, "MB", 0.65 };

    ok = bench_run (&bench);
  }
#ifdef HAVE_ISAL
  {
    g_autofree char *other = g_strdup_printf ("gunzip of %s against ISA-L", name);
    Bench bench = { other, by_dlpipe, by_isal, job, (double) job->decoded * 1e-6, "MB", 1.4 };

    ok = bench_run (&bench) && ok;
  }
#endif
  return ok;
}

int
main (int argc, char **argv)
{
  g_autofree char *plain = bench_make_file ();
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-bench-XXXXXX", NULL);
  gboolean ok;

  g_assert_nonnull (folder);
  ok = run (plain, folder, "one member", G_MAXINT);
  ok = run (plain, folder, "members of 64 KiB", MEMBER_SIZE) && ok;
  bench_remove_folder (folder);
  bench_remove_file (plain);
  return ok ? 0 : 1;
}
