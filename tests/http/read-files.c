/* SPDX-License-Identifier: MIT */

/* Reads all of the URIs given, each on a thread of its own, and does nothing with the bytes. A
 * first argument cache=DIR has them kept there. */

#include <string.h>

#include <dlpipe/dlp-file.h>

#define SIZE (256 * 1024)

static gpointer
read_file (gpointer data)
{
  g_autoptr (GError) error = NULL;
  DlpScheme *scheme = dlp_scheme_for_uri (data, &error);
  g_autoptr (DlpFile) file =
      scheme != NULL ? dlp_scheme_identify (scheme, data, NULL, &error) : NULL;
  g_autoptr (GInputStream) stream = file != NULL ? dlp_file_open (file, 0, NULL, &error) : NULL;
  g_autofree guint8 *buffer = g_malloc (SIZE);
  gssize n = -1;

  while (stream != NULL && (n = g_input_stream_read (stream, buffer, SIZE, NULL, &error)) > 0)
    ;
  if (n < 0)
    g_error ("%s", error->message);
  return NULL;
}

int
main (int argc, char **argv)
{
  g_autofree GThread **threads = g_new0 (GThread *, argc);
  int first = 1;

  if (argc > 2 && g_str_has_prefix (argv[1], "cache="))
    g_object_set (dlp_scheme_for_uri (argv[++first], NULL), "cache", argv[1] + strlen ("cache="),
                  NULL);
  for (int i = first; i < argc; i++)
    threads[i] = g_thread_new ("read", read_file, argv[i]);
  for (int i = first; i < argc; i++)
    g_thread_join (threads[i]);
  return 0;
}
