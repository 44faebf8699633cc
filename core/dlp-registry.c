/* SPDX-License-Identifier: MIT */

/* The registry of the process: what there is, and which plugin brings it. At its first use it looks
 * for plugins; what they bring is known from the cache, or asked of the scanner. */

#include <string.h>
#include <unistd.h>

#include "dlp-local-scheme-private.h"
#include "dlp-registry-private.h"

static GRecMutex lock;
static DlpRegistry registry; /* lock */
static guint n_reported;     /* lock: of the problems */

/* What core brings itself is listed as if a plugin did. */
static DlpPluginRecord core_plugin = { .name = "core", .opened = true };

static const char *const kind_names[DLP_N_ITEM_KINDS] = { "element", "codec", "URI scheme" };
static const char *const kind_keys[DLP_N_ITEM_KINDS] = { "elements", "codecs", "schemes" };

/* ---- tables ---- */

static void
item_free (gpointer data)
{
  DlpRegistryItem *item = data;

  g_clear_pointer (&item->info, g_variant_unref);
  g_free (item);
}

static DlpRegistryItem *
add_item (DlpItemKind kind, const char *name, DlpPluginRecord *plugin, GVariant *info, GType type)
{
  DlpRegistryItem *item = g_new0 (DlpRegistryItem, 1);

  item->name = g_intern_string (name);
  item->plugin = plugin;
  item->info = info != NULL ? g_variant_ref (info) : NULL;
  item->type = type;
  g_hash_table_insert (registry.items[kind], (gpointer) item->name, item);
  return item;
}

static void
add_core (void)
{
  GVariantBuilder dict;

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&dict, "{sv}", "name", g_variant_new_string (core_plugin.name));
  g_variant_builder_add (&dict, "{sv}", "description",
                         g_variant_new_string ("What dlpipe brings without a plugin"));
  g_variant_builder_add (&dict, "{sv}", "version", g_variant_new_string (PLUGIN_VERSION));
  g_variant_builder_add (&dict, "{sv}", "license", g_variant_new_string ("MIT"));
  core_plugin.info = g_variant_ref_sink (g_variant_builder_end (&dict));

  g_hash_table_insert (registry.plugins, (gpointer) core_plugin.name, &core_plugin);
  add_item (DLP_ITEM_SCHEME, "file", &core_plugin, NULL, DLP_TYPE_LOCAL_SCHEME);
  for (const DlpBuiltin *builtin = dlp_builtin_elements; builtin->name != NULL; builtin++)
    add_item (DLP_ITEM_ELEMENT, builtin->name, &core_plugin, NULL, builtin->get_type ());
}

static void
ensure_tables (void)
{
  if (registry.problems != NULL)
    return;
  for (guint k = 0; k < DLP_N_ITEM_KINDS; k++)
    registry.items[k] = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, item_free);
  registry.plugins = g_hash_table_new (g_str_hash, g_str_equal);
  registry.types = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  registry.problems = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  registry.paths = g_ptr_array_new_with_free_func (g_free);
  add_core ();
}

DlpRegistry *
dlp_registry_lock (void)
{
  g_rec_mutex_lock (&lock);
  ensure_tables ();
  return &registry;
}

void
dlp_registry_unlock (void)
{
  g_rec_mutex_unlock (&lock);
}

/* ---- problems ---- */

static void
add_text (GVariantBuilder *dict, const char *key, char *text)
{
  g_variant_builder_add (dict, "{sv}", key, g_variant_new_take_string (text));
}

/* (transfer full): "NAME" of .../dlp-NAME.so. */
static char *
get_name_of_file (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  return g_strndup (name + strlen ("dlp-"), strlen (name) - strlen ("dlp-") - strlen (".so"));
}

