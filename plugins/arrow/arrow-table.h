/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-arrow.h>
#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

#ifdef __cplusplus
#define ARROW_TABLE_NOEXCEPT noexcept
#else
#define ARROW_TABLE_NOEXCEPT
#endif

/*
 * What Arrow's library does here, for C: it opens a file, reads the columns that are wanted in runs
 * of rows, and hands them out by the C data interface. No exception comes out of these functions.
 * Errors have the file's name in them; DLP_DATA_ERROR_DAMAGED: the file is not what it should be.
 */

typedef enum
{
  ARROW_TABLE_PARQUET,
  ARROW_TABLE_IPC, /* the file or the stream format */
} ArrowTableFormat;

/* Which field: of the schema, of that one's children, and so on. */
typedef struct
{
  const guint *steps;
  guint n_steps;
} ArrowTablePath;

/* Rows of a record batch. */
typedef struct
{
  struct ArrowArray batch;
  gint64 start, end;
} ArrowTableRows;

typedef struct _ArrowTable ArrowTable;
typedef struct _ArrowTablePiece ArrowTablePiece;

/* @max_bytes: of memory, for what is decoded at once. A file without a byte has no fields. */
ArrowTable *arrow_table_open (ArrowTableFormat format,
                              DlpFile *file,
                              guint64 max_bytes,
                              GCancellable *cancellable,
                              GError **error) ARROW_TABLE_NOEXCEPT;
void arrow_table_free (ArrowTable *self) ARROW_TABLE_NOEXCEPT;
gboolean arrow_table_is_empty (ArrowTable *self) ARROW_TABLE_NOEXCEPT;
/* All fields before a selection, those selected behind it. */
gboolean arrow_table_get_schema (ArrowTable *self,
                                 struct ArrowSchema *schema,
                                 GError **error) ARROW_TABLE_NOEXCEPT;
/* To be called once: reads these columns, from that row on. */
gboolean arrow_table_select (ArrowTable *self,
                             const ArrowTablePath *paths,
                             guint n_paths,
                             guint64 row,
                             GCancellable *cancellable,
                             GError **error) ARROW_TABLE_NOEXCEPT;
/* As DlpReaderClass::read_piece; the piece's data is an ArrowTablePiece. */
gboolean arrow_table_read (ArrowTable *self,
                           gsize max_bytes,
                           DlpReaderPiece *piece,
                           GCancellable *cancellable,
                           GError **error) ARROW_TABLE_NOEXCEPT;

/* The next rows of a piece, to be released; rows->batch.release is NULL at the end. FALSE: what is
 * behind the rows that came is damaged. May be called on another thread than those of the table. */
gboolean arrow_table_piece_next (ArrowTablePiece *self,
                                 ArrowTableRows *rows,
                                 char **message) ARROW_TABLE_NOEXCEPT;
void arrow_table_piece_free (ArrowTablePiece *self) ARROW_TABLE_NOEXCEPT;

G_END_DECLS
