/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-megatron-sink.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "megatron-sink", DLP_TYPE_MEGATRON_SINK, error);
}

DLP_PLUGIN_DEFINE ("megatron-sink", "Datasets of Megatron-LM", PLUGIN_VERSION, "MIT", init)
