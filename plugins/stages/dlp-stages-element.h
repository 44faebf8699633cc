/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-stages.h>

G_BEGIN_DECLS

/* Named so because the interface that it implements has the shorter name. */
#define DLP_TYPE_STAGES_ELEMENT (dlp_stages_element_get_type ())
G_DECLARE_FINAL_TYPE (DlpStagesElement, dlp_stages_element, DLP, STAGES_ELEMENT, DlpElement)

G_END_DECLS
