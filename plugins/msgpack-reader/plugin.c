/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-msgpack-reader.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_element (plugin, "msgpack-reader", DLP_TYPE_MSGPACK_READER, error);
}

DLP_PLUGIN_DEFINE ("msgpack-reader",
                   "MessagePack: maps, one behind the other",
                   PLUGIN_VERSION,
                   "MIT",
                   init)
