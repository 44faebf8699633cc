/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

#include "dlp-http-request.h"

G_BEGIN_DECLS

#define DLP_TYPE_HTTP_STREAM (dlp_http_stream_get_type ())
G_DECLARE_FINAL_TYPE (DlpHttpStream, dlp_http_stream, DLP, HTTP_STREAM, GInputStream)

/* The bytes of an object from @offset on, over as many connections as that takes. The first one is
 * made here, unless the cache has the file. */
GInputStream *dlp_http_stream_open (DlpFile *file,
                                    const HttpSettings *settings,
                                    gint64 offset,
                                    GCancellable *cancellable,
                                    GError **error);

/* Each plugin that links this has a copy of it, and GObject tells types by their names: another
 * name for this copy's, before the first stream is opened. A literal. */
void dlp_http_stream_set_type_name (const char *name);

/* The object as the server describes it now. */
DlpFile *dlp_http_identify (const char *uri,
                            const HttpSettings *settings,
                            GCancellable *cancellable,
                            GError **error);

/* How a file of another scheme is asked for. */
typedef struct
{
  const char *uri;
  const char *identity; /* (nullable): what each answer has to say */
  HttpAccess *access;   /* (nullable) */
} HttpObject;

/* The same for such files. Takes @object's access, also where it fails. */
GInputStream *http_object_open (const HttpObject *object,
                                DlpFile *file,
                                const HttpSettings *settings,
                                gint64 offset,
                                GCancellable *cancellable,
                                GError **error);
/* Of DlpFile: by the bytes of their URIs, and each once. */
void http_files_sort (GPtrArray *files);
/* @name: the URI of the file. */
DlpFile *http_object_identify (const HttpObject *object,
                               const char *name,
                               const HttpSettings *settings,
                               GCancellable *cancellable,
                               GError **error);

G_END_DECLS
