/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What is logged goes to stderr as the program's own errors do, a line each; what helps to look for
 * a fault only with G_MESSAGES_DEBUG. @program: is kept. */
void log_lines_init (const char *program);
/* (transfer full) (nullable): the text of a field; NULL: it is not there, or empty. */
char *log_lines_get_field (const GLogField *fields, gsize n, const char *key);

G_END_DECLS
