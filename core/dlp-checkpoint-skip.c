/* SPDX-License-Identifier: MIT */

/* A state from which a run goes on without some of its batches. */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-checkpoint-private.h"
#include "dlp-state-dir-private.h"

#define RANGES G_VARIANT_TYPE ("a(ttt)")

/* Not given out; it was asked for when @from batches had gone out. */
typedef struct
{
  guint64 first, last;
  guint64 from;
} Range;

/* The state of one that puts records into batches has these keys. */
static bool
is_batcher (GVariant *state)
{
  guint64 batches, skipped;
  g_autoptr (GVariant) ranges = g_variant_lookup_value (state, "skip", RANGES);

  return ranges != NULL && g_variant_lookup (state, "batches", "t", &batches) &&
         g_variant_lookup (state, "skipped-batches", "t", &skipped);
}

/* One that goes on, and makes batches. */
static bool
can_skip (GVariant *element)
{
  g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
  gboolean needed = FALSE;

  return state != NULL && is_batcher (state) &&
         g_variant_lookup (element, "needed", "b", &needed) && needed;
}

/* ---- which element ---- */

static bool
set_none (const char *name, GError **error)
{
  g_autofree char *which =
      name != NULL ? g_strdup_printf ("element “%s”", name) : g_strdup ("no element");

  g_set_error (
      error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
      "%s of the state has %sbatches to be skipped: wanted is one such as batch, which has "
      "something left to do",
      which, name != NULL ? "no " : "");
  return false;
}

/* *@found: its number. */
static bool
find_batcher (GVariant *elements, const char *wanted, gsize *found, GError **error)
{
  guint n = 0;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      const char *name = NULL;

      g_variant_lookup (element, "name", "&s", &name);
      if (!can_skip (element) || (wanted != NULL && strcmp (wanted, name) != 0))
        continue;
      *found = i;
      n++;
    }
  if (n == 1)
    return true;
  if (n == 0)
    return set_none (wanted, error);
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "%u elements have batches; say which one is meant, by its name", n);
  return false;
}

/* ---- ranges ---- */

/* Of one that puts records into batches. */
typedef struct
{
  GVariant *elements;
  GVariant *element; /* one of them: @which */
  gsize which;
  const char *name;
  guint64 batches;  /* the index that it goes on with */
  guint64 position; /* batches that go out before that one */
  guint64 place;    /* that have gone out */
  GArray *ranges;   /* of Range: in order, and apart */
} Batcher;

static void
batcher_clear (Batcher *self)
{
  g_clear_pointer (&self->ranges, g_array_unref);
  g_clear_pointer (&self->element, g_variant_unref);
  g_clear_pointer (&self->elements, g_variant_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Batcher, batcher_clear)

static bool
load_ranges (Batcher *self, GVariant *ranges, GError **error)
{
  GVariantIter iter;
  guint64 end = 0;
  Range range;

  self->ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  g_variant_iter_init (&iter, ranges);
  while (g_variant_iter_next (&iter, "(ttt)", &range.first, &range.last, &range.from))
    {
      if (range.first < end || range.last < range.first || range.last > G_MAXINT64)
        {
          g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                       "state of %s: key “skip”: range %u is not behind the one before it",
                       self->name, self->ranges->len);
          return false;
        }
      end = range.last + 1;
      g_array_append_val (self->ranges, range);
    }
  return true;
}

static bool
batcher_init (Batcher *self, DlpCheckpoint *checkpoint, const char *wanted, GError **error)
{
  g_autoptr (GVariant) payload = dlp_checkpoint_to_variant (checkpoint);
  g_autoptr (GVariant) state = NULL;
  g_autoptr (GVariant) ranges = NULL;
  guint64 skipped = 0;

  self->elements = g_variant_lookup_value (payload, "elements", G_VARIANT_TYPE ("aa{sv}"));
  if (!find_batcher (self->elements, wanted, &self->which, error))
    return false;
  self->element = g_variant_get_child_value (self->elements, self->which);
  state = g_variant_lookup_value (self->element, "state", G_VARIANT_TYPE_VARDICT);
  ranges = g_variant_lookup_value (state, "skip", RANGES);
  g_variant_lookup (self->element, "name", "&s", &self->name);
  g_variant_lookup (state, "batches", "t", &self->batches);
  g_variant_lookup (state, "skipped-batches", "t", &skipped);
  self->position = self->batches - MIN (skipped, self->batches);
  return load_ranges (self, ranges, error) &&
         dlp_checkpoint_find_place (self->elements, self->element, &self->place, error);
}

