/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-split.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "split", DLP_TYPE_SPLIT, error);
}

DLP_PLUGIN_DEFINE ("split", "Deals records to sides by a stable hash", PLUGIN_VERSION, "MIT", init)
