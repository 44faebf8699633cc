/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-zstd-decoder.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  dlp_plugin_add_codec (plugin, "zstd", dlp_zstd_decoder_match, DLP_TYPE_ZSTD_DECODER);
  return TRUE;
}

DLP_PLUGIN_DEFINE ("zstd", "Decoder of zstd files", PLUGIN_VERSION, "MIT", init)