/* @reason: (transfer full): what the plugin itself said may be in it. */
static void
add_problem (const char *path, const char *plugin, bool harmless, char *reason, const char *remedy)
{
  g_autofree char *said = g_strdelimit (reason, "\r\n\t", ' ');
  g_autofree char *shown = dlp_uri_escape_for_display (said);
  g_autofree char *file = dlp_uri_escape_for_display (path);
  GVariantBuilder dict;

  g_variant_builder_init (&dict, G_VARIANT_TYPE_VARDICT);
  add_text (&dict, "file", g_strdup (file));
  if (plugin != NULL)
    add_text (&dict, "plugin", g_strdup (plugin));
  add_text (&dict, "name", get_name_of_file (file));
  add_text (&dict, "reason", g_strdup (shown));
  add_text (&dict, "remedy", g_strdup (remedy));
  add_text (&dict, "message",
            g_strdup_printf ("plugin %s is not used: %s; %s", file, shown, remedy));
  g_variant_builder_add (&dict, "{sv}", "harmless", g_variant_new_boolean (harmless));
  g_ptr_array_add (registry.problems, g_variant_ref_sink (g_variant_builder_end (&dict)));
}

static void
report_problem (GVariant *problem)
{
  const char *file, *message;
  gboolean harmless;

  g_variant_lookup (problem, "file", "&s", &file);
  g_variant_lookup (problem, "message", "&s", &message);
  g_variant_lookup (problem, "harmless", "b", &harmless);
  g_log_structured (G_LOG_DOMAIN, harmless ? G_LOG_LEVEL_MESSAGE : G_LOG_LEVEL_WARNING,
                    "DLP_PLUGIN_FILE", file, "MESSAGE", "%s", message);
}

/* Programs are told without the lock. */
static void
report_problems (void)
{
  g_autoptr (GPtrArray) fresh = NULL;

  if (n_reported == registry.problems->len)
    return;
  fresh = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  for (; n_reported < registry.problems->len; n_reported++)
    g_ptr_array_add (fresh, g_variant_ref (g_ptr_array_index (registry.problems, n_reported)));
  g_rec_mutex_unlock (&lock);
  for (guint i = 0; i < fresh->len; i++)
    report_problem (g_ptr_array_index (fresh, i));
  g_rec_mutex_lock (&lock);
}

/* ---- what is known of a file ---- */

static bool
is_allowed (const char *plugin)
{
  return registry.allowed == NULL ||
         g_strv_contains ((const char *const *) registry.allowed, plugin);
}

/* By its name alone, where nothing else is known. */
static bool
is_allowed_file (const char *path)
{
  g_autofree char *name = get_name_of_file (path);

  return is_allowed (name);
}

static const char *
describe_owner (const DlpPluginRecord *plugin)
{
  return plugin == NULL ? "the program" : plugin->path != NULL ? plugin->path : "dlpipe itself";
}

static void
add_taken_problem (const char *path,
                   const char *plugin,
                   bool harmless,
                   const char *what,
                   const char *name,
                   const DlpPluginRecord *owner)
{
  add_problem (
      path, plugin, harmless,
      g_strdup_printf ("%s “%s” is there already, from %s", what, name, describe_owner (owner)),
      dlp_plugin_get_taken_remedy ());
}

/* Of two plugins whose types have one name only one can be opened. */
static bool
are_types_free (const DlpPluginRecord *plugin, GVariant *items)
{
  gsize n = g_variant_n_children (items);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) info = g_variant_get_child_value (items, i);
      const DlpPluginRecord *owner;
      const char *type;

      if (!g_variant_lookup (info, "type-name", "&s", &type))
        continue;
      owner = g_hash_table_lookup (registry.types, type);
      if (owner == NULL)
        continue;
      add_taken_problem (plugin->path, plugin->name, false, "its type", type, owner);
      return false;
    }
  return true;
}

static void
take_type (DlpPluginRecord *plugin, GVariant *info)
{
  const char *type;

  if (g_variant_lookup (info, "type-name", "&s", &type))
    g_hash_table_insert (registry.types, g_strdup (type), plugin);
}

static void
take_items (DlpPluginRecord *plugin, DlpItemKind kind, GVariant *items)
{
  gsize n = g_variant_n_children (items);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) info = g_variant_get_child_value (items, i);
      const DlpRegistryItem *known;
      const char *name;

      take_type (plugin, info);
      if (!g_variant_lookup (info, "name", "&s", &name))
        continue;
      known = g_hash_table_lookup (registry.items[kind], name);
      if (known == NULL)
        add_item (kind, name, plugin, info, G_TYPE_INVALID);
      else
        add_taken_problem (plugin->path, plugin->name, true, kind_names[kind], name, known->plugin);
    }
}

static void
plugin_free (DlpPluginRecord *plugin)
{
  g_variant_unref (plugin->info);
  g_free (plugin->path);
  g_free (plugin);
}

