/* SPDX-License-Identifier: MIT */

/* The border to C: no exception passes it, and a status becomes a GError. */

#include "arrow-table.hh"

#include <algorithm>
#include <exception>
#include <utility>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <dlpipe/dlp-error.h>

using arrow::Status;

struct _ArrowTable
{
  std::shared_ptr<dlp::Source> source;
  std::unique_ptr<dlp::Table> table; /* NULL: the file has no byte */
};

struct _ArrowTablePiece
{
  std::unique_ptr<dlp::Piece> piece;
};

namespace
{

/* Rows that are decoded at once: few enough to stay in the processor's cache until they are taken,
 * and of what a piece may have no more than that part. */
constexpr int64_t kParts = 8;
constexpr int64_t kMaxRows = 4096;

/* Arrow's own functions give a status, but those below and the C++ library may throw. */
template <typename Function>
Status
Guard (Function function)
{
  try
    {
      return function ();
    }
  catch (const std::bad_alloc &)
    {
      return Status::OutOfMemory ("there is no memory");
    }
  catch (const std::exception &exception)
    {
      return Status::Invalid (exception.what ());
    }
  catch (...)
    {
      return Status::UnknownError ("an unknown exception");
    }
}

/* In one line. */
std::string
Describe (const Status &status)
{
  std::string message = status.message ();

  std::replace (message.begin (), message.end (), '\n', ' ');
  while (!message.empty () && message.back () == ' ')
    message.pop_back ();
  if (status.IsOutOfMemory ())
    message += " (max-decoded-bytes says how many)";
  return message;
}

/* TRUE if it is none. A file that could not be read is not damaged. */
gboolean
Report (dlp::Source *source, const Status &status, GError **error)
{
  GError *cause = source->TakeError ();

  if (cause != nullptr)
    {
      g_propagate_error (error, cause);
      return FALSE;
    }
  if (status.ok ())
    return TRUE;
  if (status.IsNotImplemented ())
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "%s: %s", source->name ().c_str (),
                 Describe (status).c_str ());
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "%s: %s", source->name ().c_str (),
                 Describe (status).c_str ());
  return FALSE;
}

class RowsPiece final : public dlp::Piece
{
public:
  RowsPiece (dlp::Rows rows, std::shared_ptr<dlp::LimitedPool> pool)
      : pool_ (std::move (pool)), rows_ (std::move (rows))
  {
  }

  arrow::Result<dlp::Rows>
  Next () override
  {
    return std::exchange (rows_, dlp::Rows{});
  }

private:
  std::shared_ptr<dlp::LimitedPool> pool_; /* before the rows, which are freed first */
  dlp::Rows rows_;
};

} // namespace

namespace dlp
{

static int64_t
MeasureArray (const arrow::ArrayData &array)
{
  int64_t bytes = 0;

  for (const std::shared_ptr<arrow::Buffer> &buffer : array.buffers)
    bytes += buffer != nullptr ? buffer->size () : 0;
  for (const std::shared_ptr<arrow::ArrayData> &child : array.child_data)
    bytes += MeasureArray (*child);
  if (array.dictionary != nullptr && array.dictionary->length > 0)
    {
      double a_value = static_cast<double> (MeasureArray (*array.dictionary)) /
                       static_cast<double> (array.dictionary->length);

      bytes += static_cast<int64_t> (a_value * static_cast<double> (array.length));
    }
  return bytes;
}

int64_t
MeasureValues (const arrow::RecordBatch &batch)
{
  int64_t bytes = 0;

  for (int column = 0; column < batch.num_columns (); column++)
    bytes += MeasureArray (*batch.column_data (column));
  return bytes;
}

int64_t
ChooseRows (int64_t row_bytes, int64_t max_bytes)
{
  return std::clamp<int64_t> (
      std::min (max_bytes / kParts, kDecodedBytes) / std::max<int64_t> (row_bytes, 1), 1, kMaxRows);
}

std::unique_ptr<Piece>
MakeRowsPiece (Rows rows, std::shared_ptr<LimitedPool> pool)
{
  return std::make_unique<RowsPiece> (std::move (rows), std::move (pool));
}

static void
FreePiece (gpointer data)
{
  arrow_table_piece_free (static_cast<ArrowTablePiece *> (data));
}

void
SetPiece (DlpReaderPiece *piece,
          std::unique_ptr<Piece> data,
          int64_t rows,
          int64_t bytes,
          int64_t position)
{
  piece->n_rows = static_cast<guint64> (rows);
  piece->bytes = static_cast<gsize> (std::max<int64_t> (bytes, 0));
  piece->position = static_cast<guint64> (std::max<int64_t> (position, 0));
  piece->data = new ArrowTablePiece{ std::move (data) };
  piece->free_func = FreePiece;
}

} // namespace dlp

