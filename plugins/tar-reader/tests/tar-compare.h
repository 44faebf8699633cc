/* SPDX-License-Identifier: MIT */
#pragma once

#include "tar-cut.h"

G_BEGIN_DECLS

/* Where samples end, with all of an archive in sight and with parts of it: each border that is told
 * early must be one of the whole; and one that is passed over in pieces ends where it does in one.
 * Aborts where it is not so. */
void tar_compare (const guint8 *data, gsize size, gsize piece);

G_END_DECLS
