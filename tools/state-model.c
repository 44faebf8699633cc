/* SPDX-License-Identifier: MIT */

#include "state.h"

#include <string.h>

GVariant *
state_get_elements (GVariant *state)
{
  return g_variant_lookup_value (state, "elements", G_VARIANT_TYPE ("aa{sv}"));
}

const char *
state_get_string (GVariant *dict, const char *key)
{
  const char *text = "";

  g_variant_lookup (dict, key, "&s", &text);
  return text;
}

/* Of whichever type: JSON has its own. */
guint64
state_get_number (GVariant *dict, const char *key)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (dict, key, NULL);

  if (value == NULL)
    return 0;
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64))
    return g_variant_get_uint64 (value);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT32))
    return g_variant_get_uint32 (value);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_INT64))
    return (guint64) MAX (g_variant_get_int64 (value), 0);
  return 0;
}

gboolean
state_get_flag (GVariant *dict, const char *key)
{
  gboolean flag = FALSE;

  g_variant_lookup (dict, key, "b", &flag);
  return flag;
}

GHashTable *
state_index_elements (GVariant *elements)
{
  GHashTable *index =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_variant_unref);

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      GVariant *element = g_variant_get_child_value (elements, i);

      g_hash_table_replace (index, g_strdup (state_get_string (element, "name")), element);
    }
  return index;
}

const char *
state_get_progress (GVariant *state)
{
  if (!state_get_flag (state, "complete"))
    return "unfinished";
  return state_get_flag (state, "finished-early") ? "finished early" : "complete";
}

static void
note_position (GHashTable *positions, const char *link, gint64 at)
{
  const guint64 *known = g_hash_table_lookup (positions, link);
  guint64 position = (guint64) MAX (at, 0);

  if (known == NULL || *known < position)
    g_hash_table_replace (positions, g_strdup (link), g_memdup2 (&position, sizeof position));
}

GHashTable *
state_index_positions (GVariant *elements)
{
  GHashTable *positions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) links = g_variant_lookup_value (element, "links", NULL);
      g_autoptr (GVariant) inputs = g_variant_lookup_value (element, "inputs", NULL);

      for (gsize k = 0; k < g_variant_n_children (links); k++)
        {
          gint64 at;
          const char *link;

          g_variant_get_child (links, k, "&s", &link);
          g_variant_get_child (inputs, k, "x", &at);
          note_position (positions, link, at);
        }
    }
  return positions;
}

guint64
state_count_replay (GHashTable *positions, GVariant *element, const char *pad)
{
  g_autoptr (GVariant) emitted =
      g_variant_lookup_value (element, "emitted", G_VARIANT_TYPE ("a{st}"));
  g_autofree char *link = g_strdup_printf ("%s.%s", state_get_string (element, "name"), pad);
  const guint64 *to = g_hash_table_lookup (positions, link);
  guint64 from;

  if (to == NULL || emitted == NULL || !g_variant_lookup (emitted, pad, "t", &from))
    return 0;
  return *to > from ? *to - from : 0;
}
