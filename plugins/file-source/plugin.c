/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-file-source.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "file-source", DLP_TYPE_FILE_SOURCE, error);
}

DLP_PLUGIN_DEFINE ("file-source",
                   "The files that a pipeline reads, and their order",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
