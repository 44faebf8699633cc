/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-columnar-reader.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "parquet-reader", DLP_TYPE_PARQUET_READER, error) &&
         dlp_plugin_add_element (plugin, "arrow-reader", DLP_TYPE_ARROW_READER, error);
}

DLP_PLUGIN_DEFINE ("arrow",
                   "Parquet and Arrow files, by Apache Arrow: a row a record",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
