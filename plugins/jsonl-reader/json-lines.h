/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A blank line has only spaces, tabs and CR, or nothing; it is no row. None of these needs padding.
 */

/* The first LF in @data, or NULL. */
const guint8 *json_find_newline (const guint8 *data, gsize len);

gboolean json_line_is_blank (const guint8 *line, gsize len);

/*
 * Skips lines, piece by piece. @pending: FALSE at the start of a line; kept between calls (an open,
 * not blank line so far). Stops behind the LF of the @max_lines-th line that is not blank, or at
 * the end of the data. Returns how many such lines ended in it; @consumed bytes were looked at.
 * At the end of the input, a @pending line is one more.
 */
gsize json_skip_lines (const guint8 *data,
                       gsize len,
                       gsize max_lines,
                       gboolean *pending,
                       gsize *consumed);

/* All lines of @data that are not blank, a last one without LF included. */
gsize json_count_lines (const guint8 *data, gsize len);

G_END_DECLS
