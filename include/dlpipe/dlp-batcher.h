/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/**
 * DlpBatchRule:
 * @size: records of a batch; 0: batches come in, and are given out as they are
 * @drop_last: a batch with fewer is dropped
 * @cut_at_epoch: a batch never holds records of two epochs
 * @across_stages: a batch may hold records of two stages, as where a shuffle mingles them
 *
 * How the records of one stage are put into training batches. One of zeros stands for batches that
 * come in; what get_rule() does not set is zero.
 *
 * Since: 0.2
 */
typedef struct
{
  guint64 size;
  gboolean drop_last;
  gboolean cut_at_epoch;
  gboolean across_stages;

  /*< private >*/
  gpointer reserved[6];
} DlpBatchRule;

#define DLP_TYPE_BATCHER (dlp_batcher_get_type ())
/**
 * DlpBatcher:
 *
 * An element that puts records into training batches, such as `batch`. By this an element before it
 * knows where one batch ends and the next begins.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
G_DECLARE_INTERFACE (DlpBatcher, dlp_batcher, DLP, BATCHER, DlpElement)

/**
 * DlpBatcherInterface:
 * @parent_iface: the parent interface
 * @get_rule: how the records of a stage are put into batches
 *
 * What such an element answers. For dlp_checkpoint_skip_batches() its state has `batches` (t: the
 * index that comes next), `skipped-batches` (t: how many before that were skipped) and `skip`
 * (a(ttt): first and last index of what is to be skipped, in order, and how many batches had gone
 * out when it was asked for).
 *
 * Since: 0.2
 */
struct _DlpBatcherInterface
{
  GTypeInterface parent_iface;

  /**
   * DlpBatcherInterface::get_rule:
   * @self: an element
   * @stage: the number of a stage
   * @rule: (out caller-allocates): the rule
   * @error: return location for an error
   *
   * Says how the records of a stage are put into batches. Called when the graph is built, before
   * its own negotiate(); what it answers depends on its properties and its links.
   *
   * Threads: the one that builds the pipeline.
   *
   * Returns: %FALSE with %DLP_GRAPH_ERROR_VALUE
   *
   * Since: 0.2
   */
  gboolean (*get_rule) (DlpBatcher *self, guint stage, DlpBatchRule *rule, GError **error);

  /*< private >*/
  gpointer reserved[6];
};

/**
 * dlp_batcher_get_rule:
 * @self: an element
 * @stage: the number of a stage
 * @rule: (out caller-allocates): the rule
 * @error: return location for an error
 *
 * Gets how the records of a stage are put into batches.
 *
 * Threads: the one that builds the pipeline.
 *
 * Returns: %FALSE with %DLP_GRAPH_ERROR_VALUE
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_batcher_get_rule (DlpBatcher *self, guint stage, DlpBatchRule *rule, GError **error);

/**
 * dlp_element_find_batcher:
 * @self: an element
 *
 * Finds the element behind this one that puts its records into batches: each record that goes out
 * must reach it. So in between there are only elements that give one record for each, or hold it
 * back for a time (%DLP_ELEMENT_ONE_TO_ONE, %DLP_ELEMENT_KEEPS_ALL), and no other branch ends
 * there.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none) (nullable): an element
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpBatcher *dlp_element_find_batcher (DlpElement *self);

G_END_DECLS
