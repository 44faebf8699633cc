/* SPDX-License-Identifier: MIT */

/* The registry of the process: finds plugins in the folders of the search path and loads them all
 * at its first use. */

#include <string.h>

#include <gmodule.h>

#include <dlpipe/dlp-app-sink.h>
#include <dlpipe/dlp-app-source.h>
#include <dlpipe/dlp-plugin.h>

#include "dlp-element-private.h"
#include "dlp-place-private.h"
#include "dlp-registry-private.h"
#include "dlp-suggest-private.h"

#ifndef DLP_PLUGIN_DIR
#define DLP_PLUGIN_DIR "/usr/lib/dlpipe-1.0"
#endif
#define DLP_PLUGIN_SUBDIR "dlpipe-1.0"

struct _DlpPlugin
{
  const DlpPluginDescriptor *descriptor;
  const char *path;
};

typedef struct
{
  GType type;
  const char *plugin; /* interned; NULL: added by the program */
} DlpFactory;

static GRecMutex lock;
static GPtrArray *paths;      /* lock */
static GHashTable *factories; /* lock: name to DlpFactory */
static GHashTable *plugins;   /* lock: names of loaded plugins to path */
static GPtrArray *problems;   /* lock: of char *: plugins that could not be loaded, and why */
static gboolean loaded;       /* lock */

static gboolean add_factory (const char *name, GType type, const char *plugin, GError **error);

static void
ensure_tables (void)
{
  if (factories != NULL)
    return;
  factories = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  plugins = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  problems = g_ptr_array_new_with_free_func (g_free);
  add_factory ("app-source", DLP_TYPE_APP_SOURCE, NULL, NULL);
  add_factory ("app-sink", DLP_TYPE_APP_SINK, NULL, NULL);
}

static gboolean
add_factory (const char *name, GType type, const char *plugin, GError **error)
{
  DlpFactory *known = g_hash_table_lookup (factories, name);
  DlpFactory *factory;

  if (known != NULL)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "element “%s” is there already, from %s", name,
                   known->plugin != NULL ? known->plugin : "the program");
      return FALSE;
    }
  if (!g_type_is_a (type, DLP_TYPE_ELEMENT) || G_TYPE_IS_ABSTRACT (type))
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                   "element “%s”: type %s is not an element that can be made", name,
                   g_type_name (type));
      return FALSE;
    }
  factory = g_new0 (DlpFactory, 1);
  factory->type = type;
  factory->plugin = g_intern_string (plugin);
  g_hash_table_insert (factories, g_strdup (name), factory);
  return TRUE;
}

gboolean
dlp_plugin_add_element (DlpPlugin *self, const char *name, GType type, GError **error)
{
  return add_factory (name, type, self->path, error);
}

void
dlp_plugin_add_codec (DlpPlugin *self, const char *name, DlpCodecMatch match, GType decoder_type)
{
  dlp_codec_register (name, match, decoder_type);
}

void
dlp_plugin_add_scheme (DlpPlugin *self, const char *name, GType scheme_type)
{
  dlp_scheme_register (name, scheme_type);
}

static gboolean
check_descriptor (const DlpPluginDescriptor *descriptor, const char *path, GError **error)
{
  if (descriptor->abi != DLP_PLUGIN_ABI || descriptor->struct_size != sizeof (DlpPluginDescriptor))
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                   "built for plugin ABI %u (descriptor of %u bytes); this dlpipe has ABI %u (%zu "
                   "bytes): rebuild it",
                   descriptor->abi, descriptor->struct_size, DLP_PLUGIN_ABI,
                   sizeof (DlpPluginDescriptor));
      return FALSE;
    }
  if (g_hash_table_contains (plugins, descriptor->name))
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "plugin “%s” is loaded already, from %s", descriptor->name,
                   (const char *) g_hash_table_lookup (plugins, descriptor->name));
      return FALSE;
    }
  return TRUE;
}

static gboolean
load_plugin (const char *path, GError **error)
{
  GModule *module = g_module_open_full (path, G_MODULE_BIND_LOCAL, error);
  DlpPlugin plugin; /* needed by init() alone */
  gpointer symbol;

  if (module == NULL)
    return FALSE;
  if (!g_module_symbol (module, "dlp_plugin_descriptor", &symbol))
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                   "not a dlpipe plugin: it has no symbol dlp_plugin_descriptor");
      g_module_close (module);
      return FALSE;
    }
  if (!check_descriptor (symbol, path, error))
    {
      g_module_close (module);
      return FALSE;
    }

  /* Types cannot be unloaded. */
  g_module_make_resident (module);
  plugin = (DlpPlugin){ symbol, g_intern_string (path) };
  g_hash_table_insert (plugins, g_strdup (plugin.descriptor->name), g_strdup (path));
  return plugin.descriptor->init (&plugin, error);
}

