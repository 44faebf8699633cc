/* SPDX-License-Identifier: MIT */

/* Arrow's own formats: files with an index at the end (also called Feather, version 2), and
 * streams. */

#include <algorithm>
#include <cstring>

#include <arrow/buffer.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/type.h>

#include "arrow-table.hh"

namespace dlp
{
namespace
{

using arrow::RecordBatch;
using arrow::Result;
using arrow::Status;
using Batch = std::shared_ptr<RecordBatch>;

constexpr char kFileMagic[] = { 'A', 'R', 'R', 'O', 'W', '1' };
constexpr char kFeatherMagic[] = { 'F', 'E', 'A', '1' };

arrow::ipc::IpcReadOptions
MakeOptions (arrow::MemoryPool *pool, const std::vector<int> &fields)
{
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults ();

  options.memory_pool = pool;
  options.use_threads = false;
  options.included_fields = fields;
  return options;
}

/* For who only counts rows: the field that takes the fewest bytes, as far as its type says. */
int
FindSmallest (const arrow::Schema &schema)
{
  auto width = [&] (int field) {
    arrow::Type::type id = schema.field (field)->type ()->id ();

    return arrow::is_fixed_width (id) && id != arrow::Type::FIXED_SIZE_LIST ?
               schema.field (field)->type ()->bit_width () :
               INT_MAX;
  };
  int smallest = 0;

  for (int field = 1; field < schema.num_fields (); field++)
    if (width (field) < width (smallest))
      smallest = field;
  return smallest;
}

/* Record batches, one after the other, of which rows are handed out. */
class IpcTable : public Table
{
public:
  IpcTable (std::shared_ptr<Source> source, int64_t max_bytes)
      : source_ (std::move (source)), max_bytes_ (max_bytes)
  {
  }

  virtual Status Open () = 0;
  Result<std::shared_ptr<arrow::Schema> >
  GetSchema () override
  {
    return schema_;
  }
  Status Select (const std::vector<Path> &paths, int64_t row) override;
  Status Read (int64_t max_bytes, DlpReaderPiece *piece) override;

protected:
  /* Opens the reader of those fields. */
  virtual Status Begin (const std::vector<int> &fields) = 0;
  /* The next record batch, or NULL. */
  virtual Result<Batch> Next () = 0;
  /* Goes to the record batch of that row, and returns the first row of it. */
  virtual Result<int64_t> Go (int64_t row) = 0;
  virtual int64_t Position () = 0;

  Result<Batch> Check (Result<Batch> batch);
  const std::vector<int> &
  fields () const
  {
    return fields_;
  }

  std::shared_ptr<Source> source_;
  int64_t max_bytes_;
  std::shared_ptr<LimitedPool> pool_;
  std::shared_ptr<arrow::Schema> schema_; /* of all fields, then of those selected */
  int64_t n_read_ = 0;

private:
  std::vector<int> fields_;
  Batch current_;
  int64_t row_ = 0; /* of it */
  int64_t bytes_ = 0;
};

Status
IpcTable::Select (const std::vector<Path> &paths, int64_t row)
{
  arrow::FieldVector selected;

  for (const Path &path : paths)
    fields_.push_back (path.at (0));
  std::sort (fields_.begin (), fields_.end ());
  fields_.erase (std::unique (fields_.begin (), fields_.end ()), fields_.end ());
  for (int field : fields_)
    selected.push_back (schema_->field (field));
  /* None would be all. */
  if (fields_.empty () && schema_->num_fields () > 0)
    fields_.push_back (FindSmallest (*schema_));

  ARROW_ASSIGN_OR_RAISE (int64_t first, Go (row));
  schema_ = arrow::schema (selected);
  row_ = row - first;
  return Status::OK ();
}

/* Its own reader does not look at what buffers hold; the rest is looked at where values are read.
 */
Result<Batch>
IpcTable::Check (Result<Batch> batch)
{
  Status status = batch.status ();

  if (status.ok () && *batch != nullptr)
    status = (*batch)->Validate ();
  if (!status.ok ())
    return arrow::Status (status.IsOutOfMemory () ? status.code () : arrow::StatusCode::Invalid,
                          "record batch " + std::to_string (n_read_) + ": " + status.message ());
  n_read_++;
  return batch;
}

Status
IpcTable::Read (int64_t max_bytes, DlpReaderPiece *piece)
{
  while (current_ == nullptr)
    {
      ARROW_ASSIGN_OR_RAISE (current_, Next ());
      if (current_ == nullptr)
        return row_ == 0 ? source_->Check () :
                           Status::Invalid ("it ends ", row_, " rows before the one to go on with");
      bytes_ = MeasureValues (*current_);
      if (row_ >= current_->num_rows ())
        {
          row_ -= current_->num_rows ();
          current_.reset ();
        }
    }

  int64_t all = current_->num_rows ();
  int64_t rows = std::min (ChooseRows (bytes_ / all, max_bytes), all - row_);
  SetPiece (piece, MakeRowsPiece ({ current_, row_, row_ + rows }, pool_), rows,
            static_cast<int64_t> (2.0 * static_cast<double> (bytes_) * static_cast<double> (rows) /
                                  static_cast<double> (all)),
            Position ());
  row_ += rows;
  if (row_ == all)
    {
      row_ = 0;
      current_.reset ();
    }
  return Status::OK ();
}

/* ---- with an index ---- */

class FileTable final : public IpcTable
{
public:
  using IpcTable::IpcTable;

