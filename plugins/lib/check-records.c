/* SPDX-License-Identifier: MIT */

#include "check-records.h"

#include <dlpipe/dlp-error.h>

gboolean
check_records (DlpSchema *schema, GError **error)
{
  if (dlp_schema_get_kind (schema) == DLP_SCHEMA_RECORDS)
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE, "needs records; its input is %s",
               dlp_schema_get_kind (schema) == DLP_SCHEMA_FILES ?
                   "files: put a reader before it, such as jsonl-reader" :
                   "training batches, which are never cut: put it before what makes them");
  return FALSE;
}