static void
load_file (const char *path)
{
  g_autoptr (GError) error = NULL;

  if (load_plugin (path, &error))
    return;
  g_ptr_array_add (problems, g_strdup_printf ("%s: %s", path, error->message));
  g_warning ("plugin %s: %s", path, error->message);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* The plugins of a folder, in byte-wise order, and those of its subfolders (as in a build tree). */
static void
load_folder (const char *folder, gboolean descend)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  if (dir == NULL)
    return;
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, g_ptr_array_index (names, i), NULL);

      name = g_ptr_array_index (names, i);
      if (g_str_has_suffix (name, ".so") && g_str_has_prefix (name, "dlp-"))
        load_file (path);
      else if (descend && g_file_test (path, G_FILE_TEST_IS_DIR))
        load_folder (path, FALSE);
    }
}

/* Those of the build folder where the library was not installed; else those beside the library,
 * wherever the whole was moved to; else those where it was meant to be installed. */
static void
load_own_folder (void)
{
  g_autofree char *build = dlp_place_get_uninstalled ();
  g_autofree char *beside = build == NULL ? dlp_place_find_folder (DLP_PLUGIN_SUBDIR) : NULL;

  if (build != NULL)
    load_folder (build, TRUE);
  else
    load_folder (beside != NULL ? beside : DLP_PLUGIN_DIR, FALSE);
}

static void
load_all (void)
{
  const char *env = g_getenv ("DLPIPE_PLUGIN_PATH");

  ensure_tables ();
  if (loaded)
    return;
  loaded = TRUE;
  for (guint i = 0; paths != NULL && i < paths->len; i++)
    load_folder (g_ptr_array_index (paths, i), TRUE);
  if (env != NULL)
    {
      g_auto (GStrv) folders = g_strsplit (env, ":", -1);

      for (guint i = 0; folders[i] != NULL; i++)
        if (folders[i][0] != '\0')
          load_folder (folders[i], TRUE);
    }
  else
    load_own_folder ();
}

void
dlp_registry_add_path (const char *path)
{
  g_rec_mutex_lock (&lock);
  if (paths == NULL)
    paths = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (paths, g_strdup (path));
  if (loaded)
    load_folder (path, TRUE);
  g_rec_mutex_unlock (&lock);
}

gboolean
dlp_registry_add_element (const char *factory, GType type, GError **error)
{
  gboolean ok;

  g_rec_mutex_lock (&lock);
  ensure_tables ();
  ok = add_factory (factory, type, NULL, error);
  g_rec_mutex_unlock (&lock);
  return ok;
}

char **
dlp_registry_list_elements (void)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer name;

  g_rec_mutex_lock (&lock);
  load_all ();
  g_hash_table_iter_init (&iter, factories);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (names, g_strdup (name));
  g_rec_mutex_unlock (&lock);

  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

GType
dlp_registry_get_element_type (const char *factory)
{
  DlpFactory *found;
  GType type;

  g_rec_mutex_lock (&lock);
  load_all ();
  found = g_hash_table_lookup (factories, factory);
  type = found != NULL ? found->type : G_TYPE_INVALID;
  g_rec_mutex_unlock (&lock);
  return type;
}

char *
dlp_registry_suggest (const char *factory)
{
  g_auto (GStrv) names = dlp_registry_list_elements ();
  const char *near = dlp_suggest (factory, (const char *const *) names);

  if (near != NULL)
    return g_strdup_printf ("did you mean “%s”?", near);
  if (names[0] == NULL)
    return g_strdup_printf (
        "no plugin was found; DLPIPE_PLUGIN_PATH names their folder (built in: %s)",
        DLP_PLUGIN_DIR);
  g_autofree char *all = g_strjoinv (", ", names);
  return g_strdup_printf ("known elements: %s", all);
}

DlpElement *
dlp_element_new (const char *factory, const char *name, GError **error)
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
  dlp_element_set_name (element, name);
  return element;
}
