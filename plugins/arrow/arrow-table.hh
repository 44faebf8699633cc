/* SPDX-License-Identifier: MIT */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/status.h>

#include "arrow-source.hh"
#include "arrow-table.h"

namespace dlp
{

/* Field, its child, and so on. */
using Path = std::vector<int>;

/* What has rows: of a file, from the row on that Select() is given. */
class Table
{
public:
  virtual ~Table () = default;

  virtual arrow::Result<std::shared_ptr<arrow::Schema> > GetSchema () = 0;
  virtual arrow::Status Select (const std::vector<Path> &paths, int64_t row) = 0;
  /* A piece without rows: the end. */
  virtual arrow::Status Read (int64_t max_bytes, DlpReaderPiece *piece) = 0;
};

using TableResult = arrow::Result<std::unique_ptr<Table> >;

TableResult OpenParquet (std::shared_ptr<Source> source, int64_t max_bytes);
TableResult OpenIpc (std::shared_ptr<Source> source, int64_t max_bytes);

/* Some rows of a record batch, which is not cut: what lies beyond it is known from its ends. */
struct Rows
{
  std::shared_ptr<arrow::RecordBatch> batch; /* NULL: there are none */
  int64_t start = 0, end = 0;
};

/* Rows that a worker takes. */
class Piece
{
public:
  virtual ~Piece () = default;

  virtual arrow::Result<Rows> Next () = 0;
};

/* Fills in the piece: @rows, in memory as @bytes. */
void SetPiece (DlpReaderPiece *piece,
               std::unique_ptr<Piece> data,
               int64_t rows,
               int64_t bytes,
               int64_t position);
/* A piece of rows that are decoded. @pool, which they are in, lives as long as they. */
std::unique_ptr<Piece> MakeRowsPiece (Rows rows, std::shared_ptr<LimitedPool> pool);
/* Bytes of the values of an uncut record batch, as records have them: without dictionaries. */
int64_t MeasureValues (const arrow::RecordBatch &batch);
/* Of what is decoded at once. */
constexpr int64_t kDecodedBytes = 512 * 1024;
/* How many rows of so many bytes are decoded at once. */
int64_t ChooseRows (int64_t row_bytes, int64_t max_bytes);

} // namespace dlp
