/* SPDX-License-Identifier: MIT */

/* Parquet: row groups, decoded as a whole on the pool where they are small, else bit by bit by
 * who reads the file. */

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "arrow-table.hh"

namespace dlp
{
namespace
{

using arrow::RecordBatch;
using arrow::Result;
using arrow::Status;
using Columns = std::vector<int>;

/* Of a group that is decoded as a whole. More rows in few bytes are repetitions, which become large
 * again. */
constexpr int64_t kMaxGroupRows = 16384;
/* Of each column that is read bit by bit. */
constexpr int64_t kBufferBytes = 1024 * 1024;
/* Columns of a group that are less apart are read at once. */
constexpr int64_t kMaxGap = 256 * 1024;
/* Writers before parquet-mr 1.2.9 left the header of the dictionary's page out of a column's size
 * (PARQUET-816). */
constexpr int64_t kForgottenHeader = 100;

parquet::ReaderProperties
MakeProperties (arrow::MemoryPool *pool, bool buffered)
{
  parquet::ReaderProperties properties (pool);

  if (buffered)
    properties.enable_buffered_stream ();
  properties.set_buffer_size (kBufferBytes);
  properties.set_page_checksum_verification (true);
  return properties;
}

parquet::ArrowReaderProperties
MakeArrowProperties (int64_t batch_rows)
{
  parquet::ArrowReaderProperties properties (false);

  properties.set_batch_size (batch_rows);
  properties.set_pre_buffer (false);
  properties.set_arrow_extensions_enabled (false);
  return properties;
}

std::string
NameColumn (const parquet::FileMetaData &metadata, int column)
{
  return metadata.schema ()->Column (column)->path ()->ToDotString ();
}

/* What a group reader needs to know of its file. */
struct File
{
  std::shared_ptr<arrow::io::RandomAccessFile> bytes;
  std::shared_ptr<LimitedPool> metadata_pool; /* before the metadata, which use it */
  std::shared_ptr<parquet::FileMetaData> metadata;
  const Source *source; /* (nullable): of which an error is not the file's */
  Columns columns;
  int64_t max_bytes;
  std::shared_ptr<std::atomic<int64_t> >
      row_bytes; /* the most that rows had, once they are known */
};

/* Some rows of a group. Where they cannot be decoded so many at a time, fewer are tried, down to
 * one: the rows before the damage come out whatever the sizes are. */
class GroupReader
{
public:
  GroupReader (File file, int group, int64_t row, int64_t end, int64_t batch_rows)
      : file_ (std::move (file)), group_ (group), row_ (row), end_ (end), batch_rows_ (batch_rows)
  {
  }

  /* NULL: the end. */
  Result<std::shared_ptr<RecordBatch> > Next ();
  int64_t
  row () const
  {
    return row_;
  }
  std::shared_ptr<LimitedPool>
  pool () const
  {
    return pool_;
  }

private:
  Status Open ();
  Status Pass (int64_t rows);
  Result<std::shared_ptr<RecordBatch> > Try ();
  bool IsTooLarge (const RecordBatch &batch);
  Status Explain (const Status &status);
  bool IsColumnDamaged (int column);

