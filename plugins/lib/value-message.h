/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* FALSE with an error (DLP_GRAPH_ERROR, @code) that says the column, counted from 1, what is wrong,
 * and shows the value of the property, valid UTF-8, with carets under its bytes from @start to
 * @end. */
gboolean value_fail (const char *property,
                     const char *text,
                     gsize start,
                     gsize end,
                     int code,
                     GError **error,
                     const char *message);

G_END_DECLS
