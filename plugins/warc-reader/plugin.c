/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-warc-reader.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "warc-reader", DLP_TYPE_WARC_READER, error);
}

DLP_PLUGIN_DEFINE ("warc-reader",
                   "Web archives (WARC): a page a record",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
