/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* (nullable): what the start of a file shows that it is instead of UTF-8 text: UTF-16 or UTF-32, or
 * compressed data. */
const char *text_start_find_fault (const guint8 *data, gsize size);

/* How many bytes the byte order mark of UTF-8 takes there: 3 or 0. */
gsize text_start_measure_bom (const guint8 *data, gsize size);

G_END_DECLS
