/* SPDX-License-Identifier: MIT */

#include "dlp-output-names-private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dlp-state-dir-private.h"

/* A file that was there when its name was taken. */
typedef struct
{
  dev_t dev;
  ino_t ino;
  const char *writer;
} Present;

struct _DlpOutputNames
{
  GHashTable *writers; /* resolved path: name of who writes it */
  GArray *present;     /* of Present */
  char *folder;        /* of the state, resolved */
};

DlpOutputNames *
dlp_output_names_new (void)
{
  DlpOutputNames *self = g_new0 (DlpOutputNames, 1);

  self->writers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->present = g_array_new (FALSE, FALSE, sizeof (Present));
  return self;
}

void
dlp_output_names_free (DlpOutputNames *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->writers);
  g_array_unref (self->present);
  g_free (self->folder);
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

static gboolean
is_of_state (DlpOutputNames *self, const char *resolved)
{
  gsize n = self->folder != NULL ? strlen (self->folder) : 0;

  return n > 0 && strncmp (resolved, self->folder, n) == 0 && resolved[n] == '/' &&
         dlp_state_dir_is_own_name (resolved + n + 1);
}

const char *
dlp_output_names_add (DlpOutputNames *self, const char *path, const char *writer)
{
  g_autofree char *resolved = resolve (path);
  const char *other = g_hash_table_lookup (self->writers, resolved);
  g_autofree char *name = g_path_get_basename (path);
  struct stat st;

  /* What is quarantined there by default may be named too. */
  if (other == NULL && is_of_state (self, resolved) && !g_str_has_prefix (name, "quarantine"))
    other = DLP_OUTPUT_NAMES_STATE;
  if (other != NULL)
    return other;
  writer = g_strdup (writer);
  if (stat (path, &st) == 0)
    {
      const Present present = { st.st_dev, st.st_ino, writer };

      g_array_append_val (self->present, present);
    }
  g_hash_table_insert (self->writers, g_steal_pointer (&resolved), (gpointer) writer);
  return NULL;
}

void
dlp_output_names_set_state (DlpOutputNames *self, const char *folder)
{
  g_free (self->folder);
  self->folder = resolve (folder);
}

const char *
dlp_output_names_find (DlpOutputNames *self, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  struct stat st;

  if (self->folder != NULL && dlp_state_dir_is_own_name (name))
    {
      g_autofree char *resolved = resolve (path);

      if (is_of_state (self, resolved))
        return DLP_OUTPUT_NAMES_STATE;
    }
  if (self->present->len == 0 || stat (path, &st) != 0)
    return NULL;
  for (guint i = 0; i < self->present->len; i++)
    {
      const Present *present = &g_array_index (self->present, Present, i);

      if (present->dev == st.st_dev && present->ino == st.st_ino)
        return present->writer;
    }
  return NULL;
}
