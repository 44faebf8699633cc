/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-http-cache.h"

G_BEGIN_DECLS

/* An entry: the bytes of the file; for each block of them XXH3-128, big-endian; and this, all
 * numbers little-endian. Its name is SHA-256 of what it is (URI, identity, size), so that only its
 * bytes are left to be verified. */
#define HTTP_CACHE_BLOCK (256 * 1024)
#define HTTP_CACHE_HASH_SIZE 16
#define HTTP_CACHE_MAGIC "dlphttp1"
#define HTTP_CACHE_ENTRY ".entry"
#define HTTP_CACHE_PARTIAL ".partial"

typedef struct
{
  char magic[8];
  guint64 size;
  guint32 block_size;
  guint32 zero;
} HttpCacheTrailer;

struct _HttpCache
{
  gint ref_count;
  char *folder;
  gint64 limit;
  gint warned; /* atomic: only the first trouble is told */
};

/* (transfer full) (nullable): the entry's path; NULL: it cannot be told from others well enough to
 * be kept. */
char *http_cache_make_path (HttpCache *self, DlpFile *file);
/* Of the entry of a file of that size. */
gint64 http_cache_count_bytes (gint64 size);
void http_cache_fill_trailer (HttpCacheTrailer *trailer, gint64 size);

/* Says once what is wrong with the cache, errno. */
void http_cache_warn (HttpCache *self, const char *what);

/* ---- the folder; see dlp-http-cache-folder.c ---- */

/* A descriptor that holds the folder's lock; -1 with errno. */
int http_cache_lock (HttpCache *self);
void http_cache_unlock (int lock);
/* With the lock: so many bytes more, or less. For more the oldest go, as far as that is needed. */
gboolean http_cache_reserve (HttpCache *self, int lock, gint64 bytes);
void http_cache_release (HttpCache *self, int lock, gint64 bytes);
/* Takes an entry out that is damaged. */
void http_cache_drop (HttpCache *self, const char *path, gint64 bytes);

G_END_DECLS
