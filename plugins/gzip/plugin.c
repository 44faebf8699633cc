/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-gzip-decoder.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  dlp_plugin_add_codec (plugin, "gzip", dlp_gzip_decoder_match, DLP_TYPE_GZIP_DECODER);
  return TRUE;
}

DLP_PLUGIN_DEFINE ("gzip", "Decoder of gzip files", PLUGIN_VERSION, "MIT", init)
