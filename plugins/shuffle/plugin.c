/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-shuffle.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "shuffle", DLP_TYPE_SHUFFLE, error);
}

DLP_PLUGIN_DEFINE ("shuffle", "Shuffle buffer", PLUGIN_VERSION, "MIT", init)
