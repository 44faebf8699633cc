/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-decoder.h"
#include "dlp-element.h"
#include "dlp-pad-template.h"
#include "dlp-registry.h"

G_BEGIN_DECLS

/**
 * DLP_PLUGIN_ABI:
 *
 * Increased when a plugin built for the former number would not work.
 *
 * Since: 0.1
 */
#define DLP_PLUGIN_ABI 1

/**
 * DlpPlugin:
 *
 * What a plugin brings, filled by its init().
 *
 * Since: 0.1
 */
typedef struct _DlpPlugin DlpPlugin;

/**
 * DlpPluginDescriptor:
 * @abi: %DLP_PLUGIN_ABI
 * @struct_size: `sizeof (DlpPluginDescriptor)`
 * @name: of the plugin: a lower-case letter, then such, digits and `-`
 * @description: one line
 * @version: its version
 * @license: an SPDX expression
 * @init: says what it brings; called once a process, on one thread, when something of the plugin is
 * first used, and in the scanner process
 *
 * What a plugin exports, by DLP_PLUGIN_DEFINE(), as the one symbol "dlp_plugin_descriptor".
 *
 * Since: 0.1
 */
typedef struct
{
  guint32 abi;
  guint32 struct_size;
  const char *name;
  const char *description;
  const char *version;
  const char *license;
  gboolean (*init) (DlpPlugin *plugin, GError **error);
  gpointer reserved[4];
} DlpPluginDescriptor;

/**
 * DLP_PLUGIN_DEFINE: (skip)
 * @plugin_name: a string
 * @plugin_description: a string, one line
 * @plugin_version: a string
 * @plugin_license: a string, an SPDX expression
 * @init_func: the function that says what it brings
 *
 * Defines the symbol by which a module is a plugin.
 *
 * Since: 0.1
 */
#define DLP_PLUGIN_DEFINE(plugin_name, plugin_description, plugin_version, plugin_license,         \
                          init_func)                                                               \
  __attribute__ ((visibility ("default"))) extern const DlpPluginDescriptor dlp_plugin_descriptor; \
  const DlpPluginDescriptor dlp_plugin_descriptor = {                                              \
    DLP_PLUGIN_ABI, sizeof (DlpPluginDescriptor),                                                  \
    plugin_name,    plugin_description,                                                            \
    plugin_version, plugin_license,                                                                \
    init_func,      { NULL }                                                                       \
  };

/**
 * dlp_plugin_add_element:
 * @self: the plugin
 * @name: the name of a kind of element: a lower-case letter, then such, digits and `-`
 * @type: its type, derived from #DlpElement
 * @error: return location for an error; %NULL: it is one of init(), whatever that returns
 *
 * In init(). A name that this plugin has given before is an error; of two plugins with one, the
 * first that is found has it.
 *
 * Returns: whether it was added
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_plugin_add_element (DlpPlugin *self, const char *name, GType type, GError **error);

/**
 * dlp_plugin_add_codec: (skip)
 * @self: the plugin
 * @name: the name of the codec: a lower-case letter, then such, digits and `-`
 * @match: whether a stream belongs to it
 * @decoder_type: derived from #DlpDecoder
 * @error: return location for an error; %NULL: it is one of init(), whatever that returns
 *
 * In init(). The plugin is opened when a file is read whose codec is not known yet; with
 * dlp_plugin_add_codec_magic(), when one begins so.
 *
 * Returns: whether it was added
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_plugin_add_codec (DlpPlugin *self,
                               const char *name,
                               DlpCodecMatch match,
                               GType decoder_type,
                               GError **error);

/**
 * dlp_plugin_add_codec_magic: (skip)
 * @self: the plugin
 * @name: of a codec that was added
 * @magic: (array length=size): what files of it begin with
 * @mask: (nullable): of @size bytes: the bits that count; %NULL: all
 * @size: at most 16
 * @error: return location for an error; %NULL: it is one of init(), whatever that returns
 *
 * In init(); several times where a codec has several. What @match accepts begins with one of them,
 * as far as the file goes: for a file without such a beginning the plugin is not opened.
 *
 * Returns: whether it was added
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_plugin_add_codec_magic (DlpPlugin *self,
                                     const char *name,
                                     const guint8 *magic,
                                     const guint8 *mask,
                                     gsize size,
                                     GError **error);

/**
 * dlp_plugin_add_scheme:
 * @self: the plugin
 * @name: the name of a URI scheme: a lower-case letter, then such, digits, `-`, `+` and `.`
 * @scheme_type: derived from #DlpScheme
 * @error: return location for an error; %NULL: it is one of init(), whatever that returns
 *
 * In init(). The plugin is opened when a URI of that scheme is first used.
 *
 * Returns: whether it was added
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean
dlp_plugin_add_scheme (DlpPlugin *self, const char *name, GType scheme_type, GError **error);

G_END_DECLS
