/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-merge.h>

G_BEGIN_DECLS

/* Writes the .bin and the .idx of the whole. Without sequences there are none. */
gboolean dlp_megatron_merge (DlpMerge *merge, GError **error);

G_END_DECLS