  File file_;
  int group_;
  int64_t row_, end_;
  int64_t batch_rows_;
  std::shared_ptr<LimitedPool> pool_; /* before what is in it */
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  bool is_cut_ = false;               /* what Try() gave last is such a rest */
  std::shared_ptr<RecordBatch> rest_; /* of one whose first rows were passed over */
};

Status
GroupReader::Open ()
{
  parquet::arrow::FileReaderBuilder builder;

  rest_.reset ();
  batches_.reset ();
  reader_.reset ();
  pool_ = std::make_shared<LimitedPool> (file_.max_bytes);
  ARROW_RETURN_NOT_OK (builder.Open (
      file_.bytes, MakeProperties (pool_.get (), file_.source != nullptr), file_.metadata));
  builder.memory_pool (pool_.get ())->properties (MakeArrowProperties (batch_rows_));
  ARROW_ASSIGN_OR_RAISE (reader_, builder.Build ());
  ARROW_ASSIGN_OR_RAISE (batches_, reader_->GetRecordBatchReader ({ group_ }, file_.columns));
  return Pass (row_);
}

Status
GroupReader::Pass (int64_t rows)
{
  while (rows > 0)
    {
      std::shared_ptr<RecordBatch> batch;

      ARROW_RETURN_NOT_OK (batches_->ReadNext (&batch));
      if (batch == nullptr)
        return Status::Invalid ("its columns end before row ", rows, " of those wanted");
      if (batch->num_rows () > rows)
        rest_ = batch->Slice (rows);
      rows -= std::min (batch->num_rows (), rows);
    }
  return Status::OK ();
}

Result<std::shared_ptr<RecordBatch> >
GroupReader::Try ()
{
  std::shared_ptr<RecordBatch> batch;

  BEGIN_PARQUET_CATCH_EXCEPTIONS
  if (batches_ == nullptr)
    ARROW_RETURN_NOT_OK (Open ());
  is_cut_ = rest_ != nullptr;
  batch = std::move (rest_);
  if (batch == nullptr)
    ARROW_RETURN_NOT_OK (batches_->ReadNext (&batch));
  END_PARQUET_CATCH_EXCEPTIONS
  if (batch == nullptr || batch->num_rows () == 0)
    return Status::Invalid ("its columns end at row ", row_, " of ", end_);
  return batch->num_rows () > end_ - row_ ? batch->Slice (0, end_ - row_) : batch;
}

/* What the file says is the size of what it stores, in which values that come again are once. */
bool
GroupReader::IsTooLarge (const RecordBatch &batch)
{
  int64_t bytes = MeasureValues (batch) / batch.num_rows ();
  int64_t before = file_.row_bytes->load ();

  while (bytes > before && !file_.row_bytes->compare_exchange_weak (before, bytes))
    ;
  return batch.num_rows () > 1 && batch_rows_ > 1 && bytes * batch.num_rows () > 4 * kDecodedBytes;
}

Result<std::shared_ptr<RecordBatch> >
GroupReader::Next ()
{
  if (row_ >= end_)
    return nullptr;
  for (;; batch_rows_ = std::max<int64_t> (batch_rows_ / 2, 1))
    {
      /* At one row what came before takes no part of the memory. */
      bool is_last = batch_rows_ == 1 && batches_ == nullptr;
      Result<std::shared_ptr<RecordBatch> > batch = Try ();

      if (batch.ok () && !is_cut_ && IsTooLarge (**batch))
        {
          batches_.reset ();
          continue;
        }
      if (batch.ok ())
        {
          row_ += (*batch)->num_rows ();
          return batch;
        }
      batches_.reset ();
      if (file_.source != nullptr && file_.source->HasError ())
        return batch.status ();
      if (is_last)
        return Explain (batch.status ());
    }
}

bool
GroupReader::IsColumnDamaged (int column)
{
  File file = file_;

  file.columns = { column };
  GroupReader alone (file, group_, row_, row_ + 1, 1);
  return !alone.Try ().ok ();
}

/* Says which column it is. */
Status
GroupReader::Explain (const Status &status)
{
  std::string where = " in row group " + std::to_string (group_);
  auto damaged = file_.columns.begin ();

  if (file_.columns.size () > 1)
    damaged = std::find_if (file_.columns.begin (), file_.columns.end (),
                            [&] (int column) { return IsColumnDamaged (column); });
  if (damaged != file_.columns.end ())
    where = " column \"" + NameColumn (*file_.metadata, *damaged) + "\"" + where;
  return Status (status.IsOutOfMemory () ? status.code () : arrow::StatusCode::Invalid,
                 where.substr (1) + ", row " + std::to_string (row_) +
                     " of it: " + status.message ());
}

class GroupPiece final : public Piece
{
public:
  explicit GroupPiece (GroupReader reader) : reader_ (std::move (reader)) {}

  Result<Rows>
  Next () override
  {
    ARROW_ASSIGN_OR_RAISE (std::shared_ptr<RecordBatch> batch, reader_.Next ());
    int64_t rows = batch != nullptr ? batch->num_rows () : 0;

    return Rows{ std::move (batch), 0, rows };
  }

private:
  GroupReader reader_;
};

class ParquetTable final : public Table
{
public:
  ParquetTable (std::shared_ptr<Source> source, int64_t max_bytes)
      : source_ (std::move (source)), max_bytes_ (max_bytes),
        pool_ (std::make_shared<LimitedPool> (max_bytes))
  {
  }

