/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-schema.h>

G_BEGIN_DECLS

/* (transfer full): of "text:string,score:double?", or of what dlp_schema_to_string() gives. Errors:
 * DLP_GRAPH_ERROR_VALUE. */
DlpSchema *dlp_schema_parse (const char *text, GError **error);
/* (transfer full): the shortest text that dlp_schema_parse() makes this schema of. */
char *dlp_schema_to_text (const DlpSchema *self);

G_END_DECLS
