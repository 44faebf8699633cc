/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-source.h>

G_BEGIN_DECLS

/* `check-source`: records that are a function of its property `variant` and their number: texts of
 * several scripts and lengths, some empty; with kind=tokens lists of small numbers instead. Its
 * steps are of uneven length. */
#define DLP_TYPE_CHECK_SOURCE (dlp_check_source_get_type ())
G_DECLARE_FINAL_TYPE (DlpCheckSource, dlp_check_source, DLP, CHECK_SOURCE, DlpSource)

G_END_DECLS
