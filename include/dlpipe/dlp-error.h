/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/* Errors found in a graph before anything runs. The message holds a caret line where there is text.
 */
#define DLP_GRAPH_ERROR (dlp_graph_error_quark ())
typedef enum
{
  DLP_GRAPH_ERROR_SYNTAX,
  DLP_GRAPH_ERROR_UNKNOWN_ELEMENT,
  DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
  DLP_GRAPH_ERROR_VALUE,
  DLP_GRAPH_ERROR_LINK,
  DLP_GRAPH_ERROR_TYPE,
} DlpGraphError;

/* Errors of a state folder, a checkpoint or an output that is in the way. */
#define DLP_STATE_ERROR (dlp_state_error_quark ())
typedef enum
{
  DLP_STATE_ERROR_CORRUPT,        /* no generation can be read */
  DLP_STATE_ERROR_CHANGED,        /* something fixed differs from what was recorded */
  DLP_STATE_ERROR_LOCKED,         /* another run holds the folder */
  DLP_STATE_ERROR_FOREIGN_OUTPUT, /* the location holds another run's output */
  DLP_STATE_ERROR_FENCED,         /* a newer attempt has taken over */
  DLP_STATE_ERROR_VERSION,        /* written by a version that this one cannot read */
} DlpStateError;

/* Errors of the data that are read or written. */
#define DLP_DATA_ERROR (dlp_data_error_quark ())
typedef enum
{
  DLP_DATA_ERROR_BAD_RECORD, /* a record, and skipping was not allowed */
  DLP_DATA_ERROR_BAD_RATIO,  /* too many bad records */
  DLP_DATA_ERROR_DAMAGED,    /* a container is cut or corrupt */
  DLP_DATA_ERROR_CHANGED,    /* an input file is not the one that was read before */
  DLP_DATA_ERROR_RANGE,      /* a value does not fit the output format */
  DLP_DATA_ERROR_NO_INPUT,   /* an empty glob, a missing file */
} DlpDataError;

/* Errors of running. */
#define DLP_PIPELINE_ERROR (dlp_pipeline_error_quark ())
typedef enum
{
  DLP_PIPELINE_ERROR_FORKED,   /* used in a child of fork() */
  DLP_PIPELINE_ERROR_STATE,    /* a pipeline runs once; a call at the wrong time */
  DLP_PIPELINE_ERROR_STOPPED,  /* ended by stop, resumable */
  DLP_PIPELINE_ERROR_ABORTED,  /* ended by abort */
  DLP_PIPELINE_ERROR_INTERNAL, /* an element broke its contract */
} DlpPipelineError;

/* For messages: (transfer none) (nullable): the entry of @candidates (NULL-terminated, nullable)
 * that @name most likely meant; NULL: none is near enough. '-' and '_', and upper and lower case,
 * count as nearly the same. Any thread. */
DLP_API const char *dlp_suggest (const char *name, const char *const *candidates);

DLP_API GQuark dlp_graph_error_quark (void);
DLP_API GQuark dlp_state_error_quark (void);
DLP_API GQuark dlp_data_error_quark (void);
DLP_API GQuark dlp_pipeline_error_quark (void);

G_END_DECLS
