/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* A folder of whole files, shared by processes; see docs/internals/http.md. Nothing that goes wrong
 * with it is an error of whoever reads: the file comes from the server then. Any thread, but a
 * reader and a writer are one thread's at a time. */
typedef struct _HttpCache HttpCache;

/* Touches nothing yet. @limit: bytes. */
HttpCache *http_cache_new (const char *folder, gint64 limit);
HttpCache *http_cache_ref (HttpCache *self);
void http_cache_unref (HttpCache *self);

typedef struct _HttpCacheReader HttpCacheReader;

/* (nullable): the file from @offset on; NULL: it is not there. */
HttpCacheReader *http_cache_open (HttpCache *self, DlpFile *file, gint64 offset);
/* 0: the end. -1: the rest is damaged, and the entry is gone; what was given so far is right. */
gssize http_cache_reader_read (HttpCacheReader *self, guint8 *buffer, gsize count);
void http_cache_reader_free (HttpCacheReader *self);

typedef struct _HttpCacheWriter HttpCacheWriter;

/* (nullable): NULL: the file is none that can be kept, or there is no room. */
HttpCacheWriter *http_cache_begin (HttpCache *self, DlpFile *file);
/* The next bytes. What cannot be written is found by finish(). */
void http_cache_writer_add (HttpCacheWriter *self, const guint8 *data, gsize size);
/* All of the file was added: from now on it is in the cache. Takes @self. */
void http_cache_writer_finish (HttpCacheWriter *self);
/* Takes @self, and leaves nothing of it. */
void http_cache_writer_abort (HttpCacheWriter *self);

G_END_DECLS
