/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ZSTD_MEMORY_MAX_MAPPINGS 4

typedef struct
{
  gpointer data;
  gsize size;
} ZstdMapping;

/* Where the library's memory comes from: up to a limit from the heap, beyond it from a file without
 * a name, whose pages are out of the process's memory while nothing is decoded. */
typedef struct
{
  gsize limit;
  char *folder;
  gsize used; /* on the heap */
  ZstdMapping heap[ZSTD_MEMORY_MAX_MAPPINGS];
  ZstdMapping mappings[ZSTD_MEMORY_MAX_MAPPINGS];
} ZstdMemory;

void zstd_memory_init (ZstdMemory *self);
/* Nothing is left of what was allocated. */
void zstd_memory_clear (ZstdMemory *self);
/* Of what is allocated from now on. */
void zstd_memory_set_limit (ZstdMemory *self, gsize limit, const char *folder);
/* As the library calls them. */
gpointer zstd_memory_alloc (gpointer self, gsize size);
void zstd_memory_free (gpointer self, gpointer data);
/* Mapped pages leave the process; a touch brings them back. */
void zstd_memory_rest (ZstdMemory *self);

G_END_DECLS