/* (nullable): NULL: its types are taken. */
static DlpPluginRecord *
take_plugin (const char *path, const char *name, GVariant *info)
{
  DlpPluginRecord *plugin = g_new0 (DlpPluginRecord, 1);
  GVariant *items[DLP_N_ITEM_KINDS];
  bool fits = true;

  plugin->name = g_intern_string (name);
  plugin->path = g_strdup (path);
  plugin->info = g_variant_ref (info);
  for (guint k = 0; k < DLP_N_ITEM_KINDS; k++)
    {
      items[k] = g_variant_lookup_value (info, kind_keys[k], G_VARIANT_TYPE ("aa{sv}"));
      fits = fits && (items[k] == NULL || are_types_free (plugin, items[k]));
    }
  if (fits)
    g_hash_table_insert (registry.plugins, (gpointer) plugin->name, plugin);
  for (guint k = 0; k < DLP_N_ITEM_KINDS; k++)
    {
      if (fits && items[k] != NULL)
        take_items (plugin, (DlpItemKind) k, items[k]);
      g_clear_pointer (&items[k], g_variant_unref);
    }
  if (!fits)
    g_clear_pointer (&plugin, plugin_free);
  return plugin;
}

/* (nullable): what it has become. */
static DlpPluginRecord *
merge (const char *path, GVariant *info)
{
  const DlpPluginRecord *known;
  const char *name, *reason, *remedy;

  if (g_variant_lookup (info, "reason", "&s", &reason) &&
      g_variant_lookup (info, "remedy", "&s", &remedy))
    {
      if (is_allowed_file (path))
        add_problem (path, NULL, false, g_strdup (reason), remedy);
      return NULL;
    }
  if (!g_variant_lookup (info, "name", "&s", &name) || !is_allowed (name))
    return NULL;
  known = g_hash_table_lookup (registry.plugins, name);
  if (known == NULL)
    return take_plugin (path, name, info);
  /* Its folder is searched again. */
  if (g_strcmp0 (known->path, path) == 0)
    return NULL;
  add_taken_problem (path, name, true, "plugin", name, known);
  return NULL;
}

/* ---- the search ---- */

typedef struct
{
  DlpPluginCache *cache;
  char *scanner;
  bool has_scanner;
} Search;

static void
take_in_process (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPlugin) plugin = NULL;
  g_autoptr (GVariant) info = NULL;
  DlpPluginRecord *record;

  if (!is_allowed_file (path))
    return;
  plugin = dlp_plugin_open (path, NULL, NULL, &error);
  info = plugin != NULL ? dlp_plugin_describe (plugin) : dlp_plugin_describe_failure (error);
  record = merge (path, info);
  if (record != NULL)
    dlp_registry_adopt (&registry, record, plugin);
}

/* (transfer full) (nullable): NULL: there is no scanner. */
static GVariant *
scan (Search *search, const DlpPluginFile *file)
{
  g_autoptr (GError) error = NULL;
  DlpPluginFile after = { .path = file->path };
  GVariant *info = NULL;
  bool lasting;

  if (!search->has_scanner)
    return NULL;
  info = dlp_plugin_scan (search->scanner, file->path, &lasting, &error);
  if (info == NULL)
    {
      search->has_scanner = false;
      g_message ("plugins are opened in this process to see what they bring, since the scanner "
                 "%s cannot be used: %s",
                 search->scanner, error->message);
      return NULL;
    }
  /* Neither one that was being written, nor one whose permissions may change: its mtime does not.
   */
  if (lasting && access (file->path, R_OK) == 0 && dlp_plugin_file_stat (&after) &&
      after.inode == file->inode && after.size == file->size && after.seconds == file->seconds &&
      after.nanoseconds == file->nanoseconds)
    dlp_plugin_cache_put (search->cache, file, info);
  return info;
}

static void
remember_file (DlpPluginRecord *record, const DlpPluginFile *file)
{
  if (record == NULL)
    return;
  record->inode = file->inode;
  record->size = file->size;
  record->seconds = file->seconds;
  record->nanoseconds = file->nanoseconds;
}

