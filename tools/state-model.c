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

GVariant *
state_find_element (GVariant *elements, const char *name)
{
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);

      if (strcmp (state_get_string (element, "name"), name) == 0)
        return g_steal_pointer (&element);
    }
  return NULL;
}

const char *
state_get_progress (GVariant *state)
{
  if (!state_get_flag (state, "complete"))
    return "unfinished";
  return state_get_flag (state, "finished-early") ? "finished early" : "complete";
}

/* The farthest that a consumer of the pad is. */
static guint64
find_position (GVariant *elements, const char *link)
{
  guint64 position = 0;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) links = g_variant_lookup_value (element, "links", NULL);
      g_autoptr (GVariant) inputs = g_variant_lookup_value (element, "inputs", NULL);

      for (gsize k = 0; k < g_variant_n_children (links); k++)
        {
          gint64 at;
          const char *name;

          g_variant_get_child (links, k, "&s", &name);
          g_variant_get_child (inputs, k, "x", &at);
          if (strcmp (name, link) == 0 && at > 0)
            position = MAX (position, (guint64) at);
        }
    }
  return position;
}

guint64
state_count_replay (GVariant *elements, GVariant *element, const char *pad)
{
  g_autoptr (GVariant) emitted =
      g_variant_lookup_value (element, "emitted", G_VARIANT_TYPE ("a{st}"));
  g_autofree char *link = g_strdup_printf ("%s.%s", state_get_string (element, "name"), pad);
  guint64 from, to = find_position (elements, link);

  if (emitted == NULL || !g_variant_lookup (emitted, pad, "t", &from))
    return 0;
  return to > from ? to - from : 0;
}
