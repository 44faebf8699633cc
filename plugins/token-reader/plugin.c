/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-token-reader.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "token-reader", DLP_TYPE_TOKEN_READER, error);
}

DLP_PLUGIN_DEFINE ("token-reader",
                   "Token ids: Megatron's datasets, NumPy's arrays, files of llm.c and nanoGPT",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
