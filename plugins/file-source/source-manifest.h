/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What a manifest says of a file: see README.md. */
typedef struct
{
  char *uri;
  gint64 size;  /* -1: not said */
  gint64 rows;  /* -1: not said */
  char *etag;   /* (nullable) */
  char *sha256; /* (nullable): in small letters */
} ManifestEntry;

void manifest_entry_free (ManifestEntry *self);

/* (transfer container) (element-type ManifestEntry): of a text that is JSON or JSON lines. Errors:
 * DLP_DATA_ERROR_NO_INPUT, which name the entry. */
GPtrArray *source_manifest_parse (const char *text, gsize size, GError **error);
/* (transfer full): the same as JSON lines; of URIs without what gives access. */
char *source_manifest_print (GPtrArray *entries);
/* Makes the URIs of a manifest at @location absolute. */
gboolean source_manifest_resolve (GPtrArray *entries, const char *location, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ManifestEntry, manifest_entry_free)

G_END_DECLS
