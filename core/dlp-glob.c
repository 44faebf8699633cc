/* SPDX-License-Identifier: MIT */

#include "dlp-glob-private.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

gboolean
dlp_glob_is_pattern (const char *text)
{
  return strpbrk (text, "*?[") != NULL;
}

/* The end of the class that begins at the '[' at @p, or NULL where it has no ']'. */
static const char *
class_end (const char *p)
{
  p++;
  if (*p == '!' || *p == '^')
    p++;
  if (*p == ']')
    p++;
  p = strchr (p, ']');

  return p == NULL ? NULL : p + 1;
}

static gboolean
class_matches (const char *p, const char *end, guchar c)
{
  gboolean negated, found = FALSE;
  const guchar *q = (const guchar *) p + 1;
  const guchar *last = (const guchar *) end - 1;

  negated = *q == '!' || *q == '^';
  if (negated)
    q++;

  while (q < last)
    {
      if (q + 2 < last && q[1] == '-')
        {
          found |= c >= q[0] && c <= q[2];
          q += 3;
        }
      else
        found |= c == *q++;
    }

  return found != negated;
}

/* Does the item of the pattern at @p (not a star) match @c? Moves @p behind it if so. */
static gboolean
item_matches (const char **p, char c)
{
  const char *end;

  if (**p == '[' && (end = class_end (*p)) != NULL)
    {
      if (!class_matches (*p, end, (guchar) c))
        return FALSE;
      *p = end;
      return TRUE;
    }

  if (**p == '\0' || (**p != '?' && **p != c))
    return FALSE;

  (*p)++;
  return TRUE;
}

gboolean
dlp_glob_match (const char *pattern, const char *name)
{
  const char *after_star = NULL, *star_name = NULL;

  if (*name == '.' && *pattern != '.')
    return FALSE;

  /* On a mismatch only the last star takes one byte more, so that this cannot be exponential. */
  while (*name != '\0')
    {
      if (*pattern == '*')
        {
          after_star = ++pattern;
          star_name = name;
        }
      else if (item_matches (&pattern, *name))
        name++;
      else if (after_star != NULL)
        {
          pattern = after_star;
          name = ++star_name;
        }
      else
        return FALSE;
    }

  while (*pattern == '*')
    pattern++;

  return *pattern == '\0';
}

static gboolean
is_any_depth (const char *part)
{
  return part != NULL && strcmp (part, "**") == 0;
}

/* One that ends with "**" or '/' means what is directly there. */
static char **
split_path_pattern (const char *pattern)
{
  gboolean is_open = g_str_has_suffix (pattern, "/") || g_str_has_suffix (pattern, "/**") ||
                     is_any_depth (pattern);
  g_autofree char *whole = g_strconcat (pattern,
                                        !is_open                        ? "" :
                                        g_str_has_suffix (pattern, "/") ? "*" :
                                                                          "/*",
                                        NULL);

  return g_strsplit (whole, "/", -1);
}

gboolean
dlp_glob_match_path (const char *pattern, const char *path)
{
  g_auto (GStrv) parts = NULL;
  g_auto (GStrv) names = NULL;
  char **part, **name, **after_star = NULL, **star_name = NULL;

  g_return_val_if_fail (pattern != NULL && path != NULL, FALSE);

  parts = split_path_pattern (pattern);
  names = g_strsplit (path, "/", -1);
  part = parts;
  name = names;
  /* As in dlp_glob_match(): on a mismatch only the last "**" takes one folder more. */
  while (*name != NULL)
    {
      if (is_any_depth (*part))
        {
          after_star = ++part;
          star_name = name;
        }
      else if (*part != NULL && dlp_glob_match (*part, *name))
        {
          part++;
          name++;
        }
      else if (after_star != NULL && **star_name != '.')
        {
          part = after_star;
          name = ++star_name;
        }
      else
        return FALSE;
    }

  return *part == NULL;
}

typedef struct
{
  char *path; /* "" is the working folder; else ends with '/' */
  guint part;
} Folder;

typedef struct
{
  GPtrArray *parts;
  GQueue folders;      /* of Folder, to be looked into */
  GQueue links;        /* those that "**" reaches by a link: after all the others */
  GHashTable *entered; /* part, device and inode of the folders a "**" has been in */
  GHashTable *found;   /* a set of paths */
} Search;

