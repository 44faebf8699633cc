/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Lines "Name: value", as WARC and HTTP have them, up to and with a blank one. */

/* Where the blank line that ends the header at @data ends; 0: there is none. */
gsize warc_header_measure (const guint8 *data, gsize size);

/* (nullable): the value of the first field of that name in any case, without blanks around it. A
 * line that begins with a blank, and so goes on with the one before, belongs to no value. */
const guint8 *
warc_header_find (const guint8 *header, gsize size, const char *name, gsize *value_size);

/* Whether the field is there, and has that value in any case. */
gboolean warc_header_has (const guint8 *header, gsize size, const char *name, const char *value);

/* (transfer full): as UTF-8; what is not is taken as ISO 8859-1. */
char *warc_header_dup (const guint8 *value, gsize size, gsize *length);

G_END_DECLS
