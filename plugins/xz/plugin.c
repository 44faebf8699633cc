/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-xz-decoder.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  static const guint8 magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0x00 };
  /* What .lzma files begin with, which have no magic: to be refused by name. */
  static const guint8 legacy[] = { 0x5d, 0x00, 0x00 };

  return dlp_plugin_add_codec (plugin, "xz", dlp_xz_decoder_match, DLP_TYPE_XZ_DECODER, error) &&
         dlp_plugin_add_codec_magic (plugin, "xz", magic, NULL, sizeof magic, error) &&
         dlp_plugin_add_codec_magic (plugin, "xz", legacy, NULL, sizeof legacy, error);
}

DLP_PLUGIN_DEFINE ("xz", "Decoder of xz files", PLUGIN_VERSION, "MIT", init)
