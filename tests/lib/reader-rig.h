/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/*
 * A source of files, a reader, and a sink that takes one record at a time from either pad of the
 * reader, all on the test's thread (the reader's own threads and the pool apart). What the sink has
 * consumed can be saved as a checkpoint would, at any record, and a new rig goes on from there.
 */

typedef struct
{
  GType source_type;
  const char *const *source; /* "name=value", NULL-terminated */
  GType reader_type;         /* 0: the sink takes the files themselves */
  const char *const *reader; /* (nullable) */
  guint workers;
  guint64 seed;
  gboolean strict;
  gsize memory; /* of an element; 0: 16 MiB */
  guint stride; /* of rig_assert_resumable(): every so many records; 0: every one */
} RigConfig;

typedef struct _Rig Rig;

/* A checkpoint: plain data. */
typedef struct
{
  GVariant *source; /* the source's state */
  guint64 source_emitted;
  GVariant *reader; /* (nullable) */
  guint64 reader_emitted[2];
  guint64 reader_input;
  guint64 consumed[2];
} RigState;

/* Everything that came out. */
typedef struct
{
  GPtrArray *good;     /* of char *: "STAGE SOURCE FILE ROW EPOCH\tFIELD\tFIELD..." */
  GPtrArray *rejected; /* of the pad rejected */
  GVariant *report;    /* (nullable): of the reader, at the end */
  GError *error;
} RigOutput;

/* @from: (nullable). NULL and @error where the elements refuse their properties or the state. */
Rig *rig_new (const RigConfig *config, const RigState *from, GError **error);
void rig_free (Rig *self);
/* (transfer full) (nullable): the next record from either pad, drawn at random where both have one;
 * *is_rejected says which. NULL at the end, or with @error. */
char *rig_next (Rig *self, gboolean *is_rejected, GError **error);
/* (transfer full) (nullable): the same, or NULL where nothing comes out within @seconds. */
char *rig_next_within (Rig *self, double seconds, gboolean *is_rejected, GError **error);
/* A step of the source and of the reader. FALSE: there is nothing to do for them. */
gboolean rig_move (Rig *self);
/* The rest of the good records, whole record batches at a time; returns how many there were. */
guint64 rig_drain (Rig *self, GError **error);
RigState *rig_save (Rig *self);
/* (transfer full): what the reader says in a report now. */
GVariant *rig_report (Rig *self);
/* The pipeline is asked to finish. */
void rig_finish (Rig *self);
/* Something was dropped by that. */
gboolean rig_is_cut_short (Rig *self);

void rig_state_free (RigState *self);
void rig_output_free (RigOutput *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rig, rig_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RigState, rig_state_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RigOutput, rig_output_free)

/* Runs to the end. */
RigOutput *rig_run (const RigConfig *config);
/* Stops after every record, saves, goes on in new elements. */
RigOutput *rig_run_in_pieces (const RigConfig *config);
/* At every record of a run by @config: what one by @later makes of the rest is what this one goes
 * on to make. */
void rig_assert_resumable (const RigConfig *config, const RigConfig *later);
/* The same at every step of the reader, by a mark made there, also where nothing came out. */
void rig_assert_resumable_at_steps (const RigConfig *config, const RigConfig *later);
void rig_assert_equal (const RigOutput *a, const RigOutput *b);

/* How often a random test runs: @n times DLPIPE_TEST_SCALE, at least once. */
guint rig_scaled (guint n);

G_END_DECLS
