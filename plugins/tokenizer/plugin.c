/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-tokenizer-element.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "tokenizer", DLP_TYPE_TOKENIZER_ELEMENT, error);
}

DLP_PLUGIN_DEFINE ("tokenizer", "Text to token ids", PLUGIN_VERSION, "MIT", init)
