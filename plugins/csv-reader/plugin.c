/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-csv-reader.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "csv-reader", DLP_TYPE_CSV_READER, error);
}

DLP_PLUGIN_DEFINE ("csv-reader",
                   "Tables as CSV or TSV: a row a record",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
