/* SPDX-License-Identifier: MIT */

/* What all processes know of the folder together: how much is in it, and what went unused for
 * longest. The file "lock" is locked by whoever changes that, and holds the sum of all sizes, so
 * that they need not be looked at each time. */

#include "dlp-http-cache-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much more than is needed goes at once, of the limit: looking at all entries costs time. */
#define SPARE_DIVISOR 16

typedef struct
{
  char *path;
  gint64 size;
  struct timespec used;
} Entry;

static void
clear_entry (gpointer data)
{
  g_free (((Entry *) data)->path);
}

int
http_cache_lock (HttpCache *self)
{
  g_autofree char *path = g_build_filename (self->folder, "lock", NULL);
  int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  int code;

  if (fd < 0)
    return -1;
  do
    code = flock (fd, LOCK_EX);
  while (code != 0 && errno == EINTR);
  if (code == 0)
    return fd;
  code = errno;
  close (fd);
  errno = code;
  return -1;
}

void
http_cache_unlock (int lock)
{
  close (lock);
}

/* -1: not known */
static gint64
read_total (int lock)
{
  guint64 total;

  if (pread (lock, &total, sizeof total, 0) != sizeof total)
    return -1;
  total = GUINT64_FROM_LE (total);
  return total <= G_MAXINT64 ? (gint64) total : -1;
}

/* One that could not be written is counted anew. */
static void
write_total (int lock, gint64 total)
{
  guint64 stored = GUINT64_TO_LE ((guint64) MAX (total, 0));

  if (pwrite (lock, &stored, sizeof stored, 0) != sizeof stored && ftruncate (lock, 0) != 0)
    g_debug ("the sum of a cache's sizes cannot be written: %s", g_strerror (errno));
}

/* Whoever wrote it is gone: else its descriptor holds a lock. */
static gboolean
is_left_behind (const char *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  gboolean left = fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) == 0;

  if (fd >= 0)
    close (fd);
  return left;
}

/* Adds what is to be counted; returns FALSE for what is none of the cache's. */
static gboolean
look_at (HttpCache *self, const char *name, Entry *entry, gboolean *evictable)
{
  struct stat st;

  *evictable = g_str_has_suffix (name, HTTP_CACHE_ENTRY);
  if (!*evictable && !g_str_has_suffix (name, HTTP_CACHE_PARTIAL))
    return FALSE;
  entry->path = g_build_filename (self->folder, name, NULL);
  if (lstat (entry->path, &st) == 0 && S_ISREG (st.st_mode) &&
      (*evictable || !is_left_behind (entry->path)))
    {
      entry->size = st.st_size;
      entry->used = st.st_mtim;
      return TRUE;
    }
  if (!*evictable)
    unlink (entry->path);
  g_clear_pointer (&entry->path, g_free);
  return FALSE;
}

/* Returns what all take; @entries: those that may go. */
static gint64
look_at_all (HttpCache *self, GArray *entries)
{
  g_autoptr (GDir) dir = g_dir_open (self->folder, 0, NULL);
  gint64 total = 0;
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      Entry entry = { 0 };
      gboolean evictable;

      if (!look_at (self, name, &entry, &evictable))
        continue;
      total += entry.size;
      if (evictable)
        g_array_append_val (entries, entry);
      else
        g_free (entry.path);
    }
  return total;
}

static int
compare_use (gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;

  if (x->used.tv_sec != y->used.tv_sec)
    return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec)
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp (x->path, y->path);
}

static gint64
make_room (HttpCache *self, gint64 bytes)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  gint64 aim = MAX (self->limit - self->limit / SPARE_DIVISOR, bytes);
  gint64 total;

  g_array_set_clear_func (entries, clear_entry);
  total = look_at_all (self, entries);
  if (total <= self->limit - bytes)
    return total;
  g_array_sort (entries, compare_use);
  for (guint i = 0; i < entries->len && total > aim - bytes; i++)
    {
      const Entry *entry = &g_array_index (entries, Entry, i);

      if (unlink (entry->path) == 0 || errno == ENOENT)
        total -= entry->size;
    }
  return total;
}

gboolean
http_cache_reserve (HttpCache *self, int lock, gint64 bytes)
{
  gint64 total = read_total (lock);

  if (bytes > self->limit)
    return FALSE;
  if (total < 0 || total > self->limit - bytes)
    total = make_room (self, bytes);
  if (total > self->limit - bytes)
    {
      write_total (lock, total);
      return FALSE;
    }
  write_total (lock, total + bytes);
  return TRUE;
}

void
http_cache_release (HttpCache *self, int lock, gint64 bytes)
{
  gint64 total = read_total (lock);

  if (total >= 0)
    write_total (lock, total - bytes);
}

void
http_cache_drop (HttpCache *self, const char *path, gint64 bytes)
{
  int lock = http_cache_lock (self);

  if (unlink (path) == 0 && lock >= 0)
    http_cache_release (self, lock, bytes);
  if (lock >= 0)
    http_cache_unlock (lock);
}
