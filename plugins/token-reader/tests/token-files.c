/* SPDX-License-Identifier: MIT */

#include "token-files.h"

#include <string.h>

void
token_files_append_number (GByteArray *bytes, guint width, gint64 number)
{
  for (guint i = 0; i < width; i++)
    {
      guint8 byte = (guint8) ((guint64) number >> (8 * i));

      g_byte_array_append (bytes, &byte, 1);
    }
}

void
token_files_append (GByteArray *bytes, guint width, const char *numbers)
{
  g_auto (GStrv) parts = g_strsplit (numbers, " ", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      token_files_append_number (bytes, width,
                                 *parts[i] == '-' ? g_ascii_strtoll (parts[i], NULL, 10) :
                                                    (gint64) g_ascii_strtoull (parts[i], NULL, 10));
}

static guint
count (const char *numbers)
{
  g_auto (GStrv) parts = g_strsplit (numbers, " ", -1);

  return *numbers == '\0' ? 0 : g_strv_length (parts);
}

GByteArray *
token_files_make_index (guint8 code, const char *lengths, const char *offsets, const char *borders)
{
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) "MMIDIDX\0\0", 9);
  token_files_append_number (bytes, 8, 1);
  token_files_append_number (bytes, 1, code);
  token_files_append_number (bytes, 8, count (lengths));
  token_files_append_number (bytes, 8, count (borders));
  token_files_append (bytes, 4, lengths);
  token_files_append (bytes, 8, offsets);
  token_files_append (bytes, 8, borders);
  return bytes;
}

GByteArray *
token_files_make_npy (guint version, const char *header, guint width, const char *numbers)
{
  GByteArray *bytes = g_byte_array_new ();
  guint prefix = version == 1 ? 10 : 12;
  gsize length = strlen (header) + 1;
  gsize blanks = (64 - (prefix + length) % 64) % 64;

  g_byte_array_append (bytes, (const guint8 *) "\x93NUMPY", 6);
  token_files_append_number (bytes, 1, version);
  token_files_append_number (bytes, 1, 0);
  token_files_append_number (bytes, version == 1 ? 2 : 4, (gint64) (length + blanks));
  g_byte_array_append (bytes, (const guint8 *) header, (guint) strlen (header));
  for (gsize i = 0; i < blanks; i++)
    g_byte_array_append (bytes, (const guint8 *) " ", 1);
  g_byte_array_append (bytes, (const guint8 *) "\n", 1);
  token_files_append (bytes, width, numbers);
  return bytes;
}

GByteArray *
token_files_make_llmc (guint32 magic, guint32 version, guint32 n, guint width, const char *numbers)
{
  GByteArray *bytes = g_byte_array_new ();

  token_files_append_number (bytes, 4, magic);
  token_files_append_number (bytes, 4, version);
  token_files_append_number (bytes, 4, n);
  for (guint i = 3; i < 256; i++)
    token_files_append_number (bytes, 4, 0);
  token_files_append (bytes, width, numbers);
  return bytes;
}
