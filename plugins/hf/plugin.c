/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-hf-scheme.h"
#include "dlp-http-stream.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  dlp_http_stream_set_type_name ("DlpHfStream");
  return dlp_plugin_add_scheme (plugin, "hf", DLP_TYPE_HF_SCHEME, error);
}

DLP_PLUGIN_DEFINE ("hf", "Files of datasets on the Hugging Face Hub", PLUGIN_VERSION, "MIT", init)
