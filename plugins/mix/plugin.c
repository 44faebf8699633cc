/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-mix.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "mix", DLP_TYPE_MIX, error);
}

DLP_PLUGIN_DEFINE ("mix", "Weighted mix of several inputs", PLUGIN_VERSION, "MIT", init)
