/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-text-reader.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "text-reader", DLP_TYPE_TEXT_READER, error);
}

DLP_PLUGIN_DEFINE ("text-reader",
                   "Plain text: a file, a line or a paragraph a record",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
