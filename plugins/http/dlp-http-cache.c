/* SPDX-License-Identifier: MIT */

#include "dlp-http-cache-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "dlp-http-header.h"

HttpCache *
http_cache_new (const char *folder, gint64 limit)
{
  HttpCache *self = g_new0 (HttpCache, 1);

  self->ref_count = 1;
  self->folder = g_strdup (folder);
  self->limit = limit;
  return self;
}

HttpCache *
http_cache_ref (HttpCache *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
http_cache_unref (HttpCache *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_free (self->folder);
  g_free (self);
}

void
http_cache_warn (HttpCache *self, const char *what)
{
  int code = errno;
  g_autofree char *folder = dlp_uri_escape_for_display (self->folder);

  if (g_atomic_int_exchange (&self->warned, 1) == 0)
    g_warning ("cache %s: %s: %s; files are read from the server", folder, what, g_strerror (code));
}

char *
http_cache_make_path (HttpCache *self, DlpFile *file)
{
  const char *identity = dlp_file_get_identity (file);
  g_autofree char *uri = NULL;
  g_autofree char *text = NULL;
  g_autofree char *sum = NULL;
  g_autofree char *name = NULL;

  /* Of the same time, or weak tag, there may be two. */
  if (!http_identity_is_strong (identity) || dlp_file_get_size (file) <= 0)
    return NULL;
  /* Signed anew, it is the same. */
  uri = dlp_uri_redact (dlp_file_get_uri (file));
  text = g_strdup_printf ("%s\n%s\n%" G_GINT64_FORMAT, uri, identity, dlp_file_get_size (file));
  sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
  name = g_strconcat (sum, HTTP_CACHE_ENTRY, NULL);
  return g_build_filename (self->folder, name, NULL);
}

static gint64
count_blocks (gint64 size)
{
  return (size - 1) / HTTP_CACHE_BLOCK + 1;
}

gint64
http_cache_count_bytes (gint64 size)
{
  return size + count_blocks (size) * HTTP_CACHE_HASH_SIZE + (gint64) sizeof (HttpCacheTrailer);
}

void
http_cache_fill_trailer (HttpCacheTrailer *trailer, gint64 size)
{
  memset (trailer, 0, sizeof *trailer);
  memcpy (trailer->magic, HTTP_CACHE_MAGIC, sizeof trailer->magic);
  trailer->size = GUINT64_TO_LE ((guint64) size);
  trailer->block_size = GUINT32_TO_LE (HTTP_CACHE_BLOCK);
}

/* ---- reading ---- */

struct _HttpCacheReader
{
  HttpCache *cache;
  char *path;
  int fd;
  gint64 size;
  gint64 position;
  gint64 index; /* of the block that is loaded; -1: none */
  guint8 *block;
};

static gboolean
read_at (int fd, void *buffer, gsize size, gint64 offset)
{
  guint8 *bytes = buffer;

  while (size > 0)
    {
      gssize n = pread (fd, bytes, size, offset);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      bytes += n;
      size -= (gsize) n;
      offset += n;
    }
  return TRUE;
}

static gboolean
has_right_shape (HttpCacheReader *self)
{
  gint64 bytes = http_cache_count_bytes (self->size);
  HttpCacheTrailer expected, found;
  struct stat st;

  http_cache_fill_trailer (&expected, self->size);
  return fstat (self->fd, &st) == 0 && S_ISREG (st.st_mode) && st.st_size == bytes &&
         read_at (self->fd, &found, sizeof found, bytes - (gint64) sizeof found) &&
         memcmp (&found, &expected, sizeof found) == 0;
}

static void
drop (HttpCacheReader *self)
{
  g_debug ("%s: damaged, and taken out of the cache", self->path);
  http_cache_drop (self->cache, self->path, http_cache_count_bytes (self->size));
}

HttpCacheReader *
http_cache_open (HttpCache *self, DlpFile *file, gint64 offset)
{
  g_autofree char *path = http_cache_make_path (self, file);
  int fd = path != NULL ? open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
  HttpCacheReader *reader;

  if (fd < 0)
    return NULL;
  reader = g_new0 (HttpCacheReader, 1);
  reader->cache = http_cache_ref (self);
  reader->path = g_steal_pointer (&path);
  reader->fd = fd;
  reader->size = dlp_file_get_size (file);
  reader->position = offset;
  reader->index = -1;
  if (has_right_shape (reader))
    {
      /* When it was used. A folder that may only be read has no such order. */
      (void) futimens (fd, NULL);
      reader->block = g_malloc (HTTP_CACHE_BLOCK);
      return reader;
    }
  drop (reader);
  http_cache_reader_free (reader);
  return NULL;
}

void
http_cache_reader_free (HttpCacheReader *self)
{
  close (self->fd);
  http_cache_unref (self->cache);
  g_free (self->path);
  g_free (self->block);
  g_free (self);
}

static gboolean
load_block (HttpCacheReader *self, gint64 index)
{
  gint64 start = index * HTTP_CACHE_BLOCK;
  gsize size = (gsize) MIN (self->size - start, HTTP_CACHE_BLOCK);
  XXH128_canonical_t found, expected;

  self->index = -1;
  if (!read_at (self->fd, self->block, size, start) ||
      !read_at (self->fd, &expected, sizeof expected, self->size + index * HTTP_CACHE_HASH_SIZE))
    return FALSE;
  XXH128_canonicalFromHash (&found, XXH3_128bits (self->block, size));
  if (memcmp (&found, &expected, sizeof found) != 0)
    return FALSE;
  self->index = index;
  return TRUE;
}

gssize
http_cache_reader_read (HttpCacheReader *self, guint8 *buffer, gsize count)
{
  gint64 index = self->position / HTTP_CACHE_BLOCK;
  gint64 within = self->position % HTTP_CACHE_BLOCK;
  gsize n;

  if (self->position >= self->size)
    return 0;
  if (index != self->index && !load_block (self, index))
    {
      drop (self);
      return -1;
    }
  n = (gsize) MIN (self->size - self->position, HTTP_CACHE_BLOCK - within);
  n = MIN (n, count);
  memcpy (buffer, self->block + within, n);
  self->position += (gint64) n;
  return (gssize) n;
}

/* ---- writing ---- */

struct _HttpCacheWriter
{
  HttpCache *cache;
  char *path;    /* of the entry that it will be */
  char *partial; /* until then */
  int fd;
  gint64 size;
  gint64 position;
  GByteArray *hashes;
  XXH3_state_t *state; /* of the block that is not full yet */
  int failed;          /* errno of the first write that failed; 0: none */
};

static gboolean
write_at (int fd, const void *buffer, gsize size, gint64 offset)
{
  const guint8 *bytes = buffer;

  while (size > 0)
    {
      gssize n = pwrite (fd, bytes, size, offset);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      bytes += n;
      size -= (gsize) n;
      offset += n;
    }
  return TRUE;
}

/* All that it will need, so that a full disk is met now, and others count it. */
static gboolean
reserve_space (int fd, gint64 bytes)
{
  if (fallocate (fd, 0, 0, bytes) == 0)
    return TRUE;
  if (errno != EOPNOTSUPP && errno != ENOSYS)
    return FALSE;
  return ftruncate (fd, bytes) == 0;
}

/* With the folder's lock, so that nobody takes it for one that was left behind. */
static gboolean
make_partial (HttpCacheWriter *self, int lock)
{
  gint64 bytes = http_cache_count_bytes (self->size);

  self->partial = g_strconcat (self->path, ".XXXXXX" HTTP_CACHE_PARTIAL, NULL);
  self->fd = mkostemps (self->partial, strlen (HTTP_CACHE_PARTIAL), O_CLOEXEC);
  if (self->fd >= 0 && flock (self->fd, LOCK_EX | LOCK_NB) == 0 && reserve_space (self->fd, bytes))
    return TRUE;
  http_cache_warn (self->cache, "cannot write");
  if (self->fd >= 0)
    unlink (self->partial);
  http_cache_release (self->cache, lock, bytes);
  return FALSE;
}

static void
writer_free (HttpCacheWriter *self)
{
  if (self->fd >= 0)
    close (self->fd);
  http_cache_unref (self->cache);
  g_byte_array_unref (self->hashes);
  XXH3_freeState (self->state);
  g_free (self->path);
  g_free (self->partial);
  g_free (self);
}

static HttpCacheWriter *
writer_new (HttpCache *cache, char *path, gint64 size)
{
  HttpCacheWriter *self = g_new0 (HttpCacheWriter, 1);

  self->cache = http_cache_ref (cache);
  self->path = path;
  self->fd = -1;
  self->size = size;
  self->hashes = g_byte_array_new ();
  self->state = XXH3_createState ();
  XXH3_128bits_reset (self->state);
  return self;
}

HttpCacheWriter *
http_cache_begin (HttpCache *self, DlpFile *file)
{
  g_autofree char *path = http_cache_make_path (self, file);
  HttpCacheWriter *writer;
  gboolean ok;
  int lock;

  if (path == NULL || http_cache_count_bytes (dlp_file_get_size (file)) > self->limit)
    return NULL;
  if (g_mkdir_with_parents (self->folder, 0700) != 0 || (lock = http_cache_lock (self)) < 0)
    {
      http_cache_warn (self, "cannot write");
      return NULL;
    }
  writer = writer_new (self, g_steal_pointer (&path), dlp_file_get_size (file));
  ok = http_cache_reserve (self, lock, http_cache_count_bytes (writer->size)) &&
       make_partial (writer, lock);
  http_cache_unlock (lock);
  if (ok)
    return writer;
  writer_free (writer);
  return NULL;
}

static void
end_block (HttpCacheWriter *self)
{
  XXH128_canonical_t hash;

  XXH128_canonicalFromHash (&hash, XXH3_128bits_digest (self->state));
  g_byte_array_append (self->hashes, (const guint8 *) &hash, sizeof hash);
  XXH3_128bits_reset (self->state);
}

void
http_cache_writer_add (HttpCacheWriter *self, const guint8 *data, gsize size)
{
  if (self->failed == 0 && !write_at (self->fd, data, size, self->position))
    self->failed = errno;
  while (size > 0)
    {
      gsize room = (gsize) (HTTP_CACHE_BLOCK - self->position % HTTP_CACHE_BLOCK);
      gsize n = MIN (size, room);

      XXH3_128bits_update (self->state, data, n);
      self->position += (gint64) n;
      if (n == room || self->position == self->size)
        end_block (self);
      data += n;
      size -= n;
    }
}

static gboolean
write_end (HttpCacheWriter *self)
{
  HttpCacheTrailer trailer;

  http_cache_fill_trailer (&trailer, self->size);
  return write_at (self->fd, self->hashes->data, self->hashes->len, self->size) &&
         write_at (self->fd, &trailer, sizeof trailer, self->size + (gint64) self->hashes->len);
}

/* The folder's lock keeps it from being counted twice where another process was faster. No fsync: a
 * power cut leaves what the hashes tell from a whole one. */
static void
publish (HttpCacheWriter *self, int lock)
{
  if (access (self->path, F_OK) != 0 && rename (self->partial, self->path) == 0)
    return;
  unlink (self->partial);
  http_cache_release (self->cache, lock, http_cache_count_bytes (self->size));
}

void
http_cache_writer_finish (HttpCacheWriter *self)
{
  int lock;

  g_return_if_fail (self->position == self->size);

  if (self->failed == 0 && !write_end (self))
    self->failed = errno;
  if (self->failed != 0)
    {
      errno = self->failed;
      http_cache_warn (self->cache, "cannot write");
      http_cache_writer_abort (self);
      return;
    }
  lock = http_cache_lock (self->cache);
  if (lock < 0)
    {
      http_cache_writer_abort (self);
      return;
    }
  publish (self, lock);
  http_cache_unlock (lock);
  writer_free (self);
}

void
http_cache_writer_abort (HttpCacheWriter *self)
{
  int lock = http_cache_lock (self->cache);

  unlink (self->partial);
  if (lock >= 0)
    {
      http_cache_release (self->cache, lock, http_cache_count_bytes (self->size));
      http_cache_unlock (lock);
    }
  writer_free (self);
}
