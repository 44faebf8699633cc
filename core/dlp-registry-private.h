/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-plugin.h>

G_BEGIN_DECLS

/* ---- the registry: dlp-registry.c, dlp-registry-list.c, dlp-registry-load.c ---- */

/* What one plugin is said to bring, by the scanner or the cache. */
typedef struct
{
  const char *name; /* of info */
  char *path;       /* NULL: built in */
  GVariant *info;   /* a{sv} */
  bool opened;      /* or it was tried */
  GError *failure;  /* why it could not be opened */
  /* Of the file that info is of; inode 0: it was not looked at by a scanner. */
  guint64 inode, size, nanoseconds;
  gint64 seconds;
} DlpPluginRecord;

/* An element, codec or scheme. */
typedef struct
{
  const char *name;        /* interned */
  DlpPluginRecord *plugin; /* NULL: added by the program */
  GVariant *info;          /* a{sv}; NULL: made on demand */
  GType type;              /* G_TYPE_INVALID: not known yet */
} DlpRegistryItem;

typedef enum
{
  DLP_ITEM_ELEMENT,
  DLP_ITEM_CODEC,
  DLP_ITEM_SCHEME,
  DLP_N_ITEM_KINDS,
} DlpItemKind;

/* The lock of the registry, which is recursive, and its tables, which it guards. */
typedef struct
{
  bool in_use;
  bool rescan;
  GPtrArray *paths;                    /* (element-type filename) given by the program */
  char **allowed;                      /* (nullable) */
  GHashTable *items[DLP_N_ITEM_KINDS]; /* name to DlpRegistryItem */
  GHashTable *plugins;                 /* name to DlpPluginRecord */
  GHashTable *types;   /* names of types to the DlpPluginRecord that registers them */
  GPtrArray *problems; /* (element-type GVariant) */
} DlpRegistry;

DlpRegistry *dlp_registry_lock (void);
/* The same, after the search for plugins. */
DlpRegistry *dlp_registry_lock_in_use (void);
void dlp_registry_unlock (void);

/* What an opened plugin brings is there from now on. */
void dlp_registry_adopt (DlpRegistry *self, DlpPluginRecord *record, DlpPlugin *plugin);
/* (transfer full): a hint for a factory name that is not known. */
char *dlp_registry_suggest (const char *factory);
/* Opens the plugin of an item that has no type yet, under the lock. */
bool dlp_registry_ensure_type (DlpRegistry *self, DlpRegistryItem *item, GError **error);
/* Opens the plugins that may have the codec of a stream that begins so. Whether one is open. */
bool dlp_registry_load_codecs (const guint8 *head, gsize size);
/* Opens the plugin of a URI scheme. FALSE, without an error: there is none. */
bool dlp_registry_load_scheme (const char *name, GError **error);

/* ---- what core brings itself: dlp-registry-builtins.c ---- */

typedef struct
{
  const char *name;
  GType (*get_type) (void);
} DlpBuiltin;

/* Ended by a name that is NULL. */
extern const DlpBuiltin dlp_builtin_elements[];

/* ---- a plugin that is opened: dlp-registry-plugin.c ---- */

#define DLP_PLUGIN_ERROR (dlp_plugin_error_quark ())
typedef enum
{
  DLP_PLUGIN_ERROR_FORMAT,
  DLP_PLUGIN_ERROR_OPEN,
  DLP_PLUGIN_ERROR_NO_PLUGIN,
  DLP_PLUGIN_ERROR_ABI,
  DLP_PLUGIN_ERROR_DESCRIPTOR,
  DLP_PLUGIN_ERROR_INIT,
  DLP_PLUGIN_ERROR_DIED,
  DLP_PLUGIN_ERROR_HANGS,
  DLP_PLUGIN_ERROR_REPLACED,
} DlpPluginError;

GQuark dlp_plugin_error_quark (void);
/* What to do about an error. */
const char *dlp_plugin_get_remedy (const GError *error);
/* A lower-case letter, then such, digits and what separates words. @name: (nullable) */
bool dlp_plugin_is_name (const char *name);
/* Where a name is taken. */
const char *dlp_plugin_get_taken_remedy (void);

typedef struct
{
  char *name;
  GType type;
  DlpCodecMatch match; /* of a codec */
  GPtrArray *magics;   /* (element-type GVariant): (ayay) */
} DlpPluginItem;

