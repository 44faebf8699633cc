/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-stages-element.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "stages", DLP_TYPE_STAGES_ELEMENT, error);
}

DLP_PLUGIN_DEFINE ("stages", "Inputs one after another", PLUGIN_VERSION, "MIT", init)
