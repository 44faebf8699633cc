/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>
#include <dlpipe/dlp-sink.h>

#include "dlp-context-private.h"
#include "dlp-mark-private.h"
#include "dlp-pad-private.h"

G_BEGIN_DECLS

#define DLP_LARGE_MARKS_ALIVE 3

/* Where a runner has an element. */
typedef enum
{
  DLP_PLACE_NONE,   /* not yet with it */
  DLP_PLACE_THREAD, /* in its turns, or waiting */
  DLP_PLACE_QUEUE,  /* it could go on, and no thread is free */
} DlpPlace;

typedef struct
{
  guint64 steps;
  guint64 busy;      /* ns inside step() */
  guint64 cpu;       /* ns of CPU of step(), as far as known */
  guint64 wait_in;   /* ns */
  guint64 wait_out;  /* ns */
  guint64 wait_work; /* ns */
  guint64 io_wait;   /* ns */
  guint64 io_busy;   /* ns in which its own reading threads read or decoded */
  guint64 io_cpu;    /* ns of CPU of the same */
} DlpElementStats;

typedef struct
{
  char *name;
  char *factory;
  const char *plugin;         /* interned; NULL: the program brings it */
  const char *plugin_version; /* interned */
  DlpContext *context;
  GPtrArray *inputs;  /* of DlpPad */
  GPtrArray *outputs; /* of DlpPad */
  guint stage;
  guint ordinal;
  gsize memory_share; /* 0: that of the context */
  gsize reserved;     /* bytes of the context's */
  GPtrArray *schemes; /* (nullable): of a source; see dlp-setting.c; before the run */

  /* Streaming; the element's thread. */
  DlpMark *mark;     /* of a point before the step that runs */
  guint mark_credit; /* references to it beyond the one, to be given to record batches */
  guint mark_wish;   /* the checkpoint_wish that it was made for */
  guint64 marked_at; /* monotonic, ns; 0: the next step needs a new one */
  guint64 serial;
  guint64 clock;      /* monotonic, ns: the end of the last step or wait that was timed; 0: none */
  guint n_steps;      /* since then */
  guint n_short;      /* so many steps need no look at the clock */
  guint64 flushed_at; /* the clock when open record batches were last offered to idle consumers */
  bool is_large;      /* before the run */
  guint64 large_interval;
  DlpMark *large[DLP_LARGE_MARKS_ALIVE];
  guint large_wish;   /* the checkpoint_wish that the last large mark was made for */
  guint64 large_at;   /* position of the first input then */
  guint wanted_input; /* atomic: written by the element's thread */
  bool started;
  bool holds_marks;
  bool ended;     /* atomic */
  GError *broken; /* what its stream broke off with, while consumers still take what was before */
  DlpElement *failed_by; /* whose error the last turn gave */
  DlpPad *faulty;        /* the first output pad whose builder has a fault */
  /* Atomic: the state at its end, set before its consumers see the end. Nothing is made from it any
   * more, but its counters are part of every later checkpoint. */
  DlpState *final_state; /* may be NULL: it has none */
  bool settled;          /* atomic: final_state is what it will be */
  DlpWaker waker;

  /* Snapshot of a sink: asked for by the checkpoint thread, taken between steps. */
  bool snapshot_wanted; /* atomic */
  pthread_mutex_t snapshot_lock;
  bool snapshot_valid;       /* snapshot_lock */
  bool snapshot_final;       /* snapshot_lock */
  DlpState *snapshot_state;  /* snapshot_lock; the subclass's, may be NULL */
  DlpState *snapshot_base;   /* snapshot_lock; what core keeps of a sink */
  DlpCursor snapshot_cursor; /* snapshot_lock */
  guint64 snapshot_position; /* snapshot_lock */

  DlpElementStats stats; /* each atomic, relaxed */
  guint io_lanes;        /* streams that are read in turn; 0: none by threads of its own */
  guint64 *work;         /* atomic, also what it points to: ns of CPU of its work on the pool */
  guint64 waits_since;   /* atomic: monotonic, ns; 0: it does not wait */
  guint waits_for;       /* atomic: a DlpTurn */
  bool wants_work;       /* atomic: where it waits for input, for work that it gave too */
  guint place;           /* atomic: a DlpPlace */
  guint64 progress[4];   /* atomic: bytes done, bytes total, files done, files total */
  gint64 moved_at;       /* atomic: monotonic time of the last step that moved, us */
  guint64 blocks;        /* atomic: that were written in a long step */
  bool has_left;         /* atomic: it takes no steps any more */
  pthread_mutex_t status_lock;
  char *status; /* status_lock */

  /* What was last notified; the pipeline's main context. */
  guint64 shown[4];
  char *shown_status;

  const struct _DlpAppHooks *app; /* NULL: the program has no part in it */
} DlpElementPrivate;

DlpElementPrivate *dlp_element_get_private (DlpElement *self);

/* Records in, records out, bytes out, record batches queued before it; any thread. */
void dlp_element_get_progress_values (DlpElement *self, guint64 values[4]);

