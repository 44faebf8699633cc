/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include <dlpipe/dlp-file.h>
#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-pipeline.h>

#include "dlp-element-private.h"
#include "dlp-graph-parser-private.h"
#include "dlp-runner-private.h"
#include "dlp-watchdog-private.h"

G_BEGIN_DECLS

typedef struct _DlpCheckpointer DlpCheckpointer;

struct _DlpPipeline
{
  GObject parent_instance;

  GMainContext *main_context;
  pid_t pid;
  /* Of DlpElement, in graph order; then quarantine sinks. Replaced, never changed, while it is
   * prepared: under the lock. */
  GPtrArray *elements;
  guint n_listed;   /* of them, in the list model: all but the quarantine sinks */
  GPtrArray *order; /* of DlpElement (not owned), producers first */
  DlpGraph *graph;  /* NULL: made by the API */
  DlpContext *run;

  /* Settings; before prepare(). */
  char *state_path;
  char *quarantine_path;
  guint64 memory;
  guint workers;
  DlpRunnerKind runner_kind;
  gint64 checkpoint_interval; /* us; 0: the default and its 1 % rule */
  guint link_batches;
  gboolean overwrite;
  gboolean restart;
  DlpStallAction stall_action;
  gint64 stall_timeout; /* us; 0: none */
  gboolean seed_given;
  bool from_state;     /* the graph is the one of a state */
  GVariant *saved;     /* the state itself, where that is not in a folder */
  GHashTable *options; /* of "ELEMENT.PROPERTY": what dlp_pipeline_set_property_text() set */

  bool prepared;    /* lock, or by who set it */
  bool was_checked; /* dlp_pipeline_check() went well, and nothing came after it */
  bool publishing;  /* the run's thread: outputs may have their names */
  DlpStateDir *dir;
  bool fresh;                    /* no checkpoint was there */
  bool restored;                 /* from one */
  bool complete;                 /* atomic: the loaded state says so, or this run came to its end */
  bool preparing;                /* atomic: what prepare() sets is not to be looked at */
  double elapsed_before;         /* lock: s, of former attempts */
  gint64 began;                  /* lock: monotonic, us; 0: not yet */
  gint64 ended;                  /* lock: monotonic, us */
  bool quiet;                    /* atomic: nothing runs any more; states may be asked for */
  DlpRunner *runner;             /* lock, for threads that are not the run's */
  DlpCheckpointer *checkpointer; /* lock, for threads that are not the run's */
  DlpCheckpointer *captured;     /* lock: of the run that has ended: its state may be asked for */
  DlpWatchdog *watchdog;         /* lock, for threads that are not the run's */
  bool concluding;               /* the run's thread alone: its elements have left */

  pthread_mutex_t lock;
  pthread_cond_t cond;
  DlpPipelineStatus status; /* lock */
  GError *error;            /* lock: the first one; at the end that of the run */
  char *failed_element;     /* lock */
  bool runner_done;         /* lock */
  bool was_run;             /* lock: run() was called */
  bool active;              /* lock: run() was called and has no result yet */
  bool capturing;           /* lock: dlp_pipeline_get_state() goes on */
  guint reporting;          /* lock: calls of dlp_pipeline_get_report() that look at the elements */
  bool runs_alone;          /* lock: run_async() was, and the run holds no reference */
  bool dropped;             /* lock: the program gave back its last one meanwhile; atomic to read */

  /* What was last notified; main context. */
  GSource *ticker;
  DlpPipelineStatus shown_status;
  double shown[8];
};

/* Sets the pipeline's error, the first wins, and ends the run. Takes @error over. */
void dlp_pipeline_fail (DlpPipeline *self, DlpElement *element, GError *error);
void dlp_pipeline_set_status (DlpPipeline *self, DlpPipelineStatus status);
/* False with an error: the run fails because it has stalled. Where it concludes, it cannot do so
 * any more afterwards. */
bool dlp_pipeline_check_stall (DlpPipeline *self, GError **error);

/* To the elements that the program holds: the run has ended, or is about to, with @error
 * (nullable). Any thread, without a lock. */
void dlp_pipeline_tell_over (DlpPipeline *self, const GError *error);

/* run, in two parts */
bool dlp_pipeline_begin_run (DlpPipeline *self, GError **error);
bool dlp_pipeline_run_begun (DlpPipeline *self, GCancellable *cancellable, GError **error);

/* async: in dispose: true: a run goes on, and holds it from now on. */
bool dlp_pipeline_keep_for_run (DlpPipeline *self);

/* graph */
bool dlp_pipeline_build_graph (DlpPipeline *self, GError **error);
/* Places what went wrong with an element in the graph text, if there is one. */
void dlp_pipeline_place_error (DlpPipeline *self, DlpElement *element, GError **error);

/* build */
/* Other threads may be looking at the former list. */
void dlp_pipeline_replace_elements (DlpPipeline *self, GPtrArray *elements);
/* Puts the reader that is chosen in the place of the auto-reader at @index of the order. */
bool dlp_pipeline_choose_reader (DlpPipeline *self, guint index, GError **error);
bool dlp_pipeline_build (DlpPipeline *self, GError **error);
/* That no elements can block each other in a ring. */
bool dlp_pipeline_check_loops (DlpPipeline *self, GError **error);
/* Gives each element its stage and its ordinal. */
bool dlp_pipeline_count_stages (DlpPipeline *self, GError **error);
/* Limits of links, shares of elements; the graph is built. */
void dlp_pipeline_deal_memory (DlpPipeline *self);

