/* SPDX-License-Identifier: MIT */

#include "dedup-merge.h"

struct _DedupMerge
{
  DedupRunReader readers[DEDUP_FAN];
  const DedupKey *heads[DEDUP_FAN]; /* the next key of each; NULL: none is left */
  DedupRun *run;
  DedupRunWriter writer;
  gboolean begun;
};

DedupMerge *
dedup_merge_new (DedupRun *const runs[DEDUP_FAN], int fd, gsize max_filter_bytes, gsize n_buffer)
{
  DedupMerge *self = g_new0 (DedupMerge, 1);
  guint64 n_keys = 0;

  for (guint i = 0; i < DEDUP_FAN; i++)
    {
      dedup_run_reader_init (&self->readers[i], runs[i], n_buffer);
      n_keys += runs[i]->n_keys;
    }
  self->run = dedup_run_new (fd, n_keys, max_filter_bytes);
  dedup_run_writer_init (&self->writer, self->run, n_buffer);
  return self;
}

void
dedup_merge_free (DedupMerge *self)
{
  for (guint i = 0; i < DEDUP_FAN; i++)
    dedup_run_reader_clear (&self->readers[i]);
  dedup_run_writer_clear (&self->writer);
  g_clear_pointer (&self->run, dedup_run_free);
  g_free (self);
}

static gboolean
begin (DedupMerge *self, GError **error)
{
  for (guint i = 0; i < DEDUP_FAN; i++)
    if (!dedup_run_reader_next (&self->readers[i], &self->heads[i], error))
      return FALSE;
  self->begun = TRUE;
  return TRUE;
}

/* DEDUP_FAN: none is left. */
static guint
find_least (const DedupMerge *self)
{
  guint least = DEDUP_FAN;

  for (guint i = 0; i < DEDUP_FAN; i++)
    if (self->heads[i] != NULL &&
        (least == DEDUP_FAN || dedup_key_is_less (self->heads[i], self->heads[least])))
      least = i;
  return least;
}

gboolean
dedup_merge_go_on (DedupMerge *self, guint64 n_keys, gboolean *done, GError **error)
{
  *done = FALSE;
  if (!self->begun && !begin (self, error))
    return FALSE;
  for (; n_keys > 0; n_keys--)
    {
      guint i = find_least (self);

      if (i == DEDUP_FAN)
        {
          *done = TRUE;
          return dedup_run_writer_finish (&self->writer, error);
        }
      if (!dedup_run_writer_add (&self->writer, self->heads[i], error) ||
          !dedup_run_reader_next (&self->readers[i], &self->heads[i], error))
        return FALSE;
    }
  return TRUE;
}

DedupRun *
dedup_merge_steal_run (DedupMerge *self)
{
  return g_steal_pointer (&self->run);
}

gsize
dedup_merge_get_bytes (const DedupMerge *self)
{
  return (DEDUP_FAN + 1) * self->writer.n_buffer * sizeof (DedupKey) +
         dedup_filter_get_bytes (&self->run->filter);
}
