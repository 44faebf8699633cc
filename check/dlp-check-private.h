/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-check.h>

G_BEGIN_DECLS

#define CHECK_ATTEMPTS_MAX 100000

/* ---- what fails (dlp-check-fail.c) ---- */

/* A graph that is checked, and how; for messages. */
typedef struct
{
  const char *check; /* "resume" */
  const char *graph; /* as the author wrote it */
} CheckCase;

/* On the standard error, with a line feed. */
void dlp_check_print (const char *text);
/* Ends the test. @when: (nullable): "stopped behind record 7 of sink k, and continued". @lines:
 * (nullable): further lines of the message. */
G_NORETURN void dlp_check_fail (const CheckCase *self, const char *when, const char *lines);
/* Of all that is random in a check of this graph. */
GRand *dlp_check_rand_new (const char *graph);
/* Microseconds that an end may take. */
gint64 dlp_check_get_patience (double seconds);
/* Fails unless dlp_check_watch_end() comes in time; what it says may change in between. */
void dlp_check_watch_begin (const CheckCase *self, DlpPipeline *pipeline, const char *when);
/* It was asked to end: from now on it has two seconds. */
void dlp_check_watch_ends (void);
/* Cancels it in so many microseconds. */
void dlp_check_watch_cancel (GCancellable *cancellable, gint64 microseconds);
void dlp_check_watch_end (void);

/* ---- folders (dlp-check-folder.c) ---- */

typedef struct
{
  char *path;
  char *out;   /* {dir} */
  char *state; /* the state of the run */
} CheckFolder;

CheckFolder *dlp_check_folder_new (void);
void dlp_check_folder_free (CheckFolder *self);
/* Before the test ends by a failure: the files of all. */
void dlp_check_folders_remove (void);
/* (transfer full): "{dir}" replaced. */
char *dlp_check_folder_expand (CheckFolder *self, const char *graph);
/* (transfer full): name to GBytes of all files in `out`, but hidden ones; the run's identity in
 * them replaced. */
GHashTable *dlp_check_folder_read (CheckFolder *self, const char *run_id);
/* (transfer full) (nullable): an unfinished file that is left. */
char *dlp_check_folder_find_partial (CheckFolder *self);
guint dlp_check_count_descriptors (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CheckFolder, dlp_check_folder_free)

/* ---- calls of elements (dlp-check-probe.c) ---- */

/* What is done at a call of an element in the run that comes next. */
typedef struct
{
  const CheckCase *check;
  DlpPipeline *pipeline;
  GCancellable *cancellable;
  const char *sink;   /* whose records are counted */
  guint64 stop_after; /* stops behind so many of its records; 0: no */
  guint64 kill_after; /* dies behind so many of its records; 0: no */
  guint64 cancel_at;  /* cancels at the so many-th call; 0: no */
  guint64 stop_at;    /* stops at the so many-th call; 0: no */
  gboolean forget;    /* elements that say they have no state are not given theirs */
  guint64 n_calls;    /* atomic */
  guint64 n_records;  /* atomic: of the sink, in this attempt */
} CheckProbe;

/* Has the calls of all elements of the pipeline pass through here. */
void dlp_check_probe_begin (CheckProbe *self);
void dlp_check_probe_end (CheckProbe *self);

/* ---- runs (dlp-check-run.c) ---- */

typedef struct
{
  DlpCheckSettings settings;
  guint64 stop_after;
  guint64 kill_after;
  guint64 cancel_at;
  guint64 stop_at;
  gboolean judge;             /* what the elements promise, where it is complete */
  gboolean forget;            /* the state of elements that say that they have none */
  gint64 cancel_after;        /* microseconds; 0: no */
  gint64 checkpoint_interval; /* 0: the default */
} CheckAttempt;

/* What came of a complete run. */
typedef struct
{
  GHashTable *lines;  /* sink to GPtrArray of lines */
  GHashTable *pads;   /* sink to the element and pad it is fed by, and how its lines are read */
  GHashTable *files;  /* name to GBytes */
  GVariant *states;   /* a{sv} by element */
  GVariant *compared; /* of these, those that do not depend on time */
  char *stateless;    /* (nullable): elements that say so and have a load(), for a message */
  guint64 n_records;  /* of the sink that counts */
  char *sink;         /* its name */
} CheckResult;

void dlp_check_result_free (CheckResult *self);
/* Makes one attempt. (transfer full) (nullable): what came of it; NULL: not complete. *error, set:
 * it failed otherwise than by what the attempt asked for. @n_calls: (out) (optional): calls of
 * elements. */
CheckResult *dlp_check_attempt (const CheckCase *self,
                                CheckFolder *folder,
                                const CheckAttempt *attempt,
                                const char *when,
                                guint64 *n_calls,
                                GError **error);
/* (transfer full): an undisturbed run; asserts that it ends well. */
CheckResult *dlp_check_undisturbed (const CheckCase *self);
/* Attempts from the state in @folder until one is complete; fails on any error. */
CheckResult *dlp_check_go_on (const CheckCase *self, CheckFolder *folder, const char *when);
/* Fails where one made more or fewer records than it promises; after a whole run, undisturbed. */
void dlp_check_one_to_one (const CheckCase *self, DlpPipeline *pipeline);
/* Fails where the records or files differ. */
void dlp_check_compare_output (const CheckCase *self,
                               const CheckResult *expected,
                               const CheckResult *got,
                               const char *when);
/* The same, and where the states do. */
void dlp_check_compare (const CheckCase *self,
                        const CheckResult *expected,
                        const CheckResult *got,
                        const char *when);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CheckResult, dlp_check_result_free)

/* ---- lines (dlp-check-text.c) ---- */

/* (transfer full): as dlp_check_record_to_text(), but text as people read it. */
char *dlp_check_record_to_string (const DlpRecordBatch *batch, guint row);
/* (transfer full): the same of a line of dlp_check_record_to_text(). @schema: (nullable): of its
 * records. */
char *dlp_check_line_to_string (const char *line, const DlpSchema *schema);

/* ---- records of the author (dlp-check-input.c) ---- */

typedef struct _CheckInput CheckInput;

/* One that is found by `check-input data=NUMBER`. */
CheckInput *dlp_check_input_store_new (void);
void dlp_check_input_store_free (CheckInput *self);
guint64 dlp_check_input_store_get_number (CheckInput *self);
void dlp_check_input_store_set_schema (CheckInput *self, DlpSchema *schema);
DlpSchema *dlp_check_input_store_get_schema (CheckInput *self);
void dlp_check_input_store_push (CheckInput *self, DlpRecordBatch *batch);
guint dlp_check_input_store_get_length (CheckInput *self);
/* A `check-input live=true` waits for this. */
void dlp_check_input_store_end (CheckInput *self);
/* Record batches that went out and are still held. */
guint dlp_check_input_store_get_n_held (CheckInput *self);

GType dlp_check_input_get_type (void);

/* ---- what the author pulls (dlp-check-harness.c) ---- */

GType dlp_check_pull_get_type (void);

G_END_DECLS
