/* SPDX-License-Identifier: MIT */

/* What differs between two states. What each sink has got is compared by counts and digest, which
 * alone decide the exit status. */

#include "state.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  const StateOptions *options;
  GVariantBuilder sinks;       /* aa{sv}, for --json */
  GVariantBuilder differences; /* aa{sv}, for --json */
  gboolean results_differ;
} Diff;

static void
say (Diff *self, const char *where, const char *key, GVariant *a, GVariant *b)
{
  g_autofree char *x = a != NULL ? state_print_value (a) : g_strdup ("nothing");
  g_autofree char *y = b != NULL ? state_print_value (b) : g_strdup ("nothing");
  GVariantDict dict;

  if (!self->options->json)
    printf ("%s%s%s: %s -> %s\n", where, where[0] != '\0' ? " " : "", key, x, y);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "where", "s", where);
  g_variant_dict_insert (&dict, "key", "s", key);
  if (a != NULL)
    g_variant_dict_insert_value (&dict, "a", a);
  if (b != NULL)
    g_variant_dict_insert_value (&dict, "b", b);
  g_variant_builder_add_value (&self->differences, g_variant_dict_end (&dict));
}

static gboolean
equals (GVariant *a, GVariant *b)
{
  return a == b || (a != NULL && b != NULL && g_variant_equal (a, b));
}

static gboolean
is_any_of (const char *key, const char *const *list)
{
  return list != NULL && g_strv_contains (list, key);
}

/* The values of two dictionaries of any kind of value, by key; nullable. */
static void
compare_dicts (Diff *self, const char *where, GVariant *a, GVariant *b, const char *const *without)
{
  GVariant *both[] = { a, b };

  for (guint side = 0; side < 2; side++)
    for (gsize i = 0; both[side] != NULL && i < g_variant_n_children (both[side]); i++)
      {
        g_autoptr (GVariant) entry = g_variant_get_child_value (both[side], i);
        g_autoptr (GVariant) name = g_variant_get_child_value (entry, 0);
        const char *key = g_variant_get_string (name, NULL);
        g_autoptr (GVariant) x = a != NULL ? g_variant_lookup_value (a, key, NULL) : NULL;
        g_autoptr (GVariant) y = b != NULL ? g_variant_lookup_value (b, key, NULL) : NULL;

        /* What both have is looked at once. */
        if ((side == 1 && x != NULL) || is_any_of (key, without) || equals (x, y))
          continue;
        say (self, where, key, x, y);
      }
}

static GVariant *
get_dict (GVariant *element, const char *key)
{
  return element != NULL ? g_variant_lookup_value (element, key, G_VARIANT_TYPE_DICTIONARY) : NULL;
}

/* One line a sink: the digests of both, and whether they are equal. */
static void
compare_sinks (Diff *self, const char *name, GVariant *a, GVariant *b)
{
  g_autoptr (GVariant) x = get_dict (a, "sink");
  g_autoptr (GVariant) y = get_dict (b, "sink");
  g_autofree char *digest_x = NULL;
  g_autofree char *digest_y = NULL;
  guint64 records_x, records_y;
  gboolean same;
  GVariantDict dict;

  if (x == NULL && y == NULL)
    return;
  digest_x = x != NULL ? state_print_digest (x) : g_strdup ("none");
  digest_y = y != NULL ? state_print_digest (y) : g_strdup ("none");
  records_x = x != NULL ? state_get_number (x, "records") : 0;
  records_y = y != NULL ? state_get_number (y, "records") : 0;
  same = strcmp (digest_x, digest_y) == 0 && records_x == records_y;
  self->results_differ |= !same;
  if (!self->options->json && same)
    printf ("= %s: %" G_GUINT64_FORMAT " records, %s\n", name, records_x, digest_x);
  else if (!self->options->json)
    {
      const char *half_x = strchr (digest_x, '-');
      const char *half_y = strchr (digest_y, '-');

      printf ("! %s: %" G_GUINT64_FORMAT " records, %s | %" G_GUINT64_FORMAT " records, %s%s\n",
              name, records_x, digest_x, records_y, digest_y,
              records_x == records_y && half_x != NULL && half_y != NULL &&
                      strcmp (half_x, half_y) == 0 ?
                  " (the same records in another order)" :
                  "");
    }
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "name", "s", name);
  g_variant_dict_insert (&dict, "equal", "b", same);
  g_variant_dict_insert (&dict, "records-a", "t", records_x);
  g_variant_dict_insert (&dict, "records-b", "t", records_y);
  g_variant_dict_insert (&dict, "digest-a", "s", digest_x);
  g_variant_dict_insert (&dict, "digest-b", "s", digest_y);
  g_variant_builder_add_value (&self->sinks, g_variant_dict_end (&dict));
}

