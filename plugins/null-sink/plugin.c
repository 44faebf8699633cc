/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-null-sink.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "null-sink", DLP_TYPE_NULL_SINK, error);
}

DLP_PLUGIN_DEFINE ("null-sink", "A sink that writes nothing", PLUGIN_VERSION, "MIT", init)
