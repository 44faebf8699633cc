/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A line that has only spaces, tabs and CR, or nothing. */
gboolean text_is_blank (const guint8 *line, gsize size);

/* As DlpReaderClass::find_border() wants them. */
gsize text_find_line (const guint8 *data, gsize size, gboolean first);
gsize text_find_paragraph (guint64 *state, const guint8 *data, gsize size, gboolean first);

G_END_DECLS
