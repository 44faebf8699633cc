/* SPDX-License-Identifier: MIT */

#include "dlp-state-files-private.h"

#include <string.h>

#define PREFIX "state-"
#define FILES_KEY "state-files"
#define FILES_TYPE G_VARIANT_TYPE ("a(sts)")

/* The number behind the last '-' before @end, which becomes the place of that. */
static gboolean
parse_number (const char *name, const char **end, guint64 max, guint64 *number)
{
  const char *dash = g_strrstr_len (name, *end - name, "-");
  g_autofree char *digits = NULL;

  if (dash == NULL)
    return FALSE;
  digits = g_strndup (dash + 1, (gsize) (*end - dash - 1));
  *end = dash;
  return digits[0] != '0' && digits[0] != '+' &&
         g_ascii_string_to_unsigned (digits, 10, 1, max, number, NULL);
}

gboolean
dlp_state_file_name_parse (const char *name, DlpStateFileName *parsed)
{
  const char *element = name + strlen (PREFIX);
  const char *end = name + strlen (name);
  guint64 attempt;

  if (!g_str_has_prefix (name, PREFIX) ||
      !parse_number (element, &end, G_MAXUINT64, &parsed->number) ||
      !parse_number (element, &end, G_MAXUINT, &attempt) || end == element)
    return FALSE;
  parsed->attempt = (guint) attempt;
  parsed->element = g_strndup (element, (gsize) (end - element));
  return TRUE;
}

void
dlp_state_file_name_clear (DlpStateFileName *self)
{
  g_clear_pointer (&self->element, g_free);
}

static void
list_of_element (GVariant *element, GPtrArray *names, GArray *sizes)
{
  g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
  g_autoptr (GVariant) files = NULL;
  GVariantIter iter;
  const char *name;
  guint64 size;

  if (state != NULL)
    files = g_variant_lookup_value (state, FILES_KEY, FILES_TYPE);
  if (files == NULL)
    return;
  g_variant_iter_init (&iter, files);
  while (g_variant_iter_next (&iter, "(&st&s)", &name, &size, NULL))
    {
      g_ptr_array_add (names, g_strdup (name));
      if (sizes != NULL)
        g_array_append_val (sizes, size);
    }
}

GPtrArray *
dlp_state_file_list (GVariant *payload, GArray *sizes)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (payload, "elements", G_VARIANT_TYPE ("aa{sv}"));
  GVariantIter iter;
  GVariant *element;

  if (elements == NULL)
    return names;
  g_variant_iter_init (&iter, elements);
  while ((element = g_variant_iter_next_value (&iter)) != NULL)
    {
      list_of_element (element, names, sizes);
      g_variant_unref (element);
    }
  return names;
}

GPtrArray *
dlp_state_file_list_names (GVariant *payload)
{
  return dlp_state_file_list (payload, NULL);
}

GVariant *
dlp_state_file_drop (GVariant *state)
{
  g_autoptr (GVariant) with = state;
  g_autoptr (GVariant) files = g_variant_lookup_value (state, FILES_KEY, NULL);
  GVariantDict dict;

  if (files == NULL)
    return g_steal_pointer (&with);
  g_variant_dict_init (&dict, with);
  g_variant_dict_remove (&dict, FILES_KEY);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}
