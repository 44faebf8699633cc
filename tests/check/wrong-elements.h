/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlpipe.h>

G_BEGIN_DECLS

/* Elements that each break one rule, for records {text: string}.
 *
 *   wrong            puts the number of the record before its text; fault= says what is wrong
 *   wrong-heir       the same by the functions of its parent
 *   wrong-flags      the same with flags that a test sets
 *   wrong-transform  puts the number of records that its worker saw before the text
 *   wrong-sink       appends lines to a file; never cuts back what its state does not speak of
 */
void wrong_elements_register (void);
/* How often `wrong fault=waits` was cancelled while it started. */
guint wrong_elements_get_n_interrupted (void);
/* Of the class of wrong-flags; before the first is made. */
void wrong_elements_set_flags (DlpElementFlags flags);

G_END_DECLS
