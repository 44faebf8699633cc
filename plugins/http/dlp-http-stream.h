/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

#include "dlp-http-retry.h"

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

/* The object as the server describes it now. */
DlpFile *dlp_http_identify (const char *uri,
                            const HttpSettings *settings,
                            GCancellable *cancellable,
                            GError **error);

G_END_DECLS
