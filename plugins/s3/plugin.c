/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-http-stream.h"
#include "dlp-s3-scheme.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  dlp_http_stream_set_type_name ("DlpS3Stream");
  return dlp_plugin_add_scheme (plugin, "s3", DLP_TYPE_S3_SCHEME, error);
}

DLP_PLUGIN_DEFINE ("s3",
                   "Objects in S3 and in stores that speak like it",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
