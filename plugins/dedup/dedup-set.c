/* SPDX-License-Identifier: MIT */

#include "dedup-set.h"

#include "dedup-merge.h"
#include "dedup-run.h"

#define LEAST_MEMORY (64 * 1024)
#define FIRST_CAPACITY 1024
#define MAX_TABLE_BYTES ((gsize) 1 << 30)
#define MAX_BUFFER_SLOTS (256 * 1024 / sizeof (DedupKey))
/* Each holds four times as many keys as the one before it. */
#define MAX_TIERS 24
/* A merge of a tier must be done before as many keys have come as it has: twice as fast is enough,
 * whatever the others do. */
#define MERGE_PACE 2

/* Runs of about one size, and what becomes of the first four of them. */
typedef struct
{
  GPtrArray *runs;   /* of DedupRun, in the order in which they came */
  DedupMerge *merge; /* (nullable) */
} Tier;

struct _DedupSet
{
  DedupSetOpenFile open_file;
  gpointer data;

  gsize max_table;   /* bytes, as are the next two */
  gsize max_filters; /* of runs, and again of those that merges make */
  gsize n_buffer;    /* slots of each buffer of a merge */

  DedupTable table;
  Tier tiers[MAX_TIERS];
  guint n_tiers;
  DedupKey *page;

  guint64 n_keys;
  guint64 due; /* keys that were added since merges went on */
};

DedupSet *
dedup_set_new (gsize memory, DedupSetOpenFile open_file, gpointer data)
{
  DedupSet *self = g_new0 (DedupSet, 1);
  gsize pages;

  memory = MAX (memory, LEAST_MEMORY);
  self->open_file = open_file;
  self->data = data;
  self->max_table = MIN (memory / 2, MAX_TABLE_BYTES);
  self->max_filters = memory / 16 * 3;
  pages = memory / 256 / sizeof (DedupKey) / DEDUP_PAGE;
  self->n_buffer = CLAMP (pages * DEDUP_PAGE, DEDUP_PAGE, MAX_BUFFER_SLOTS);
  self->page = g_new (DedupKey, DEDUP_PAGE);
  /* So little that there is no way without it. */
  g_assert (dedup_table_init (&self->table, FIRST_CAPACITY));
  return self;
}

void
dedup_set_free (DedupSet *self)
{
  for (guint i = 0; i < self->n_tiers; i++)
    {
      g_clear_pointer (&self->tiers[i].merge, dedup_merge_free);
      g_ptr_array_unref (self->tiers[i].runs);
    }
  dedup_table_clear (&self->table);
  g_free (self->page);
  g_free (self);
}

guint64
dedup_set_get_length (const DedupSet *self)
{
  return self->n_keys;
}

/* ---- filters ---- */

static gsize
count_filter_bytes (const DedupSet *self)
{
  gsize bytes = 0;

  for (guint i = 0; i < self->n_tiers; i++)
    for (guint k = 0; k < self->tiers[i].runs->len; k++)
      bytes += dedup_filter_get_bytes (
          &((DedupRun *) g_ptr_array_index (self->tiers[i].runs, k))->filter);
  return bytes;
}

/* The one that has the most for each of its keys. */
static DedupRun *
find_richest (const DedupSet *self)
{
  DedupRun *richest = NULL;
  double most = 0;

  for (guint i = 0; i < self->n_tiers; i++)
    for (guint k = 0; k < self->tiers[i].runs->len; k++)
      {
        DedupRun *run = g_ptr_array_index (self->tiers[i].runs, k);
        double each = (double) dedup_filter_get_bytes (&run->filter) / (double) run->n_keys;

        if (each > most)
          {
            most = each;
            richest = run;
          }
      }
  return richest;
}

/* Makes room for as many bytes. */
static void
trim_filters (DedupSet *self, gsize wanted)
{
  while (count_filter_bytes (self) + wanted > self->max_filters)
    {
      DedupRun *run = find_richest (self);

      if (run == NULL)
        break;
      dedup_filter_halve (&run->filter, run->n_keys);
    }
}

