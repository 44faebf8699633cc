/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"
#include "dlp-file.h"

G_BEGIN_DECLS

#define DLP_TYPE_SOURCE (dlp_source_get_type ())
/**
 * DlpSource:
 *
 * Base of elements without inputs: has one output pad `out`, and ends by itself when the pipeline
 * is asked to finish: with the next step, which tells whether it had come to its end.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (DlpSource, dlp_source, DLP, SOURCE, DlpElement)

/**
 * DlpSourceClass:
 * @parent_class: the parent class
 * @produce: emits the next record or few
 * @get_epochs: how often it gives what it has
 * @repeat: has it begin again for ever
 * @get_read_ahead: how far its files are read in advance
 * @list: lists the files that are dealt to tasks
 * @take_part: has it give a part of them
 * @get_file: the files that it has, to look at
 *
 * The class of sources, with room for three further virtual functions.
 *
 * Since: 0.1
 */
struct _DlpSourceClass
{
  DlpElementClass parent_class;

  /**
   * DlpSourceClass::produce:
   * @self: a source
   * @out: the output pad
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Emits the next record or few on the output pad; as the step() of #DlpElement.
   *
   * Threads: the element's.
   *
   * Returns: what the step came to
   *
   * Since: 0.1
   */
  DlpStep (*produce) (DlpSource *self, DlpPad *out, GCancellable *cancellable, GError **error);

  /**
   * DlpSourceClass::get_epochs:
   * @self: a source
   *
   * Optional: how often it gives all that it has; the coordinates of its records count the epochs.
   * The default is 1.
   *
   * Threads: the one that builds the pipeline, once it has negotiated; later any.
   *
   * Returns: epochs; 0: for ever
   *
   * Since: 0.2
   */
  guint (*get_epochs) (DlpSource *self);

  /**
   * DlpSourceClass::repeat:
   * @self: a source
   * @error: return location for an error
   *
   * Optional: from now on the source begins again for ever, whatever epochs it was set to. Without
   * this it cannot.
   *
   * Threads: the one that builds the pipeline, once it has negotiated.
   *
   * Returns: %FALSE with an error: it cannot be read again
   *
   * Since: 0.2
   */
  gboolean (*repeat) (DlpSource *self, GError **error);

  /**
   * DlpSourceClass::get_read_ahead:
   * @self: a source of files
   * @files: (inout): how many files behind those that are being read are brought near in advance;
   *   4 unless it is changed
   * @bytes: (inout): how many bytes of them at most, for all sources of the pipeline together;
   *   256 MiB unless it is changed
   * @held: (out): how many of these have to be held in memory, where a scheme cannot bring files
   *   near otherwise; 0 unless it is set
   *
   * Optional: how far the files of the source are read in advance. What is held is also limited
   * by the memory of the pipeline.
   *
   * Threads: the one that builds the pipeline, once it has negotiated; and the reader's.
   *
   * Since: 0.2
   */
  void (*get_read_ahead) (DlpSource *self, guint *files, guint64 *bytes, guint64 *held);

  /**
   * DlpSourceClass::list:
   * @self: a source
   * @error: return location for an error
   *
   * Optional: lists the files of one epoch, in an order that is the same each time, so that a
   * #DlpFanout can deal them to tasks. Without this it cannot.
   *
   * Threads: the one that builds the pipeline, once it has negotiated.
   *
   * Returns: (transfer container) (element-type DlpFile): the files; %NULL with an error: what it
   *   reads cannot be dealt
   *
   * Since: 0.2
   */
  GPtrArray *(*list) (DlpSource *self, GError **error);

  /**
   * DlpSourceClass::take_part:
   * @self: a source
   * @plan: (type filename): a plan of a #DlpFanout
   * @task: the number of a task
   * @error: return location for an error
   *
   * Where there is list(): from now on the source gives only the files that the plan deals to
   * @task, in the order in which it would give them among all; dlp_source_load_part() reads them.
   * It says so by properties, so that the graph of the task says it too.
   *
   * Threads: the one that makes the pipeline.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.2
   */
  gboolean (*take_part) (DlpSource *self, const char *plan, guint task, GError **error);

  /**
   * DlpSourceClass::get_file: (skip)
   * @self: a source
   * @position: from 0
   *
   * Optional, of a source of files: which one it gives at a position of its first epoch, also what
   * list() would refuse; a shard without any gives those of all. By the names and first bytes of
   * all auto-reader chooses a reader; the first records of some are looked at before a run begins,
   * to find what a reader wants and none has.
   *
   * Threads: one at a time, once it has negotiated and before the run.
   *
   * Returns: (transfer none) (nullable): a file; %NULL behind the last one, and in a task of a
   *   #DlpFanout: what it has says nothing of the whole
   *
   * Since: 0.2
   */
  DlpFile *(*get_file) (DlpSource *self, guint64 position);

  /*< private >*/
  gpointer reserved[3];
};

/**
 * dlp_source_get_epochs:
 * @self: a source
 *
 * Gets how often it gives all that it has.
 *
 * Threads: the one that builds the pipeline, once it has negotiated; later any.
 *
 * Returns: epochs; 0: for ever
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_source_get_epochs (DlpSource *self);

/**
 * dlp_source_load_part:
 * @plan: (type filename): a plan of a #DlpFanout
 * @source: the name of a source in it
 * @task: the number of a task
 * @numbers: (out) (transfer full) (element-type guint32): of each file, the number that it has in
 *   the whole list of the source
 * @n_files: (out): how many files there are in the whole list
 * @error: return location for an error
 *
 * Reads which files a plan deals to a task. For the take_part() of sources. Errors:
 * %DLP_STATE_ERROR_CORRUPT, those of reading. Blocks.
 *
 * Threads: any.
 *
 * Returns: (transfer container) (element-type DlpFile): the files, which the array holds; none: the
 *   task has none of this source
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GPtrArray *dlp_source_load_part (const char *plan,
                                 const char *source,
                                 guint task,
                                 GArray **numbers,
                                 guint *n_files,
                                 GError **error);

G_END_DECLS
