/* SPDX-License-Identifier: MIT */

/* The largest file first, each to the task that has least of this source. */

#include "dlp-fanout-deal-private.h"

#include <stdlib.h>

typedef struct
{
  guint64 size;
  guint32 index;
} File;

/* A task among those that wait for the next file. */
typedef struct
{
  guint64 bytes; /* of this source */
  guint32 files; /* the same */
  guint64 load;  /* of the sources before */
  guint32 number;
} Task;

guint
dlp_fanout_choose_tasks (guint64 bytes, guint most)
{
  guint64 wanted = bytes / DLP_FANOUT_BYTES_A_TASK + (bytes % DLP_FANOUT_BYTES_A_TASK != 0);

  wanted = MIN (wanted, DLP_FANOUT_MAX_TASKS);
  return (guint) MAX (MIN (wanted, most), 1);
}

/* What a file of unknown size counts as; 1 where no size is known, so that they are dealt evenly.
 */
static guint64
get_mean (const gint64 *sizes, guint32 n)
{
  guint64 sum = 0;
  guint32 known = 0;

  for (guint32 i = 0; i < n; i++)
    if (sizes[i] >= 0)
      {
        sum += (guint64) sizes[i];
        known++;
      }
  return known > 0 ? sum / known : 1;
}

static int
compare_files (const void *a, const void *b)
{
  const File *x = a;
  const File *y = b;

  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static File *
sort_files (const gint64 *sizes, guint32 n)
{
  guint64 mean = get_mean (sizes, n);
  File *files = g_new (File, n);

  for (guint32 i = 0; i < n; i++)
    files[i] = (File){ sizes[i] >= 0 ? (guint64) sizes[i] : mean, i };
  if (n > 0)
    qsort (files, n, sizeof *files, compare_files);
  return files;
}

/* Empty files have no bytes: their number keeps them from going to one task all. */
static gboolean
is_before (const Task *a, const Task *b)
{
  if (a->bytes != b->bytes)
    return a->bytes < b->bytes;
  if (a->files != b->files)
    return a->files < b->files;
  if (a->load != b->load)
    return a->load < b->load;
  return a->number < b->number;
}

/* The heap's first one has got more, and sinks to where it belongs. */
static void
sink (Task *heap, guint32 n)
{
  guint32 at = 0;

  for (;;)
    {
      guint32 child = 2 * at + 1;
      Task moved = heap[at];

      if (child >= n)
        return;
      if (child + 1 < n && is_before (&heap[child + 1], &heap[child]))
        child++;
      if (!is_before (&heap[child], &moved))
        return;
      heap[at] = heap[child];
      heap[child] = moved;
      at = child;
    }
}

static int
compare_tasks (const void *a, const void *b)
{
  return is_before (a, b) ? -1 : 1;
}

/* Sorted, it is a heap. */
static Task *
make_heap (const guint64 *loads, guint32 n)
{
  Task *heap = g_new (Task, n);

  for (guint32 i = 0; i < n; i++)
    heap[i] = (Task){ .load = loads[i], .number = i };
  qsort (heap, n, sizeof *heap, compare_tasks);
  return heap;
}

void
dlp_fanout_deal (const gint64 *sizes, guint32 n, guint32 n_tasks, guint64 *loads, guint32 *task_of)
{
  g_autofree File *files = NULL;
  g_autofree Task *heap = NULL;

  g_return_if_fail (n_tasks > 0);

  files = sort_files (sizes, n);
  heap = make_heap (loads, n_tasks);
  for (guint32 i = 0; i < n; i++)
    {
      task_of[files[i].index] = heap->number;
      heap->bytes += files[i].size;
      heap->files++;
      loads[heap->number] += files[i].size;
      sink (heap, n_tasks);
    }
}
