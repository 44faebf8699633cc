/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-fields.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "fields", DLP_TYPE_FIELDS, error);
}

DLP_PLUGIN_DEFINE ("fields",
                   "Keeps, drops and renames fields of records",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
