/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-pipeline.h>

G_BEGIN_DECLS

typedef enum
{
  LAUNCH_EXIT_FINISHED = 0,
  LAUNCH_EXIT_FAILED = 1,  /* a fault while running, or the grace ran out */
  LAUNCH_EXIT_USAGE = 2,   /* found before the first record */
  LAUNCH_EXIT_STATE = 3,   /* both generations bad, or something fixed changed */
  LAUNCH_EXIT_DAMAGED = 4, /* finished with kept damage */
  LAUNCH_EXIT_FENCED = 5,  /* a newer attempt has taken over */
  LAUNCH_EXIT_STOPPED = 75,
  LAUNCH_EXIT_SIGNAL = 128, /* and the signal's number */
} LaunchExit;

typedef enum
{
  LAUNCH_PROGRESS_AUTO,
  LAUNCH_PROGRESS_BAR,
  LAUNCH_PROGRESS_PLAIN,
  LAUNCH_PROGRESS_JSON,
  LAUNCH_PROGRESS_NONE,
} LaunchProgressKind;

/* What the command line says; strings that were not given are NULL. */
typedef struct
{
  char *graph; /* NULL: the one of the state folder */
  char *file;
  char *state;
  gboolean no_state;
  gboolean restart;
  gboolean overwrite;
  char *checkpoint_every;
  char *stall_action;
  char *stall_timeout;
  LaunchProgressKind progress;
  gboolean stats;
  char *summary;
  char *dot;
  gboolean check;
  double dry_run; /* share of the files; 0: a real run */
  gboolean sequential;
  char **set; /* (nullable): of NAME.PROP=VALUE */
  char *seed;
  gboolean strict;
  char *memory;
  char *workers;
  char **plugin_paths; /* (nullable) */
  gboolean finish_on_interrupt;
  gint64 grace; /* us */
  char *quarantine;
  gboolean verbose;
  gboolean quiet;
  gboolean show_version;
  gboolean done; /* --help or --version: nothing is left to do */
} LaunchOptions;

bool launch_options_parse (LaunchOptions *self, int *argc, char ***argv, GError **error);
void launch_options_clear (LaunchOptions *self);

/* ---- what is said; stderr only ---- */

void launch_log_init (gboolean quiet, gboolean verbose);
/* Text as it is, lines included. */
void launch_write (const char *text);
/* A line of its own. Messages are hidden by -q, errors never are. */
void launch_say (const char *format, ...) G_GNUC_PRINTF (1, 2);
void launch_warn (const char *format, ...) G_GNUC_PRINTF (1, 2);
void launch_error (const char *message);
/* A line that the next one replaces; NULL: gone. */
void launch_show_bar (const char *text);

/* ---- the pipeline ---- */

/* (transfer full): built and set, not prepared. */
DlpPipeline *launch_make_pipeline (const LaunchOptions *options, GError **error);
/* (nullable) (transfer full): why a run of this graph cannot have a state. */
char *launch_why_no_state (DlpPipeline *pipeline);
/* Whether it can run without a program around it, which would be waited for. */
bool launch_check_alone (DlpPipeline *pipeline, GError **error);
bool launch_has_state (DlpPipeline *pipeline);

/* Before anything else, and before there are threads: launch_run() takes them up. */
void launch_block_signals (void);
/* A descriptor of those that are blocked. */
int launch_open_signals (void);
/* Prepares and runs, with signals, progress and all that is said. */
int launch_run (DlpPipeline *pipeline, const LaunchOptions *options);
int launch_check (DlpPipeline *pipeline, const LaunchOptions *options);
int launch_dry_run (DlpPipeline *pipeline, const LaunchOptions *options);
/* Whether what the tool writes would replace what the graph reads or writes. */
bool launch_check_overwrite (DlpPipeline *pipeline, const LaunchOptions *options, GError **error);
bool launch_write_dot (DlpPipeline *pipeline, const LaunchOptions *options, GError **error);

void launch_report_error (const GError *error, bool has_state);
int launch_exit_for_prepare (const GError *error, bool has_state);
int launch_exit_for_run (DlpPipeline *pipeline, const GError *error, int signal_number);

/* ---- reports ---- */

