/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_GRAPH_ERROR (dlp_graph_error_quark ())
/**
 * DlpGraphError:
 * @DLP_GRAPH_ERROR_SYNTAX: the text is not a graph
 * @DLP_GRAPH_ERROR_UNKNOWN_ELEMENT: no element has this name
 * @DLP_GRAPH_ERROR_UNKNOWN_PROPERTY: the element has no such property
 * @DLP_GRAPH_ERROR_VALUE: a value that the property does not allow
 * @DLP_GRAPH_ERROR_LINK: pads that cannot be linked so
 * @DLP_GRAPH_ERROR_TYPE: what a link carries does not fit the input
 *
 * Errors found in a graph before anything runs. The message holds a caret line where there is text.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_GRAPH_ERROR_SYNTAX,
  DLP_GRAPH_ERROR_UNKNOWN_ELEMENT,
  DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
  DLP_GRAPH_ERROR_VALUE,
  DLP_GRAPH_ERROR_LINK,
  DLP_GRAPH_ERROR_TYPE,
} DlpGraphError;

#define DLP_TYPE_GRAPH_ERROR (dlp_graph_error_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_graph_error_get_type (void) G_GNUC_CONST;

#define DLP_STATE_ERROR (dlp_state_error_quark ())
/**
 * DlpStateError:
 * @DLP_STATE_ERROR_CORRUPT: no generation can be read
 * @DLP_STATE_ERROR_CHANGED: something fixed differs from what was recorded
 * @DLP_STATE_ERROR_LOCKED: another run holds the folder
 * @DLP_STATE_ERROR_FOREIGN_OUTPUT: the location holds another run's output
 * @DLP_STATE_ERROR_FENCED: a newer attempt has taken over
 * @DLP_STATE_ERROR_VERSION: written by a version that this one cannot read
 *
 * Errors of a state folder, a checkpoint or an output that is in the way.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_STATE_ERROR_CORRUPT,
  DLP_STATE_ERROR_CHANGED,
  DLP_STATE_ERROR_LOCKED,
  DLP_STATE_ERROR_FOREIGN_OUTPUT,
  DLP_STATE_ERROR_FENCED,
  DLP_STATE_ERROR_VERSION,
} DlpStateError;

#define DLP_TYPE_STATE_ERROR (dlp_state_error_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_state_error_get_type (void) G_GNUC_CONST;

#define DLP_DATA_ERROR (dlp_data_error_quark ())
/**
 * DlpDataError:
 * @DLP_DATA_ERROR_BAD_RECORD: a record, and skipping was not allowed
 * @DLP_DATA_ERROR_BAD_RATIO: too many bad records
 * @DLP_DATA_ERROR_DAMAGED: a container is cut or corrupt
 * @DLP_DATA_ERROR_CHANGED: an input file is not the one that was read before
 * @DLP_DATA_ERROR_RANGE: a value does not fit the output format
 * @DLP_DATA_ERROR_NO_INPUT: an empty glob, a missing file
 *
 * Errors of the data that are read or written.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_DATA_ERROR_BAD_RECORD,
  DLP_DATA_ERROR_BAD_RATIO,
  DLP_DATA_ERROR_DAMAGED,
  DLP_DATA_ERROR_CHANGED,
  DLP_DATA_ERROR_RANGE,
  DLP_DATA_ERROR_NO_INPUT,
} DlpDataError;

#define DLP_TYPE_DATA_ERROR (dlp_data_error_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_data_error_get_type (void) G_GNUC_CONST;

#define DLP_PIPELINE_ERROR (dlp_pipeline_error_quark ())
/**
 * DlpPipelineError:
 * @DLP_PIPELINE_ERROR_FORKED: used in a child of fork()
 * @DLP_PIPELINE_ERROR_STATE: a pipeline runs once; a call at the wrong time
 * @DLP_PIPELINE_ERROR_STOPPED: ended by stop, resumable
 * @DLP_PIPELINE_ERROR_ABORTED: ended by abort
 * @DLP_PIPELINE_ERROR_INTERNAL: an element broke its contract
 * @DLP_PIPELINE_ERROR_STALLED: nothing moved for long, and #DlpPipeline:stall-action is to fail.
 *   Since: 0.2
 *
 * Errors of running.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_PIPELINE_ERROR_FORKED,
  DLP_PIPELINE_ERROR_STATE,
  DLP_PIPELINE_ERROR_STOPPED,
  DLP_PIPELINE_ERROR_ABORTED,
  DLP_PIPELINE_ERROR_INTERNAL,
  DLP_PIPELINE_ERROR_STALLED,
} DlpPipelineError;

#define DLP_TYPE_PIPELINE_ERROR (dlp_pipeline_error_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_pipeline_error_get_type (void) G_GNUC_CONST;

/**
 * dlp_suggest:
 * @name: what was typed
 * @candidates: (nullable) (array zero-terminated=1): what there is
 *
 * For messages: finds the entry of @candidates that @name most likely meant. '-' and '_', and upper
 * and lower case, count as nearly the same.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable): an entry of @candidates; %NULL: none is near enough
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_suggest (const char *name, const char *const *candidates);

/**
 * dlp_graph_error_quark:
 *
 * Gets the domain of #DlpGraphError.
 *
 * Threads: any.
 *
 * Returns: the domain
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GQuark dlp_graph_error_quark (void);

/**
 * dlp_state_error_quark:
 *
 * Gets the domain of #DlpStateError.
 *
 * Threads: any.
 *
 * Returns: the domain
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GQuark dlp_state_error_quark (void);

/**
 * dlp_data_error_quark:
 *
 * Gets the domain of #DlpDataError.
 *
 * Threads: any.
 *
 * Returns: the domain
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GQuark dlp_data_error_quark (void);

/**
 * dlp_pipeline_error_quark:
 *
 * Gets the domain of #DlpPipelineError.
 *
 * Threads: any.
 *
 * Returns: the domain
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GQuark dlp_pipeline_error_quark (void);

G_END_DECLS
