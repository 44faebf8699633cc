/* SPDX-License-Identifier: MIT */

#include "decoder-memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dlpipe/dlp-decoder.h>

void
decoder_memory_init (DecoderMemory *self)
{
  *self = (DecoderMemory){ .limit = G_MAXSIZE };
}

void
decoder_memory_clear (DecoderMemory *self)
{
  g_clear_pointer (&self->folder, g_free);
}

void
decoder_memory_set_limit (DecoderMemory *self, gsize limit, const char *folder)
{
  g_free (self->folder);
  self->folder = g_strdup (folder);
  self->limit = limit;
}

static DecoderMapping *
find (DecoderMapping *mappings, gpointer data)
{
  for (guint i = 0; i < DECODER_MEMORY_MAX_MAPPINGS; i++)
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
alloc_mapped (DecoderMemory *self, gsize size)
{
  DecoderMapping *mapping = find (self->mappings, NULL);
  gpointer data = mapping != NULL ? map (self->folder, size) : NULL;

  if (data != NULL)
    *mapping = (DecoderMapping){ data, size };
  return data;
}

/* Too much memory is better than none, where there is no file either. */
gpointer
decoder_memory_alloc (gpointer memory, gsize size)
{
  DecoderMemory *self = memory;
  gpointer data = NULL;
  DecoderMapping *block;

  if (self->folder != NULL && size > self->limit - MIN (self->used, self->limit))
    data = alloc_mapped (self, size);
  if (data != NULL)
    return data;

  data = malloc (size);
  block = data != NULL ? find (self->heap, NULL) : NULL;
  if (block == NULL)
    return data;
  *block = (DecoderMapping){ data, size };
  self->used += size;
  return data;
}

void
decoder_memory_free (gpointer memory, gpointer data)
{
  DecoderMemory *self = memory;
  DecoderMapping *mapping = data != NULL ? find (self->mappings, data) : NULL;
  DecoderMapping *block = data != NULL ? find (self->heap, data) : NULL;

  if (mapping != NULL)
    {
      munmap (mapping->data, mapping->size);
      *mapping = (DecoderMapping){ 0 };
      return;
    }
  if (block != NULL)
    {
      self->used -= block->size;
      *block = (DecoderMapping){ 0 };
    }
  free (data);
}

void
decoder_memory_rest (DecoderMemory *self)
{
  for (guint i = 0; i < DECODER_MEMORY_MAX_MAPPINGS; i++)
    if (self->mappings[i].data != NULL)
      madvise (self->mappings[i].data, self->mappings[i].size, MADV_DONTNEED);
}