  Status Open ();
  Result<std::shared_ptr<arrow::Schema> > GetSchema () override;
  Status Select (const std::vector<Path> &paths, int64_t row) override;
  Status Read (int64_t max_bytes, DlpReaderPiece *piece) override;

private:
  struct Range
  {
    int64_t start, end;
  };

  /* A row group, as far as the columns go that are read. */
  struct Group
  {
    int64_t rows = 0;
    int64_t bytes = 0; /* decoded, by what the file says */
    int64_t end = 0;   /* in the file */
    std::vector<Range> ranges;
  };

  Status CheckMagic ();
  Status SelectColumns (const std::vector<Path> &paths);
  Status FindRow (int64_t row);
  Status CheckEncryption ();
  Result<Range> FindRange (const parquet::ColumnChunkMetaData &column);
  Result<Group> Measure (int group);
  Status
  ReadGroup (const Group &group, int64_t row_bytes, int64_t batch_rows, DlpReaderPiece *piece);
  Status ReadBatch (DlpReaderPiece *piece);
  File MakeFile (std::shared_ptr<arrow::io::RandomAccessFile> bytes, const Source *source);

  std::shared_ptr<Source> source_;
  int64_t max_bytes_;
  std::shared_ptr<LimitedPool> pool_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::unique_ptr<parquet::arrow::FileReader> reader_; /* of the schema */
  Columns columns_;
  int group_ = 0;
  std::shared_ptr<std::atomic<int64_t> > row_bytes_ = std::make_shared<std::atomic<int64_t> > (0);
  int64_t row_ = 0; /* of the group */
  Group current_;
  std::unique_ptr<GroupReader> batches_; /* of a large group */
};

/* Says more than that it is none. */
Status
ParquetTable::CheckMagic ()
{
  char magic[4];
  int64_t size = source_->size ();

  if (size < 0)
    return Status::NotImplemented ("a Parquet file has its index at its end, so it cannot be read "
                                   "from a pipe, or where its size is not known; store it as a "
                                   "file");
  if (size < 12)
    return Status::Invalid ("no Parquet file: it has ", size, " bytes");
  ARROW_RETURN_NOT_OK (source_->ReadAt (size - 4, sizeof magic, magic).status ());
  if (memcmp (magic, "PARE", sizeof magic) == 0)
    return Status::NotImplemented ("an encrypted Parquet file, which is not read");
  if (memcmp (magic, "PAR1", sizeof magic) == 0)
    return Status::OK ();
  ARROW_RETURN_NOT_OK (source_->ReadAt (0, sizeof magic, magic).status ());
  return Status::Invalid (memcmp (magic, "PAR1", sizeof magic) == 0 ?
                              "a Parquet file that is cut: it does not end with PAR1" :
                              "no Parquet file: it neither begins nor ends with PAR1");
}

Status
ParquetTable::Open ()
{
  parquet::arrow::FileReaderBuilder builder;

  ARROW_RETURN_NOT_OK (CheckMagic ());
  ARROW_RETURN_NOT_OK (builder.Open (source_, MakeProperties (pool_.get (), true)));
  metadata_ = builder.raw_reader ()->metadata ();
  builder.memory_pool (pool_.get ())->properties (MakeArrowProperties (1));
  ARROW_ASSIGN_OR_RAISE (reader_, builder.Build ());
  return Status::OK ();
}

Result<std::shared_ptr<arrow::Schema> >
ParquetTable::GetSchema ()
{
  std::shared_ptr<arrow::Schema> all;

  if (columns_.empty ())
    ARROW_RETURN_NOT_OK (reader_->GetSchema (&all));
  else
    {
      ARROW_ASSIGN_OR_RAISE (std::unique_ptr<arrow::RecordBatchReader> none,
                             reader_->GetRecordBatchReader (std::vector<int>{}, columns_));
      all = none->schema ();
    }
  return all;
}

void
AddLeaves (const parquet::arrow::SchemaField &field, Columns *columns)
{
  if (field.is_leaf ())
    columns->push_back (field.column_index);
  for (const parquet::arrow::SchemaField &child : field.children)
    AddLeaves (child, columns);
}

Status
ParquetTable::SelectColumns (const std::vector<Path> &paths)
{
  for (const Path &path : paths)
    {
      const std::vector<parquet::arrow::SchemaField> *fields = &reader_->manifest ().schema_fields;
      const parquet::arrow::SchemaField *field = nullptr;

      for (int step : path)
        {
          field = &fields->at (static_cast<size_t> (step));
          fields = &field->children;
        }
      AddLeaves (*field, &columns_);
    }
  std::sort (columns_.begin (), columns_.end ());
  columns_.erase (std::unique (columns_.begin (), columns_.end ()), columns_.end ());
  return Status::OK ();
}

/* Where even what is said of it is encrypted, that cannot be looked at. */
bool
IsEncrypted (parquet::RowGroupMetaData &group, int column)
{
  try
    {
      return group.ColumnChunk (column)->crypto_metadata () != nullptr;
    }
  catch (const parquet::ParquetException &)
    {
      return true;
    }
}

Status
ParquetTable::CheckEncryption ()
{
  if (!metadata_->is_encryption_algorithm_set () || metadata_->num_row_groups () == 0)
    return Status::OK ();
  for (int column : columns_)
    if (IsEncrypted (*metadata_->RowGroup (0), column))
      return Status::NotImplemented ("the column \"", NameColumn (*metadata_, column),
                                     "\" is encrypted, and is not read");
  return Status::OK ();
}

Status
ParquetTable::FindRow (int64_t row)
{
  for (; group_ < metadata_->num_row_groups (); group_++)
    {
      int64_t rows = metadata_->RowGroup (group_)->num_rows ();

      if (rows < 0)
        return Status::Invalid ("row group ", group_, " has ", rows, " rows");
      if (row < rows)
        break;
      row -= rows;
    }
  if (row > 0 && group_ == metadata_->num_row_groups ())
    return Status::Invalid ("it ends ", row, " rows before the one to go on with");
  row_ = row;
  return Status::OK ();
}

Status
ParquetTable::Select (const std::vector<Path> &paths, int64_t row)
{
  ARROW_RETURN_NOT_OK (SelectColumns (paths));
  ARROW_RETURN_NOT_OK (CheckEncryption ());
  return FindRow (row);
}

Result<ParquetTable::Range>
ParquetTable::FindRange (const parquet::ColumnChunkMetaData &column)
{
  int64_t start = column.data_page_offset ();
  int64_t size = column.total_compressed_size ();

  if (column.has_dictionary_page () && column.dictionary_page_offset () > 0 &&
      column.dictionary_page_offset () < start)
    start = column.dictionary_page_offset ();
  if (start < 0 || size < 0 || start > source_->size () || size > source_->size () - start)
    return Status::Invalid ("row group ", group_, ": the column \"",
                            column.path_in_schema ()->ToDotString (), "\" has ", size,
                            " bytes from byte ", start, " on, of a file of ", source_->size ());
  return Range{ start, std::min (start + size + kForgottenHeader, source_->size ()) };
}

/* Their number is that of the columns, which are there: it is not the file's word. */
Result<ParquetTable::Group>
ParquetTable::Measure (int group)
{
  std::unique_ptr<parquet::RowGroupMetaData> metadata = metadata_->RowGroup (group);
  Group measured;
  std::vector<Range> all;

  measured.rows = metadata->num_rows ();
  if (measured.rows < 0)
    return Status::Invalid ("row group ", group, " has ", measured.rows, " rows");
  for (int index : columns_)
    {
      std::unique_ptr<parquet::ColumnChunkMetaData> column = metadata->ColumnChunk (index);
      int64_t bytes = column->total_uncompressed_size ();

      ARROW_ASSIGN_OR_RAISE (Range range, FindRange (*column));
      all.push_back (range);
      measured.end = std::max (measured.end, range.end);
      bytes = bytes >= 0 ? bytes : std::numeric_limits<int64_t>::max ();
      measured.bytes += std::min (bytes, std::numeric_limits<int64_t>::max () - measured.bytes);
    }

  std::sort (all.begin (), all.end (),
             [] (const Range &a, const Range &b) { return a.start < b.start; });
  for (const Range &range : all)
    if (!measured.ranges.empty () && range.start - measured.ranges.back ().end <= kMaxGap)
      measured.ranges.back ().end = std::max (measured.ranges.back ().end, range.end);
    else
      measured.ranges.push_back (range);
  return measured;
}

File
ParquetTable::MakeFile (std::shared_ptr<arrow::io::RandomAccessFile> bytes, const Source *source)
{
  return File{ std::move (bytes), pool_, metadata_, source, columns_, max_bytes_, row_bytes_ };
}

/* Its bytes are read here, and decoded by a worker. */
Status
ParquetTable::ReadGroup (const Group &group,
                         int64_t row_bytes,
                         int64_t batch_rows,
                         DlpReaderPiece *piece)
{
  auto bytes = std::make_shared<Ranges> (source_->size ());

  for (const Range &range : group.ranges)
    ARROW_RETURN_NOT_OK (bytes->Add (source_.get (), range.start, range.end));
  GroupReader reader (MakeFile (bytes, nullptr), group_, row_, group.rows, batch_rows);
  SetPiece (piece, std::make_unique<GroupPiece> (std::move (reader)), group.rows - row_,
            bytes->bytes () + 2 * row_bytes * (group.rows - row_), group.end);
  group_++;
  row_ = 0;
  return Status::OK ();
}

Status
ParquetTable::ReadBatch (DlpReaderPiece *piece)
{
  ARROW_ASSIGN_OR_RAISE (std::shared_ptr<RecordBatch> batch, batches_->Next ());
  std::shared_ptr<LimitedPool> pool = batches_->pool ();
  int64_t rows = batch->num_rows ();
  double share = static_cast<double> (batches_->row ()) / static_cast<double> (current_.rows);
  int64_t start = current_.ranges.empty () ? 0 : current_.ranges.front ().start;

  row_ = batches_->row ();
  if (row_ == current_.rows)
    {
      batches_.reset ();
      group_++;
      row_ = 0;
    }
  int64_t bytes = MeasureValues (*batch);
  SetPiece (piece, MakeRowsPiece ({ std::move (batch), 0, rows }, std::move (pool)), rows,
            2 * bytes,
            start + static_cast<int64_t> (share * static_cast<double> (current_.end - start)));
  return Status::OK ();
}

Status
ParquetTable::Read (int64_t max_bytes, DlpReaderPiece *piece)
{
  if (batches_ != nullptr)
    return ReadBatch (piece);
  while (group_ < metadata_->num_row_groups () && metadata_->RowGroup (group_)->num_rows () == 0)
    group_++;
  if (group_ >= metadata_->num_row_groups ())
    return source_->Check ();

  ARROW_ASSIGN_OR_RAISE (current_, Measure (group_));
  /* The first rows say how large they are. */
  int64_t row_bytes = row_bytes_->load ();
  bool is_known = row_bytes > 0;
  row_bytes = std::max (row_bytes, current_.bytes / current_.rows);
  int64_t batch_rows = ChooseRows (row_bytes, max_bytes);
  int64_t stored = 0;
  for (const Range &range : current_.ranges)
    stored += range.end - range.start;
  if (is_known && row_bytes <= max_bytes / 2 / current_.rows && stored <= max_bytes &&
      current_.rows - row_ <= kMaxGroupRows)
    return ReadGroup (current_, row_bytes, batch_rows, piece);
  batches_ = std::make_unique<GroupReader> (MakeFile (source_, source_.get ()), group_, row_,
                                            current_.rows, batch_rows);
  return ReadBatch (piece);
}

} // namespace

TableResult
OpenParquet (std::shared_ptr<Source> source, int64_t max_bytes)
{
  auto table = std::make_unique<ParquetTable> (std::move (source), max_bytes);

  ARROW_RETURN_NOT_OK (table->Open ());
  return table;
}

} // namespace dlp