static void
compare_elements (Diff *self, const char *name, GVariant *a, GVariant *b)
{
  /* Compared by their members, or shown by compare_sinks(). */
  static const char *const parts[] = { "name", "fixed", "state", "emitted", "sink", NULL };
  static const char *const groups[] = { "fixed", "state", "emitted", NULL };

  if (a == NULL || b == NULL)
    {
      g_autoptr (GVariant) there = g_variant_ref_sink (g_variant_new_string ("there"));

      say (self, name, "element", a != NULL ? there : NULL, b != NULL ? there : NULL);
      return;
    }
  compare_dicts (self, name, a, b, parts);
  for (guint i = 0; groups[i] != NULL; i++)
    {
      g_autoptr (GVariant) x = get_dict (a, groups[i]);
      g_autoptr (GVariant) y = get_dict (b, groups[i]);

      compare_dicts (self, name, x, y, NULL);
    }
}

/* Elements of @a, then those that only @b has. */
static void
each_element (Diff *self,
              GVariant *a,
              GVariant *b,
              void (*compare) (Diff *self, const char *name, GVariant *a, GVariant *b))
{
  g_autoptr (GHashTable) of_a = state_index_elements (a);
  g_autoptr (GHashTable) of_b = state_index_elements (b);

  for (gsize i = 0; i < g_variant_n_children (a); i++)
    {
      g_autoptr (GVariant) x = g_variant_get_child_value (a, i);
      const char *name = state_get_string (x, "name");

      compare (self, name, x, g_hash_table_lookup (of_b, name));
    }
  for (gsize i = 0; i < g_variant_n_children (b); i++)
    {
      g_autoptr (GVariant) y = g_variant_get_child_value (b, i);
      const char *name = state_get_string (y, "name");

      if (!g_hash_table_contains (of_a, name))
        compare (self, name, NULL, y);
    }
}

static void
compare_states (Diff *self, GVariant *a, GVariant *b)
{
  /* Different in any two runs; and the graph, whose elements are compared below. */
  static const char *const always[] = { "elements",    "graph",   "run-id",
                                        "attempt",     "elapsed", "inputs-length",
                                        "inputs-hash", "opened",  NULL };
  static const char *const elements[] = { "elements", NULL };
  g_autoptr (GVariant) x = state_get_elements (a);
  g_autoptr (GVariant) y = state_get_elements (b);

  g_variant_builder_init (&self->sinks, G_VARIANT_TYPE ("aa{sv}"));
  g_variant_builder_init (&self->differences, G_VARIANT_TYPE ("aa{sv}"));
  each_element (self, x, y, compare_sinks);
  compare_dicts (self, "", a, b, self->options->all ? elements : always);
  each_element (self, x, y, compare_elements);
}

int
state_diff (const StateOptions *options, GError **error)
{
  g_autoptr (DlpCheckpoint) a = state_open (options->places[0], error);
  g_autoptr (DlpCheckpoint) b = a != NULL ? state_open (options->places[1], error) : NULL;
  g_autoptr (GVariant) x = NULL;
  g_autoptr (GVariant) y = NULL;
  Diff self = { .options = options };
  GVariantDict dict;

  if (b == NULL)
    return STATE_EXIT_USAGE;
  x = dlp_checkpoint_to_variant (a);
  y = dlp_checkpoint_to_variant (b);
  compare_states (&self, x, y);
  if (options->json)
    {
      g_variant_dict_init (&dict, NULL);
      g_variant_dict_insert (&dict, "equal", "b", !self.results_differ);
      g_variant_dict_insert_value (&dict, "sinks", g_variant_builder_end (&self.sinks));
      g_variant_dict_insert_value (&dict, "differences", g_variant_builder_end (&self.differences));
      state_print_json (g_variant_dict_end (&dict));
    }
  else
    {
      g_variant_builder_clear (&self.sinks);
      g_variant_builder_clear (&self.differences);
    }
  return self.results_differ ? STATE_EXIT_FAULTS : STATE_EXIT_OK;
}