typedef struct
{
  char *name;
  guchar type;
} Entry;

static void
folder_free (Folder *folder)
{
  g_free (folder->path);
  g_free (folder);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Folder, folder_free)

static void
entry_clear (gpointer data)
{
  g_free (((Entry *) data)->name);
}

static void
search_clear (Search *self)
{
  g_queue_clear_full (&self->folders, (GDestroyNotify) folder_free);
  g_queue_clear_full (&self->links, (GDestroyNotify) folder_free);
  g_clear_pointer (&self->parts, g_ptr_array_unref);
  g_clear_pointer (&self->entered, g_hash_table_unref);
  g_clear_pointer (&self->found, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Search, search_clear)

static void
push_folder (GQueue *queue, char *path, guint part)
{
  Folder *folder = g_new (Folder, 1);

  folder->path = path;
  folder->part = part;
  g_queue_push_tail (queue, folder);
}

/* The components. A "**" twice is one; at the end it means the files there, as a '/' does. */
static GPtrArray *
split_pattern (const char *pattern)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) all = g_strsplit (pattern, "/", -1);
  guint n = g_strv_length (all);

  for (guint i = 0; i < n; i++)
    {
      const char *last = parts->len > 0 ? g_ptr_array_index (parts, parts->len - 1) : "";

      if (all[i][0] == '\0' || (strcmp (all[i], "**") == 0 && strcmp (last, "**") == 0))
        continue;
      g_ptr_array_add (parts, g_strdup (all[i]));
    }

  if (n > 0 && (all[n - 1][0] == '\0' || strcmp (all[n - 1], "**") == 0))
    g_ptr_array_add (parts, g_strdup ("*"));

  return parts;
}

static gboolean
fail_errno (const char *path, const char *what, int code, GError **error)
{
  g_autofree char *name = dlp_uri_escape_for_display (path);

  if (code == ENOENT || code == ELOOP)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "%s: %s: %s", name, what,
                 g_strerror (code));
  else
    g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (code), "%s: %s: %s", name, what,
                 g_strerror (code));
  return FALSE;
}

static gboolean
is_folder (const char *path, guchar type)
{
  struct stat st;

  if (type == DT_DIR)
    return TRUE;
  if (type != DT_LNK && type != DT_UNKNOWN)
    return FALSE;

  return stat (path, &st) == 0 && S_ISDIR (st.st_mode);
}

/* A path that fits the whole pattern. */
static gboolean
add_found (Search *self, char *path, guchar type, GError **error)
{
  g_autofree char *owned = path;
  struct stat st;

  if (type == DT_DIR)
    return TRUE;

  if (type == DT_LNK || type == DT_UNKNOWN)
    {
      if (stat (path, &st) != 0)
        {
          int code = errno;

          /* Gone since the folder was read: as if it had never been there. */
          if (lstat (path, &st) != 0)
            return TRUE;
          return fail_errno (path, "the symbolic link leads nowhere", code, error);
        }
      if (S_ISDIR (st.st_mode))
        return TRUE;
    }

  g_hash_table_add (self->found, g_steal_pointer (&owned));
  return TRUE;
}

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Entry *) a)->name, ((const Entry *) b)->name);
}

/* The entries that match (NULL: all), sorted, so that what is found does not depend on the file
 * system's order. What is no folder has none. */
static GArray *
read_folder (const char *path, const char *pattern, GError **error)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  const char *name = *path == '\0' ? "." : path;
  struct dirent *d;
  DIR *dir;
  int code;

  g_array_set_clear_func (entries, entry_clear);

  dir = opendir (name);
  if (dir == NULL)
    {
      if (errno == ENOENT || errno == ENOTDIR)
        return g_steal_pointer (&entries);
      fail_errno (name, "cannot read the folder", errno, error);
      return NULL;
    }

  while (errno = 0, (d = readdir (dir)) != NULL)
    {
      Entry entry = { d->d_name, d->d_type };

      if (strcmp (d->d_name, ".") == 0 || strcmp (d->d_name, "..") == 0)
        continue;
      if (!dlp_glob_match (pattern, d->d_name))
        continue;
      entry.name = g_strdup (d->d_name);
      g_array_append_val (entries, entry);
    }

  code = errno;
  closedir (dir);
  if (code != 0)
    {
      fail_errno (name, "cannot read the folder", code, error);
      return NULL;
    }

  g_array_sort (entries, compare_entries);
  return g_steal_pointer (&entries);
}

