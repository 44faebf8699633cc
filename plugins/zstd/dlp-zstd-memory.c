/* SPDX-License-Identifier: MIT */

#include "dlp-zstd-memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dlpipe/dlp-decoder.h>

void
zstd_memory_init (ZstdMemory *self)
{
  *self = (ZstdMemory){ .limit = G_MAXSIZE };
}

void
zstd_memory_clear (ZstdMemory *self)
{
  g_clear_pointer (&self->folder, g_free);
}

void
zstd_memory_set_limit (ZstdMemory *self, gsize limit, const char *folder)
{
  g_free (self->folder);
  self->folder = g_strdup (folder);
  self->limit = limit;
}

static ZstdMapping *
find (ZstdMapping *mappings, gpointer data)
{
  for (guint i = 0; i < ZSTD_MEMORY_MAX_MAPPINGS; i++)
    if (mappings[i].data == data)
      return &mappings[i];
  return NULL;
}

/* The blocks of the file are there before it is written to: a full disk is found here, not by a
 * signal. NULL: no such file can be had. */
static gpointer
map (const char *folder, gsize size)
{
  int fd = dlp_decoder_open_scratch (folder, NULL);
  gpointer data = MAP_FAILED;

  if (fd < 0)
    return NULL;
  if (fallocate (fd, 0, 0, (off_t) size) == 0)
    data = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close (fd);
  return data != MAP_FAILED ? data : NULL;
}

static gpointer
alloc_mapped (ZstdMemory *self, gsize size)
{
  ZstdMapping *mapping = find (self->mappings, NULL);
  gpointer data = mapping != NULL ? map (self->folder, size) : NULL;

  if (data != NULL)
    *mapping = (ZstdMapping){ data, size };
  return data;
}

/* Too much memory is better than none, where there is no file either. */
gpointer
zstd_memory_alloc (gpointer memory, gsize size)
{
  ZstdMemory *self = memory;
  gpointer data = NULL;
  ZstdMapping *block;

  if (self->folder != NULL && size > self->limit - MIN (self->used, self->limit))
    data = alloc_mapped (self, size);
  if (data != NULL)
    return data;

  data = malloc (size);
  block = data != NULL ? find (self->heap, NULL) : NULL;
  if (block == NULL)
    return data;
  *block = (ZstdMapping){ data, size };
  self->used += size;
  return data;
}

void
zstd_memory_free (gpointer memory, gpointer data)
{
  ZstdMemory *self = memory;
  ZstdMapping *mapping = data != NULL ? find (self->mappings, data) : NULL;
  ZstdMapping *block = data != NULL ? find (self->heap, data) : NULL;

  if (mapping != NULL)
    {
      munmap (mapping->data, mapping->size);
      *mapping = (ZstdMapping){ 0 };
      return;
    }
  if (block != NULL)
    {
      self->used -= block->size;
      *block = (ZstdMapping){ 0 };
    }
  free (data);
}

void
zstd_memory_rest (ZstdMemory *self)
{
  for (guint i = 0; i < ZSTD_MEMORY_MAX_MAPPINGS; i++)
    if (self->mappings[i].data != NULL)
      madvise (self->mappings[i].data, self->mappings[i].size, MADV_DONTNEED);
}
