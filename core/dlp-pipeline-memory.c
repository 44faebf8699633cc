/* SPDX-License-Identifier: MIT */

/* What each part may hold of the memory budget. See docs/internals/memory.md. */

#include <dlpipe/dlp-transform.h>

#include "dlp-buffer-private.h"
#include "dlp-pipeline-private.h"

#define KIB ((guint64) 1024)
#define MIB (1024 * KIB)
#define FILES_LINK_BATCHES 4
#define MAX_QUEUE_BYTES (16 * MIB)
#define MIN_QUEUE_BYTES (16 * KIB)
/* What an element gets that asks for nothing, or where there is nothing left. */
#define MIN_SHARE (64 * KIB)

typedef struct
{
  DlpElement *element;
  guint64 want;
} DlpWant;

static guint64
default_total (guint n_workers)
{
  return MIN (64 * MIB + 48 * MIB * n_workers, dlp_memory_limit () / 4);
}

static bool
is_main_link (DlpPad *output)
{
  return output->link != NULL && !output->optional &&
         dlp_schema_get_kind (output->schema) != DLP_SCHEMA_FILES;
}

static guint
count_main_links (DlpPipeline *self)
{
  guint n = 0;

  for (guint i = 0; i < self->elements->len; i++)
    {
      GPtrArray *outputs = dlp_element_get_private (g_ptr_array_index (self->elements, i))->outputs;

      for (guint k = 0; k < outputs->len; k++)
        n += is_main_link (g_ptr_array_index (outputs, k));
    }
  return n;
}

/* Beside what is queued, a record batch is put together at one end of a link and one is read at the
 * other, and the last that is pushed goes beyond the limit. Links of files and of rejected records
 * are almost always empty: they have the same limits and do not count. */
static guint64
deal_to_links (DlpPipeline *self, guint64 budget)
{
  guint n = MAX (count_main_links (self), 1);
  guint64 part = MIN (budget / n, MAX_QUEUE_BYTES + 3 * DLP_RECORD_BATCH_MAX_BYTES);
  guint64 queue = part >= 5 * MIB ? part - 3 * DLP_RECORD_BATCH_MAX_BYTES : part * 2 / 5;
  guint64 batch = MIN (queue / 2, DLP_RECORD_BATCH_MAX_BYTES);

  queue = MAX (queue, MIN_QUEUE_BYTES);
  batch = MAX (batch, MIN_QUEUE_BYTES / 2);
  for (guint i = 0; i < self->elements->len; i++)
    {
      GPtrArray *outputs = dlp_element_get_private (g_ptr_array_index (self->elements, i))->outputs;

      for (guint k = 0; k < outputs->len; k++)
        {
          DlpPad *output = g_ptr_array_index (outputs, k);
          guint batches = self->link_batches;

          if (output->link == NULL)
            continue;
          if (dlp_schema_get_kind (output->schema) == DLP_SCHEMA_FILES)
            batches = MIN (batches, FILES_LINK_BATCHES);
          dlp_pad_set_link_limits (output, batches, queue, batch);
        }
    }
  return MIN (n * part, budget);
}

static guint64
ask (DlpPipeline *self, bool transforms, guint n_workers, GArray *wants)
{
  guint64 sum = 0;

  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);
      DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
      DlpWant want = { element, 0 };

      if (DLP_IS_TRANSFORM (element) != transforms)
        continue;
      if (klass->want_memory != NULL)
        want.want = klass->want_memory (element, n_workers);
      sum += want.want;
      g_array_append_val (wants, want);
    }
  return sum;
}

static int
compare_wants (gconstpointer a, gconstpointer b)
{
  guint64 x = ((const DlpWant *) a)->want;
  guint64 y = ((const DlpWant *) b)->want;

  return x < y ? -1 : x > y;
}

/* All are filled to the same level, or to what they want. Returns what is left. */
static guint64
fill (GArray *wants, guint64 budget)
{
  g_array_sort (wants, compare_wants);
  for (guint i = 0; i < wants->len; i++)
    {
      DlpWant *want = &g_array_index (wants, DlpWant, i);
      guint64 share = MIN (want->want, budget / (wants->len - i));

      budget -= share;
      dlp_element_get_private (want->element)->memory_share = MAX (share, MIN_SHARE);
    }
  return budget;
}

/* The caches of workers are what speed depends on: they have five sixths if they want as much. */
static void
deal_to_elements (DlpPipeline *self, guint64 budget, guint n_workers)
{
  g_autoptr (GArray) transforms = g_array_new (FALSE, FALSE, sizeof (DlpWant));
  g_autoptr (GArray) others = g_array_new (FALSE, FALSE, sizeof (DlpWant));
  guint64 wanted, first, left;

  ask (self, true, n_workers, transforms);
  wanted = ask (self, false, n_workers, others);
  first = MAX (budget / 6 * 5, budget - MIN (budget, wanted));
  left = budget - first + fill (transforms, first);
  self->run->reservable = left;
  fill (others, left);
}

void
dlp_pipeline_deal_memory (DlpPipeline *self)
{
  guint n_workers = self->workers;
  guint64 links;

  if (self->memory == 0)
    self->memory = default_total (n_workers);
  self->run->memory = self->memory;
  links = deal_to_links (self, self->memory / 8);
  deal_to_elements (self, self->memory - links, n_workers);
  dlp_buffer_set_max_cached (self->memory / 16, self->memory / 2);
}
