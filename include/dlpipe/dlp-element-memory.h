/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/**
 * dlp_element_reserve_memory:
 * @self: an element
 * @least: bytes without which it cannot go on
 * @wanted: bytes that are of use to it, at least @least
 *
 * Sets how much this element holds of what it cannot do without, such as a table that grows with a
 * size that is set; %0 is what it begins with. All elements together have what the links and the
 * transforms leave of the memory budget. What is of use but can be done without, such as a cache,
 * is not reserved: the element's share bounds it, less what is reserved.
 *
 * Threads: the element's, in start(), step() and stop().
 *
 * Returns: how many bytes the element has reserved now: @wanted, or as much of it as there is; if
 *   that is less than @least, %0, and what was reserved before stays so
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gsize dlp_element_reserve_memory (DlpElement *self, gsize least, gsize wanted);

/**
 * dlp_element_set_large:
 * @self: an element
 * @large: whether its state is large
 * @interval: records of the first input between two marks at most; 0: only those that are asked for
 *
 * Says whether the state of this element is large, as the flag %DLP_ELEMENT_LARGE does of a class:
 * save() is called once for each checkpoint that is asked for, and once in @interval records, and
 * at most three of the states that it gave are alive. See #DlpStateFile.
 *
 * Threads: the one that makes the element, before the pipeline is prepared.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_element_set_large (DlpElement *self, gboolean large, guint64 interval);

G_END_DECLS
