/* SPDX-License-Identifier: MIT */
#pragma once

#include "warc-frame.h"

G_BEGIN_DECLS

/* Records as they are with the whole file in sight, and with parts of it: each border that is told
 * early must be one of the whole, and what is cut there must give the same records. Aborts where it
 * is not so. */
void warc_compare (const guint8 *data, gsize size, gsize piece, guint64 max_bytes);

G_END_DECLS
