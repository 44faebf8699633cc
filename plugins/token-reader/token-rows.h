/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

#include "token-dtype.h"

G_BEGIN_DECLS

typedef enum
{
  TOKEN_FORMAT_AUTO,
  TOKEN_FORMAT_MEGATRON,
  TOKEN_FORMAT_NPY,
  TOKEN_FORMAT_LLMC,
  TOKEN_FORMAT_FLAT,
} TokenFormat;

/* What is a record of a Megatron dataset. */
typedef enum
{
  TOKEN_UNIT_SEQUENCE,
  TOKEN_UNIT_DOCUMENT,
} TokenUnit;

/* Where in a document its separator is. */
typedef enum
{
  TOKEN_SEPARATOR_AUTO, /* at the end, in files of llm.c at the start */
  TOKEN_SEPARATOR_END,
  TOKEN_SEPARATOR_START,
} TokenSeparatorAt;

typedef struct
{
  TokenFormat format;
  TokenDtype dtype;
  TokenUnit unit;
  gint64 separator; /* -1: none */
  TokenSeparatorAt separator_at;
  guint64 length; /* ids of a record; 0: the whole file */
  gboolean drop_tail;
  guint64 max_record_bytes;
  guint field_width; /* of an id in a record */
} TokenSettings;

/* An open file, whose rows are read one behind the other. */
typedef struct _TokenRows TokenRows;

/* A run of rows: data of a DlpReaderPiece. */
typedef struct
{
  TokenDtype dtype;
  GByteArray *ids; /* of all rows, as they lie in the file */
  GArray *rows;    /* of TokenRow */
} TokenPiece;

typedef struct
{
  guint64 n;            /* ids */
  gboolean is_too_long; /* and left out */
} TokenRow;

/* @settings stay where they are. */
TokenRows *token_rows_open (const TokenSettings *settings,
                            DlpFile *file,
                            guint64 row,
                            GCancellable *cancellable,
                            GError **error);
void token_rows_free (TokenRows *self);
/* As DlpReaderClass::read_piece. */
gboolean token_rows_read (TokenRows *self,
                          gsize max_bytes,
                          DlpReaderPiece *piece,
                          GCancellable *cancellable,
                          GError **error);
void token_piece_free (gpointer piece);

G_END_DECLS
