/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-pipeline.h>
#include <dlpipe/dlp-sink.h>
#include <dlpipe/dlp-transform.h>

G_BEGIN_DECLS

/* Elements of one kind each, by the public API alone, for graphs of the record schema of
 * `check-source`. What they make of a record is a function of its coordinate.
 *
 *   toy-filter     drops one of three; drop-from=, drop-to=: all the rows between
 *   toy-expand     0 to 3 copies of each
 *   toy-pack       groups of four; the remainder is state
 *   toy-split      one of `ratio` records to its second pad
 *   toy-reader     a record is a file of 0 to 22 rows; bad ones to its pad `rejected`; its mark
 * lies before the file it is in toy-parallel   toy-expand on the workers toy-shuffle    a buffer of
 * six; the buffer is the state: LARGE toy-hoard      gives out all at the end; its mark lies at the
 * beginning toy-dedup      by 50 keys; an append-only file of them: LOG toy-sink       lines in a
 * file
 */
void toys_register (void);

/* What the toy sink's end-after= ends. */
void toys_set_pipeline (DlpPipeline *pipeline);
/* A file of a toy-sink or toy-dedup after a crash: what was not synced may be lost. */
void toys_crash (const char *location);

/* ---- between the toys ---- */

guint64 toy_hash (const DlpRecordBatch *batch, guint row, const char *what);
/* 1 to 4: records in a step. */
guint toy_step_length (guint64 position);
/* The length up to which a file is durable. */
void toy_set_synced (const char *location, guint64 length);
guint64 toy_get_synced (const char *location);

/* A record that outlives its batch. */
typedef struct
{
  DlpCoordinate at;
  char *text;
} ToyRecord;

ToyRecord *toy_record_new (const DlpRecordBatch *batch, guint row);
void toy_record_free (ToyRecord *self);
void toy_record_emit (const DlpCoordinate *at, const char *text, DlpPad *pad);
/* (element-type ToyRecord) */
DlpState *toy_records_save (GPtrArray *records, guint64 number);
GVariant *toy_records_describe (const DlpState *state);
gboolean
toy_records_load (GPtrArray *records, guint64 *number, GVariant *described, GError **error);

/* Base: each record in turn. Its state is how many it saw. */
#define TOY_TYPE_MAP (toy_map_get_type ())
G_DECLARE_DERIVABLE_TYPE (ToyMap, toy_map, TOY, MAP, DlpElement)

struct _ToyMapClass
{
  DlpElementClass parent_class;

  void (*apply) (ToyMap *self, DlpRecordBatch *batch, guint row);
};

GType toy_filter_get_type (void);
GType toy_expand_get_type (void);
GType toy_split_get_type (void);
GType toy_pack_get_type (void);
GType toy_shuffle_get_type (void);
GType toy_hoard_get_type (void);
GType toy_reader_get_type (void);
GType toy_parallel_get_type (void);
GType toy_dedup_get_type (void);
GType toy_sink_get_type (void);

G_END_DECLS
