/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader-fields.h"

G_BEGIN_DECLS

/* Reads "i32", "f64?", "i32[]", "i32[2048]?", "list<uint32>" into @field. FALSE with @why (transfer
 * full). */
gboolean reader_type_parse (const char *text, ReaderField *field, char **why);

G_END_DECLS
