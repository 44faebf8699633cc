/* SPDX-License-Identifier: MIT */
#pragma once

#include "token-file.h"
#include "token-header.h"
#include "token-rows.h"

G_BEGIN_DECLS

/* How rows are found. */
typedef enum
{
  TOKEN_LAYOUT_ARRAY,     /* by their number */
  TOKEN_LAYOUT_INDEX,     /* by a Megatron index */
  TOKEN_LAYOUT_SEPARATED, /* by what is between them */
} TokenLayout;

struct _TokenRows
{
  const TokenSettings *settings;
  TokenLayout layout;
  TokenDtype dtype;
  guint width;
  TokenFile ids;
  guint64 row;    /* that comes next */
  guint64 n_rows; /* where they can be counted */

  TokenArray array;
  guint64 row_length;

  TokenIndex index;
  TokenColumn lengths, offsets, borders;

  /* Separated: the block that is being looked through, and the document that is. */
  gboolean at_start; /* the separator is */
  guint8 *block;
  gsize at, filled;   /* in ids */
  guint64 read_to;    /* the id behind the block, in the file */
  GByteArray *doc;    /* its bytes, unless it is too long or only passed over */
  guint64 doc_length; /* in ids */
  gboolean has_doc;   /* as a whole: there was no room for it */
};

/* Ids that lie in a row, in bytes. */
typedef struct
{
  guint64 offset, size;
} TokenRun;

/* token-open.c */
gboolean token_rows_find_layout (TokenRows *self,
                                 DlpFile *file,
                                 guint64 row,
                                 GCancellable *cancellable,
                                 GError **error);

/* token-index.c: appends the runs of a row of a Megatron dataset, and says how many ids they have;
 * those of a row that is too long are left out. */
gboolean token_index_find_row (TokenRows *self,
                               guint64 row,
                               GArray *runs,
                               guint64 *n,
                               GCancellable *cancellable,
                               GError **error);
gboolean
token_index_open (TokenRows *self, DlpFile *index, GCancellable *cancellable, GError **error);

/* token-separated.c */
/* Passes over so many documents. */
gboolean
token_separated_pass (TokenRows *self, guint64 n, GCancellable *cancellable, GError **error);
gboolean token_separated_read (TokenRows *self,
                               gsize max_bytes,
                               TokenPiece *piece,
                               GCancellable *cancellable,
                               GError **error);

/* Whether a row of so many ids is more than a record may have. */
gboolean token_rows_is_too_long (const TokenRows *self, guint64 n);
/* About what it takes, as it is and as a record. */
guint64 token_rows_get_cost (const TokenRows *self, guint64 n);
void token_piece_add_row (TokenPiece *self, guint64 n, gboolean is_too_long);

G_END_DECLS
