/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Files of ids, made from texts: "1 2 3". What is here was written from the formats' descriptions,
 * and knows nothing of the reader. */

/* Appends numbers of @width bytes, little-endian. */
void token_files_append (GByteArray *bytes, guint width, const char *numbers);
void token_files_append_number (GByteArray *bytes, guint width, gint64 number);

/* (transfer full): an index of Megatron. */
GByteArray *
token_files_make_index (guint8 code, const char *lengths, const char *offsets, const char *borders);
/* (transfer full): a file of NumPy; @header: its text, of which the length is that with blanks up
 * to a multiple of 64, and a newline. */
GByteArray *
token_files_make_npy (guint version, const char *header, guint width, const char *numbers);
/* (transfer full): a file of llm.c. */
GByteArray *
token_files_make_llmc (guint32 magic, guint32 version, guint32 n, guint width, const char *numbers);

G_END_DECLS
