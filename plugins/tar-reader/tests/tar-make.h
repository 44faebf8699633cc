/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends a member as POSIX.1-1988 has it, of any type. */
void tar_make_member (GString *to, char type, const char *name, const char *data, gsize size);

/* Appends the blocks at the end of an archive. */
void tar_make_end (GString *to);

/* Writes the checksum of a header block anew. */
void tar_make_checksum (char *block);

/* (transfer full): of "NAME:DATA", with blanks between; a NAME that begins with a letter and * is
 * of that type. */
GString *tar_make (const char *members);

G_END_DECLS
