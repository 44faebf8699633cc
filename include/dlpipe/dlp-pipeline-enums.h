/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * DlpRunnerKind:
 * @DLP_RUNNER_AUTO: threads, or the pool when there are many elements
 * @DLP_RUNNER_THREADS: a thread an element
 * @DLP_RUNNER_POOL: a few threads for all of them
 * @DLP_RUNNER_SEQUENTIAL: everything on one thread
 *
 * How elements get their turns. What comes out does not depend on it.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_RUNNER_AUTO,
  DLP_RUNNER_THREADS,
  DLP_RUNNER_POOL,
  DLP_RUNNER_SEQUENTIAL,
} DlpRunnerKind;

/**
 * DlpPipelineStatus:
 * @DLP_PIPELINE_NEW: being put together
 * @DLP_PIPELINE_READY: built, or restored
 * @DLP_PIPELINE_RUNNING: runs
 * @DLP_PIPELINE_PAUSED: rests between two steps
 * @DLP_PIPELINE_FINISHED: complete
 * @DLP_PIPELINE_STOPPED: ended by stop, resumable
 * @DLP_PIPELINE_FAILED: ended by an error
 * @DLP_PIPELINE_ABORTED: ended by abort
 *
 * Where in its life a pipeline is.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_PIPELINE_NEW,
  DLP_PIPELINE_READY,
  DLP_PIPELINE_RUNNING,
  DLP_PIPELINE_PAUSED,
  DLP_PIPELINE_FINISHED,
  DLP_PIPELINE_STOPPED,
  DLP_PIPELINE_FAILED,
  DLP_PIPELINE_ABORTED,
} DlpPipelineStatus;

/**
 * DlpStallAction:
 * @DLP_STALL_ACTION_REPORT: a warning says which element hangs, and the run goes on
 * @DLP_STALL_ACTION_FAIL: the run fails with %DLP_PIPELINE_ERROR_STALLED
 *
 * What happens where a run stalls: where nothing has moved for #DlpPipeline:stall-timeout. A pause
 * is no stall, nor is a wait that an element has declared by dlp_element_set_status(), nor that of
 * those that wait for it in turn.
 *
 * Since: 0.2
 */
typedef enum
{
  DLP_STALL_ACTION_REPORT,
  DLP_STALL_ACTION_FAIL,
} DlpStallAction;

#define DLP_TYPE_RUNNER_KIND (dlp_runner_kind_get_type ())
#define DLP_TYPE_PIPELINE_STATUS (dlp_pipeline_status_get_type ())
#define DLP_TYPE_STALL_ACTION (dlp_stall_action_get_type ())
DLP_AVAILABLE_IN_0_1
GType dlp_runner_kind_get_type (void);
DLP_AVAILABLE_IN_0_1
GType dlp_pipeline_status_get_type (void);
DLP_AVAILABLE_IN_0_2
GType dlp_stall_action_get_type (void);

G_END_DECLS
