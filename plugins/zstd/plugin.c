/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-zstd-decoder.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  static const guint8 magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
  /* The first four bits of a skippable frame are free. */
  static const guint8 skippable[] = { 0x50, 0x2a, 0x4d, 0x18 };
  static const guint8 skippable_mask[] = { 0xf0, 0xff, 0xff, 0xff };

  return dlp_plugin_add_codec (plugin, "zstd", dlp_zstd_decoder_match, DLP_TYPE_ZSTD_DECODER,
                               error) &&
         dlp_plugin_add_codec_magic (plugin, "zstd", magic, NULL, sizeof magic, error) &&
         dlp_plugin_add_codec_magic (plugin, "zstd", skippable, skippable_mask, sizeof skippable,
                                     error);
}

DLP_PLUGIN_DEFINE ("zstd", "Decoder of zstd files", PLUGIN_VERSION, "MIT", init)
