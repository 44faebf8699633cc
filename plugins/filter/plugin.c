/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-filter.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "filter", DLP_TYPE_FILTER, error);
}

DLP_PLUGIN_DEFINE ("filter",
                   "Keeps the records that a condition is true for",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
