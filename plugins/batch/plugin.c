/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-batch.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "batch", DLP_TYPE_BATCH, error);
}

DLP_PLUGIN_DEFINE ("batch", "Training batches, dealt to ranks", PLUGIN_VERSION, "MIT", init)
