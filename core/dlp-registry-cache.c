/* SPDX-License-Identifier: MIT */

/* What plugins bring, by their files. One file: a magic, a checksum of the rest, a GVariant of type
 * FORMAT: core's build id, and for each plugin its path, its seconds and nanoseconds of
 * modification, size, inode, and what the scanner said. It is replaced as a whole, so that
 * processes that write it at once leave the one or the other; nothing in it is worth waiting for a
 * disk. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <glib/gstdio.h>

#include "dlp-registry-private.h"

#define MAGIC "DLPREG01"
#define MAGIC_SIZE 8
#define HEADER_SIZE 24
#define FORMAT "(sa(ayxttta{sv}))"
#define ENTRY "(ayxttta{sv})"
#define ENTRY_WITH_INFO "(^ayxttt@a{sv})"

struct _DlpPluginCache
{
  char *path;
  char *build_id;
  GHashTable *entries; /* path to GVariant, ENTRY */
  bool changed;
};

static void
take_entries (DlpPluginCache *self, GVariant *all)
{
  g_autoptr (GVariant) entries = g_variant_get_child_value (all, 1);
  gsize n = g_variant_n_children (entries);

  for (gsize i = 0; i < n; i++)
    {
      GVariant *entry = g_variant_get_child_value (entries, i);
      const char *path;

      g_variant_get_child (entry, 0, "^&ay", &path);
      g_hash_table_replace (self->entries, g_strdup (path), entry);
    }
}

/* (nullable): why it is not valid. */
static const char *
read_content (DlpPluginCache *self, const char *data, gsize size)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GVariant) all = NULL;
  XXH128_canonical_t sum;
  const char *build_id;

  if (size < HEADER_SIZE || memcmp (data, MAGIC, MAGIC_SIZE) != 0)
    return "it is not a cache of this version";
  XXH128_canonicalFromHash (&sum, XXH3_128bits (data + HEADER_SIZE, size - HEADER_SIZE));
  if (memcmp (data + MAGIC_SIZE, sum.digest, sizeof sum.digest) != 0)
    return "its checksum is wrong";
  bytes = g_bytes_new (data + HEADER_SIZE, size - HEADER_SIZE);
  all = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (FORMAT), bytes, FALSE));
  g_variant_get_child (all, 0, "&s", &build_id);
  if (strcmp (build_id, self->build_id) != 0)
    return "it is of another build of dlpipe";
  take_entries (self, all);
  return NULL;
}

static void
load (DlpPluginCache *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *data = NULL;
  const char *why;
  gsize size;

  if (!g_file_get_contents (self->path, &data, &size, &error))
    {
      if (!g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        g_debug ("plugin cache: %s", error->message);
      return;
    }
  why = read_content (self, data, size);
  if (why != NULL)
    g_debug ("plugin cache %s: %s; it is made again", self->path, why);
}

/* A FIFO would be waited for, a device read for ever, and either replaced by a file. */
static bool
may_be_cache (const char *path)
{
  struct stat st;

  if (stat (path, &st) != 0 || S_ISREG (st.st_mode))
    return true;
  g_debug ("plugin cache %s: it is no regular file; nothing is kept", path);
  return false;
}

DlpPluginCache *
dlp_plugin_cache_new (const char *path)
{
  DlpPluginCache *self = g_new0 (DlpPluginCache, 1);

  self->path = path != NULL && may_be_cache (path) ? g_strdup (path) : NULL;
  self->build_id = dlp_plugin_get_build_id ();
  self->entries =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_variant_unref);
  if (self->path != NULL)
    load (self);
  return self;
}

void
dlp_plugin_cache_free (DlpPluginCache *self)
{
  g_hash_table_unref (self->entries);
  g_free (self->build_id);
  g_free (self->path);
  g_free (self);
}

static bool
is_of_file (GVariant *entry, const DlpPluginFile *file)
{
  guint64 nanoseconds, size, inode;
  gint64 seconds;

  g_variant_get (entry, "(^&ayxttt@a{sv})", NULL, &seconds, &nanoseconds, &size, &inode, NULL);
  return seconds == file->seconds && nanoseconds == file->nanoseconds && size == file->size &&
         inode == file->inode;
}

GVariant *
dlp_plugin_cache_find (DlpPluginCache *self, const DlpPluginFile *file)
{
  GVariant *entry = g_hash_table_lookup (self->entries, file->path);

  if (entry == NULL || !is_of_file (entry, file))
    return NULL;
  return g_variant_get_child_value (entry, 5);
}

void
dlp_plugin_cache_put (DlpPluginCache *self, const DlpPluginFile *file, GVariant *info)
{
  GVariant *entry = g_variant_new (ENTRY_WITH_INFO, file->path, file->seconds, file->nanoseconds,
                                   file->size, file->inode, info);

  g_hash_table_replace (self->entries, g_strdup (file->path), g_variant_ref_sink (entry));
  self->changed = true;
}

/* Of other search paths too, as long as the files are there. */
static GVariant *
collect (DlpPluginCache *self)
{
  GVariantBuilder builder;
  GHashTableIter iter;
  gpointer path, entry;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a" ENTRY));
  g_hash_table_iter_init (&iter, self->entries);
  while (g_hash_table_iter_next (&iter, &path, &entry))
    {
      DlpPluginFile file = { .path = path };

      if (dlp_plugin_file_stat (&file) && is_of_file (entry, &file))
        g_variant_builder_add_value (&builder, entry);
    }
  return g_variant_ref_sink (
      g_variant_new ("(s@a" ENTRY ")", self->build_id, g_variant_builder_end (&builder)));
}

void
dlp_plugin_cache_save (DlpPluginCache *self)
{
  g_autoptr (GVariant) all = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *data = NULL;
  XXH128_canonical_t sum;
  gsize size;

  if (self->path == NULL || !self->changed)
    return;
  all = collect (self);
  size = g_variant_get_size (all);
  data = g_malloc (HEADER_SIZE + size);
  g_variant_store (all, data + HEADER_SIZE);
  XXH128_canonicalFromHash (&sum, XXH3_128bits (data + HEADER_SIZE, size));
  memcpy (data, MAGIC, MAGIC_SIZE);
  memcpy (data + MAGIC_SIZE, sum.digest, sizeof sum.digest);

  folder = g_path_get_dirname (self->path);
  if (g_mkdir_with_parents (folder, 0700) != 0)
    g_debug ("plugin cache: %s: %s; it is not kept", folder, g_strerror (errno));
  else if (!g_file_set_contents_full (self->path, data, (gssize) (HEADER_SIZE + size),
                                      G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error))
    g_debug ("plugin cache: %s; it is not kept", error->message);
  self->changed = false;
}
