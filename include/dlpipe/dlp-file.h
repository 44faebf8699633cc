/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * DlpFile:
 *
 * An input file: its URI (for local files the path, as bytes), its size and its identity, a short
 * text that must be equal at each later opening ("mtime=SECONDS.NANOSECONDS" for local files, an
 * ETag for others). Immutable; any thread.
 */
#define DLP_TYPE_FILE (dlp_file_get_type ())
DLP_API
G_DECLARE_FINAL_TYPE (DlpFile, dlp_file, DLP, FILE, GObject)

/* @size: -1 if unknown. @identity: (nullable): unknown until it is opened. */
DLP_API DlpFile *dlp_file_new (const char *uri, gint64 size, const char *identity);
DLP_API const char *dlp_file_get_uri (DlpFile *self);
DLP_API gint64 dlp_file_get_size (DlpFile *self);
DLP_API const char *dlp_file_get_identity (DlpFile *self);

/**
 * DlpScheme:
 *
 * What a plugin brings to read a kind of URI: list, identify, open. One object a process and
 * scheme; its calls come from several threads at once.
 */
#define DLP_TYPE_SCHEME (dlp_scheme_get_type ())
DLP_API
G_DECLARE_DERIVABLE_TYPE (DlpScheme, dlp_scheme, DLP, SCHEME, GObject)

struct _DlpSchemeClass
{
  GObjectClass parent_class;

  /* (transfer full) (element-type DlpFile): the files that @pattern means (a glob, or one name; a
   * folder means the files directly in it), in any order. A name that does not exist is an error
   * DLP_DATA_ERROR_NO_INPUT, as is a glob without a match. */
  GPtrArray *(*list) (DlpScheme *self,
                      const char *pattern,
                      GCancellable *cancellable,
                      GError **error);
  /* (transfer full): the file as it is now. */
  DlpFile *(*identify) (DlpScheme *self,
                        const char *uri,
                        GCancellable *cancellable,
                        GError **error);
  /* (transfer full): its bytes from @offset on. */
  GInputStream *(*open) (DlpScheme *self,
                         DlpFile *file,
                         gint64 offset,
                         GCancellable *cancellable,
                         GError **error);
  /* (nullable): asks for the first @bytes of the file to be brought near; must not block. */
  void (*prefetch) (DlpScheme *self, DlpFile *file, gint64 bytes);
  /* (nullable): whether what @stream, which open() gave, reads is still the file that was opened;
   * if not, DLP_DATA_ERROR_CHANGED. Called behind each read, also at the end: must be cheap. */
  gboolean (*check) (DlpScheme *self, DlpFile *file, GInputStream *stream, GError **error);

  gpointer reserved[7];
};

/* (transfer none): of a URI or path; an unknown scheme is an error that lists the known ones.
 * Scheme names are lower case; "file" is built in, and what a text without "NAME://" is. */
DLP_API DlpScheme *dlp_scheme_for_uri (const char *uri, GError **error);
DLP_API void dlp_scheme_register (const char *name, GType type);
DLP_API GPtrArray *
dlp_scheme_list (DlpScheme *self, const char *pattern, GCancellable *cancellable, GError **error);
DLP_API DlpFile *
dlp_scheme_identify (DlpScheme *self, const char *uri, GCancellable *cancellable, GError **error);
DLP_API void dlp_scheme_prefetch (DlpScheme *self, DlpFile *file, gint64 bytes);

/* Opens a file at an offset, and compares what is opened with its recorded size and identity, where
 * known: a difference is DLP_DATA_ERROR_CHANGED. "-" is the standard input, at offset 0 only. */
DLP_API GInputStream *
dlp_file_open (DlpFile *self, gint64 offset, GCancellable *cancellable, GError **error);

/* (transfer full): a URI or path fit to print: control characters and bytes that are not UTF-8 as
 * \xHH. */
DLP_API char *dlp_uri_escape_for_display (const char *uri);

G_END_DECLS
