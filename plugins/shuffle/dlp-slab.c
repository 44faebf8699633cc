/* SPDX-License-Identifier: MIT */

#include "dlp-slab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks of one size lie in a page of this size, which is aligned to it. */
#define PAGE ((gsize) 64 * 1024)
/* What the system is asked for at once. */
#define REGION ((gsize) 2 * 1024 * 1024)
/* From this limit on; below it a region is one page. */
#define REGIONS_FROM (16 * REGION)
/* Larger blocks are the C library's. */
#define MAX_BLOCK (PAGE / 4)
#define MIN_BLOCK ((gsize) 64)
/* Sizes: eight to a doubling. */
#define N_CLASSES (15 * 8)

typedef struct _Page Page;
struct _Page
{
  Page *next, *previous; /* in the list of its class, of those with room; or of free pages */
  gpointer free;         /* blocks, each begins with a pointer to the next */
  guint32 block;         /* size */
  guint32 n_used;
  guint32 end; /* behind the blocks that were ever used */
  guint32 class;
};

struct _DlpSlab
{
  gsize max_bytes;
  gsize held; /* of the system */
  Page *with_room[N_CLASSES];
  Page *free_pages;
  GArray *regions; /* of Region */
};

typedef struct
{
  gpointer data;
  gsize size;
} Region;

DlpSlab *
dlp_slab_new (gsize max_bytes)
{
  DlpSlab *self = g_new0 (DlpSlab, 1);

  self->max_bytes = max_bytes;
  self->regions = g_array_new (FALSE, FALSE, sizeof (Region));
  return self;
}

void
dlp_slab_free (DlpSlab *self)
{
  for (guint i = 0; i < self->regions->len; i++)
    {
      const Region *region = &g_array_index (self->regions, Region, i);

      munmap (region->data, region->size);
    }
  g_array_unref (self->regions);
  g_free (self);
}

void
dlp_slab_set_limit (DlpSlab *self, gsize max_bytes)
{
  self->max_bytes = max_bytes;
}

/* Of memory for @size bytes; *rounded: as much as it is. */
static guint
find_class (gsize size, gsize *rounded)
{
  gsize last = MAX (size, MIN_BLOCK) - 1;
  guint shift = 63 - (guint) __builtin_clzll (last) - 3;

  *rounded = ((last >> shift) + 1) << shift;
  return shift * 8 + (guint) (last >> shift) % 8;
}

/* ---- pages ---- */

static void
link_page (Page **list, Page *page)
{
  page->previous = NULL;
  page->next = *list;
  if (*list != NULL)
    (*list)->previous = page;
  *list = page;
}

static void
unlink_page (Page **list, Page *page)
{
  if (page->previous != NULL)
    page->previous->next = page->next;
  else
    *list = page->next;
  if (page->next != NULL)
    page->next->previous = page->previous;
}

static gpointer
map_aligned (gsize size)
{
  guint8 *data = mmap (NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  gsize before;

  if (data == MAP_FAILED)
    return NULL;
  before = size - (gsize) data % size;
  munmap (data, before);
  if (before < size)
    munmap (data + before + size, size - before);
  return data + before;
}

static gboolean
add_region (DlpSlab *self)
{
  gsize size = self->max_bytes >= REGIONS_FROM ? REGION : PAGE;
  Region region = { NULL, size };

  if (self->held + size > self->max_bytes)
    return FALSE;
  region.data = map_aligned (size);
  if (region.data == NULL)
    return FALSE;
  if (size == REGION)
    madvise (region.data, size, MADV_HUGEPAGE);
  g_array_append_val (self->regions, region);
  self->held += size;
  for (gsize at = size; at > 0; at -= PAGE)
    link_page (&self->free_pages, (Page *) ((guint8 *) region.data + at - PAGE));
  return TRUE;
}

static Page *
take_page (DlpSlab *self, guint class, gsize block)
{
  Page *page;

  if (self->free_pages == NULL && !add_region (self))
    return NULL;
  page = self->free_pages;
  unlink_page (&self->free_pages, page);
  *page = (Page){ .block = (guint32) block, .end = sizeof (Page), .class = class };
  link_page (&self->with_room[class], page);
  return page;
}

/* ---- blocks ---- */

static gboolean
is_full (const Page *page)
{
  return page->free == NULL && page->end + page->block > PAGE;
}

static gpointer
take_large (DlpSlab *self, gsize size)
{
  if (self->held + size > self->max_bytes)
    return NULL;
  self->held += size;
  return g_malloc (size);
}

gpointer
dlp_slab_take (DlpSlab *self, gsize size)
{
  gsize rounded;
  guint class;
  Page *page;
  gpointer block;

  if (size > MAX_BLOCK)
    return take_large (self, size);
  class = find_class (size, &rounded);
  page = self->with_room[class];
  if (page == NULL)
    page = take_page (self, class, rounded);
  if (page == NULL)
    return NULL;

  block = page->free;
  if (block != NULL)
    memcpy (&page->free, block, sizeof (gpointer));
  else
    {
      block = (guint8 *) page + page->end;
      page->end += page->block;
    }
  page->n_used++;
  if (is_full (page))
    unlink_page (&self->with_room[class], page);
  return block;
}

void
dlp_slab_give (DlpSlab *self, gpointer block, gsize size)
{
  Page *page = (Page *) ((gsize) block & ~(PAGE - 1));

  if (size > MAX_BLOCK)
    {
      g_free (block);
      self->held -= size;
      return;
    }
  if (is_full (page))
    link_page (&self->with_room[page->class], page);
  memcpy (block, &page->free, sizeof (gpointer));
  page->free = block;
  if (--page->n_used > 0)
    return;
  unlink_page (&self->with_room[page->class], page);
  link_page (&self->free_pages, page);
}

/* ---- arrays ---- */

gpointer
dlp_slab_resize (gpointer old, gsize old_size, gsize size)
{
  gpointer data;

  if (size < 2 * REGION)
    return g_realloc (old, size);
  data = aligned_alloc (REGION, (size + REGION - 1) / REGION * REGION);
  if (data == NULL)
    g_error ("not enough memory: %zu bytes", size);
  madvise (data, size, MADV_HUGEPAGE);
  if (old_size > 0)
    memcpy (data, old, MIN (old_size, size));
  g_free (old);
  return data;
}
