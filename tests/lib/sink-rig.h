/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlpipe.h>

G_BEGIN_DECLS

/* What tests of sinks share: an element "rig-source" whose records are made by a function of their
 * number, and runs of a graph that end, are stopped or die at a given record. Public API only, so
 * the plugin under test is the one that is installed. */

/* Appends the fields of record @n to @builder; the coordinate is that of row @n. */
typedef void (*SinkRigFunc) (DlpRecordBatchBuilder *builder, guint64 n);

/* One for the process; call it again for another source. Takes @schema. */
void sink_rig_set_source (DlpSchema *schema, guint64 n_records, SinkRigFunc func);
/* Read-only properties of the next source: what a tokenizer offers. */
void sink_rig_set_model (const char *name, const char *fingerprint, guint64 vocab_size);

typedef enum
{
  SINK_RIG_RUN,  /* to the end */
  SINK_RIG_STOP, /* stops when the sink has consumed so many records in this attempt */
  SINK_RIG_FAIL, /* the source fails then */
  SINK_RIG_KILL, /* the process ends, as by SIGKILL, when so many were made in this attempt */
} SinkRigEnd;

/* "rig-source ! " and @sink, in the state folder @state (NULL: none). TRUE: complete. */
gboolean sink_rig_run (const char *sink,
                       const char *state,
                       SinkRigEnd end,
                       guint64 n_records,
                       GError **error);
/* (transfer full): the report, as JSON, of a run to the end. */
char *sink_rig_run_for_report (const char *sink, const char *state);
/* The same in a process of its own. TRUE: it ended with 0. */
gboolean sink_rig_run_in_child (const char *sink, const char *state, guint64 kill_at);
/* The same to the end, where no file may be larger than @max_file; FALSE: it failed, and said what
 * of. */
gboolean sink_rig_run_limited (const char *sink, const char *state, guint64 max_file);
/* What `--overwrite` and `--restart` do; for the runs that follow. */
void sink_rig_set_options (gboolean overwrite, gboolean restart);

/* Once, before the first run. */
void sink_rig_catch_warnings (void);
/* (transfer full) (nullable): the last one. */
char *sink_rig_take_warning (void);

/* (transfer full): an empty folder, deleted by sink_rig_remove_folder(). */
char *sink_rig_make_folder (void);
void sink_rig_remove_folder (char *folder);
/* (transfer full): names in a folder, sorted, separated by spaces. */
char *sink_rig_list_folder (const char *folder);
void sink_rig_assert_file (const char *folder, const char *name, gconstpointer data, gsize size);
void sink_rig_assert_same_file (const char *folder_a, const char *folder_b, const char *name);

G_END_DECLS
