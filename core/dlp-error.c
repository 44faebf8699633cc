/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-error.h>

/* The first argument is the name. */
/* clang-format off */
G_DEFINE_QUARK (dlp-graph-error-quark, dlp_graph_error)
G_DEFINE_QUARK (dlp-state-error-quark, dlp_state_error)
G_DEFINE_QUARK (dlp-data-error-quark, dlp_data_error)
G_DEFINE_QUARK (dlp-pipeline-error-quark, dlp_pipeline_error)
/* clang-format on */
