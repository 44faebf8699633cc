/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

#define DLP_TYPE_STAGES (dlp_stages_get_type ())
/**
 * DlpStages:
 *
 * An element that delivers its inputs one after another, each of them a stage of a curriculum, such
 * as the element `stages`. What feeds its input number k belongs to stage k: see
 * dlp_element_get_stage() and dlp_element_get_ordinal().
 *
 * Whether it does so is asked for from the place in the order of records that it has reached, which
 * is ahead of what the end of the pipeline has consumed by what is queued in between.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
G_DECLARE_INTERFACE (DlpStages, dlp_stages, DLP, STAGES, DlpElement)

/**
 * DlpStagesInterface:
 * @parent_iface: the parent interface
 * @advance: leaves a stage
 * @get_stage: the stage it is in
 *
 * What such an element can be asked for.
 *
 * Since: 0.2
 */
struct _DlpStagesInterface
{
  GTypeInterface parent_iface;

  /**
   * DlpStagesInterface::advance:
   * @self: an element
   * @at: (inout): the place behind which the stage is to be left; %G_MAXUINT64: behind what was
   *   passed on; set to that
   * @error: return location for an error
   *
   * See dlp_stages_advance() and dlp_stages_advance_at().
   *
   * Threads: any.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.2
   */
  gboolean (*advance) (DlpStages *self, guint64 *at, GError **error);

  /**
   * DlpStagesInterface::get_stage:
   * @self: an element
   *
   * See dlp_stages_get_stage().
   *
   * Threads: any.
   *
   * Returns: the number of the stage
   *
   * Since: 0.2
   */
  guint (*get_stage) (DlpStages *self);

  /*< private >*/
  gpointer reserved[6];
};

/**
 * dlp_stages_advance:
 * @self: an element
 * @at: (out) (optional): how many records it has passed on, of all stages; or batches, where they
 *   are made before it
 * @error: return location for an error
 *
 * Leaves the stage: at the next border between training batches, where an element behind it makes
 * some, else before the next record. What it has passed on by then is still delivered. The last
 * stage left, the stream ends. Asked for again before the stage is left, it does no more; and where
 * it has passed on nothing of the stage yet, what is left is the stage before.
 *
 * The place is part of every state that is saved from then on: a run that goes on from one leaves
 * the stage at the same place. A run that goes on from an older state does not know of it.
 *
 * Each rank of a job reads on its own, and one is further than another: give the place that one of
 * them got, plus what is queued on the furthest, to dlp_stages_advance_at() on all of them.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_PIPELINE_ERROR_STATE: the pipeline is not prepared yet, or every stage
 *   is over
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_stages_advance (DlpStages *self, guint64 *at, GError **error);

/**
 * dlp_stages_advance_at:
 * @self: an element
 * @at: records of all stages, from the beginning of the run; or batches, where they are made before
 *   it
 * @error: return location for an error
 *
 * As dlp_stages_advance(), behind a given record, so that several ranks leave a stage at the same
 * place: the stage that has this record is left at the next border; nothing is, where its input
 * ends before that. Several places may be given ahead.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_PIPELINE_ERROR_STATE: also where it has passed on more already
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_stages_advance_at (DlpStages *self, guint64 at, GError **error);

/**
 * dlp_stages_get_stage:
 * @self: an element
 *
 * Gets the stage from which records are taken now; the number of stages, where all are over.
 *
 * Threads: any.
 *
 * Returns: the number of the stage, from 0
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_stages_get_stage (DlpStages *self);

G_END_DECLS
