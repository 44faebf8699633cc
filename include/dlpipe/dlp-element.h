/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-cursor.h"
#include "dlp-error.h"
#include "dlp-pad.h"
#include "dlp-state.h"

G_BEGIN_DECLS

/**
 * DlpStep:
 * @DLP_STEP_MORE: call again
 * @DLP_STEP_WANT_INPUT: nothing to do before the input named by dlp_element_want_input() has a
 * record or ends
 * @DLP_STEP_WANT_WORK: nothing to do before dlp_element_wake() is called; a wake since the step
 * began counts
 * @DLP_STEP_WANT_INPUT_OR_WORK: either of the two
 * @DLP_STEP_END: nothing will ever be emitted any more
 * @DLP_STEP_ERROR: the error is set; the pipeline ends
 */
typedef enum
{
  DLP_STEP_MORE,
  DLP_STEP_WANT_INPUT,
  DLP_STEP_WANT_WORK,
  DLP_STEP_WANT_INPUT_OR_WORK,
  DLP_STEP_END,
  DLP_STEP_ERROR,
} DlpStep;

/**
 * DlpElementFlags:
 * @DLP_ELEMENT_ONE_TO_ONE: one record out for each in, in order
 * @DLP_ELEMENT_STATELESS: what comes out depends on the record alone
 * @DLP_ELEMENT_LARGE: its state is large: marks are made rarely, at most three alive
 * @DLP_ELEMENT_LOG: its state is the length of an append-only file; see make_durable()
 * @DLP_ELEMENT_KEEPS_ALL: each record that goes in comes out, sooner or later: what did not is held
 */
typedef enum
{
  DLP_ELEMENT_NONE = 0,
  DLP_ELEMENT_ONE_TO_ONE = 1 << 0,
  DLP_ELEMENT_STATELESS = 1 << 1,
  DLP_ELEMENT_LARGE = 1 << 2,
  DLP_ELEMENT_LOG = 1 << 3,
  DLP_ELEMENT_KEEPS_ALL = 1 << 4,
} DlpElementFlags;

/**
 * DlpElement:
 *
 * Something with pads that turns records into records. An element is made and configured on one
 * thread; once the pipeline runs, its step() is called by one thread at a time, not always the same
 * one.
 */
#define DLP_TYPE_ELEMENT (dlp_element_get_type ())
DLP_API
G_DECLARE_DERIVABLE_TYPE (DlpElement, dlp_element, DLP, ELEMENT, GObject)

struct _DlpElementClass
{
  GObjectClass parent_class;

  DlpElementFlags flags;
  /* Of what save() and describe() give, and the oldest that load() reads. */
  guint state_version;
  guint state_oldest_version;

  /* (nullable) (transfer none): the pad for a link whose text says @name (NULL: none given); may
   * add one. The default takes the static pad of that name, or the first unlinked one of the
   * direction, never `rejected`. */
  DlpPad *(*request_pad) (DlpElement *self,
                          DlpPadDirection direction,
                          const char *name,
                          GError **error);
  /* (nullable): the input pads have their schemas; check them, set those of the output pads.
   * Properties do not change afterwards. Errors: DLP_GRAPH_ERROR_TYPE, _VALUE; or of opening what a
   * property names. */
  gboolean (*negotiate) (DlpElement *self, GError **error);

  /* (nullable): before the first step, after load(). May block. */
  gboolean (*start) (DlpElement *self, GCancellable *cancellable, GError **error);
  /* Does a piece of work: takes from inputs that have something, emits what is due to it. About a
   * record batch's worth: what was emitted since the last mark is generated again after a restore.
   * Never waits on links; may block in its own I/O with @cancellable. Core does not call it while
   * an output link is full. */
  DlpStep (*step) (DlpElement *self, GCancellable *cancellable, GError **error);
  /* (nullable): after the last step, on any thread; also after a failed start. */
  void (*stop) (DlpElement *self);

  /* (nullable): called between steps: a copy of the state. NULL if there is none. */
  DlpState *(*save) (DlpElement *self);
  /* Of a saved state, floating, of type a{sv}; on any thread, also while step() runs. */
  GVariant *(*describe) (DlpElement *self, const DlpState *state);
  /* Before start(). Every key is checked: unknown ones are refused. */
  gboolean (*load) (DlpElement *self, GVariant *described, guint version, GError **error);
  /* (nullable): the cursor that a mark made now shall have for an input, where that lies before
   * what was consumed: then the state says what of it is still held. Default: behind what was
   * consumed. */
  void (*mark_input) (DlpElement *self, guint input, DlpCursor *cursor);
  /* (nullable): called on the checkpoint thread before a checkpoint that names @state is written.
   */
  gboolean (*make_durable) (DlpElement *self, const DlpState *state, GError **error);
  /* (nullable): something said in the report about a described state, such as counts; floating
   * a{sv}. The default is the described state. */
  GVariant *(*report) (DlpElement *self, GVariant *described);
  /* (nullable): bytes that it could make use of beyond its links, such as for a cache; asked after
   * negotiate(), with @n_workers in the pool. What it gets of the pipeline's memory budget is
   * dlp_element_get_memory_share(). The default asks for next to nothing. */
  gsize (*want_memory) (DlpElement *self, guint n_workers);

  /* (nullable) (transfer full): after negotiate(): what a property that is left to the element
   * comes to, such as an automatic width; NULL: it is what it is set to. */
  char *(*comes_to) (DlpElement *self, const char *property);

  gpointer reserved[14];
};

/* ---- construction (in instance init, or request_pad) ---- */
DLP_API DlpPad *dlp_element_add_pad (DlpElement *self, const char *name, DlpPadDirection direction);
/* A pad that holds no element open and need not be linked, such as `rejected`. */
DLP_API DlpPad *
dlp_element_add_optional_pad (DlpElement *self, const char *name, DlpPadDirection direction);

