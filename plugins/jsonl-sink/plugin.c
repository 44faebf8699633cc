/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-jsonl-sink.h"
#include "dlp-quarantine-sink.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "jsonl-sink", DLP_TYPE_JSONL_SINK, error) &&
         dlp_plugin_add_element (plugin, "quarantine-sink", DLP_TYPE_QUARANTINE_SINK, error);
}

DLP_PLUGIN_DEFINE ("jsonl-sink", "Lines of JSON", PLUGIN_VERSION, "MIT", init)
