/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-sink.h"

G_BEGIN_DECLS

#define DLP_TYPE_FILE_SINK (dlp_file_sink_get_type ())
/**
 * DlpFileSink:
 *
 * Base of sinks that write one file: it has the property `location`, and does all that makes an
 * output exact and durable. The file is written under an unfinished name, cut back or copied when a
 * run is continued, synced before a checkpoint speaks of it, renamed to `location` when it is
 * complete, with a manifest `LOCATION.manifest.json` beside it. A location that holds another run's
 * output is refused. A subclass says what a record looks like.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
G_DECLARE_DERIVABLE_TYPE (DlpFileSink, dlp_file_sink, DLP, FILE_SINK, DlpSink)

/**
 * DlpFileSink:location:
 *
 * The name of the file.
 *
 * Since: 0.2
 */

/**
 * DlpFileSinkClass:
 * @parent_class: the parent class
 * @format: what the manifest calls the format; a static string
 * @write_begin: writes what stands before the first record
 * @write_rows: writes records
 * @write_end: writes what stands behind the last record
 *
 * The class of sinks that write one file, with room for eight further virtual functions. A subclass
 * that has a state of its own beside the file chains up in save(), describe() and load(), or is
 * better off as a #DlpSink.
 *
 * Since: 0.2
 */
struct _DlpFileSinkClass
{
  DlpSinkClass parent_class;

  const char *format;
  /**
   * DlpFileSinkClass::write_begin:
   * @self: a sink
   * @error: return location for an error
   *
   * (nullable): writes what stands before the first record, such as the names of columns; once a
   * file, also where there are no records.
   *
   * Threads: the element's.
   *
   * Returns: whether it was written
   *
   * Since: 0.2
   */
  gboolean (*write_begin) (DlpFileSink *self, GError **error);
  /**
   * DlpFileSinkClass::write_rows:
   * @self: a sink
   * @batch: a record batch
   * @row: the first row
   * @n: how many
   * @error: return location for an error
   *
   * Writes rows [row, row + n) by dlp_file_sink_write().
   *
   * Threads: the element's.
   *
   * Returns: whether they were written
   *
   * Since: 0.2
   */
  gboolean (
      *write_rows) (DlpFileSink *self, DlpRecordBatch *batch, guint row, guint n, GError **error);
  /**
   * DlpFileSinkClass::write_end:
   * @self: a sink
   * @error: return location for an error
   *
   * (nullable): writes what stands behind the last record.
   *
   * Threads: the element's.
   *
   * Returns: whether it was written
   *
   * Since: 0.2
   */
  gboolean (*write_end) (DlpFileSink *self, GError **error);

  /*< private >*/
  gpointer reserved[8];
};

/**
 * dlp_file_sink_write:
 * @self: a sink
 * @data: (array length=size) (element-type guint8): bytes
 * @size: how many
 * @error: return location for an error
 *
 * Appends to the file; buffered. The message of a full disk names the file and the bytes wanted.
 *
 * Threads: the element's, in write_begin(), write_rows() and write_end() alone.
 *
 * Returns: whether it was taken
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_file_sink_write (DlpFileSink *self, gconstpointer data, gsize size, GError **error);

G_END_DECLS
