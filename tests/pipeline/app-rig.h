/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlp-harness.h>
#include <dlpipe/dlp-app-sink.h>
#include <dlpipe/dlp-app-source.h>
#include <stdbool.h>

G_BEGIN_DECLS

/* A program around a pipeline: the run on its own thread, app-source `in` and app-sink `out` in the
 * test's. */
typedef struct
{
  DlpPipeline *pipeline;
  DlpAppSource *in; /* (nullable) */
  DlpAppSink *out;  /* (nullable) */
  GThread *thread;
  GError *error; /* what the run ended with */
} AppRig;

/* Prepared, not yet run. @state_dir: (nullable). */
void app_rig_init (AppRig *self, const char *graph, DlpRunnerKind runner, const char *state_dir);
void app_rig_start (AppRig *self);
/* Waits for the end of the run; frees all but the error's owner. */
void app_rig_join (AppRig *self);
void app_rig_clear (AppRig *self);
/* Stops, and asserts that it ended so. */
void app_rig_stop (AppRig *self);
/* Asserts that it came to its end, and clears. */
void app_rig_finish (AppRig *self);

/* (transfer full): records numbered from @first, of the schema `text:string`. */
DlpRecordBatch *app_make_batch (guint64 first, guint n);
/* Appends the text of each record. */
void app_add_lines (GPtrArray *lines, DlpRecordBatch *batch);
/* Pulls to the end of the stream, at most @max a pull. */
void app_pull_all (DlpAppSink *sink, guint max, GPtrArray *lines);
void app_assert_equal (GPtrArray *lines, GPtrArray *expected);
/* (transfer full): what a sink named `out` gets in a run that nothing disturbs, of a graph without
 * an app-source. */
GPtrArray *app_expect (const char *graph);
GPtrArray *app_lines_new (void);

char *app_make_folder (void);
void app_remove_folder (char *path);

G_END_DECLS