/* Makes room for the filter of one more run, with @n_keys. */
static gsize
take_filter_bytes (DedupSet *self, guint64 n_keys)
{
  gsize wanted = MIN (dedup_filter_get_wanted (n_keys), self->max_filters);
  /* What each key gets if all get the same. */
  double share = (double) self->max_filters / (double) MAX (self->n_keys, n_keys);

  wanted = MIN (wanted, (gsize) (share * (double) n_keys) + 2 * DEDUP_FILTER_BLOCK);
  trim_filters (self, wanted);
  return wanted;
}

/* ---- tiers ---- */

static void
add_run (DedupSet *self, guint tier, DedupRun *run)
{
  g_assert (tier < MAX_TIERS);
  while (self->n_tiers <= tier)
    self->tiers[self->n_tiers++].runs =
        g_ptr_array_new_with_free_func ((GDestroyNotify) dedup_run_free);
  g_ptr_array_add (self->tiers[tier].runs, run);
}

/* The first four of a tier, if nothing becomes of them yet. */
static gboolean
begin_merge (DedupSet *self, guint tier, GError **error)
{
  Tier *of = &self->tiers[tier];
  guint64 n_keys = 0;
  int fd;

  if (of->merge != NULL || of->runs->len < DEDUP_FAN)
    return TRUE;
  fd = self->open_file (self->data, error);
  if (fd < 0)
    return FALSE;
  for (guint i = 0; i < DEDUP_FAN; i++)
    n_keys += ((DedupRun *) g_ptr_array_index (of->runs, i))->n_keys;
  /* Those of its inputs go when it is done. */
  of->merge = dedup_merge_new ((DedupRun *const *) of->runs->pdata, fd,
                               take_filter_bytes (self, n_keys), self->n_buffer);
  return TRUE;
}

static gboolean
go_on_with_tier (DedupSet *self, guint tier, guint64 n_keys, GError **error)
{
  Tier *of = &self->tiers[tier];
  gboolean done;

  if (of->merge == NULL)
    return begin_merge (self, tier, error);
  if (!dedup_merge_go_on (of->merge, n_keys, &done, error))
    return FALSE;
  if (!done)
    return TRUE;
  add_run (self, tier + 1, dedup_merge_steal_run (of->merge));
  g_clear_pointer (&of->merge, dedup_merge_free);
  g_ptr_array_remove_range (of->runs, 0, DEDUP_FAN);
  trim_filters (self, 0);
  return begin_merge (self, tier, error);
}

gboolean
dedup_set_maintain (DedupSet *self, GError **error)
{
  guint64 n_keys = self->due * MERGE_PACE;

  self->due = 0;
  for (guint i = 0; i < self->n_tiers; i++)
    if (!go_on_with_tier (self, i, n_keys, error))
      return FALSE;
  return TRUE;
}

/* ---- room in memory ---- */

static gboolean
write_table (DedupSet *self, DedupRun *run, GError **error)
{
  DedupRunWriter writer;
  gboolean ok = TRUE;

  dedup_run_writer_init (&writer, run, MAX (self->n_buffer, DEDUP_PAGE));
  for (gsize i = 0; i < self->table.n_slots && ok; i++)
    if (!dedup_key_is_empty (&self->table.slots[i]))
      ok = dedup_run_writer_add (&writer, &self->table.slots[i], error);
  ok = ok && dedup_run_writer_finish (&writer, error);
  dedup_run_writer_clear (&writer);
  return ok;
}

static gboolean
write_run (DedupSet *self, GError **error)
{
  g_autoptr (DedupRun) run = NULL;
  int fd = self->open_file (self->data, error);

  if (fd < 0)
    return FALSE;
  run = dedup_run_new (fd, self->table.n_keys, take_filter_bytes (self, self->table.n_keys));
  if (!write_table (self, run, error))
    return FALSE;
  add_run (self, 0, g_steal_pointer (&run));
  dedup_table_empty (&self->table);
  return begin_merge (self, 0, error);
}

