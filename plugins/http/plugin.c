/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-plugin.h>

#include "dlp-http-scheme.h"

static gboolean
init (DlpPlugin *plugin, GError **error)
{
  return dlp_plugin_add_scheme (plugin, "http", DLP_TYPE_HTTP_SCHEME, error) &&
         dlp_plugin_add_scheme (plugin, "https", DLP_TYPE_HTTP_SCHEME, error);
}

DLP_PLUGIN_DEFINE ("http", "Files by http and https", PLUGIN_VERSION, "MIT", init)
