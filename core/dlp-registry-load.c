/* SPDX-License-Identifier: MIT */

/* Plugins are opened when something of them is used. */

#include <string.h>

#include "dlp-element-private.h"
#include "dlp-registry-private.h"
#include "dlp-suggest-private.h"

#define MIN_MAGIC 2

void
dlp_registry_adopt (DlpRegistry *self, DlpPluginRecord *record, DlpPlugin *plugin)
{
  record->opened = true;
  for (guint k = 0; k < DLP_N_ITEM_KINDS; k++)
    for (guint i = 0; i < plugin->items[k]->len; i++)
      {
        DlpPluginItem *brought = g_ptr_array_index (plugin->items[k], i);
        DlpRegistryItem *item = g_hash_table_lookup (self->items[k], brought->name);

        /* Another plugin's, or one that it did not have when it was asked. */
        if (item == NULL || item->plugin != record)
          continue;
        item->type = brought->type;
        if (k == DLP_ITEM_CODEC)
          dlp_codec_register (item->name, brought->match, brought->type);
        else if (k == DLP_ITEM_SCHEME)
          dlp_scheme_register (item->name, brought->type);
      }
}

/* What has not been through the scanner might take the program down. A file that is gone is told by
 * whoever opens it. */
static bool
check_same_file (const DlpPluginRecord *record, GError **error)
{
  DlpPluginFile now = { .path = record->path };

  if (record->inode == 0 || !dlp_plugin_file_stat (&now) ||
      (now.inode == record->inode && now.size == record->size && now.seconds == record->seconds &&
       now.nanoseconds == record->nanoseconds))
    return true;
  g_set_error (error, DLP_PLUGIN_ERROR, DLP_PLUGIN_ERROR_REPLACED,
               "its file was replaced since this program looked at it");
  return false;
}

static void
open_plugin (DlpRegistry *self, DlpPluginRecord *record)
{
  g_autoptr (DlpPlugin) plugin = NULL;

  if (record->opened)
    return;
  record->opened = true;
  if (!check_same_file (record, &record->failure))
    return;
  plugin = dlp_plugin_open (record->path, NULL, NULL, &record->failure);
  if (plugin != NULL)
    dlp_registry_adopt (self, record, plugin);
}

bool
dlp_registry_ensure_type (DlpRegistry *self, DlpRegistryItem *item, GError **error)
{
  g_autofree char *file = NULL;
  g_autofree char *why = NULL;

  if (item->type != G_TYPE_INVALID)
    return true;
  open_plugin (self, item->plugin);
  if (item->type != G_TYPE_INVALID)
    return true;
  file = dlp_uri_escape_for_display (item->plugin->path);
  if (item->plugin->failure != NULL)
    why = dlp_uri_escape_for_display (item->plugin->failure->message);
  if (why != NULL)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT,
                 "plugin %s, which brings “%s”, cannot be used: %s; %s", file, item->name, why,
                 dlp_plugin_get_remedy (item->plugin->failure));
  else
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT,
                 "plugin %s does not bring “%s”, as it did when it was asked: it was replaced "
                 "just now; start again",
                 file, item->name);
  return false;
}

/* ---- elements ---- */

GType
dlp_registry_get_element_type (const char *factory)
{
  g_autoptr (GError) error = NULL;
  DlpRegistry *self;
  DlpRegistryItem *item;
  GType type = G_TYPE_INVALID;

  g_return_val_if_fail (factory != NULL, G_TYPE_INVALID);

  self = dlp_registry_lock_in_use ();
  item = g_hash_table_lookup (self->items[DLP_ITEM_ELEMENT], factory);
  if (item != NULL && dlp_registry_ensure_type (self, item, &error))
    type = item->type;
  dlp_registry_unlock ();
  return type;
}

/* (transfer full) (nullable): why an element that might be there is not. */
static char *
explain_absence (const char *factory)
{
  DlpRegistry *self = dlp_registry_lock_in_use ();
  DlpRegistryItem *item = g_hash_table_lookup (self->items[DLP_ITEM_ELEMENT], factory);
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  if (item != NULL && !dlp_registry_ensure_type (self, item, &error))
    text = g_strdup (error->message);
  for (guint i = 0; i < self->problems->len && text == NULL; i++)
    {
      GVariant *problem = g_ptr_array_index (self->problems, i);
      const char *name, *message;

      if (g_variant_lookup (problem, "name", "&s", &name) && strcmp (name, factory) == 0 &&
          g_variant_lookup (problem, "message", "&s", &message))
        text = g_strdup (message);
    }
  dlp_registry_unlock ();
  return text;
}

