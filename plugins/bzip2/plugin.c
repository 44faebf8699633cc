/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-bzip2-decoder.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  /* The fourth byte is the size of the blocks; then comes a block, or the end. */
  static const guint8 block[] = { 'B', 'Z', 'h', '0', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59 };
  static const guint8 end[] = { 'B', 'Z', 'h', '0', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90 };
  static const guint8 mask[] = { 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

  return dlp_plugin_add_codec (plugin, "bzip2", dlp_bzip2_decoder_match, DLP_TYPE_BZIP2_DECODER,
                               error) &&
         dlp_plugin_add_codec_magic (plugin, "bzip2", block, mask, sizeof block, error) &&
         dlp_plugin_add_codec_magic (plugin, "bzip2", end, mask, sizeof end, error);
}

DLP_PLUGIN_DEFINE ("bzip2", "Decoder of bzip2 files", PLUGIN_VERSION, "MIT", init)
