/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DECODER_MEMORY_MAX_MAPPINGS 4

typedef struct
{
  gpointer data;
  gsize size;
} DecoderMapping;

/* Where the library's memory comes from: up to a limit from the heap, beyond it from a file without
 * a name, whose pages are out of the process's memory while nothing is decoded. */
typedef struct
{
  gsize limit;
  char *folder;
  gsize used; /* on the heap */
  DecoderMapping heap[DECODER_MEMORY_MAX_MAPPINGS];
  DecoderMapping mappings[DECODER_MEMORY_MAX_MAPPINGS];
} DecoderMemory;

void decoder_memory_init (DecoderMemory *self);
/* Nothing is left of what was allocated. */
void decoder_memory_clear (DecoderMemory *self);
/* Of what is allocated from now on. */
void decoder_memory_set_limit (DecoderMemory *self, gsize limit, const char *folder);
/* As the library calls them. */
gpointer decoder_memory_alloc (gpointer self, gsize size);
void decoder_memory_free (gpointer self, gpointer data);
/* Mapped pages leave the process; a touch brings them back. */
void decoder_memory_rest (DecoderMemory *self);

G_END_DECLS
