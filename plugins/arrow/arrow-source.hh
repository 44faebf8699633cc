/* SPDX-License-Identifier: MIT */
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <dlpipe/dlp-file.h>

namespace dlp
{

/* Memory up to a limit: what a file says of sizes is not to be believed. */
class LimitedPool final : public arrow::MemoryPool
{
public:
  explicit LimitedPool (int64_t limit) : limit_ (limit) {}

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate (int64_t size, int64_t alignment, uint8_t **out) override;
  arrow::Status
  Reallocate (int64_t old_size, int64_t new_size, int64_t alignment, uint8_t **pointer) override;
  void Free (uint8_t *buffer, int64_t size, int64_t alignment) override;
  int64_t
  bytes_allocated () const override
  {
    return used_;
  }
  int64_t
  total_bytes_allocated () const override
  {
    return total_;
  }
  int64_t
  num_allocations () const override
  {
    return n_;
  }
  std::string
  backend_name () const override
  {
    return "limited";
  }

private:
  arrow::Status Claim (int64_t size);

  const int64_t limit_;
  std::atomic<int64_t> used_{ 0 }, total_{ 0 }, n_{ 0 };
};

/* What can be read in ranges, which is all that a subclass does. */
class RangedFile : public arrow::io::RandomAccessFile
{
public:
  arrow::Status
  Close () override
  {
    return arrow::Status::OK ();
  }
  bool
  closed () const override
  {
    return false;
  }
  arrow::Result<int64_t>
  Tell () const override
  {
    return position_;
  }
  arrow::Status Seek (int64_t position) override;
  arrow::Result<int64_t>
  GetSize () override
  {
    return size_;
  }
  arrow::Result<int64_t> Read (int64_t n, void *out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer> > Read (int64_t n) override;
  using arrow::io::RandomAccessFile::ReadAt;

protected:
  explicit RangedFile (int64_t size) : size_ (size) {}

  const int64_t size_;

private:
  int64_t position_ = 0;
};

/* A DlpFile whose size is known, read in ranges by streams that begin at an offset. What follows a
 * range that was read comes from the same stream; so each column that is read bit by bit has one.
 */
class Source final : public RangedFile
{
public:
  explicit Source (DlpFile *file);
  ~Source () override;

  /* What waits is ended by it; for the calls that follow, on this thread. */
  void
  SetCancellable (GCancellable *cancellable)
  {
    cancellable_ = cancellable;
  }
  /* (transfer full) (nullable): why reading failed, if it was not what was read. */
  GError *TakeError ();
  bool
  HasError () const
  {
    return error_ != nullptr;
  }
  const std::string &
  name () const
  {
    return name_;
  }
  int64_t
  size () const
  {
    return size_;
  }
  /* Opens a local file once more, so that one that has changed is found; others say it when read.
   */
  arrow::Status Check ();
  /* From where it stands, whatever its size: for a pipe, which cannot be read elsewhere. */
  arrow::Result<int64_t> ReadOn (int64_t n, void *out);

  using RangedFile::ReadAt;
  arrow::Result<int64_t> ReadAt (int64_t position, int64_t n, void *out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer> > ReadAt (int64_t position, int64_t n) override;

private:
  struct Stream
  {
    GInputStream *input;
    int64_t position;
  };

  arrow::Status Fail (GError *error);
  arrow::Status FailShort (int64_t position);
  arrow::Status Pass (Stream *stream, int64_t n);
  arrow::Result<Stream *> Find (int64_t position);
  arrow::Result<int64_t> ReadStream (Stream *stream, int64_t n, uint8_t *out);

  DlpFile *file_;
  std::string name_;
  GCancellable *cancellable_ = nullptr;
  GError *error_ = nullptr;
  std::vector<Stream> streams_; /* the one used last is the last one */
};

/* Parts of a file that are in memory. */
class Ranges final : public RangedFile
{
public:
  explicit Ranges (int64_t size) : RangedFile (size) {}

  /* Reads those bytes; ranges come in order and do not overlap. */
  arrow::Status Add (Source *source, int64_t start, int64_t end);
  int64_t
  bytes () const
  {
    return bytes_;
  }

  using RangedFile::ReadAt;
  arrow::Result<int64_t> ReadAt (int64_t position, int64_t n, void *out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer> > ReadAt (int64_t position, int64_t n) override;

private:
  struct Range
  {
    int64_t start;
    std::shared_ptr<arrow::Buffer> bytes;
  };

  int64_t bytes_ = 0;
  std::vector<Range> ranges_;
};

/* The same as a stream from its start, also of what has no size. */
class SourceStream final : public arrow::io::InputStream
{
public:
  SourceStream (std::shared_ptr<Source> source, std::string head)
      : source_ (std::move (source)), head_ (std::move (head))
  {
  }

  arrow::Status
  Close () override
  {
    return arrow::Status::OK ();
  }
  bool
  closed () const override
  {
    return false;
  }
  arrow::Result<int64_t>
  Tell () const override
  {
    return position_;
  }
  arrow::Result<int64_t> Read (int64_t n, void *out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer> > Read (int64_t n) override;

private:
  std::shared_ptr<Source> source_;
  std::string head_; /* what was read of it before */
  int64_t position_ = 0;
};

} // namespace dlp