static gboolean
make_room (DedupSet *self, GError **error)
{
  gsize capacity = self->table.capacity * 2;

  if (dedup_table_get_bytes (capacity) <= self->max_table &&
      dedup_table_resize (&self->table, capacity))
    return TRUE;
  return write_run (self, error);
}

/* ---- keys ---- */

static gboolean
is_on_disk (DedupSet *self, const DedupKey *key, gboolean *found, GError **error)
{
  *found = FALSE;
  for (guint i = 0; i < self->n_tiers; i++)
    for (guint k = 0; k < self->tiers[i].runs->len; k++)
      {
        const DedupRun *run = g_ptr_array_index (self->tiers[i].runs, k);

        if (!dedup_run_may_contain (run, key))
          continue;
        if (!dedup_run_contains (run, key, self->page, found, error))
          return FALSE;
        if (*found)
          return TRUE;
      }
  return TRUE;
}

gboolean
dedup_set_add_new (DedupSet *self, const DedupKey *key, GError **error)
{
  DedupTableResult result = dedup_table_add (&self->table, key);

  while (result == DEDUP_TABLE_FULL)
    {
      if (!make_room (self, error))
        return FALSE;
      result = dedup_table_add (&self->table, key);
    }
  if (result == DEDUP_TABLE_ADDED)
    {
      self->n_keys++;
      self->due++;
    }
  return TRUE;
}

gboolean
dedup_set_add (DedupSet *self, const DedupKey *key, gboolean *is_new, GError **error)
{
  gboolean found = dedup_table_contains (&self->table, key);

  *is_new = FALSE;
  if (!found && !is_on_disk (self, key, &found, error))
    return FALSE;
  if (found)
    return TRUE;
  *is_new = TRUE;
  return dedup_set_add_new (self, key, error);
}

static void
advise (DedupSet *self, const DedupKey *key)
{
  for (guint i = 0; i < self->n_tiers; i++)
    for (guint k = 0; k < self->tiers[i].runs->len; k++)
      {
        const DedupRun *run = g_ptr_array_index (self->tiers[i].runs, k);

        if (dedup_run_may_contain (run, key))
          dedup_run_advise (run, key);
      }
}

void
dedup_set_look_ahead (DedupSet *self, const DedupKey *keys, guint n)
{
  for (guint i = 0; i < n; i++)
    dedup_table_prefetch (&self->table, &keys[i]);
  if (self->n_tiers == 0)
    return;
  for (guint i = 0; i < self->n_tiers; i++)
    for (guint k = 0; k < self->tiers[i].runs->len; k++)
      for (guint j = 0; j < n; j++)
        dedup_filter_prefetch (
            &((const DedupRun *) g_ptr_array_index (self->tiers[i].runs, k))->filter, &keys[j]);
  for (guint i = 0; i < n; i++)
    if (!dedup_table_contains (&self->table, &keys[i]))
      advise (self, &keys[i]);
}

/* ---- what it takes ---- */

gsize
dedup_set_get_bytes (const DedupSet *self)
{
  gsize bytes = dedup_table_get_bytes (self->table.capacity) + count_filter_bytes (self) +
                DEDUP_PAGE * sizeof (DedupKey);

  for (guint i = 0; i < self->n_tiers; i++)
    if (self->tiers[i].merge != NULL)
      bytes += dedup_merge_get_bytes (self->tiers[i].merge);
  return bytes;
}

guint
dedup_set_get_n_files (const DedupSet *self)
{
  guint n = 0;

  for (guint i = 0; i < self->n_tiers; i++)
    n += self->tiers[i].runs->len + (self->tiers[i].merge != NULL);
  return n;
}
