/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/* What elements with any number of inputs have in common. */

/**
 * dlp_element_add_numbered_input:
 * @self: an element
 * @name: (nullable): the name that the text gives; %NULL: none
 *
 * For request_pad() of an element that takes any number of inputs: the input pad of that name,
 * which is added where there is none yet; or else the next of in-0, in-1, ...
 *
 * Threads: the one that builds the pipeline.
 *
 * Returns: (transfer none) (nullable): a pad; %NULL: that name is an output's
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpPad *dlp_element_add_numbered_input (DlpElement *self, const char *name);

/**
 * dlp_element_check_inputs_alike:
 * @self: an element with at least one input
 * @error: return location for an error
 *
 * For negotiate() of an element that joins its inputs: all must carry the same.
 *
 * Threads: the one that builds the pipeline.
 *
 * Returns: %FALSE with %DLP_GRAPH_ERROR_TYPE
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_element_check_inputs_alike (DlpElement *self, GError **error);

G_END_DECLS
