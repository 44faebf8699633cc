/* SPDX-License-Identifier: MIT */

/* How far the records of a state went: what an element goes on with may be behind a consumer
 * already, and is made again then, and dropped somewhere behind it. */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "dlp-checkpoint-private.h"

#define UNKNOWN G_MAXUINT64
G_STATIC_ASSERT (DLP_CHECKPOINT_ALL == UNKNOWN - 1);

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

/* Where the end was seen nobody recorded at which number. */
static guint64
get_input (gint64 input)
{
  if (input >= 0)
    return (guint64) input;
  return input == DLP_CHECKPOINT_DRAINED ? DLP_CHECKPOINT_ALL : (guint64) (-2 - input);
}

static guint64
add (guint64 place, guint64 more)
{
  guint64 most = MAX (place, more);

  return most >= DLP_CHECKPOINT_ALL ? most : place + more;
}

/* Whether it gives out what it takes in, one for one. */
static bool
is_transparent (GVariant *element)
{
  gboolean passes_on = FALSE;

  g_variant_lookup (element, "passes-on", "b", &passes_on);
  return passes_on;
}

/* How many records more than it goes on with have gone out of it. */
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

      ahead = MAX (ahead, place >= DLP_CHECKPOINT_ALL ? place : place - MIN (place, n));
    }
  return ahead > 0 && ahead != DLP_CHECKPOINT_ALL && !is_transparent (element) ? UNKNOWN : ahead;
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

      for (gsize k = 0; k < g_variant_n_children (links); k++)
        {
          const char *link;
          gint64 input;

          g_variant_get_child (links, k, "&s", &link);
          g_variant_get_child (inputs, k, "x", &input);
          note_place (places, link, add (get_input (input), ahead));
        }
    }
  return places;
}

bool
dlp_checkpoint_find_place (GVariant *elements, GVariant *element, guint64 *place, GError **error)
{
  g_autoptr (GVariant) emitted =
      g_variant_lookup_value (element, "emitted", G_VARIANT_TYPE ("a{st}"));
  g_autoptr (GHashTable) places = find_places (elements);
  const char *name = "";
  GVariantIter iter;
  const char *pad;
  guint64 n;

  g_variant_lookup (element, "name", "&s", &name);
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
