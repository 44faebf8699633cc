/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

#define DLP_TYPE_TEE (dlp_tee_get_type ())
G_DECLARE_FINAL_TYPE (DlpTee, dlp_tee, DLP, TEE, DlpElement)

G_END_DECLS
