/* SPDX-License-Identifier: MIT */

/* How Arrow gets the bytes of a file, and memory. */

#include "arrow-source.hh"

#include <algorithm>
#include <cstring>

#include <arrow/buffer.h>
#include <dlpipe/dlp-error.h>

namespace dlp
{

using arrow::Buffer;
using arrow::Result;
using arrow::Status;

/* Streams that are open at once: as many columns can be read bit by bit without opening more. */
constexpr size_t kMaxStreams = 8;
/* What lies between two ranges is read rather than opening the file once more. */
constexpr int64_t kMaxGap = 64 * 1024;
/* A buffer whose size a file says grows as its bytes come. */
constexpr int64_t kFirstBytes = 1024 * 1024;

/* ---- memory ---- */

/* Arrow's own, which keeps large blocks for the next ones; but what AddressSanitizer watches is the
 * system's. */
static arrow::MemoryPool *
GetPool ()
{
#if defined(__SANITIZE_ADDRESS__)
  return arrow::system_memory_pool ();
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return arrow::system_memory_pool ();
#endif
#endif
  return arrow::default_memory_pool ();
}

Status
LimitedPool::Claim (int64_t size)
{
  if (used_.fetch_add (size) + size <= limit_)
    return Status::OK ();
  used_ -= size;
  return Status::OutOfMemory ("more than ", limit_, " bytes would be decoded at once");
}

Status
LimitedPool::Allocate (int64_t size, int64_t alignment, uint8_t **out)
{
  ARROW_RETURN_NOT_OK (Claim (size));
  total_ += size;
  n_++;
  Status status = GetPool ()->Allocate (size, alignment, out);
  if (!status.ok ())
    used_ -= size;
  return status;
}

Status
LimitedPool::Reallocate (int64_t old_size, int64_t new_size, int64_t alignment, uint8_t **pointer)
{
  ARROW_RETURN_NOT_OK (Claim (new_size - old_size));
  total_ += std::max<int64_t> (new_size - old_size, 0);
  n_++;
  Status status = GetPool ()->Reallocate (old_size, new_size, alignment, pointer);
  if (!status.ok ())
    used_ -= new_size - old_size;
  return status;
}

void
LimitedPool::Free (uint8_t *buffer, int64_t size, int64_t alignment)
{
  GetPool ()->Free (buffer, size, alignment);
  used_ -= size;
}

/* ---- what is read in ranges ---- */

Status
RangedFile::Seek (int64_t position)
{
  position_ = position;
  return Status::OK ();
}

Result<int64_t>
RangedFile::Read (int64_t n, void *out)
{
  ARROW_ASSIGN_OR_RAISE (int64_t done, ReadAt (position_, n, out));
  position_ += done;
  return done;
}

Result<std::shared_ptr<Buffer> >
RangedFile::Read (int64_t n)
{
  ARROW_ASSIGN_OR_RAISE (std::shared_ptr<Buffer> buffer, ReadAt (position_, n));
  position_ += buffer->size ();
  return buffer;
}

/* ---- a file ---- */

static std::string
show_name (DlpFile *file)
{
  g_autofree char *redacted = dlp_uri_redact (dlp_file_get_uri (file));
  g_autofree char *shown = dlp_uri_escape_for_display (redacted);

  return shown;
}

Source::Source (DlpFile *file)
    : RangedFile (dlp_file_get_size (file)), file_ (static_cast<DlpFile *> (g_object_ref (file))),
      name_ (show_name (file))
{
}

Source::~Source ()
{
  for (const Stream &stream : streams_)
    g_object_unref (stream.input);
  g_clear_error (&error_);
  g_object_unref (file_);
}

GError *
Source::TakeError ()
{
  return static_cast<GError *> (g_steal_pointer (&error_));
}

/* The first one counts. */
Status
Source::Fail (GError *error)
{
  if (error_ == nullptr)
    error_ = error;
  else
    g_error_free (error);
  return Status::IOError (error_->message);
}

Status
Source::FailShort (int64_t position)
{
  return Fail (g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                            "%s: the file has changed: it was %" G_GINT64_FORMAT
                            " bytes, now it ends at byte %" G_GINT64_FORMAT,
                            name_.c_str (), size_, position));
}

Result<int64_t>
Source::ReadStream (Stream *stream, int64_t n, uint8_t *out)
{
  GError *error = nullptr;
  gsize done = 0;

  if (!g_input_stream_read_all (stream->input, out, static_cast<gsize> (n), &done, cancellable_,
                                &error))
    {
      if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        g_prefix_error (&error, "%s: cannot read at byte %" G_GINT64_FORMAT ": ", name_.c_str (),
                        stream->position + static_cast<int64_t> (done));
      return Fail (error);
    }
  stream->position += static_cast<int64_t> (done);
  return static_cast<int64_t> (done);
}

Status
Source::Pass (Stream *stream, int64_t n)
{
  std::vector<uint8_t> passed (static_cast<size_t> (n));
  int64_t from = stream->position;

  ARROW_ASSIGN_OR_RAISE (int64_t done, ReadStream (stream, n, passed.data ()));
  return done < n ? FailShort (from + done) : Status::OK ();
}

