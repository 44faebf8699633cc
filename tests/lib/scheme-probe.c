/* SPDX-License-Identifier: MIT */

/* A scheme by itself: lists a pattern, or prints all of the files that match.
 * usage: scheme-probe [PROPERTY=VALUE...] list|cat|sweep PATTERN [OFFSET]
 * sweep: reads the first file from each of its bytes on, and prints how many times it was the rest.
 * Exit code 1: an error of the scheme, printed as it is. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlpipe/dlp-file.h>
#include <dlpipe/dlp-value.h>

#define SIZE (64 * 1024)

static int
fail (GError *error)
{
  fprintf (stderr, "%s\n", error->message);
  return 1;
}

static gboolean
set_property (DlpScheme *scheme, const char *text, GError **error)
{
  const char *equals = strchr (text, '=');
  g_autofree char *name = g_strndup (text, (gsize) (equals - text));
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (scheme), name);
  GValue value = G_VALUE_INIT;

  if (pspec == NULL)
    g_error ("%s is no property of %s", name, G_OBJECT_TYPE_NAME (scheme));
  if (!dlp_value_parse (pspec, equals + 1, &value, error))
    return FALSE;
  g_object_set_property (G_OBJECT (scheme), name, &value);
  g_value_unset (&value);
  return TRUE;
}

static gboolean
print_file (DlpFile *file, gint64 offset, GError **error)
{
  g_autoptr (GInputStream) stream = dlp_file_open (file, offset, NULL, error);
  g_autofree guint8 *buffer = g_malloc (SIZE);
  gssize n = -1;

  while (stream != NULL && (n = g_input_stream_read (stream, buffer, SIZE, NULL, error)) > 0)
    if (fwrite (buffer, 1, (gsize) n, stdout) != (gsize) n)
      g_error ("cannot write");
  return n == 0;
}

/* (nullable) */
static GByteArray *
load (DlpFile *file, gint64 offset, GError **error)
{
  g_autoptr (GInputStream) stream = dlp_file_open (file, offset, NULL, error);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint8 buffer[1000];
  gssize n = -1;

  while (stream != NULL &&
         (n = g_input_stream_read (stream, buffer, sizeof buffer, NULL, error)) > 0)
    g_byte_array_append (bytes, buffer, (guint) n);
  return n == 0 ? g_steal_pointer (&bytes) : NULL;
}

static gboolean
sweep (DlpFile *file, GError **error)
{
  g_autoptr (GByteArray) whole = load (file, 0, error);
  guint n = 0;

  for (guint offset = 0; whole != NULL && offset <= whole->len; offset++)
    {
      g_autoptr (GByteArray) rest = load (file, offset, error);

      if (rest == NULL)
        return FALSE;
      n += rest->len == whole->len - offset &&
           (rest->len == 0 || memcmp (rest->data, whole->data + offset, rest->len) == 0);
    }
  printf ("%u\n", n);
  return whole != NULL;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) files = NULL;
  g_autofree char *pinned = NULL;
  DlpScheme *scheme;
  int first = 1;

  while (first < argc && strchr (argv[first], '=') != NULL)
    first++;
  if (argc - first < 2)
    g_error ("usage: scheme-probe [PROPERTY=VALUE...] list|cat PATTERN [OFFSET]");
  scheme = dlp_scheme_for_uri (argv[first + 1], &error);
  if (scheme == NULL)
    return fail (error);
  for (int i = 1; i < first; i++)
    if (!set_property (scheme, argv[i], &error))
      return fail (error);
  pinned = dlp_scheme_pin (scheme, argv[first + 1], NULL, &error);
  files = pinned != NULL ? dlp_scheme_list (scheme, pinned, NULL, &error) : NULL;
  if (files == NULL)
    return fail (error);
  for (guint i = 0; i < files->len; i++)
    {
      DlpFile *file = g_ptr_array_index (files, i);
      const char *identity = dlp_file_get_identity (file);

      if (strcmp (argv[first], "list") == 0)
        printf ("%s\t%" G_GINT64_FORMAT "\t%s\n", dlp_file_get_uri (file), dlp_file_get_size (file),
                identity != NULL ? identity : "");
      else if (strcmp (argv[first], "sweep") == 0)
        return sweep (file, &error) ? 0 : fail (error);
      else if (!print_file (file, argc > first + 2 ? atoll (argv[first + 2]) : 0, &error))
        return fail (error);
    }
  return 0;
}
