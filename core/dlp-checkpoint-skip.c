/* SPDX-License-Identifier: MIT */

/* A state from which a run goes on without some of its batches. */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-checkpoint-private.h"
#include "dlp-state-dir-private.h"

#define RANGES G_VARIANT_TYPE ("a(ttt)")

typedef struct
{
  guint64 first, last;
} Range;

/* The state of one that puts records into batches has these two keys. */
static bool
is_batcher (GVariant *state)
{
  guint64 batches;
  g_autoptr (GVariant) ranges = g_variant_lookup_value (state, "skip", RANGES);

  return ranges != NULL && g_variant_lookup (state, "batches", "t", &batches);
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
      g_autoptr (GVariant) state =
          g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
      const char *name = NULL;

      g_variant_lookup (element, "name", "&s", &name);
      if (state == NULL || !is_batcher (state) || (wanted != NULL && strcmp (wanted, name) != 0))
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

/* What of an output has been delivered, or is at least behind a consumer: its records are made
 * again and dropped somewhere behind it. */

#define UNKNOWN G_MAXUINT64

static guint64
get_place (GHashTable *places, const char *link)
{
  const guint64 *place = g_hash_table_lookup (places, link);

  return place != NULL ? *place : 0;
}

static void
note_place (GHashTable *places, const char *link, guint64 place)
{
  guint64 most = MAX (get_place (places, link), place);

  g_hash_table_replace (places, g_strdup (link), g_memdup2 (&most, sizeof most));
}

static guint64
get_input (gint64 input)
{
  if (input >= 0)
    return (guint64) input;
  return input == DLP_CHECKPOINT_DRAINED ? 0 : (guint64) (-2 - input);
}

/* Whether it gives out what it takes in, one for one. */
static bool
is_transparent (GVariant *element)
{
  static const char *const names[] = { "tee", "fields", "limit", NULL };
  const char *factory = "";

  g_variant_lookup (element, "factory", "&s", &factory);
  return g_strv_contains (names, factory);
}

/* How many batches more than it goes on with have gone out of it. */
static guint64
count_ahead (GHashTable *places, GVariant *element)
{
  g_autoptr (GVariant) emitted =
      g_variant_lookup_value (element, "emitted", G_VARIANT_TYPE ("a{st}"));
  const char *name = "";
  guint64 ahead = 0;
  GVariantIter iter;
  const char *pad;
  guint64 n;

  if (emitted == NULL)
    return 0;
  g_variant_lookup (element, "name", "&s", &name);
  g_variant_iter_init (&iter, emitted);
  while (g_variant_iter_next (&iter, "{&st}", &pad, &n))
    {
      g_autofree char *link = g_strdup_printf ("%s.%s", name, pad);
      guint64 place = get_place (places, link);

      if (place == UNKNOWN)
        return UNKNOWN;
      ahead = MAX (ahead, place - MIN (place, n));
    }
  return ahead;
}

/* (transfer full): from the last element to the first one; links lead to ones before. */
static GHashTable *
find_places (GVariant *elements)
{
  GHashTable *places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (gsize i = g_variant_n_children (elements); i-- > 0;)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) links = g_variant_lookup_value (element, "links", NULL);
      g_autoptr (GVariant) inputs = g_variant_lookup_value (element, "inputs", NULL);
      guint64 ahead = count_ahead (places, element);

      if (ahead > 0 && !is_transparent (element))
        ahead = UNKNOWN;
      for (gsize k = 0; k < g_variant_n_children (links); k++)
        {
          const char *link;
          gint64 input;

          g_variant_get_child (links, k, "&s", &link);
          g_variant_get_child (inputs, k, "x", &input);
          note_place (places, link, ahead == UNKNOWN ? UNKNOWN : get_input (input) + ahead);
        }
    }
  return places;
}

