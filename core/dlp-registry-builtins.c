/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-app-sink.h>
#include <dlpipe/dlp-app-source.h>

#include "dlp-auto-reader-private.h"
#include "dlp-registry-private.h"

const DlpBuiltin dlp_builtin_elements[] = {
  { "app-sink", dlp_app_sink_get_type },
  { "app-source", dlp_app_source_get_type },
  { "auto-reader", dlp_auto_reader_get_type },
  { NULL, NULL },
};
