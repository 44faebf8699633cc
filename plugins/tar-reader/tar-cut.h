/* SPDX-License-Identifier: MIT */
#pragma once

#include "tar-member.h"

G_BEGIN_DECLS

/* Where the samples of an archive end, as DlpReaderClass wants it. A sample is the members of one
 * key that stand next to each other; what has no key ends none. */

/* All of it, where what is behind the samples is no archive: that is for the parser to see. */
gsize tar_cut (const guint8 *data, gsize size);

gsize tar_skip (guint64 *state, const guint8 *data, gsize size, gboolean *ended);

G_END_DECLS