/* The stream that stands there, or a little before it; else a new one. */
Result<Source::Stream *>
Source::Find (int64_t position)
{
  for (size_t i = streams_.size (); i-- > 0;)
    {
      int64_t gap = position - streams_[i].position;

      if (gap < 0 || gap > kMaxGap)
        continue;
      std::rotate (streams_.begin () + static_cast<ptrdiff_t> (i),
                   streams_.begin () + static_cast<ptrdiff_t> (i) + 1, streams_.end ());
      if (gap > 0)
        ARROW_RETURN_NOT_OK (Pass (&streams_.back (), gap));
      return &streams_.back ();
    }

  if (streams_.size () == kMaxStreams)
    {
      g_object_unref (streams_.front ().input);
      streams_.erase (streams_.begin ());
    }
  GError *error = nullptr;
  GInputStream *input = dlp_file_open (file_, position, cancellable_, &error);
  if (input == nullptr)
    return Fail (error);
  streams_.push_back ({ input, position });
  return &streams_.back ();
}

Status
Source::Check ()
{
  const char *scheme = g_uri_peek_scheme (dlp_file_get_uri (file_));
  GError *error = nullptr;

  if (size_ < 0 || (scheme != nullptr && strcmp (scheme, "file") != 0))
    return Status::OK ();
  g_autoptr (GInputStream) input = dlp_file_open (file_, 0, cancellable_, &error);
  return input != nullptr ? Status::OK () : Fail (error);
}

Result<int64_t>
Source::ReadAt (int64_t position, int64_t n, void *out)
{
  if (position < 0 || n < 0 || position > size_)
    return Status::Invalid ("bytes from ", position, " on, of a file of ", size_);
  n = std::min (n, size_ - position);
  if (n == 0)
    return 0;
  ARROW_ASSIGN_OR_RAISE (Stream * stream, Find (position));
  ARROW_ASSIGN_OR_RAISE (int64_t done, ReadStream (stream, n, static_cast<uint8_t *> (out)));
  if (done < n)
    return FailShort (position + done);
  return done;
}

/* The size that is asked for may come from the file: no more is allocated than there is. */
Result<std::shared_ptr<Buffer> >
Source::ReadAt (int64_t position, int64_t n)
{
  if (position < 0 || n < 0 || position > size_)
    return Status::Invalid ("bytes from ", position, " on, of a file of ", size_);
  n = std::min (n, size_ - position);
  ARROW_ASSIGN_OR_RAISE (std::unique_ptr<Buffer> buffer, arrow::AllocateBuffer (n, GetPool ()));
  ARROW_RETURN_NOT_OK (ReadAt (position, n, buffer->mutable_data ()).status ());
  return std::shared_ptr<Buffer> (std::move (buffer));
}

Result<int64_t>
Source::ReadOn (int64_t n, void *out)
{
  if (streams_.empty ())
    ARROW_RETURN_NOT_OK (Find (0).status ());
  Stream *stream = &streams_.back ();
  ARROW_ASSIGN_OR_RAISE (int64_t done, ReadStream (stream, n, static_cast<uint8_t *> (out)));
  if (done < n && stream->position < size_)
    return FailShort (stream->position);
  return done;
}

/* ---- parts of it ---- */

Status
Ranges::Add (Source *source, int64_t start, int64_t end)
{
  ARROW_ASSIGN_OR_RAISE (std::shared_ptr<Buffer> bytes, source->ReadAt (start, end - start));
  bytes_ += bytes->size ();
  ranges_.push_back ({ start, std::move (bytes) });
  return Status::OK ();
}

Result<std::shared_ptr<Buffer> >
Ranges::ReadAt (int64_t position, int64_t n)
{
  for (const Range &range : ranges_)
    {
      int64_t end = range.start + range.bytes->size ();

      if (position >= range.start && position < end && n >= 0)
        return arrow::SliceBuffer (range.bytes, position - range.start,
                                   std::min (n, end - position));
    }
  return Status::Invalid ("bytes from ", position, " on, which belong to none of its columns");
}

Result<int64_t>
Ranges::ReadAt (int64_t position, int64_t n, void *out)
{
  ARROW_ASSIGN_OR_RAISE (std::shared_ptr<Buffer> bytes, ReadAt (position, n));
  memcpy (out, bytes->data (), static_cast<size_t> (bytes->size ()));
  return bytes->size ();
}

/* ---- a stream ---- */

Result<int64_t>
SourceStream::Read (int64_t n, void *out)
{
  auto *to = static_cast<uint8_t *> (out);
  int64_t of_head = 0;

  if (position_ < static_cast<int64_t> (head_.size ()))
    {
      of_head = std::min (n, static_cast<int64_t> (head_.size ()) - position_);
      memcpy (to, head_.data () + position_, static_cast<size_t> (of_head));
    }
  int64_t done = 0;
  if (of_head < n)
    {
      ARROW_ASSIGN_OR_RAISE (done, source_->ReadOn (n - of_head, to + of_head));
    }
  position_ += of_head + done;
  return of_head + done;
}

/* The buffer grows as bytes come: where a pipe ends is not known. */
Result<std::shared_ptr<Buffer> >
SourceStream::Read (int64_t n)
{
  int64_t done = 0;

  if (n < 0)
    return Status::Invalid ("a length of ", n, " bytes");
  ARROW_ASSIGN_OR_RAISE (std::unique_ptr<arrow::ResizableBuffer> buffer,
                         arrow::AllocateResizableBuffer (0, GetPool ()));
  for (int64_t size = std::min (n, kFirstBytes); done < size;)
    {
      ARROW_RETURN_NOT_OK (buffer->Resize (size, false));
      ARROW_ASSIGN_OR_RAISE (int64_t got, Read (size - done, buffer->mutable_data () + done));
      done += got;
      if (done < size)
        break;
      size = size > n - size ? n : 2 * size;
    }
  ARROW_RETURN_NOT_OK (buffer->Resize (done, false));
  return std::shared_ptr<Buffer> (std::move (buffer));
}

} // namespace dlp
