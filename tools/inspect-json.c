/* SPDX-License-Identifier: MIT */

/* One form for everything: an object with lists, which hold all there is, or what was named. */

#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-json.h>

#include "inspect.h"

#define SCHEMA 1

typedef struct
{
  GVariantBuilder plugins, elements, codecs, schemes;
} Lists;

/* (transfer full): with its magics as text. */
static GVariant *
convert_codec (GVariant *codec)
{
  g_auto (GStrv) magics = inspect_format_magics (codec);
  GVariantBuilder dict;
  GVariantIter iter;
  const char *key;
  GVariant *value;

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  g_variant_iter_init (&iter, codec);
  while (g_variant_iter_loop (&iter, "{&sv}", &key, &value))
    if (strcmp (key, "magic") == 0)
      g_variant_builder_add (&dict, "{sv}", key,
                             g_variant_new_strv ((const char *const *) magics, -1));
    else
      g_variant_builder_add (&dict, "{sv}", key, value);
  return g_variant_ref_sink (g_variant_builder_end (&dict));
}

static void
add (GVariantBuilder *list, InspectKind kind, const char *name)
{
  g_autoptr (GVariant) item = inspect_describe (kind, name);
  g_autoptr (GVariant) converted = kind == INSPECT_CODEC ? convert_codec (item) : NULL;

  g_variant_builder_add_value (list, converted != NULL ? converted : item);
}

static void
add_all (GVariantBuilder *list, InspectKind kind, char **names)
{
  for (guint i = 0; names[i] != NULL; i++)
    add (list, kind, names[i]);
  g_strfreev (names);
}

static void
add_of_plugin (GVariantBuilder *list, InspectKind kind, GVariant *plugin, const char *key)
{
  char **names;

  if (g_variant_lookup (plugin, key, "^as", &names))
    add_all (list, kind, names);
}

static void
add_plugin (Lists *lists, const char *name)
{
  g_autoptr (GVariant) plugin = inspect_describe (INSPECT_PLUGIN, name);

  g_variant_builder_add_value (&lists->plugins, plugin);
  add_of_plugin (&lists->elements, INSPECT_ELEMENT, plugin, "elements");
  add_of_plugin (&lists->codecs, INSPECT_CODEC, plugin, "codecs");
  add_of_plugin (&lists->schemes, INSPECT_SCHEME, plugin, "schemes");
}

static void
add_everything (Lists *lists)
{
  add_all (&lists->plugins, INSPECT_PLUGIN, dlp_registry_list_plugins ());
  add_all (&lists->elements, INSPECT_ELEMENT, dlp_registry_list_elements ());
  add_all (&lists->codecs, INSPECT_CODEC, dlp_registry_list_codecs ());
  add_all (&lists->schemes, INSPECT_SCHEME, dlp_registry_list_schemes ());
}

static void
add_named (Lists *lists, InspectKind kind, const char *name)
{
  switch (kind)
    {
    case INSPECT_ELEMENT:
      add (&lists->elements, kind, name);
      break;
    case INSPECT_PLUGIN:
      add_plugin (lists, name);
      break;
    case INSPECT_CODEC:
      add (&lists->codecs, kind, name);
      break;
    case INSPECT_SCHEME:
      add (&lists->schemes, kind, name);
      break;
    case INSPECT_NOTHING:
    default:
      add_everything (lists);
    }
}

void
inspect_print_json (InspectKind kind, const char *name)
{
  const GVariantType *list = G_VARIANT_TYPE ("aa{sv}");
  g_auto (GStrv) folders = dlp_registry_list_folders ();
  g_autoptr (GVariant) problems = dlp_registry_list_problems ();
  g_autofree char *text = NULL;
  GVariantBuilder all;
  Lists lists;

  g_variant_builder_init (&lists.plugins, list);
  g_variant_builder_init (&lists.elements, list);
  g_variant_builder_init (&lists.codecs, list);
  g_variant_builder_init (&lists.schemes, list);
  add_named (&lists, kind, name);

  g_variant_builder_init (&all, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&all, "{sv}", "schema", g_variant_new_uint32 (SCHEMA));
  g_variant_builder_add (&all, "{sv}", "version", g_variant_new_string (DLP_VERSION));
  for (guint i = 0; folders[i] != NULL; i++)
    {
      char *valid = g_utf8_make_valid (folders[i], -1);

      g_free (folders[i]);
      folders[i] = valid;
    }
  g_variant_builder_add (&all, "{sv}", "folders",
                         g_variant_new_strv ((const char *const *) folders, -1));
  g_variant_builder_add (&all, "{sv}", "plugins", g_variant_builder_end (&lists.plugins));
  g_variant_builder_add (&all, "{sv}", "elements", g_variant_builder_end (&lists.elements));
  g_variant_builder_add (&all, "{sv}", "codecs", g_variant_builder_end (&lists.codecs));
  g_variant_builder_add (&all, "{sv}", "schemes", g_variant_builder_end (&lists.schemes));
  g_variant_builder_add (&all, "{sv}", "problems", problems);
  text = dlp_json_print (g_variant_builder_end (&all), TRUE);
  fputs (text, stdout);
}
