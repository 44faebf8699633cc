/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

#define DLP_TYPE_FIELDS (dlp_fields_get_type ())
G_DECLARE_FINAL_TYPE (DlpFields, dlp_fields, DLP, FIELDS, DlpElement)

G_END_DECLS
