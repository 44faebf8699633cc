/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-tar-reader.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "tar-reader", DLP_TYPE_TAR_READER, error);
}

DLP_PLUGIN_DEFINE ("tar-reader",
                   "Archives (tar) of samples, as webdataset writes them",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
