/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

#define DLP_TYPE_TRANSFORM_OUTPUT (dlp_transform_output_get_type ())
/**
 * DlpTransformOutput:
 *
 * What process() makes of one record batch: record batches for each output pad, and counters. Only
 * to be used within process().
 *
 * Since: 0.1
 */
typedef struct _DlpTransformOutput DlpTransformOutput;

/**
 * DLP_TRANSFORM_MAX_COUNTERS:
 *
 * How many counters a transform may have.
 *
 * Since: 0.1
 */
#define DLP_TRANSFORM_MAX_COUNTERS 16

/**
 * DLP_TRANSFORM_MAX_SOURCE_COUNTERS:
 *
 * How many counters a transform may have for each source.
 *
 * Since: 0.2
 */
#define DLP_TRANSFORM_MAX_SOURCE_COUNTERS 6

#define DLP_TYPE_TRANSFORM (dlp_transform_get_type ())
/**
 * DlpTransform:
 *
 * Base of stateless elements with one input `in` and one output `out` (a subclass may add further
 * output pads): record batches are worked on in parallel, on the pipeline's pool, and leave in
 * order, within a bounded window. The state is the counters that the class names: sums of what
 * process() added, of the batches that have left.
 *
 * Unless negotiate() is overridden, `out` has the schema of `in`.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (DlpTransform, dlp_transform, DLP, TRANSFORM, DlpElement)

/**
 * DlpTransformClass:
 * @parent_class: the parent class
 * @counters: (array zero-terminated=1): names of its counters, which are the keys of its state
 * @worker_new: what a worker keeps
 * @worker_free: frees that
 * @process: works on a record batch
 * @worker_memory: what the context of one worker could make use of, such as for a cache, in bytes
 * @source_counters: (array zero-terminated=1) (nullable): names of what it counts for each source,
 *   at most %DLP_TRANSFORM_MAX_SOURCE_COUNTERS; the key `by-source` of its state has them
 *
 * The class of transforms, with room for six further virtual functions.
 *
 * Since: 0.1
 */
struct _DlpTransformClass
{
  DlpElementClass parent_class;

  const char *const *counters;

  /**
   * DlpTransformClass::worker_new:
   * @self: a transform
   *
   * Optional: makes what a worker keeps; called once a worker, before its first process(), on that
   * worker's thread.
   *
   * Threads: a worker.
   *
   * Returns: (nullable): something, freed by worker_free()
   *
   * Since: 0.1
   */
  gpointer (*worker_new) (DlpTransform *self);
  /**
   * DlpTransformClass::worker_free:
   * @self: a transform
   * @worker: (nullable): it
   *
   * Optional: frees what worker_new() gave.
   *
   * Threads: any.
   *
   * Since: 0.1
   */
  void (*worker_free) (DlpTransform *self, gpointer worker);
  /**
   * DlpTransformClass::process:
   * @self: a transform
   * @worker: (nullable): what worker_new() gave
   * @batch: a record batch
   * @first: the position of its first record on the input
   * @output: what it makes of it
   * @error: return location for an error
   *
   * Works on a record batch, which has at least one record.
   *
   * Threads: a worker; several at once, for different record batches.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*process) (DlpTransform *self,
                       gpointer worker,
                       DlpRecordBatch *batch,
                       guint64 first,
                       DlpTransformOutput *output,
                       GError **error);
  gsize worker_memory;
  const char *const *source_counters;

  /*< private >*/
  gpointer reserved[6];
};

/**
 * dlp_transform_get_worker_memory:
 * @self: a transform
 *
 * Gets what the context of one worker may hold: at most its class's worker_memory, less where the
 * memory budget is short.
 *
 * Threads: a worker, in worker_new() and process().
 *
 * Returns: bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gsize dlp_transform_get_worker_memory (DlpTransform *self);

DLP_AVAILABLE_IN_0_2
GType dlp_transform_output_get_type (void) G_GNUC_CONST;

/**
 * dlp_transform_output_get_builder:
 * @self: what is made of a record batch
 * @pad: the number of the output pad (0: `out`)
 *
 * Gets the builder for an output pad; end each record with dlp_transform_output_end_record().
 *
 * Threads: a worker, in process().
 *
 * Returns: (transfer none): a builder
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatchBuilder *dlp_transform_output_get_builder (DlpTransformOutput *self, guint pad);

/**
 * dlp_transform_output_end_record:
 * @self: what is made of a record batch
 * @pad: the number of the output pad
 * @coordinate: where the record comes from
 *
 * Ends the record whose fields were appended to the builder of an output pad.
 *
 * Threads: a worker, in process().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_transform_output_end_record (DlpTransformOutput *self,
                                      guint pad,
                                      const DlpCoordinate *coordinate);

/**
 * dlp_transform_output_push:
 * @self: what is made of a record batch
 * @pad: the number of the output pad
 * @batch: (transfer full): a record batch
 *
 * Pushes a whole batch, such as the input itself.
 *
 * Threads: a worker, in process().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_transform_output_push (DlpTransformOutput *self, guint pad, DlpRecordBatch *batch);

/**
 * dlp_transform_output_count:
 * @self: what is made of a record batch
 * @counter: the number of the counter
 * @n: how much
 *
 * Adds to a counter of the class.
 *
 * Threads: a worker, in process().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_transform_output_count (DlpTransformOutput *self, guint counter, guint64 n);

/**
 * dlp_transform_output_count_by_source:
 * @self: what is made of a record batch
 * @coordinate: that of a record
 * @counter: the number of the counter among the class's source_counters
 * @n: how much
 *
 * Adds to a counter of the source that a record comes from.
 *
 * Threads: a worker, in process().
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_transform_output_count_by_source (DlpTransformOutput *self,
                                           const DlpCoordinate *coordinate,
                                           guint counter,
                                           guint64 n);

/**
 * dlp_transform_get_counter:
 * @self: a transform
 * @counter: the number of the counter
 *
 * Gets a counter of the class: the sum over the record batches that have left, of all attempts.
 *
 * Threads: the element's: in step().
 *
 * Returns: the sum
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint64 dlp_transform_get_counter (DlpTransform *self, guint counter);

/**
 * dlp_transform_get_source: (skip)
 * @self: a transform
 * @index: a number from 0 on
 * @first: (out caller-allocates) (optional): a place in the source: stage and source, the others 0
 * @counters: (out caller-allocates) (optional) (array fixed-size=6): its counters
 *
 * Gets what was counted for one of the sources, in the order of stage and source.
 *
 * Threads: the element's: in step().
 *
 * Returns: %FALSE if there are no more
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean
dlp_transform_get_source (DlpTransform *self, guint index, DlpCoordinate *first, guint64 *counters);

/**
 * dlp_transform_class_set_counters:
 * @klass: a class
 * @names: (array zero-terminated=1): names, at most %DLP_TRANSFORM_MAX_COUNTERS
 *
 * Names the counters of the class; in C one sets the field.
 *
 * Threads: the one of the class init.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_transform_class_set_counters (DlpTransformClass *klass, const char *const *names);

/**
 * dlp_transform_class_set_source_counters:
 * @klass: a class
 * @names: (array zero-terminated=1): names, at most %DLP_TRANSFORM_MAX_SOURCE_COUNTERS
 *
 * Names what the class counts for each source; in C one sets the field.
 *
 * Threads: the one of the class init.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_transform_class_set_source_counters (DlpTransformClass *klass, const char *const *names);

G_END_DECLS
