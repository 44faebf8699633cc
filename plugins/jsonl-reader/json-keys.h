/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* (transfer full): the keys of an object, as they stand in the line, at most @max; what of them
 * begins in the first 64 KiB. For messages: @line was accepted by json_parse_record(). */
char **json_list_keys (const guint8 *line, gsize len, guint max);

G_END_DECLS