/* ---- what C calls ---- */

static Status
open_table (ArrowTable *self, ArrowTableFormat format, guint64 max_bytes)
{
  auto limit = static_cast<int64_t> (std::min<guint64> (max_bytes, G_MAXINT64));

  if (self->source->size () == 0)
    return Status::OK ();
  ARROW_ASSIGN_OR_RAISE (self->table, format == ARROW_TABLE_PARQUET ?
                                          dlp::OpenParquet (self->source, limit) :
                                          dlp::OpenIpc (self->source, limit));
  return Status::OK ();
}

ArrowTable *
arrow_table_open (ArrowTableFormat format,
                  DlpFile *file,
                  guint64 max_bytes,
                  GCancellable *cancellable,
                  GError **error) noexcept
{
  auto *self = new ArrowTable{ std::make_shared<dlp::Source> (file), nullptr };

  self->source->SetCancellable (cancellable);
  if (Report (self->source.get (), Guard ([&] { return open_table (self, format, max_bytes); }),
              error))
    return self;
  arrow_table_free (self);
  return nullptr;
}

void
arrow_table_free (ArrowTable *self) noexcept
{
  delete self;
}

gboolean
arrow_table_is_empty (ArrowTable *self) noexcept
{
  return self->table == nullptr;
}

gboolean
arrow_table_get_schema (ArrowTable *self, struct ArrowSchema *schema, GError **error) noexcept
{
  auto get = [&] () -> Status {
    ARROW_ASSIGN_OR_RAISE (std::shared_ptr<arrow::Schema> all, self->table->GetSchema ());
    return arrow::ExportSchema (*all, schema);
  };

  return Report (self->source.get (), Guard (get), error);
}

gboolean
arrow_table_select (ArrowTable *self,
                    const ArrowTablePath *paths,
                    guint n_paths,
                    guint64 row,
                    GCancellable *cancellable,
                    GError **error) noexcept
{
  auto select = [&] () -> Status {
    std::vector<dlp::Path> all;

    for (guint i = 0; i < n_paths; i++)
      all.emplace_back (paths[i].steps, paths[i].steps + paths[i].n_steps);
    return self->table->Select (all, static_cast<int64_t> (row));
  };

  self->source->SetCancellable (cancellable);
  return Report (self->source.get (), Guard (select), error);
}

gboolean
arrow_table_read (ArrowTable *self,
                  gsize max_bytes,
                  DlpReaderPiece *piece,
                  GCancellable *cancellable,
                  GError **error) noexcept
{
  if (self->table == nullptr)
    return TRUE;
  self->source->SetCancellable (cancellable);
  return Report (
      self->source.get (),
      Guard ([&] { return self->table->Read (static_cast<int64_t> (max_bytes), piece); }), error);
}

gboolean
arrow_table_piece_next (ArrowTablePiece *self, ArrowTableRows *out, char **message) noexcept
{
  auto next = [&] () -> Status {
    ARROW_ASSIGN_OR_RAISE (dlp::Rows rows, self->piece->Next ());
    out->start = rows.start;
    out->end = rows.end;
    return rows.batch != nullptr ? arrow::ExportRecordBatch (*rows.batch, &out->batch) :
                                   Status::OK ();
  };

  out->batch.release = nullptr;
  Status status = Guard (next);
  if (status.ok ())
    return TRUE;
  *message = g_strdup (Describe (status).c_str ());
  return FALSE;
}

void
arrow_table_piece_free (ArrowTablePiece *self) noexcept
{
  delete self;
}
