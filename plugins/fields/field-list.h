/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* (transfer full): the entries of "a,b\,c", without blanks around them; a backslash takes the next
 * character as it is. NULL: an entry is empty, and @error says which; @property names the list. */
GPtrArray *dlp_field_list_parse (const char *property, const char *text, GError **error);
/* (transfer full): the same of "old:new,...": old and new in turn. */
GPtrArray *dlp_field_list_parse_pairs (const char *property, const char *text, GError **error);

G_END_DECLS
