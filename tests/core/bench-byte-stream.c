/* SPDX-License-Identifier: MIT */

#include <stdlib.h>
#include <time.h>

#include <dlpipe/dlp-decoder.h>

#include "dlp-gzip-decoder.h"
#include "dlp-zstd-decoder.h"

/* Prints how fast files are decoded: bytes of the content a second of processor time, on one core.
 * usage: bench-byte-stream [--seconds=S] FILE...; compare with "time zstd -dc FILE >/dev/null". */

#define BUFFER_SIZE (256 * 1024)

static double seconds = 1.0;

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static guint64
read_through (const char *path, guint8 *buffer, const char **codec)
{
  g_autoptr (DlpFile) file = dlp_file_new (path, -1, NULL);
  g_autoptr (DlpByteStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  guint64 total = 0;
  gssize n = -1;

  stream = dlp_byte_stream_open (file, 0, 31, 0, NULL, &error);
  if (stream != NULL)
    {
      *codec = dlp_byte_stream_get_codec (stream);
      while ((n = dlp_byte_stream_read (stream, buffer, BUFFER_SIZE, NULL, &error)) > 0)
        total += (guint64) n;
    }
  if (n < 0)
    {
      g_printerr ("%s\n", error->message);
      exit (1);
    }

  return total;
}

static void
measure (const char *path, guint8 *buffer)
{
  double start = cpu_seconds (), used;
  const char *codec = NULL;
  guint64 total = 0;

  do
    {
      total += read_through (path, buffer, &codec);
      used = cpu_seconds () - start;
    }
  while (used < seconds);

  g_print ("%8.1f MB/s  %-5s  %s\n", (double) total * 1e-6 / used, codec == NULL ? "plain" : codec,
           path);
}

int
main (int argc, char **argv)
{
  GOptionEntry entries[] = {
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, "how long for each file", "S" },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("FILE...");
  g_autofree guint8 *buffer = g_malloc (BUFFER_SIZE);
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc < 2)
    {
      g_printerr ("%s\n", error != NULL ? error->message : "no files given");
      return 2;
    }

  dlp_codec_register ("gzip", dlp_gzip_decoder_match, DLP_TYPE_GZIP_DECODER);
  dlp_codec_register ("zstd", dlp_zstd_decoder_match, DLP_TYPE_ZSTD_DECODER);

  for (int i = 1; i < argc; i++)
    measure (argv[i], buffer);
  return 0;
}