struct _DlpPlugin
{
  const DlpPluginDescriptor *descriptor;
  GPtrArray *items[DLP_N_ITEM_KINDS]; /* (element-type DlpPluginItem) */
  GError *fault;                      /* of what init() called, where it asked for none */
};

/* What a plugin that ends or stops the process was asked to do last. */
typedef enum
{
  DLP_SCAN_OPEN = 'o',
  DLP_SCAN_INIT = 'i',
  DLP_SCAN_DESCRIBE = 'd',
  DLP_SCAN_RESULT = 'r',
} DlpScanStage;

typedef void (*DlpScanStageFunc) (DlpScanStage stage, gpointer data);

/* Opens it, for good once its descriptor is accepted, and calls its init().
 * @stage: (nullable) (scope call) */
DlpPlugin *
dlp_plugin_open (const char *path, DlpScanStageFunc stage, gpointer data, GError **error);
void dlp_plugin_free (DlpPlugin *self);
/* (transfer full) a{sv}: what the scanner writes: what it brings. */
GVariant *dlp_plugin_describe (DlpPlugin *self);
/* (transfer full) a{sv}: what the scanner writes where that failed. */
GVariant *dlp_plugin_describe_failure (const GError *error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpPlugin, dlp_plugin_free)

/* ---- descriptions: dlp-registry-describe.c ---- */

/* (transfer full) a{sv} */
GVariant *dlp_describe_element (const char *name, GType type);
GVariant *dlp_describe_codec (const char *name, GType type, GPtrArray *magics);
/* @description: (nullable): of one that is of no plugin. */
GVariant *dlp_describe_scheme (const char *name, GType type, const char *description);

typedef struct
{
  const char *name;
  DlpPadDirection direction;
  DlpPadPresence presence;
  DlpPadCarries carries;
  const char *description;
} DlpPadTemplate;

/* (transfer container) (element-type DlpPadTemplate): of the class and its parents. */
GPtrArray *dlp_element_type_list_pad_templates (GType type);

/* ---- files: dlp-registry-search.c ---- */

/* A file that may be a plugin. */
typedef struct
{
  char *path;
  guint64 device;
  guint64 inode;
  guint64 size;
  gint64 seconds; /* of its last modification */
  guint64 nanoseconds;
} DlpPluginFile;

/* (transfer full): where plugins are looked for. @first: (nullable): before the others. */
char **dlp_plugin_list_folders (GPtrArray *first);
/* (transfer full) (element-type DlpPluginFile): the plugins of the folders, each file once. */
GPtrArray *dlp_plugin_find_files (const char *const *folders);
bool dlp_plugin_file_stat (DlpPluginFile *self);
/* Whether core is part of the program itself: plugins, which bring the library along, cannot be
 * used then. */
bool dlp_plugin_is_core_in_program (void);
/* (transfer full): changes with each build of core that is not the same. */
char *dlp_plugin_get_build_id (void);
/* (transfer full) (nullable): of the scanner. */
char *dlp_plugin_find_scanner (void);
/* (transfer full) (nullable): of the cache. */
char *dlp_plugin_get_cache_path (void);

/* ---- the cache: dlp-registry-cache.c ---- */

typedef struct _DlpPluginCache DlpPluginCache;

/* @path: (nullable): none is read or written. What is not valid is as if it was not there. */
DlpPluginCache *dlp_plugin_cache_new (const char *path);
void dlp_plugin_cache_free (DlpPluginCache *self);
/* (transfer full) (nullable): what is known of this very file. */
GVariant *dlp_plugin_cache_find (DlpPluginCache *self, const DlpPluginFile *file);
void dlp_plugin_cache_put (DlpPluginCache *self, const DlpPluginFile *file, GVariant *info);
/* Writes it, if something was put. */
void dlp_plugin_cache_save (DlpPluginCache *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpPluginCache, dlp_plugin_cache_free)

/* ---- the scanner process: dlp-registry-scan.c ---- */

/* (transfer full): a{sv}: what @path brings, or why it cannot be used.
 * @lasting: (out): FALSE: what was found is not due to the file, as where somebody killed the
 * scanner.
 * NULL: no scanner can be run. */
GVariant *dlp_plugin_scan (const char *scanner, const char *path, bool *lasting, GError **error);
/* Seconds. */
double dlp_plugin_get_scan_timeout (void);

G_END_DECLS
