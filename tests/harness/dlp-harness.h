/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-check-sink.h"
#include "dlp-check-source.h"

G_BEGIN_DECLS

/* Tests of elements inside a real pipeline. A graph ends in one or more `check-sink`, of which the
 * one named "k" is what resumption goes by. Link a test with dlp_harness_dep; run it with
 * DLPIPE_PLUGIN_PATH set (harness_env). */

/* Once, before the rest: registers check-source and check-sink. */
void dlp_harness_init (void);

typedef struct
{
  DlpRunnerKind runner;
  guint workers;       /* 0: the default */
  guint link_batches;  /* 0: the default */
  guint batch_records; /* 0: the default */
  gboolean random_yields;
  guint64 seed;
} DlpHarnessSettings;

/* Runs the graph to its end; the lines are in dlp_check_sink_get_lines(). @settings: (nullable). */
gboolean dlp_harness_run (const char *graph, const DlpHarnessSettings *settings, GError **error);
/* Runs it, and asserts that it ends well; what each sink got is the return value's: name to
 * GPtrArray of lines. */
GHashTable *dlp_harness_expect (const char *graph);
/* Stops behind every @stride records of sink "k" (0: a random number from 1 to 5), goes on from the
 * state in a new pipeline, until it ends. Returns the attempts; what each sink got over all of them
 * is in dlp_check_sink_get_lines(). */
guint dlp_harness_run_in_pieces (const char *graph, guint stride);
/* The same, and asserts that every sink got what an undisturbed run gives
 * it, and that the report of the end says of every element what that of an undisturbed run says
 * (but of those before one that closes its input early).
 * Returns the attempts. */
guint dlp_harness_check_resume (const char *graph, guint stride);
/* The same output under each runner, for 1, 2 and 7 workers, links of 1 and 64 record batches,
 * record batches of 1 and of 1,024 records, and threads that give way at random. */
void dlp_harness_check_settings (const char *graph);
/* What sink "k" gets is what the file says, a record a line. DLPIPE_UPDATE_GOLDEN=1 writes the file
 * instead. */
void dlp_harness_check_golden (const char *graph, const char *path);
/* DLPIPE_TEST_SCALE times @n, at least 1. */
guint dlp_harness_scale (guint n);

G_END_DECLS
