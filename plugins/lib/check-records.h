/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-schema.h>

G_BEGIN_DECLS

/* For negotiate(): FALSE and DLP_GRAPH_ERROR_TYPE, with what to do, where the input has no records.
 */
gboolean check_records (DlpSchema *schema, GError **error);

G_END_DECLS
