/* SPDX-License-Identifier: MIT */

#include "dlp-output-names-private.h"

#include <stdlib.h>
#include <string.h>

struct _DlpOutputNames
{
  GHashTable *writers; /* resolved path: name of who writes it */
  GHashTable *names;   /* the last parts of the paths: what has another is not resolved */
  char *folder;        /* resolved */
  char *folder_name;   /* its last part, likewise */
  char *folder_writer;
};

DlpOutputNames *
dlp_output_names_new (void)
{
  DlpOutputNames *self = g_new0 (DlpOutputNames, 1);

  self->writers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return self;
}

void
dlp_output_names_free (DlpOutputNames *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->writers);
  g_hash_table_unref (self->names);
  g_free (self->folder);
  g_free (self->folder_name);
  g_free (self->folder_writer);
  g_free (self);
}

/* The longest part of the path that is there, resolved, and the rest behind it. */
static char *
resolve (const char *path)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  char *slash = absolute + strlen (absolute);

  for (;;)
    {
      char kept = *slash;
      char *resolved;
      char *whole;

      *slash = '\0';
      resolved = realpath (absolute[0] != '\0' ? absolute : "/", NULL);
      *slash = kept;
      if (resolved != NULL)
        {
          whole = g_strconcat (strcmp (resolved, "/") == 0 ? "" : resolved, slash, NULL);
          free (resolved);
          return whole;
        }
      if (slash == absolute)
        return g_steal_pointer (&absolute);
      do
        slash--;
      while (*slash != '/');
    }
}

const char *
dlp_output_names_add (DlpOutputNames *self, const char *path, const char *writer)
{
  g_autofree char *resolved = resolve (path);
  const char *other = g_hash_table_lookup (self->writers, resolved);

  if (other != NULL)
    return other;
  g_hash_table_add (self->names, g_path_get_basename (resolved));
  g_hash_table_insert (self->writers, g_steal_pointer (&resolved), g_strdup (writer));
  return NULL;
}

void
dlp_output_names_add_folder (DlpOutputNames *self, const char *folder, const char *writer)
{
  g_free (self->folder);
  g_free (self->folder_name);
  g_free (self->folder_writer);
  self->folder = resolve (folder);
  self->folder_name = g_path_get_basename (self->folder);
  self->folder_writer = g_strdup (writer);
}

const char *
dlp_output_names_find (DlpOutputNames *self, const char *path)
{
  gboolean may_be_inside = self->folder != NULL && strstr (path, self->folder_name) != NULL;
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *resolved = NULL;
  gsize n;

  if (!may_be_inside && !g_hash_table_contains (self->names, name))
    return NULL;
  resolved = resolve (path);
  n = may_be_inside ? strlen (self->folder) : 0;
  if (n > 0 && strncmp (resolved, self->folder, n) == 0 && resolved[n] == '/')
    return self->folder_writer;
  return g_hash_table_lookup (self->writers, resolved);
}
