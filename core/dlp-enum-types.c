/* SPDX-License-Identifier: MIT */

/* The types of the public enumerations that no other file registers. */

#include <dlpipe/dlp-element.h>
#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-json.h>

G_DEFINE_ENUM_TYPE (DlpGraphError,
                    dlp_graph_error,
                    G_DEFINE_ENUM_VALUE (DLP_GRAPH_ERROR_SYNTAX, "syntax"),
                    G_DEFINE_ENUM_VALUE (DLP_GRAPH_ERROR_UNKNOWN_ELEMENT, "unknown-element"),
                    G_DEFINE_ENUM_VALUE (DLP_GRAPH_ERROR_UNKNOWN_PROPERTY, "unknown-property"),
                    G_DEFINE_ENUM_VALUE (DLP_GRAPH_ERROR_VALUE, "value"),
                    G_DEFINE_ENUM_VALUE (DLP_GRAPH_ERROR_LINK, "link"),
                    G_DEFINE_ENUM_VALUE (DLP_GRAPH_ERROR_TYPE, "type"))

G_DEFINE_ENUM_TYPE (DlpStateError,
                    dlp_state_error,
                    G_DEFINE_ENUM_VALUE (DLP_STATE_ERROR_CORRUPT, "corrupt"),
                    G_DEFINE_ENUM_VALUE (DLP_STATE_ERROR_CHANGED, "changed"),
                    G_DEFINE_ENUM_VALUE (DLP_STATE_ERROR_LOCKED, "locked"),
                    G_DEFINE_ENUM_VALUE (DLP_STATE_ERROR_FOREIGN_OUTPUT, "foreign-output"),
                    G_DEFINE_ENUM_VALUE (DLP_STATE_ERROR_FENCED, "fenced"),
                    G_DEFINE_ENUM_VALUE (DLP_STATE_ERROR_VERSION, "version"))

G_DEFINE_ENUM_TYPE (DlpDataError,
                    dlp_data_error,
                    G_DEFINE_ENUM_VALUE (DLP_DATA_ERROR_BAD_RECORD, "bad-record"),
                    G_DEFINE_ENUM_VALUE (DLP_DATA_ERROR_BAD_RATIO, "bad-ratio"),
                    G_DEFINE_ENUM_VALUE (DLP_DATA_ERROR_DAMAGED, "damaged"),
                    G_DEFINE_ENUM_VALUE (DLP_DATA_ERROR_CHANGED, "changed"),
                    G_DEFINE_ENUM_VALUE (DLP_DATA_ERROR_RANGE, "range"),
                    G_DEFINE_ENUM_VALUE (DLP_DATA_ERROR_NO_INPUT, "no-input"))

G_DEFINE_ENUM_TYPE (DlpPipelineError,
                    dlp_pipeline_error,
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_ERROR_FORKED, "forked"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_ERROR_STATE, "state"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_ERROR_STOPPED, "stopped"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_ERROR_ABORTED, "aborted"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_ERROR_INTERNAL, "internal"),
                    G_DEFINE_ENUM_VALUE (DLP_PIPELINE_ERROR_STALLED, "stalled"))

G_DEFINE_ENUM_TYPE (DlpJsonError,
                    dlp_json_error,
                    G_DEFINE_ENUM_VALUE (DLP_JSON_ERROR_SYNTAX, "syntax"),
                    G_DEFINE_ENUM_VALUE (DLP_JSON_ERROR_DEPTH, "depth"))

G_DEFINE_ENUM_TYPE (DlpStep,
                    dlp_step,
                    G_DEFINE_ENUM_VALUE (DLP_STEP_ERROR, "error"),
                    G_DEFINE_ENUM_VALUE (DLP_STEP_MORE, "more"),
                    G_DEFINE_ENUM_VALUE (DLP_STEP_WANT_INPUT, "want-input"),
                    G_DEFINE_ENUM_VALUE (DLP_STEP_WANT_WORK, "want-work"),
                    G_DEFINE_ENUM_VALUE (DLP_STEP_WANT_INPUT_OR_WORK, "want-input-or-work"),
                    G_DEFINE_ENUM_VALUE (DLP_STEP_END, "end"))

G_DEFINE_FLAGS_TYPE (DlpElementFlags,
                     dlp_element_flags,
                     G_DEFINE_ENUM_VALUE (DLP_ELEMENT_NONE, "none"),
                     G_DEFINE_ENUM_VALUE (DLP_ELEMENT_ONE_TO_ONE, "one-to-one"),
                     G_DEFINE_ENUM_VALUE (DLP_ELEMENT_STATELESS, "stateless"),
                     G_DEFINE_ENUM_VALUE (DLP_ELEMENT_LARGE, "large"),
                     G_DEFINE_ENUM_VALUE (DLP_ELEMENT_LOG, "log"),
                     G_DEFINE_ENUM_VALUE (DLP_ELEMENT_KEEPS_ALL, "keeps-all"),
                     G_DEFINE_ENUM_VALUE (DLP_ELEMENT_REORDERS, "reorders"),
                     G_DEFINE_ENUM_VALUE (DLP_ELEMENT_FIRST_ONES, "first-ones"))

G_DEFINE_ENUM_TYPE (DlpPadDirection,
                    dlp_pad_direction,
                    G_DEFINE_ENUM_VALUE (DLP_PAD_INPUT, "input"),
                    G_DEFINE_ENUM_VALUE (DLP_PAD_OUTPUT, "output"))

G_DEFINE_ENUM_TYPE (DlpSchemaKind,
                    dlp_schema_kind,
                    G_DEFINE_ENUM_VALUE (DLP_SCHEMA_RECORDS, "records"),
                    G_DEFINE_ENUM_VALUE (DLP_SCHEMA_FILES, "files"),
                    G_DEFINE_ENUM_VALUE (DLP_SCHEMA_BATCHES, "batches"))

G_DEFINE_ENUM_TYPE (DlpFieldType,
                    dlp_field_type,
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_STRING, "string"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_BINARY, "binary"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_BOOLEAN, "boolean"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_INT64, "int64"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_UINT64, "uint64"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_DOUBLE, "double"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_LIST_UINT16, "list-uint16"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_LIST_UINT32, "list-uint32"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_LIST_INT32, "list-int32"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_LIST_INT64, "list-int64"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_LIST_FLOAT, "list-float"),
                    G_DEFINE_ENUM_VALUE (DLP_FIELD_LIST_DOUBLE, "list-double"))
