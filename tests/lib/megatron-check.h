/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What megatron-sink writes of @reader, a graph of a source and a reader, is the dataset that
 * another program wrote: @expected, meg16 or meg32 of the formats in DLPIPE_TEST_DATA. */
void megatron_check_written (const char *reader, const char *expected);

G_END_DECLS