/* fixed: (floating): a{ss}, what must be the same in each attempt; and that it is. */
GVariant *dlp_element_describe_fixed (DlpElement *self);
bool dlp_element_compare_fixed (DlpElement *self, GVariant *recorded, GError **error);
/* What is not: DLP_STATE_ERROR_CHANGED, and what to do. */
void dlp_state_set_changed (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* restore */
/* Of links of training batches: how far all sinks were. */
void dlp_pipeline_find_seen (DlpPipeline *self);
/* What a run without a state leaves cannot be gone on with by anybody: deletes it. */
void dlp_pipeline_discard_unfinished (DlpPipeline *self);
/* As restore does, but changes nothing: for dlp_pipeline_check_state(). */
bool dlp_pipeline_look_at_state (DlpPipeline *self, GError **error);
/* (transfer full): the newest checkpoint of a state folder; any thread. */
GVariant *dlp_pipeline_read_state (const char *state_dir, GError **error);
/* (transfer full): of what was read there. */
DlpPipeline *
dlp_pipeline_make_from_state (const char *state_dir, GVariant *payload, GError **error);
bool dlp_pipeline_restore (DlpPipeline *self, GError **error);
/* FALSE with an error: what a reader wants is in none of the first records of its source. */
bool dlp_pipeline_probe (DlpPipeline *self, GError **error);
/* Whether all elements can go back to where they were. */
/* Another plugin than the one that made the state, or another version of it: a warning, and an
 * error of a strict pipeline. */
bool dlp_pipeline_compare_plugin (DlpPipeline *self,
                                  DlpElement *element,
                                  GVariant *recorded,
                                  GError **error);
bool dlp_pipeline_check_resumable (DlpPipeline *self, GError **error);
/* (transfer none) floating. */
GVariant *dlp_pipeline_describe_elements (DlpPipeline *self);

typedef struct
{
  DlpElement *element;
  DlpState *state;
  DlpState *base;
  DlpCursor cursor;
  guint64 position;
  bool final;
} DlpSnapshot;

/* (floating): the checkpoint that these snapshots, one a sink, stand for. Makes logs durable. */
GVariant *dlp_pipeline_make_checkpoint (DlpPipeline *self,
                                        DlpSnapshot *snapshots,
                                        guint n,
                                        bool complete,
                                        GError **error);
/* Seconds over all attempts, and (*before) of the former ones alone. */
double dlp_pipeline_get_elapsed (DlpPipeline *self, double *before);

/* state: whether all that the state speaks of is in it. */
bool dlp_pipeline_check_capturable (DlpPipeline *self, GError **error);

/* checkpointer: a thread that commits the sinks and writes checkpoints and status.json. Without a
 * state folder only dlp_checkpointer_commit() does something: it publishes at the end. */
DlpCheckpointer *dlp_checkpointer_new (DlpPipeline *pipeline);
void dlp_checkpointer_start (DlpCheckpointer *self);
void dlp_checkpointer_request (DlpCheckpointer *self);
void dlp_checkpointer_snapshot_taken (DlpCheckpointer *self);
/* Ends the thread. */
void dlp_checkpointer_stop (DlpCheckpointer *self);
/* The last commit, when nothing runs any more, by the caller. */
bool dlp_checkpointer_commit (DlpCheckpointer *self, bool complete, GError **error);
/* (floating) (nullable): the payload of a checkpoint of this moment, of a run without a state
 * folder; waits for the sinks. One call at a time. *@ends: NULL, since the run is about to end. */
GVariant *dlp_checkpointer_capture (DlpCheckpointer *self,
                                    GCancellable *cancellable,
                                    bool *ends,
                                    GError **error);
/* When nothing runs any more, before the elements are stopped: keeps what the state is made of.
 * @failed: (nullable): the name of an element that failed. */
void dlp_checkpointer_keep (DlpCheckpointer *self, const char *failed);
/* (floating) (nullable): the payload of what was kept. */
GVariant *dlp_checkpointer_capture_ended (DlpCheckpointer *self, GError **error);
void dlp_checkpointer_free (DlpCheckpointer *self);
guint dlp_checkpointer_get_count (DlpCheckpointer *self);
/* status.json as things stand. */
void dlp_checkpointer_write_status (DlpCheckpointer *self);

/* notify: while a run goes on asynchronously; both in its main context. */
void dlp_pipeline_start_notifies (DlpPipeline *self);
void dlp_pipeline_end_notifies (DlpPipeline *self);

/* progress */
void dlp_pipeline_get_progress (DlpPipeline *self,
                                guint64 totals[5],
                                double *fraction,
                                guint *files_done,
                                guint *files_total);
/* (transfer full): of any thread. */
GPtrArray *dlp_pipeline_ref_elements (DlpPipeline *self);

G_END_DECLS
