/* SPDX-License-Identifier: MIT */

/* What the registry tells about itself. */

#include <string.h>

#include "dlp-registry-private.h"

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static char **
list_keys (GHashTable *table)
{
  GPtrArray *names = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

static char **
list_items (DlpItemKind kind)
{
  DlpRegistry *self = dlp_registry_lock_in_use ();
  char **names = list_keys (self->items[kind]);

  dlp_registry_unlock ();
  return names;
}

char **
dlp_registry_list_elements (void)
{
  return list_items (DLP_ITEM_ELEMENT);
}

char **
dlp_registry_list_codecs (void)
{
  return list_items (DLP_ITEM_CODEC);
}

char **
dlp_registry_list_schemes (void)
{
  return list_items (DLP_ITEM_SCHEME);
}

char **
dlp_registry_list_plugins (void)
{
  DlpRegistry *self = dlp_registry_lock_in_use ();
  char **names = list_keys (self->plugins);

  dlp_registry_unlock ();
  return names;
}

char **
dlp_registry_list_folders (void)
{
  DlpRegistry *self = dlp_registry_lock ();
  char **folders = dlp_plugin_list_folders (self->paths);

  dlp_registry_unlock ();
  return folders;
}

GVariant *
dlp_registry_list_problems (void)
{
  DlpRegistry *self = dlp_registry_lock_in_use ();
  GVariantBuilder builder;
  GVariant *problems;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < self->problems->len; i++)
    g_variant_builder_add_value (&builder, g_ptr_array_index (self->problems, i));
  problems = g_variant_ref_sink (g_variant_builder_end (&builder));
  dlp_registry_unlock ();
  return problems;
}

gboolean
dlp_registry_has_element (const char *name)
{
  DlpRegistry *self;
  gboolean found;

  g_return_val_if_fail (name != NULL, FALSE);

  self = dlp_registry_lock_in_use ();
  found = g_hash_table_contains (self->items[DLP_ITEM_ELEMENT], name);
  dlp_registry_unlock ();
  return found;
}

/* ---- descriptions ---- */

static void
copy_entries (GVariantBuilder *dict, GVariant *info)
{
  GVariantIter iter;
  GVariant *entry;

  g_variant_iter_init (&iter, info);
  while ((entry = g_variant_iter_next_value (&iter)) != NULL)
    {
      g_variant_builder_add_value (dict, entry);
      g_variant_unref (entry);
    }
}

static void
add_file (GVariantBuilder *dict, const DlpPluginRecord *plugin)
{
  g_autofree char *shown = NULL;

  if (plugin == NULL || plugin->path == NULL)
    return;
  shown = dlp_uri_escape_for_display (plugin->path);
  g_variant_builder_add (dict, "{sv}", "file", g_variant_new_string (shown));
}

/* What is of the process itself is described when somebody asks. */
static void
ensure_info (DlpItemKind kind, DlpRegistryItem *item)
{
  if (item->info != NULL)
    return;
  item->info = kind == DLP_ITEM_ELEMENT ?
                   dlp_describe_element (item->name, item->type) :
                   dlp_describe_scheme (item->name, item->type, "Local files");
}

static GVariant *
describe_item (DlpItemKind kind, const char *name)
{
  DlpRegistry *self = dlp_registry_lock_in_use ();
  DlpRegistryItem *item = g_hash_table_lookup (self->items[kind], name);
  GVariant *description = NULL;
  GVariantBuilder dict;

  if (item != NULL)
    {
      ensure_info (kind, item);
      g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
      copy_entries (&dict, item->info);
      if (item->plugin != NULL)
        g_variant_builder_add (&dict, "{sv}", "plugin", g_variant_new_string (item->plugin->name));
      add_file (&dict, item->plugin);
      description = g_variant_ref_sink (g_variant_builder_end (&dict));
    }
  dlp_registry_unlock ();
  return description;
}

GVariant *
dlp_registry_describe_element (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);

  return describe_item (DLP_ITEM_ELEMENT, name);
}

GVariant *
dlp_registry_describe_codec (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);

  return describe_item (DLP_ITEM_CODEC, name);
}

GVariant *
dlp_registry_describe_scheme (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);

  return describe_item (DLP_ITEM_SCHEME, name);
}

/* Those that it has, not those whose names were taken. */
static void
add_names (GVariantBuilder *dict, const char *key, GHashTable *items, const DlpPluginRecord *plugin)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, items);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (((DlpRegistryItem *) value)->plugin == plugin)
      g_ptr_array_add (names, (gpointer) ((DlpRegistryItem *) value)->name);
  g_ptr_array_sort (names, compare_names);
  g_variant_builder_add (
      dict, "{sv}", key,
      g_variant_new_strv ((const char *const *) names->pdata, (gssize) names->len));
}

static void
add_text (GVariantBuilder *dict, GVariant *info, const char *key)
{
  const char *text;

  if (g_variant_lookup (info, key, "&s", &text))
    g_variant_builder_add (dict, "{sv}", key, g_variant_new_string (text));
}

GVariant *
dlp_registry_describe_plugin (const char *name)
{
  DlpRegistry *self;
  const DlpPluginRecord *plugin;
  GVariant *description = NULL;
  GVariantBuilder dict;

  g_return_val_if_fail (name != NULL, NULL);

  self = dlp_registry_lock_in_use ();
  plugin = g_hash_table_lookup (self->plugins, name);
  if (plugin != NULL)
    {
      g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
      add_text (&dict, plugin->info, "name");
      add_text (&dict, plugin->info, "description");
      add_text (&dict, plugin->info, "version");
      add_text (&dict, plugin->info, "license");
      add_file (&dict, plugin);
      add_names (&dict, "elements", self->items[DLP_ITEM_ELEMENT], plugin);
      add_names (&dict, "codecs", self->items[DLP_ITEM_CODEC], plugin);
      add_names (&dict, "schemes", self->items[DLP_ITEM_SCHEME], plugin);
      description = g_variant_ref_sink (g_variant_builder_end (&dict));
    }
  dlp_registry_unlock ();
  return description;
}