/* Batches that have gone out of @element: they cannot be skipped any more. */
static bool
find_place (GVariant *elements, GVariant *element, const char *name, guint64 *place, GError **error)
{
  g_autoptr (GVariant) emitted =
      g_variant_lookup_value (element, "emitted", G_VARIANT_TYPE ("a{st}"));
  g_autoptr (GHashTable) places = find_places (elements);
  GVariantIter iter;
  const char *pad;
  guint64 n;

  *place = 0;
  if (emitted == NULL)
    return true;
  g_variant_iter_init (&iter, emitted);
  while (g_variant_iter_next (&iter, "{&st}", &pad, &n))
    {
      g_autofree char *link = g_strdup_printf ("%s.%s", name, pad);

      *place = MAX (*place, MAX (n, get_place (places, link)));
    }
  if (*place != UNKNOWN)
    return true;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "how far the batches of %s went is not known, since what is behind it makes records "
               "again from this state; take another state",
               name);
  return false;
}

/* (floating) */
static GVariant *
add_range (GVariant *ranges, Range added, guint64 from)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, RANGES);
  for (gsize i = 0; i < g_variant_n_children (ranges); i++)
    {
      g_autoptr (GVariant) range = g_variant_get_child_value (ranges, i);

      g_variant_builder_add_value (&builder, range);
    }
  g_variant_builder_add (&builder, "(ttt)", added.first, added.last, from);
  return g_variant_builder_end (&builder);
}

static bool
check_range (GVariant *state, const char *name, Range range, GError **error)
{
  guint64 batches = 0;

  g_variant_lookup (state, "batches", "t", &batches);
  if (range.first > range.last || range.last > G_MAXINT64)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "batches %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                   " are no range; the first one is not behind the last, and both are below 2^63",
                   range.first, range.last);
      return false;
    }
  if (range.first >= batches)
    return true;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "batch %" G_GUINT64_FORMAT " of %s was given out before this state, which goes on "
               "with batch %" G_GUINT64_FORMAT "; take an older state, or skip from there on",
               range.first, name, batches);
  return false;
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

DlpCheckpoint *
dlp_checkpoint_skip_batches (DlpCheckpoint *self,
                             const char *name,
                             guint64 first,
                             guint64 last,
                             GError **error)
{
  g_autoptr (GVariant) payload = NULL;
  g_autoptr (GVariant) elements = NULL;
  g_autoptr (GVariant) element = NULL;
  g_autoptr (GVariant) state = NULL;
  g_autoptr (GVariant) ranges = NULL;
  const char *found;
  GVariant *more;
  guint64 place;
  gsize which = 0;

  g_return_val_if_fail (self != NULL, NULL);

  payload = dlp_checkpoint_to_variant (self);
  elements = g_variant_lookup_value (payload, "elements", G_VARIANT_TYPE ("aa{sv}"));
  if (!find_batcher (elements, name, &which, error))
    return NULL;
  element = g_variant_get_child_value (elements, which);
  state = g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
  g_variant_lookup (element, "name", "&s", &found);
  if (!check_range (state, found, (Range){ first, last }, error) ||
      !find_place (elements, element, found, &place, error))
    return NULL;
  ranges = g_variant_lookup_value (state, "skip", RANGES);
  more = add_range (ranges, (Range){ first, last }, place);
  more =
      replace_element (elements, which, replace (element, "state", replace (state, "skip", more)));
  return dlp_checkpoint_new_like (self, replace (payload, "elements", more));
}

/* ---- into a folder ---- */

static bool
check_folder (DlpCheckpoint *self, DlpStateDir *dir, const char *folder, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (GVariant) newest = dlp_state_dir_load (dir, NULL, NULL, &failure);
  g_autoptr (GVariant) payload = dlp_checkpoint_to_variant (self);
  g_autoptr (GVariant) opened = g_variant_lookup_value (payload, "opened", NULL);
  const char *here = "none", *ours = "";

  if (failure != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return false;
    }
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
  return dlp_state_dir_save (dir, payload, error);
}