  Status Open () override;

protected:
  Status Begin (const std::vector<int> &fields) override;
  Result<Batch> Next () override;
  Result<int64_t> Go (int64_t row) override;
  int64_t Position () override;

private:
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader_;
};

Status
FileTable::Begin (const std::vector<int> &fields)
{
  reader_.reset ();
  pool_ = std::make_shared<LimitedPool> (max_bytes_);
  ARROW_ASSIGN_OR_RAISE (reader_, arrow::ipc::RecordBatchFileReader::Open (
                                      source_, MakeOptions (pool_.get (), fields)));
  return Status::OK ();
}

Status
FileTable::Open ()
{
  ARROW_RETURN_NOT_OK (Begin ({}));
  schema_ = reader_->schema ();
  return Status::OK ();
}

Result<Batch>
FileTable::Next ()
{
  if (n_read_ >= reader_->num_record_batches ())
    return nullptr;
  Result<Batch> batch = reader_->ReadRecordBatch (static_cast<int> (n_read_));

  /* Without what is still held of those before. */
  if (batch.status ().IsOutOfMemory ())
    {
      ARROW_RETURN_NOT_OK (Begin (fields ()));
      batch = reader_->ReadRecordBatch (static_cast<int> (n_read_));
    }
  return Check (std::move (batch));
}

/* How many rows a record batch has stands in front of it: one small field of each is read. */
Result<int64_t>
FileTable::Go (int64_t row)
{
  int64_t first = 0;

  if (row > 0)
    {
      ARROW_RETURN_NOT_OK (Begin ({ FindSmallest (*schema_) }));
      while (n_read_ < reader_->num_record_batches ())
        {
          ARROW_ASSIGN_OR_RAISE (Batch batch, Next ());
          if (first + batch->num_rows () > row)
            {
              n_read_--;
              break;
            }
          first += batch->num_rows ();
        }
    }
  ARROW_RETURN_NOT_OK (Begin (fields ()));
  return first;
}

int64_t
FileTable::Position ()
{
  double share = static_cast<double> (n_read_) / reader_->num_record_batches ();

  return static_cast<int64_t> (share * static_cast<double> (source_->size ()));
}

/* ---- without one ---- */

class StreamTable final : public IpcTable
{
public:
  StreamTable (std::shared_ptr<Source> source, int64_t max_bytes, std::string head)
      : IpcTable (std::move (source), max_bytes), head_ (std::move (head))
  {
  }