/* (floating) */
static GVariant *
batcher_describe (Batcher *self)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, RANGES);
  for (guint i = 0; i < self->ranges->len; i++)
    {
      const Range *range = &g_array_index (self->ranges, Range, i);

      g_variant_builder_add (&builder, "(ttt)", range->first, range->last, range->from);
    }
  return g_variant_builder_end (&builder);
}

/* The first batch that has not gone out, and is not skipped already. */
static guint64
find_free (Batcher *self)
{
  guint64 index = self->batches, left = self->place - MIN (self->place, self->position);

  for (guint i = 0; i < self->ranges->len; i++)
    {
      const Range *range = &g_array_index (self->ranges, Range, i);

      if (range->last < index)
        continue;
      if (range->first > index && range->first - index > left)
        break;
      left -= range->first - MIN (range->first, index);
      index = range->last + 1;
    }
  return index + left;
}

static bool
check_range (Batcher *self, guint64 first, guint64 last, GError **error)
{
  if (first > last || last > G_MAXINT64)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "batches %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                   " are no range; the first one is not behind the last, and both are below 2^63",
                   first, last);
      return false;
    }
  if (first >= self->batches)
    return true;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "batch %" G_GUINT64_FORMAT " of %s was given out before this state, which goes on "
               "with batch %" G_GUINT64_FORMAT "; take an older state, or skip from there on",
               first, self->name, self->batches);
  return false;
}

static bool
set_delivered (Batcher *self, guint64 index, GError **error)
{
  if (self->place == DLP_CHECKPOINT_ALL)
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                 "batch %" G_GUINT64_FORMAT " of %s has gone out, as all of them have: a consumer "
                 "has come to its end; take an older state",
                 index, self->name);
  else
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                 "batch %" G_GUINT64_FORMAT
                 " of %s has gone out: it is made again from this state, "
                 "which goes on with batch %" G_GUINT64_FORMAT
                 ", but what is behind it has had it; take an older state, or skip from batch "
                 "%" G_GUINT64_FORMAT " on",
                 index, self->name, self->batches, find_free (self));
  return false;
}

/* Those that were asked for one after another, at the same place, are one. */
static void
merge_ranges (GArray *ranges)
{
  guint n = 0;

  for (guint i = 0; i < ranges->len; i++)
    {
      Range range = g_array_index (ranges, Range, i);
      Range *before = n > 0 ? &g_array_index (ranges, Range, n - 1) : NULL;

      if (before != NULL && before->last + 1 == range.first && before->from == range.from)
        before->last = range.last;
      else
        g_array_index (ranges, Range, n++) = range;
    }
  g_array_set_size (ranges, n);
}

/* What of @first to @last is not skipped already comes between the others. */
static bool
add_range (Batcher *self, guint64 first, guint64 last, GError **error)
{
  bool late = self->place == DLP_CHECKPOINT_ALL;
  guint64 free = late ? 0 : find_free (self);
  guint i = 0;

  for (; first <= last; i++)
    {
      const Range *next = i < self->ranges->len ? &g_array_index (self->ranges, Range, i) : NULL;
      Range added = { first, last, self->place };

      if (next != NULL && next->last < first)
        continue;
      if (next == NULL || next->first > first)
        {
          if (late || first < free)
            return set_delivered (self, first, error);
          added.last = next != NULL ? MIN (last, next->first - 1) : last;
          g_array_insert_val (self->ranges, i, added);
          first = added.last + 1;
        }
      else
        first = next->last + 1;
    }
  merge_ranges (self->ranges);
  return true;
}

/* Whether what lies behind @range depends on it: batches that went out are made again, and counted
 * without those that were skipped among them. One that came too late was never skipped. */
static bool
is_settled (Batcher *self, const Range *range, guint64 position)
{
  return position >= range->from && position < self->place;
}

static void
clear_ranges (Batcher *self)
{
  guint64 index = self->batches, position = self->position;
  guint n = 0;

  for (guint i = 0; i < self->ranges->len; i++)
    {
      Range range = g_array_index (self->ranges, Range, i);
      guint64 first = MAX (range.first, self->batches);

      if (range.last >= self->batches)
        {
          position += first - index;
          index = first;
          if (is_settled (self, &range, position))
            index = range.last + 1;
          else
            range.last = first - 1;
        }
      if (range.last + 1 > range.first)
        g_array_index (self->ranges, Range, n++) = range;
    }
  g_array_set_size (self->ranges, n);
}

/* ---- a new one ---- */