static void
take_file (Search *search, const DlpPluginFile *file)
{
  g_autoptr (GVariant) info = NULL;

  if (!registry.rescan)
    info = dlp_plugin_cache_find (search->cache, file);
  if (info == NULL)
    info = scan (search, file);
  if (info != NULL)
    remember_file (merge (file->path, info), file);
  else
    take_in_process (file->path);
}

/* Several that hang are waited for one after the other. */
static void
tell_if_slow (gint64 *since, guint n_done, const GPtrArray *files)
{
  const DlpPluginFile *next = g_ptr_array_index (files, n_done);
  g_autofree char *shown = NULL;
  gint64 now = g_get_monotonic_time ();

  if (now - *since < (gint64) (2 * dlp_plugin_get_scan_timeout () * G_USEC_PER_SEC))
    return;
  *since = now;
  shown = dlp_uri_escape_for_display (next->path);
  g_message (
      "looking at plugins takes long: %u of %u files are done, %s is next; one that hangs is "
      "waited for %g s, and then known",
      n_done, files->len, shown, dlp_plugin_get_scan_timeout ());
}

static void
search_folders (const char *const *folders)
{
  g_autoptr (GPtrArray) files = NULL;
  g_autofree char *cache_path = NULL;
  Search search = { 0 };
  gint64 since = g_get_monotonic_time ();

  /* A plugin would bring a second library. */
  if (dlp_plugin_is_core_in_program ())
    return;
  files = dlp_plugin_find_files (folders);
  if (files->len == 0)
    return;

  cache_path = dlp_plugin_get_cache_path ();
  search.cache = dlp_plugin_cache_new (cache_path);
  search.scanner = dlp_plugin_find_scanner ();
  search.has_scanner = search.scanner != NULL;
  for (guint i = 0; i < files->len; i++)
    {
      tell_if_slow (&since, i, files);
      take_file (&search, g_ptr_array_index (files, i));
    }
  dlp_plugin_cache_save (search.cache);
  dlp_plugin_cache_free (search.cache);
  g_free (search.scanner);
}

DlpRegistry *
dlp_registry_lock_in_use (void)
{
  dlp_registry_lock ();
  if (!registry.in_use)
    {
      g_auto (GStrv) folders = dlp_plugin_list_folders (registry.paths);

      registry.in_use = true;
      search_folders ((const char *const *) folders);
    }
  report_problems ();
  return &registry;
}

/* ---- what programs say ---- */

void
dlp_registry_add_path (const char *path)
{
  g_return_if_fail (path != NULL);

  dlp_registry_lock ();
  g_ptr_array_add (registry.paths, g_strdup (path));
  if (registry.in_use)
    {
      g_autofree char *folder = g_canonicalize_filename (path, NULL);
      const char *folders[] = { folder, NULL };

      search_folders (folders);
      report_problems ();
    }
  dlp_registry_unlock ();
}

gboolean
dlp_registry_set_allowed (const char *const *plugins)
{
  bool in_time;

  dlp_registry_lock ();
  in_time = !registry.in_use;
  if (in_time)
    {
      g_strfreev (registry.allowed);
      registry.allowed = g_strdupv ((char **) plugins);
    }
  dlp_registry_unlock ();
  return in_time;
}

gboolean
dlp_registry_rescan (void)
{
  bool in_time;

  dlp_registry_lock ();
  in_time = !registry.in_use;
  registry.rescan = registry.rescan || in_time;
  dlp_registry_unlock ();
  return in_time;
}

gboolean
dlp_registry_add_element (const char *factory, GType type, GError **error)
{
  const DlpRegistryItem *known;
  bool ok = false;

  g_return_val_if_fail (factory != NULL, FALSE);

  dlp_registry_lock ();
  known = g_hash_table_lookup (registry.items[DLP_ITEM_ELEMENT], factory);
  if (known != NULL)
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                 "element “%s” is there already, from %s", factory, describe_owner (known->plugin));
  else if (!dlp_plugin_is_name (factory))
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                 "element “%s”: a name is a lower-case letter, then such, digits and “-”", factory);
  else if (!g_type_is_a (type, DLP_TYPE_ELEMENT) || G_TYPE_IS_ABSTRACT (type))
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                 "element “%s”: type %s is not an element that can be made", factory,
                 g_type_name (type));
  else
    {
      add_item (DLP_ITEM_ELEMENT, factory, NULL, NULL, type);
      ok = true;
    }
  dlp_registry_unlock ();
  return ok;
}
