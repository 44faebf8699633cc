/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-decoder.h"
#include "dlp-element.h"

G_BEGIN_DECLS

/* Increased when a plugin built for the former number would not work. */
#define DLP_PLUGIN_ABI 1

typedef struct _DlpPlugin DlpPlugin;

/**
 * DlpPluginDescriptor:
 *
 * What a plugin exports, by DLP_PLUGIN_DEFINE(), as the one symbol "dlp_plugin_descriptor".
 */
typedef struct
{
  guint32 abi;         /* DLP_PLUGIN_ABI */
  guint32 struct_size; /* sizeof (DlpPluginDescriptor) */
  const char *name;
  const char *description;
  const char *version;
  const char *license;
  /* Registers what it brings; called once a process, on one thread. */
  gboolean (*init) (DlpPlugin *plugin, GError **error);
  gpointer reserved[4];
} DlpPluginDescriptor;

/* All but @init_func are strings; @license is an SPDX expression. */
#define DLP_PLUGIN_DEFINE(plugin_name, plugin_description, plugin_version, plugin_license,         \
                          init_func)                                                               \
  __attribute__ ((visibility ("default"))) extern const DlpPluginDescriptor dlp_plugin_descriptor; \
  const DlpPluginDescriptor dlp_plugin_descriptor = {                                              \
    DLP_PLUGIN_ABI, sizeof (DlpPluginDescriptor),                                                  \
    plugin_name,    plugin_description,                                                            \
    plugin_version, plugin_license,                                                                \
    init_func,      { NULL }                                                                       \
  };

/* In init(). A name that is taken is an error. */
DLP_API
gboolean dlp_plugin_add_element (DlpPlugin *self, const char *name, GType type, GError **error);
DLP_API
void
dlp_plugin_add_codec (DlpPlugin *self, const char *name, DlpCodecMatch match, GType decoder_type);
DLP_API
void dlp_plugin_add_scheme (DlpPlugin *self, const char *name, GType scheme_type);

/* The registry of the process: loads the plugins of the search path (dlp_registry_add_path(), then
 * DLPIPE_PLUGIN_PATH, then the library folder) at its first use. Any thread. */
DLP_API
void dlp_registry_add_path (const char *path);
/* (transfer full): a new element of a factory; unknown: DLP_GRAPH_ERROR_UNKNOWN_ELEMENT with a
 * suggestion.
 * @name: (nullable). Free properties keep their defaults. */
DLP_API
DlpElement *dlp_element_new (const char *factory, const char *name, GError **error);
/**
 * dlp_registry_list_elements:
 *
 * Lists the names of all factories, sorted.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (array zero-terminated=1): names
 *
 * Since: 0.1
 */
DLP_API
char **dlp_registry_list_elements (void);
DLP_API
GType dlp_registry_get_element_type (const char *factory);
/* For programs and tests that bring an element of their own. */
DLP_API
gboolean dlp_registry_add_element (const char *factory, GType type, GError **error);

G_END_DECLS
