/* SPDX-License-Identifier: MIT */
#pragma once

#include "csv-row.h"

G_BEGIN_DECLS

/* Rows as csv_read_row() sees them, byte by byte as one would, by blocks, and in pieces of @piece
 * bytes: borders must be the same. Aborts where they are not. */
void csv_compare (const CsvDialect *dialect, const guint8 *data, gsize size, gsize piece);

G_END_DECLS
