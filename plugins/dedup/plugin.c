/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-dedup.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "dedup", DLP_TYPE_DEDUP, error);
}

DLP_PLUGIN_DEFINE ("dedup", "Drops records that were there before", PLUGIN_VERSION, "MIT", init)
