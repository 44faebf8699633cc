/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/* The registry of the process knows which elements, codecs and URI schemes there are, and which
 * plugin brings them. It looks for plugins at its first use, without opening one: what they bring
 * is read from a cache, or asked of a scanner process. A plugin is opened when something of it is
 * used. Threads, for all functions: any. */

/**
 * dlp_registry_add_path:
 * @path: (type filename): a folder
 *
 * Looks for plugins in @path, and in the folders directly in it, before all other folders but those
 * that were added before. Once the registry is in use it is searched at once, and comes last.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_registry_add_path (const char *path);

/**
 * dlp_registry_set_allowed:
 * @plugins: (nullable) (array zero-terminated=1): names of plugins; %NULL: all
 *
 * From now on there are no other plugins than these: what others bring (elements, codecs, URI
 * schemes) is neither listed nor opened in this process. The scanner process opens them all the
 * same, once, as only a plugin itself says what it is called. What is built in, and what the
 * program adds, is always there. To be called before the registry is used; later it changes
 * nothing.
 *
 * Returns: whether it came in time
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_registry_set_allowed (const char *const *plugins);

/**
 * dlp_registry_rescan:
 *
 * Forgets what the cache says of all plugins on the search path, also of those that could not be
 * used, and asks them again. To be called before the registry is used; later it changes nothing.
 *
 * Returns: whether it came in time
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_registry_rescan (void);

/**
 * dlp_registry_load:
 *
 * Makes the registry ready, as the first call does that asks it for something: reads its cache, and
 * has plugins that are new asked by a scanner process, which can take seconds where one hangs.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_registry_load (void);

/**
 * dlp_registry_load_async:
 * @cancellable: (nullable): ends the wait; the registry is loaded all the same
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_registry_load(), on a thread of its own. Behind it no call of the registry blocks.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_registry_load_async (GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data);

/**
 * dlp_registry_load_finish:
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_registry_load_async(). Errors: %G_IO_ERROR_CANCELLED.
 *
 * Returns: %TRUE: it is loaded
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_registry_load_finish (GAsyncResult *result, GError **error);

/**
 * dlp_element_make:
 * @factory: the name of a kind of element, such as "jsonl-reader"
 * @name: (nullable): its name in a pipeline
 * @error: return location of an error
 *
 * Makes an element; opens the plugin that brings it, if that was not done before. Its properties
 * have their defaults. Fails with %DLP_GRAPH_ERROR_UNKNOWN_ELEMENT: there is none (the message
 * suggests another), or its plugin could not be opened.
 *
 * Returns: (transfer full): the element
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpElement *dlp_element_make (const char *factory, const char *name, GError **error);

/**
 * dlp_registry_list_elements:
 *
 * Lists all kinds of elements; opens no plugin.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of all kinds of elements, sorted
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char **dlp_registry_list_elements (void);

/**
 * dlp_registry_list_plugins:
 *
 * Lists all plugins; opens none.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of all plugins, sorted
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char **dlp_registry_list_plugins (void);

/**
 * dlp_registry_list_codecs:
 *
 * Lists the codecs of plugins; opens no plugin.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of all codecs of plugins, sorted
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char **dlp_registry_list_codecs (void);

/**
 * dlp_registry_list_schemes:
 *
 * Lists the URI schemes; opens no plugin.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of all URI schemes, sorted; "file"
 * is built in
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char **dlp_registry_list_schemes (void);

/**
 * dlp_registry_list_folders:
 *
 * Lists where plugins are looked for.
 *
 * Returns: (transfer full) (array zero-terminated=1) (element-type filename): the folders that
 * plugins are looked for in, in this order
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char **dlp_registry_list_folders (void);

/**
 * dlp_registry_list_problems:
 *
 * What could not be used: plugins, and things of theirs whose names are taken. A list of
 * dictionaries (`aa{sv}`) with the keys `file`, `plugin` (where it is known), `name` (NAME of
 * `dlp-NAME.so`), `reason`, `remedy`, and `message`, which is all of it in one line.
 * Each was also logged once, with the field DLP_PLUGIN_FILE.
 *
 * Returns: (transfer full): the problems, in the order of the search
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_registry_list_problems (void);

/**
 * dlp_registry_describe_element:
 * @name: the name of a kind of element
 *
 * All that there is to know about a kind of element, without opening its plugin: a dictionary
 * (`a{sv}`), whose keys docs/internals/registry.md lists.
 *
 * Returns: (transfer full) (nullable): the description; %NULL: there is no such element
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_registry_describe_element (const char *name);

/**
 * dlp_registry_describe_plugin:
 * @name: the name of a plugin
 *
 * All that there is to know about a plugin, without opening it.
 *
 * Returns: (transfer full) (nullable): the description (`a{sv}`); %NULL: there is no such plugin
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_registry_describe_plugin (const char *name);

/**
 * dlp_registry_describe_codec:
 * @name: the name of a codec
 *
 * All that there is to know about a codec, without opening its plugin.
 *
 * Returns: (transfer full) (nullable): the description (`a{sv}`); %NULL: there is no such codec
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_registry_describe_codec (const char *name);

/**
 * dlp_registry_describe_scheme:
 * @name: the name of a URI scheme
 *
 * All that there is to know about a URI scheme, without opening its plugin.
 *
 * Returns: (transfer full) (nullable): the description (`a{sv}`); %NULL: there is no such scheme
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_registry_describe_scheme (const char *name);

/**
 * dlp_registry_has_element:
 * @name: the name of a kind of element
 *
 * Looks whether there is a kind of element; opens no plugin.
 *
 * Returns: whether there is such an element; opens no plugin
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_registry_has_element (const char *name);

/**
 * dlp_registry_get_element_type:
 * @factory: the name of a kind of element
 *
 * Opens its plugin, if that was not done before.
 *
 * Returns: the type; %G_TYPE_INVALID: there is no such element, or its plugin could not be opened
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GType dlp_registry_get_element_type (const char *factory);

/**
 * dlp_registry_add_element:
 * @factory: the name of a kind of element: a lower-case letter, then such, digits and `-`
 * @type: its type, derived from #DlpElement
 * @error: return location of an error
 *
 * For programs and tests that bring an element of their own. A name that is taken is an error; one
 * of a plugin is taken only once the registry is in use, before that the program's comes first.
 *
 * Returns: whether it was added
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_registry_add_element (const char *factory, GType type, GError **error);

/**
 * dlp_registry_scan_file: (skip)
 * @path: (type filename): a plugin
 * @build_id: of the library of the program that asks
 * @fd: a descriptor to write to
 *
 * What dlpipe-plugin-scanner does: opens @path in this process, which the plugin may well end or
 * stop, and writes to @fd what it brings. For that program alone: the format is private, and
 * belongs to the very build of the library.
 *
 * Returns: an exit status
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
int dlp_registry_scan_file (const char *path, const char *build_id, int fd);

G_END_DECLS
