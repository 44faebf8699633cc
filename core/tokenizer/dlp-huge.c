/* SPDX-License-Identifier: MIT */
#include "dlp-huge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((gsize) 2 * 1024 * 1024)

gpointer
dlp_huge_alloc (gsize size)
{
  gboolean is_large = size >= HUGE_PAGE / 2;
  gpointer data = NULL;

  if (is_large)
    size = (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  if (posix_memalign (&data, is_large ? HUGE_PAGE : 64, MAX (size, 1)) != 0)
    g_error ("out of memory: %" G_GSIZE_FORMAT " bytes for a tokenizer's tables", size);
  /* Before the first touch, or it has no effect on these pages. */
  if (is_large)
    madvise (data, size, MADV_HUGEPAGE);
  return data;
}

gpointer
dlp_huge_alloc0 (gsize size)
{
  return memset (dlp_huge_alloc (size), 0, size);
}

void
dlp_huge_free (gpointer data)
{
  free (data);
}
