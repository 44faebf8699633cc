/* SPDX-License-Identifier: MIT */
#pragma once

#include "token-dtype.h"

G_BEGIN_DECLS

/* What the files say of themselves. Nothing of it is believed that the sizes of the files do not
 * bear out. */

/* Ids one behind the other: NumPy's format, llm.c's, or no header at all. */
typedef struct
{
  TokenDtype dtype;
  guint64 offset;     /* of the first id, in bytes */
  guint64 n;          /* ids */
  gboolean is_matrix; /* rows of the same length */
  guint64 row_length; /* of a matrix */
  guint64 n_rows;
} TokenArray;

/* An index as Megatron-LM writes it. */
typedef struct
{
  TokenDtype dtype;
  guint64 n_sequences;
  guint64 n_borders;  /* of documents: one more than there are */
  guint64 lengths_at; /* in bytes: of 4 bytes each, in ids */
  guint64 offsets_at; /* of 8 bytes each: where in the other file a sequence begins, in bytes */
  guint64 borders_at; /* of 8 bytes each: the first sequence of a document, and behind the last */
} TokenIndex;

#define TOKEN_LLMC_HEADER_BYTES 1024
#define TOKEN_INDEX_HEADER_BYTES 34
/* NumPy writes less than 128 for any array. */
#define TOKEN_NPY_MAX_HEADER_BYTES (64 * 1024)

gboolean token_header_is_npy (const guint8 *data, gsize size);
gboolean token_header_is_llmc (const guint8 *data, gsize size);
gboolean token_header_is_index (const guint8 *data, gsize size);

/* Each: @data: the beginning of the file; FALSE with @why (transfer full) where it is no such file,
 * or not of that size. */
gboolean token_header_read_npy (const guint8 *data,
                                gsize size,
                                guint64 file_size,
                                TokenArray *array,
                                char **why);
gboolean token_header_read_llmc (const guint8 *data,
                                 gsize size,
                                 guint64 file_size,
                                 TokenArray *array,
                                 char **why);
gboolean
token_header_read_flat (TokenDtype dtype, guint64 file_size, TokenArray *array, char **why);
gboolean token_header_read_index (const guint8 *data,
                                  gsize size,
                                  guint64 file_size,
                                  TokenIndex *index,
                                  char **why);

G_END_DECLS
