/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-jsonl-reader.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "jsonl-reader", DLP_TYPE_JSONL_READER, error);
}

DLP_PLUGIN_DEFINE ("jsonl-reader",
                   "JSON lines: one object a line, checked to its end",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
