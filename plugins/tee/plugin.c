/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-tee.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "tee", DLP_TYPE_TEE, error);
}

DLP_PLUGIN_DEFINE ("tee", "Gives each record to several outputs", PLUGIN_VERSION, "MIT", init)
