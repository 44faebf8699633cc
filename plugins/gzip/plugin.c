/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-gzip-decoder.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  static const guint8 magic[] = { 0x1f, 0x8b };

  return dlp_plugin_add_codec (plugin, "gzip", dlp_gzip_decoder_match, DLP_TYPE_GZIP_DECODER,
                               error) &&
         dlp_plugin_add_codec_magic (plugin, "gzip", magic, NULL, sizeof magic, error);
}

DLP_PLUGIN_DEFINE ("gzip", "Decoder of gzip files", PLUGIN_VERSION, "MIT", init)