char *launch_format_bytes (double bytes);
char *launch_format_count (double count);
char *launch_format_seconds (double seconds);
/* (transfer full): a bar that is filled to @fraction (< 0: none), and @text behind it, as long as
 * the terminal is wide. */
char *launch_format_bar (double fraction, const char *text);
/* "1 record", "2 records" */
char *launch_format_number (guint64 n, const char *noun);

/* An element in a report; strings are the report's. */
typedef struct
{
  const char *name, *factory;
  const char *waits_for; /* "": it does not wait */
  const char *status;    /* (nullable): a declared wait */
  gboolean ended, stateless;
  guint64 records_in, records_out, bytes_in, bytes_out, input_bytes, replay, queued_bytes;
  guint queued_batches;
  guint io_lanes; /* read in turn by own threads */
  double busy, cpu, work, wait_in, wait_out, wait_work, io_wait, io_busy, io_cpu; /* s */
} LaunchElement;

/* What an element's times are measured by. */
typedef struct
{
  double seconds;
  guint workers, cpus;
  guint files; /* of one epoch */
  bool sequential;
} LaunchMachine;

/* Of a report, or of a stored one, whose types are those of JSON; 0 where there is none. */
guint64 launch_get_number (GVariant *dict, const char *key);
double launch_get_double (GVariant *dict, const char *key, double unknown);
bool launch_get_flag (GVariant *dict, const char *key);
guint64 launch_count_listed_files (GVariant *report);
LaunchMachine launch_get_machine (GVariant *report, double seconds);

/* (transfer container) (element-type LaunchElement); valid as long as @report. */
GArray *launch_get_elements (GVariant *report);
/* Of this attempt. */
double launch_get_seconds (GVariant *report);
/* (nullable): the one that the others wait for. */
const LaunchElement *launch_find_bottleneck (GArray *elements, const LaunchMachine *machine);
/* (transfer full): of each element that has not ended, what holds it up: those in the middle of
 * something, or, where there are none, all. */
char *launch_describe_waits (GArray *elements);
/* What happened since an earlier array of the same elements. */
GArray *launch_subtract_elements (GArray *now, GArray *before);

/* (transfer full): the table of --stats. */
char *launch_format_stats (GVariant *report, bool sequential);
/* (transfer full) (nullable): which batches a run that goes on from its state folder leaves out. */
char *launch_describe_skips (DlpPipeline *pipeline);
/* (transfer full): "1200 records, 3.4 M tokens, ..." */
char *launch_format_totals (GVariant *report);
/* (transfer full) (nullable): the models of all tokenizers. */
char *launch_get_models (DlpPipeline *pipeline);

/* The report with what the tool knows of the run's end. */
GVariant *launch_make_summary (GVariant *report, const GError *error, int code);
/* Writes it to --summary and, of a complete run, into the state folder. @stored: (nullable): that
 * of the run, which was complete before. */
bool launch_write_summary (DlpPipeline *pipeline,
                           const LaunchOptions *options,
                           GVariant *summary,
                           GVariant *stored,
                           GError **failure);
/* (nullable) (transfer full): the summary that a complete run left. */
GVariant *launch_load_summary (DlpPipeline *pipeline);
/* Before anything is read: whether --summary and --dot can be written. */
bool launch_check_outputs (const LaunchOptions *options, GError **error);

/* ---- progress ---- */

typedef struct _LaunchProgress LaunchProgress;

LaunchProgress *launch_progress_new (DlpPipeline *pipeline, const LaunchOptions *options);
/* Called often; shows what is due. */
void launch_progress_tick (LaunchProgress *self);
/* The last record of --progress=json. */
void launch_progress_end (LaunchProgress *self, GVariant *summary);
void launch_progress_free (LaunchProgress *self);

/* What a report says of readers, and of elements that left good records out. */
typedef struct
{
  guint64 bad;
  guint64 damaged;
  guint64 dropped;
  guint64 skipped;   /* batches */
  GHashTable *kinds; /* of bad records, to guint64 * */
  GHashTable *files; /* the same */
} LaunchFaults;

void launch_faults_collect (LaunchFaults *self, GVariant *report);
void launch_faults_clear (LaunchFaults *self);

G_END_DECLS