char *
dlp_registry_suggest (const char *factory)
{
  g_auto (GStrv) names = dlp_registry_list_elements ();
  const char *near = dlp_suggest (factory, (const char *const *) names);
  char *why = explain_absence (factory);

  if (why != NULL)
    return why;
  if (near != NULL)
    return g_strdup_printf ("did you mean “%s”?", near);
  if (names[0] == NULL)
    {
      g_auto (GStrv) folders = dlp_registry_list_folders ();
      g_autofree char *all = g_strjoinv (", ", folders);

      return g_strdup_printf (
          "no plugin was found; DLPIPE_PLUGIN_PATH names their folder (searched: %s)",
          *all != '\0' ? all : "none");
    }
  g_autofree char *all = g_strjoinv (", ", names);
  return g_strdup_printf ("known elements: %s", all);
}

static void
set_plugin (DlpElement *element, const char *factory)
{
  DlpRegistry *self = dlp_registry_lock ();
  DlpRegistryItem *item = g_hash_table_lookup (self->items[DLP_ITEM_ELEMENT], factory);
  const char *version = "";

  if (item != NULL && item->plugin != NULL)
    {
      g_variant_lookup (item->plugin->info, "version", "&s", &version);
      dlp_element_set_plugin (element, item->plugin->name, version);
    }
  dlp_registry_unlock ();
}

DlpElement *
dlp_element_make (const char *factory, const char *name, GError **error)
{
  GType type = dlp_registry_get_element_type (factory);
  DlpElement *element;

  if (type == G_TYPE_INVALID)
    {
      g_autofree char *hint = dlp_registry_suggest (factory);

      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT,
                   "there is no element “%s”; %s", factory, hint);
      return NULL;
    }
  element = g_object_new (type, NULL);
  dlp_element_set_factory (element, factory);
  set_plugin (element, factory);
  dlp_element_set_name (element, name);
  return element;
}

/* ---- codecs ---- */

/* As far as the stream goes, but never by one byte alone where the magic has more. */
static bool
begins_with (const guint8 *head, gsize size, GVariant *magic, GVariant *mask)
{
  gsize n, n_mask;
  const guint8 *bytes = g_variant_get_fixed_array (magic, &n, 1);
  const guint8 *bits = g_variant_get_fixed_array (mask, &n_mask, 1);

  if (size < MIN (n, MIN_MAGIC))
    return false;
  for (gsize i = 0; i < MIN (MIN (n, n_mask), size); i++)
    if ((head[i] & bits[i]) != (bytes[i] & bits[i]))
      return false;
  return true;
}

static bool
may_match (DlpRegistryItem *codec, const guint8 *head, gsize size)
{
  g_autoptr (GVariant) magics =
      g_variant_lookup_value (codec->info, "magic", G_VARIANT_TYPE ("a(ayay)"));
  gsize n = magics != NULL ? g_variant_n_children (magics) : 0;

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) pair = g_variant_get_child_value (magics, i);
      g_autoptr (GVariant) magic = g_variant_get_child_value (pair, 0);
      g_autoptr (GVariant) mask = g_variant_get_child_value (pair, 1);

      if (begins_with (head, size, magic, mask))
        return true;
    }
  return n == 0;
}

bool
dlp_registry_load_codecs (const guint8 *head, gsize size)
{
  DlpRegistry *self = dlp_registry_lock_in_use ();
  GHashTableIter iter;
  gpointer value;
  bool loaded = false;

  g_hash_table_iter_init (&iter, self->items[DLP_ITEM_CODEC]);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      DlpRegistryItem *codec = value;
      bool was_opened = codec->plugin->opened;
      g_autoptr (GError) error = NULL;

      if (!may_match (codec, head, size))
        continue;
      /* Perhaps by another thread, since this one looked. */
      if (dlp_registry_ensure_type (self, codec, &error))
        loaded = true;
      else if (!was_opened)
        g_warning ("%s", error->message);
    }
  dlp_registry_unlock ();
  return loaded;
}

/* ---- schemes ---- */

bool
dlp_registry_load_scheme (const char *name, GError **error)
{
  DlpRegistry *self = dlp_registry_lock_in_use ();
  DlpRegistryItem *item = g_hash_table_lookup (self->items[DLP_ITEM_SCHEME], name);
  bool ok = item != NULL && dlp_registry_ensure_type (self, item, error);

  dlp_registry_unlock ();
  return ok;
}
