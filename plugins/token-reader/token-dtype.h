/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-schema.h>

G_BEGIN_DECLS

/* How an id lies in a file; all are little-endian. */
typedef enum
{
  TOKEN_AUTO, /* as the file says */
  TOKEN_U8,
  TOKEN_I8,
  TOKEN_U16,
  TOKEN_I16,
  TOKEN_U32,
  TOKEN_I32,
  TOKEN_U64,
  TOKEN_I64,
} TokenDtype;

guint token_dtype_get_width (TokenDtype dtype);
const char *token_dtype_get_name (TokenDtype dtype);
/* The largest id that can be. */
guint64 token_dtype_get_max (TokenDtype dtype);

/* What the records have of files of that type: DLP_FIELD_LIST_UINT16 or _UINT32. */
DlpFieldType token_dtype_get_field_type (TokenDtype dtype);

/* Writes ids as values of that type. Returns how many: all, or those before the first one that does
 * not fit. @ids is aligned to their width. */
gsize
token_dtype_convert (TokenDtype dtype, gconstpointer ids, gsize n, DlpFieldType to, gpointer out);

/* (transfer full): the id as a text. */
char *token_dtype_show (TokenDtype dtype, gconstpointer ids, gsize index);

/* The index of the next id that is @wanted, or @n. */
gsize token_dtype_find (TokenDtype dtype, gconstpointer ids, gsize n, guint64 wanted);

G_END_DECLS
