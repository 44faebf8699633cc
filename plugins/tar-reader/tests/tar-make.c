/* SPDX-License-Identifier: MIT */

#include "tar-make.h"

#include <string.h>

#define BLOCK 512

void
tar_make_checksum (char *block)
{
  guint sum = 0;

  memset (block + 148, ' ', 8);
  for (guint i = 0; i < BLOCK; i++)
    sum += (guint8) block[i];
  g_snprintf (block + 148, 8, "%06o", sum);
}

void
tar_make_member (GString *to, char type, const char *name, const char *data, gsize size)
{
  char block[BLOCK] = "";
  gsize length = strlen (name);

  memcpy (block, name, MIN (length, 100));
  g_snprintf (block + 100, 8, "%07o", 0644);
  g_snprintf (block + 124, 12, "%011" G_GINT64_MODIFIER "o", (guint64) size);
  g_snprintf (block + 136, 12, "%011o", 0);
  block[156] = type;
  memcpy (block + 257,
          "ustar\0"
          "00",
          8);
  tar_make_checksum (block);
  g_string_append_len (to, block, BLOCK);
  g_string_append_len (to, data, (gssize) size);
  while (to->len % BLOCK != 0)
    g_string_append_c (to, '\0');
}

void
tar_make_end (GString *to)
{
  for (guint i = 0; i < 2 * BLOCK; i++)
    g_string_append_c (to, '\0');
}

GString *
tar_make (const char *members)
{
  GString *to = g_string_new (NULL);
  g_auto (GStrv) parts = g_strsplit (members, " ", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      char *name = parts[i];
      char *data = strchr (name, ':');
      char type = '0';

      if (*name == '\0')
        continue;
      *data++ = '\0';
      if (name[1] == '*')
        {
          type = name[0];
          name += 2;
        }
      tar_make_member (to, type, name, data, strlen (data));
    }
  return to;
}