void dlp_element_set_name (DlpElement *self, const char *name);
void dlp_element_set_factory (DlpElement *self, const char *factory);
/* Of an element that a plugin brings. */
void dlp_element_set_plugin (DlpElement *self, const char *plugin, const char *version);
/* Into its entry of a checkpoint. */
void dlp_element_describe_plugin (DlpElement *self, GVariantDict *dict);
void dlp_element_set_context (DlpElement *self, DlpContext *context);
DlpContext *dlp_element_get_context (DlpElement *self);

const char *dlp_element_class_get_description (DlpElementClass *klass);
const char *dlp_element_class_get_example (DlpElementClass *klass);

DlpPad *dlp_element_request_pad (DlpElement *self,
                                 DlpPadDirection direction,
                                 const char *name,
                                 GError **error);

/* Between load() and the first step: the mark that consumers' cursors refer to at the start. */
void dlp_element_make_first_mark (DlpElement *self);
/* (transfer full): for a record batch begun in this step. */
DlpMark *dlp_element_take_mark (DlpElementPrivate *priv);
void dlp_element_drop_mark (DlpElementPrivate *priv);
/* Not needed any more by any consumer: ends at once. */
void dlp_element_restore_ended (DlpElement *self);
/* When nothing runs any more: what it has counted, should nobody need it. */
void dlp_element_settle (DlpElement *self);
bool dlp_element_start (DlpElement *self, GError **error);
void dlp_element_stop (DlpElement *self);

typedef enum
{
  DLP_TURN_MORE,
  DLP_TURN_WAIT_INPUT,
  DLP_TURN_WAIT_OUTPUT,
  DLP_TURN_WAIT_WORK,
  DLP_TURN_END,
  DLP_TURN_ERROR,
} DlpTurn;

/* One step with all that core does around it; the one place where step() is called. */
DlpTurn dlp_element_turn (DlpElement *self, GError **error);
/* Arms the waker for what @turn waits for; FALSE: it is there already. */
bool dlp_element_arm (DlpElement *self, DlpTurn turn);
/* Takes the snapshot if one is wanted; by the element's thread, between steps. */
void dlp_element_serve (DlpElement *self);
/* Brings the element's clock and its busy time up to date; the time, monotonic, ns. */
guint64 dlp_element_read_clock (DlpElementPrivate *priv);
void dlp_element_take_snapshot (DlpElement *self, bool final);
void dlp_element_clear_snapshot (DlpElement *self);
/* Where files without names may be made. */
const char *dlp_element_get_scratch_folder (DlpElement *self);

/* What core keeps of a sink. */
typedef struct
{
  guint64 records;
  guint64 tokens;
  DlpDigest digest;
  guint64 drained;
} DlpSinkState;

/* For a sink that counts as it gives, not as it takes: adds rows to @state; @position: of the first
 * on its link. */
void dlp_sink_count (DlpSink *self,
                     DlpSinkState *state,
                     const DlpRecordBatch *batch,
                     guint row,
                     guint n,
                     guint64 position);
void dlp_sink_get_state (DlpSink *self, DlpSinkState *state);
/* By the element's thread, but for `drained`. */
void dlp_sink_set_state (DlpSink *self, const DlpSinkState *state);
void dlp_sink_set_drained (DlpSink *self);
DlpState *dlp_sink_save_base (DlpSink *self);
GVariant *dlp_sink_describe_base (const DlpState *base);
gboolean dlp_sink_load_base (DlpSink *self, GVariant *base, GError **error);

bool dlp_element_is_large (DlpElement *self);
/* @self: (nullable): whose long step this thread is in from now on, in which each block that it
 * writes is movement. */
void dlp_element_count_blocks (DlpElement *self);
/* Of the calling thread: whose waits dlp_scheme_set_status() declares, and of whose schemes
 * dlp_scheme_for_uri() gives one; returns who it was before. */
DlpElement *dlp_element_set_reads_for (DlpElement *self);
/* (transfer none) (nullable) */
DlpElement *dlp_element_get_reads_for (void);
/* By whoever wrote one. */
void dlp_element_note_block (void);

/* Whether make_durable() is to be called. */
bool dlp_element_needs_durable (DlpElement *self);
/* (transfer full): not floating, a{sv}; NULL: describe() gave none. */
GVariant *dlp_element_describe_state (DlpElement *self, const DlpState *state, GError **error);

/* (transfer container): of DlpElement, all sources before it. */
GPtrArray *dlp_element_list_sources (DlpElement *self);
/* (transfer none) (nullable): a source before it that gives what it has more than once. */
DlpElement *dlp_element_find_repeated (DlpElement *self);
/* (transfer none) (nullable): the endless source before it that a record is of (NULL: where no
 * other source feeds it), if its epochs come one behind the other, and for ever. */
DlpElement *dlp_element_find_endless (DlpElement *self, const DlpCoordinate *of);

/* Behind a virtual function that failed: sees to it that there is an error, which names the
 * element. Returns false. */
bool dlp_element_failed (DlpElement *self, const char *function, GError **error);
/* (transfer full): with "NAME: " before it, unless it begins so. */
char *dlp_element_name_message (DlpElement *self, const char *message);
void dlp_element_name_error (DlpElement *self, GError **error);

G_END_DECLS
