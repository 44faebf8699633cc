/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DLP_BUFFER_ALIGNMENT 64
/* Buffers up to the larger of these are recycled, in classes of powers of two. */
#define DLP_BUFFER_MIN_CLASS 256
#define DLP_BUFFER_MAX_CLASS (2 * 1024 * 1024)
/* At most this much is kept for later use, if nobody says otherwise. */
#define DLP_BUFFER_MAX_CACHED (32 * 1024 * 1024)

/* Memory that grows, aligned to 64 bytes and at least as large as its use padded to 64 bytes. Empty
 * if zeroed. */
typedef struct
{
  guint8 *data;
  gsize capacity;
} DlpBuffer;

void dlp_buffer_grow (DlpBuffer *self, gsize used, gsize need);
void dlp_buffer_clear (DlpBuffer *self);
/* Moves the contents to a smaller buffer where most of the memory would be held for nothing, and
 * zeroes the padding behind them. */
void dlp_buffer_seal (DlpBuffer *self, gsize used);

/* Makes room for need bytes, keeping the first used ones. */
static inline void
dlp_buffer_ensure (DlpBuffer *self, gsize used, gsize need)
{
  if (G_UNLIKELY (need > self->capacity))
    dlp_buffer_grow (self, used, need);
}

/* Bytes of all buffers in use, and of those kept for later use. From any thread. */
gsize dlp_buffer_get_used_bytes (void);
gsize dlp_buffer_get_cached_bytes (void);
/* How many bytes are kept for later use: @bytes, and more as long as these and those in use are at
 * most @with_used together; of the whole process, the last call counts. */
void dlp_buffer_set_max_cached (gsize bytes, gsize with_used);
/* Gives back to the system what is kept for later use. */
void dlp_buffer_trim (void);

G_END_DECLS
