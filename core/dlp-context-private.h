/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include <dlpipe/dlp-element.h>

#include "dlp-output-names-private.h"
#include "dlp-read-ahead-private.h"
#include "dlp-state-dir-private.h"
#include "dlp-state-files-private.h"
#include "dlp-work-pool-private.h"

G_BEGIN_DECLS

/* Whose place a sink of the program speaks of. */
typedef enum
{
  DLP_CAPTURE_CONFIRMED,   /* of a checkpoint of the folder, as its properties say */
  DLP_CAPTURE_EXACT,       /* of dlp_pipeline_get_state(): what the program was given */
  DLP_CAPTURE_APPROXIMATE, /* the same: what is queued for it, too */
} DlpCapture;

/* What all elements of one run share. Made by the pipeline (or a test's harness) before start(),
 * gone after stop(). Fields without a note are set before the run and only read during it. */
typedef struct _DlpContext DlpContext;
struct _DlpContext
{
  guint64 seed;
  bool strict;
  DlpWorkPool *pool;
  DlpReadAhead *read_ahead; /* NULL: nothing is */
  guint n_sources;
  guint64 memory;
  gsize memory_share;
  guint64 reservable; /* what links and transforms leave of the memory */
  guint64 reserved;   /* atomic: of that, by elements */
  GCancellable *cancellable;
  GMainContext *main_context; /* the pipeline's; NULL: none */

  bool cancelled;        /* atomic: end now, an error or an abort */
  bool stopping;         /* atomic: end between two steps */
  bool finishing;        /* atomic: the inputs end here */
  bool cut_short;        /* atomic: an input did end there before its end; part of the checkpoint */
  bool paused;           /* atomic */
  guint checkpoint_wish; /* atomic: counts the checkpoints asked for; pads send newer marks */
  guint n_holding;       /* atomic: elements that refill what they held before a restore */
  guint capture;         /* atomic: DlpCapture: what the snapshots that are asked for are of */
  bool random_yields;    /* tests: threads give way at random */
  guint batch_records;   /* tests: at most so many records a record batch; 0: the default */

  /* (nullable): called by an element whose step failed; takes @error over. */
  void (*fail) (DlpContext *self, DlpElement *element, GError *error);
  /* (nullable): a sink has taken the snapshot it was asked for, or ended. */
  void (*snapshot_taken) (DlpContext *self, DlpElement *element);
  gpointer owner;

  bool has_own_schemes; /* a source does; see dlp-setting.c */

  pthread_mutex_t inputs_lock;
  DlpStateDir *state_dir; /* inputs_lock for its input list; NULL: none */
  GHashTable *inputs;     /* inputs_lock: without a state folder, what was opened:
                         its identity, and behind the NUL its URI */
  pthread_mutex_t warnings_lock;
  GPtrArray *warnings; /* warnings_lock: of char *, the first hundred */
  guint64 n_warnings;  /* warnings_lock */

  DlpOutputNames *output_names;
  DlpStateFiles *state_files;

  /* Of the run and its attempt; see DlpSinkAttempt. */
  char *run_id;
  char *discarded_run_id; /* of the run whose outputs --restart discards; NULL: none is known */
  bool discarded_complete;
  guint attempt;
  guint former_attempt;
  bool former_is_dead;
};

DlpContext *dlp_context_new (void);
void dlp_context_free (DlpContext *self);
/* Keeps a warning for the report; any thread. */
void dlp_context_warn (DlpContext *self, const char *text);
/* (floating): the warnings kept, of all attempts; *n: how many there were. */
GVariant *dlp_context_describe_warnings (DlpContext *self, guint64 *n);
/* Puts those of former attempts before. */
void dlp_context_restore_warnings (DlpContext *self, GVariant *warnings, guint64 n);

/* inputs_lock: @key: stage/source/file; @identity: its size too. */
void
dlp_context_add_input (DlpContext *self, const char *key, const char *identity, const char *uri);
/* (floating): a(ayayay), what was opened, where no state folder knows it. */
GVariant *dlp_context_describe_inputs (DlpContext *self);
void dlp_context_restore_inputs (DlpContext *self, GVariant *opened);

void dlp_context_yield_at_random (void);

/* Where the order of threads shall not matter. */
static inline void
dlp_context_yield (const DlpContext *self)
{
  if (G_UNLIKELY (self->random_yields))
    dlp_context_yield_at_random ();
}

#define dlp_flag_get(flag) __atomic_load_n (&(flag), __ATOMIC_ACQUIRE)
#define dlp_flag_set(flag) __atomic_store_n (&(flag), true, __ATOMIC_RELEASE)

G_END_DECLS
