/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-lz4-decoder.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  static const guint8 frame[] = { 0x04, 0x22, 0x4d, 0x18 };
  static const guint8 legacy[] = { 0x02, 0x21, 0x4c, 0x18 };
  /* One of at most four bytes in front; zstd has the same skippable frames. */
  static const guint8 skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 0x00, 0x00, 0x00, 0x00 };
  static const guint8 mask[] = { 0xf0, 0xff, 0xff, 0xff, 0xf8, 0xff, 0xff, 0xff };

  return dlp_plugin_add_codec (plugin, "lz4", dlp_lz4_decoder_match, DLP_TYPE_LZ4_DECODER, error) &&
         dlp_plugin_add_codec_magic (plugin, "lz4", frame, NULL, sizeof frame, error) &&
         dlp_plugin_add_codec_magic (plugin, "lz4", legacy, NULL, sizeof legacy, error) &&
         dlp_plugin_add_codec_magic (plugin, "lz4", skippable, mask, sizeof skippable, error);
}

DLP_PLUGIN_DEFINE ("lz4", "Decoder of lz4 files", PLUGIN_VERSION, "MIT", init)
