/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/**
 * DlpLocalScheme:
 *
 * The scheme "file": paths, "file://" URIs and "-", the standard input. Stateless; any thread.
 */
#define DLP_TYPE_LOCAL_SCHEME (dlp_local_scheme_get_type ())
G_DECLARE_FINAL_TYPE (DlpLocalScheme, dlp_local_scheme, DLP, LOCAL_SCHEME, DlpScheme)

G_END_DECLS