static gboolean
enter_once (Search *self, const Folder *folder)
{
  struct stat st;

  if (stat (*folder->path == '\0' ? "." : folder->path, &st) != 0)
    return FALSE;

  return g_hash_table_add (
      self->entered, g_strdup_printf ("%u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, folder->part,
                                      (guint64) st.st_dev, (guint64) st.st_ino));
}

static gboolean
walk_any_depth (Search *self, const Folder *folder, GError **error)
{
  g_autoptr (GArray) entries = NULL;

  if (!enter_once (self, folder))
    return TRUE;

  push_folder (&self->folders, g_strdup (folder->path), folder->part + 1);

  entries = read_folder (folder->path, "*", error);
  if (entries == NULL)
    return FALSE;

  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = &g_array_index (entries, Entry, i);
      g_autofree char *path = g_strconcat (folder->path, entry->name, "/", NULL);
      struct stat st;

      if (!is_folder (path, entry->type))
        continue;

      path[strlen (path) - 1] = '\0';
      if (lstat (path, &st) == 0 && S_ISLNK (st.st_mode))
        push_folder (&self->links, g_strconcat (path, "/", NULL), folder->part);
      else
        push_folder (&self->folders, g_strconcat (path, "/", NULL), folder->part);
    }

  return TRUE;
}

static gboolean
visit_entry (Search *self, const Folder *folder, const char *name, guchar type, GError **error)
{
  g_autofree char *path = g_strconcat (folder->path, name, NULL);

  if (folder->part + 1 == self->parts->len)
    return add_found (self, g_steal_pointer (&path), type, error);

  if (is_folder (path, type))
    push_folder (&self->folders, g_strconcat (path, "/", NULL), folder->part + 1);

  return TRUE;
}

static gboolean
visit_folder (Search *self, const Folder *folder, GError **error)
{
  const char *part = g_ptr_array_index (self->parts, folder->part);
  g_autoptr (GArray) entries = NULL;

  if (strcmp (part, "**") == 0)
    return walk_any_depth (self, folder, error);

  if (!dlp_glob_is_pattern (part))
    return visit_entry (self, folder, part, DT_UNKNOWN, error);

  entries = read_folder (folder->path, part, error);
  if (entries == NULL)
    return FALSE;

  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = &g_array_index (entries, Entry, i);

      if (!visit_entry (self, folder, entry->name, entry->type, error))
        return FALSE;
    }

  return TRUE;
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
take_found (Search *self)
{
  GPtrArray *paths = g_ptr_array_new_full (g_hash_table_size (self->found), g_free);
  GHashTableIter iter;
  gpointer path;

  g_hash_table_iter_init (&iter, self->found);
  while (g_hash_table_iter_next (&iter, &path, NULL))
    {
      g_hash_table_iter_steal (&iter);
      g_ptr_array_add (paths, path);
    }

  g_ptr_array_sort (paths, compare_paths);
  return paths;
}

static void
search_init (Search *self)
{
  self->entered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

GPtrArray *
dlp_glob_find (const char *pattern, GCancellable *cancellable, GError **error)
{
  g_auto (Search) self = { NULL };
  Folder *next;

  search_init (&self);
  self.parts = split_pattern (pattern);

  if (self.parts->len > 0)
    push_folder (&self.folders, g_strdup (*pattern == '/' ? "/" : ""), 0);

  while ((next = g_queue_pop_head (&self.folders)) != NULL ||
         (next = g_queue_pop_head (&self.links)) != NULL)
    {
      g_autoptr (Folder) folder = next;

      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !visit_folder (&self, folder, error))
        return NULL;
    }

  return take_found (&self);
}

GPtrArray *
dlp_glob_find_in_folder (const char *folder, GError **error)
{
  g_auto (Search) self = { NULL };
  Folder place = { NULL, 0 };
  g_autofree char *path = NULL;

  search_init (&self);
  self.parts = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self.parts, g_strdup ("*"));

  path = g_strconcat (folder, g_str_has_suffix (folder, "/") ? "" : "/", NULL);
  place.path = path;
  if (!visit_folder (&self, &place, error))
    return NULL;

  return take_found (&self);
}