/* (floating): @dict, one of its keys replaced. */
static GVariant *
replace (GVariant *dict, const char *key, GVariant *value)
{
  GVariantDict all;

  g_variant_dict_init (&all, dict);
  g_variant_dict_insert_value (&all, key, value);
  return g_variant_dict_end (&all);
}

/* (floating) */
static GVariant *
replace_element (GVariant *elements, gsize which, GVariant *element)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) before = g_variant_get_child_value (elements, i);

      g_variant_builder_add_value (&builder, i == which ? element : before);
    }
  return g_variant_builder_end (&builder);
}

/* (transfer full): @self, with other ranges. */
static DlpCheckpoint *
change_ranges (DlpCheckpoint *self, Batcher *batcher)
{
  g_autoptr (GVariant) payload = dlp_checkpoint_to_variant (self);
  g_autoptr (GVariant) state =
      g_variant_lookup_value (batcher->element, "state", G_VARIANT_TYPE_VARDICT);
  GVariant *changed = replace (state, "skip", batcher_describe (batcher));

  changed = replace (batcher->element, "state", changed);
  changed = replace_element (batcher->elements, batcher->which, changed);
  return dlp_checkpoint_new_like (self, replace (payload, "elements", changed));
}

DlpCheckpoint *
dlp_checkpoint_skip_batches (DlpCheckpoint *self,
                             const char *element,
                             guint64 first,
                             guint64 last,
                             GError **error)
{
  g_auto (Batcher) batcher = { NULL };

  g_return_val_if_fail (self != NULL, NULL);

  if (!batcher_init (&batcher, self, element, error) ||
      !check_range (&batcher, first, last, error) || !add_range (&batcher, first, last, error))
    return NULL;
  return change_ranges (self, &batcher);
}

DlpCheckpoint *
dlp_checkpoint_clear_skipped (DlpCheckpoint *self, const char *element, GError **error)
{
  g_auto (Batcher) batcher = { NULL };

  g_return_val_if_fail (self != NULL, NULL);

  if (!batcher_init (&batcher, self, element, error))
    return NULL;
  clear_ranges (&batcher);
  return change_ranges (self, &batcher);
}

/* ---- into a folder ---- */

static bool
check_run (GVariant *newest, GVariant *payload, const char *folder, GError **error)
{
  g_autoptr (GVariant) opened = g_variant_lookup_value (payload, "opened", NULL);
  const char *here = "none", *ours = "";

  g_variant_lookup (payload, "run-id", "&s", &ours);
  if (newest != NULL)
    g_variant_lookup (newest, "run-id", "&s", &here);
  /* One that a program saved has its inputs within; what is in the folder has them beside it. */
  if (strcmp (here, ours) == 0 && opened == NULL)
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
               "%s: has the state of run %s; what is to be put there was read from another place, "
               "and is of run %s",
               folder, here, ours);
  return false;
}

/* Outputs and files of states are as the newest one has them: one from before cannot come back. */
static bool
check_newest (DlpCheckpoint *self, GVariant *newest, const char *folder, GError **error)
{
  gboolean complete = FALSE;

  g_variant_lookup (newest, "complete", "b", &complete);
  if (!complete && g_variant_equal (newest, dlp_checkpoint_get_origin (self)))
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED, "%s: %s", folder,
               complete ? "the run is complete: there is nothing left to change" :
                          "the run has gone on since the state was read; read it anew");
  return false;
}

static bool
check_folder (DlpCheckpoint *self, DlpStateDir *dir, const char *folder, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (GVariant) newest = dlp_state_dir_load (dir, NULL, NULL, &failure);
  g_autoptr (GVariant) payload = dlp_checkpoint_to_variant (self);

  if (failure != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return false;
    }
  return check_run (newest, payload, folder, error) && check_newest (self, newest, folder, error);
}

gboolean
dlp_checkpoint_save_to_folder (DlpCheckpoint *self, const char *folder, GError **error)
{
  g_autoptr (DlpStateDir) dir = NULL;
  g_autoptr (GVariant) payload = NULL;

  g_return_val_if_fail (self != NULL && folder != NULL, FALSE);

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: there is no such folder", folder);
      return FALSE;
    }
  dir = dlp_state_dir_open (folder, error);
  if (dir == NULL || !check_folder (self, dir, folder, error))
    return FALSE;
  payload = dlp_checkpoint_to_variant (self);
  /* Twice: where one of the two that are kept is damaged, the other one says the same. */
  return dlp_state_dir_save (dir, payload, error) && dlp_state_dir_save (dir, payload, error);
}