/* ---- what it is ---- */
DLP_API const char *dlp_element_get_name (DlpElement *self);
/* The name of its factory, such as "jsonl-reader". */
DLP_API const char *dlp_element_get_factory (DlpElement *self);
DLP_API guint dlp_element_get_n_inputs (DlpElement *self);
DLP_API guint dlp_element_get_n_outputs (DlpElement *self);
DLP_API DlpPad *dlp_element_get_input (DlpElement *self, guint input);
DLP_API DlpPad *dlp_element_get_output (DlpElement *self, guint output);
DLP_API DlpPad *dlp_element_find_pad (DlpElement *self, const char *name);

/* ---- for authors, once the graph is built ---- */
DLP_API guint64 dlp_element_get_seed (DlpElement *self);
DLP_API guint dlp_element_get_stage (DlpElement *self);
/* The ordinal of a source among the sources of its stage, of another element among those of its
 * kind. */
DLP_API guint dlp_element_get_ordinal (DlpElement *self);
DLP_API gboolean dlp_element_get_strict (DlpElement *self);
/* The memory budget of the whole pipeline, in bytes; known in start(). */
DLP_API guint64 dlp_element_get_memory_budget (DlpElement *self);
/* Bytes that this element may hold beyond its links, from start() on: at most what its class's
 * want_memory() asked for, less where the memory budget is short. */
DLP_API gsize dlp_element_get_memory_share (DlpElement *self);
/* The pipeline was asked to end its inputs: a source or reader ends as soon as it can. Where it
 * ends before it has given all, it says so by dlp_element_note_cut_short(); DlpSource and DlpReader
 * do both by themselves. */
DLP_API gboolean dlp_element_is_finishing (DlpElement *self);
/* In step(), before an end by dlp_element_is_finishing() that something is dropped by: the run,
 * once it is complete, counts as finished early for ever. Not where only the end was left. */
DLP_API void dlp_element_note_cut_short (DlpElement *self);
/* What is emitted now was seen outside before a restore: warnings are to be silent. */
DLP_API gboolean dlp_element_is_replaying (DlpElement *self);

/* In step(): names the input that is waited for, and returns DLP_STEP_WANT_INPUT; or, where work is
 * out too, DLP_STEP_WANT_INPUT_OR_WORK. */
DLP_API DlpStep dlp_element_want_input (DlpElement *self, guint input);
DLP_API DlpStep dlp_element_want_input_or_work (DlpElement *self, guint input);
/* From any thread: what DLP_STEP_WANT_WORK waited for may be there. */
DLP_API void dlp_element_wake (DlpElement *self);

/* (transfer none) (nullable): the sink of this pipeline that writes the file of that name, for a
 * source that is about to read it; from negotiate() on. */
DLP_API const char *dlp_element_find_writer (DlpElement *self, const char *path);

/* A structured warning (domain "dlpipe", fields DLP_ELEMENT, DLP_FILE, DLP_ROW), silent while
 * replaying; kept for the report. @uri: (nullable). @row: -1: none. */
DLP_API void dlp_element_warn (DlpElement *self, const char *uri, gint64 row, const char *message);

/* Stateless work on the shared pool. @func is called on a worker, of which there are
 * dlp_element_get_n_workers(), numbered from 0; or at once, in the caller, where the pipeline runs
 * on one thread. */
typedef void (*DlpWorkFunc) (DlpElement *self, guint worker, gpointer data);
DLP_API guint dlp_element_get_n_workers (DlpElement *self);
DLP_API void dlp_element_submit_work (DlpElement *self, DlpWorkFunc func, gpointer data);

/* Input files: the identity of each opened file is recorded, and compared at each later opening,
 * also in later attempts. Called when a file is opened, from any thread. */
DLP_API gboolean dlp_element_check_input_file (DlpElement *self,
                                               const DlpCoordinate *coordinate,
                                               const char *uri,
                                               gint64 size,
                                               const char *identity,
                                               GError **error);

/* (transfer full) (nullable): the name, fit to print, of the file that a record comes from, if a
 * reader opened it; NULL too outside of a pipeline. Any thread. For messages: it may read the list
 * of input files from the state folder, and readers that open a file wait for that. */
DLP_API char *dlp_element_dup_input_name (DlpElement *self, const DlpCoordinate *coordinate);

/* Progress, from any thread: parts of the input, in bytes and files, that are known and done. Set,
 * not added. */
DLP_API void dlp_element_set_progress (DlpElement *self,
                                       guint64 bytes_done,
                                       guint64 bytes_total,
                                       guint files_done,
                                       guint files_total);
/* Time spent waiting for I/O of its own, for the statistics; microseconds, added. */
DLP_API void dlp_element_add_io_wait (DlpElement *self, gint64 microseconds);

/* In start() and step(): while an element refills what it held before a restore, core makes no
 * newer marks for it, and the inputs of the pipeline are not ended early. */
DLP_API void dlp_element_hold_marks (DlpElement *self, gboolean hold);
/* An empty file without a name, for what does not fit its memory share: in the state folder if
 * there is one, else in /var/tmp. Its descriptor, to be closed by the caller; -1 on error. */
DLP_API int dlp_element_open_scratch (DlpElement *self, GError **error);

/* A declared wait ("retry in 42 s") is no stall. NULL: over. */
DLP_API void dlp_element_set_status (DlpElement *self, const char *status);

/* ---- for class init ---- */
/* One line for listings, and an example graph line. */
DLP_API void dlp_element_class_set_description (DlpElementClass *klass,
                                                const char *description,
                                                const char *example);

G_END_DECLS
