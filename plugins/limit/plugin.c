/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-limit.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "limit", DLP_TYPE_LIMIT, error);
}

DLP_PLUGIN_DEFINE ("limit",
                   "Ends a stream after so many records, tokens or batches",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