  Status Open () override;

protected:
  Status Begin (const std::vector<int> &fields) override;
  Result<Batch> Next () override;
  Result<int64_t> Go (int64_t row) override;
  int64_t
  Position () override
  {
    return stream_->Tell ().ValueOr (0);
  }

private:
  std::string head_;
  std::string schema_bytes_; /* read to know the fields, and read again with the selection */
  std::shared_ptr<SourceStream> stream_;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader_;
};

/* Keeps what is read through it: a pipe gives the schema only once. */
class Recorder final : public arrow::io::InputStream
{
public:
  Recorder (std::shared_ptr<SourceStream> stream, std::string *kept)
      : stream_ (std::move (stream)), kept_ (kept)
  {
  }

  Status
  Close () override
  {
    return Status::OK ();
  }
  bool
  closed () const override
  {
    return false;
  }
  Result<int64_t>
  Tell () const override
  {
    return stream_->Tell ();
  }

  Result<int64_t>
  Read (int64_t n, void *out) override
  {
    ARROW_ASSIGN_OR_RAISE (int64_t done, stream_->Read (n, out));
    kept_->append (static_cast<char *> (out), static_cast<size_t> (done));
    return done;
  }

  Result<std::shared_ptr<arrow::Buffer> >
  Read (int64_t n) override
  {
    ARROW_ASSIGN_OR_RAISE (std::shared_ptr<arrow::Buffer> bytes, stream_->Read (n));
    kept_->append (reinterpret_cast<const char *> (bytes->data ()),
                   static_cast<size_t> (bytes->size ()));
    return bytes;
  }

private:
  std::shared_ptr<SourceStream> stream_;
  std::string *kept_;
};

Status
StreamTable::Open ()
{
  auto stream = std::make_shared<SourceStream> (source_, head_);
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader;

  pool_ = std::make_shared<LimitedPool> (max_bytes_);
  ARROW_ASSIGN_OR_RAISE (reader, arrow::ipc::RecordBatchStreamReader::Open (
                                     std::make_shared<Recorder> (stream, &schema_bytes_),
                                     MakeOptions (pool_.get (), {})));
  schema_ = reader->schema ();
  return Status::OK ();
}

Status
StreamTable::Begin (const std::vector<int> &fields)
{
  stream_ = std::make_shared<SourceStream> (source_, std::move (schema_bytes_));
  ARROW_ASSIGN_OR_RAISE (reader_, arrow::ipc::RecordBatchStreamReader::Open (
                                      stream_, MakeOptions (pool_.get (), fields)));
  return Status::OK ();
}

Result<Batch>
StreamTable::Next ()
{
  Batch batch;
  Status status = reader_->ReadNext (&batch);

  return Check (status.ok () ? Result<Batch> (std::move (batch)) : Result<Batch> (status));
}

/* What is before it is read again. */
Result<int64_t>
StreamTable::Go (int64_t)
{
  ARROW_RETURN_NOT_OK (Begin (fields ()));
  return 0;
}

/* ---- which of them it is ---- */

Result<std::string>
ReadHead (Source *source)
{
  std::string head (8, '\0');

  ARROW_ASSIGN_OR_RAISE (int64_t done, source->ReadOn (8, head.data ()));
  head.resize (static_cast<size_t> (done));
  return head;
}

template <size_t N>
bool
BeginsWith (const std::string &text, const char (&start)[N])
{
  return text.size () >= N && memcmp (text.data (), start, N) == 0;
}

} // namespace

TableResult
OpenIpc (std::shared_ptr<Source> source, int64_t max_bytes)
{
  ARROW_ASSIGN_OR_RAISE (std::string head, ReadHead (source.get ()));
  std::unique_ptr<IpcTable> table;

  /* A pipe without a byte. */
  if (head.empty ())
    return nullptr;
  if (BeginsWith (head, kFeatherMagic))
    return Status::NotImplemented ("a Feather file of version 1, which is not read; pyarrow's "
                                   "feather.write_feather writes version 2 by default");
  if (BeginsWith (head, kFileMagic))
    {
      if (source->size () < 0)
        return Status::NotImplemented ("an Arrow file has its index at its end, so it cannot be "
                                       "read from a pipe; the stream format can");
      table = std::make_unique<FileTable> (source, max_bytes);
    }
  else
    table = std::make_unique<StreamTable> (source, max_bytes, head);
  ARROW_RETURN_NOT_OK (table->Open ());
  return table;
}

} // namespace dlp
