/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-record-batch-private.h"

G_BEGIN_DECLS

/* Added to n_open by a fault: no number of values makes a whole record of it. */
#define DLP_BUILDER_FAULTY (1u << 31)

/* A buffer that starts as large as its predecessor became. */
typedef struct
{
  DlpBuffer buffer;
  gsize hint;
} DlpBuilderBuffer;

typedef struct
{
  DlpBuilderBuffer data;
  DlpBuilderBuffer offsets;
  DlpBuilderBuffer validity; /* in use from the first null on */
  DlpBuffer aside;           /* see reserve_aside() */
  gsize used;                /* bytes of data, where there are offsets */
  gsize reserved;            /* bytes behind used that the caller writes to */
  guint n_values;            /* the builder's length, or one more */
  guint n_nulls;
  guint width;
  DlpFieldType type;
  gboolean has_validity;
  gboolean is_reserved;
  gboolean is_aside;
} DlpBuilderField;

struct _DlpRecordBatchBuilder
{
  gint ref_count;
  guint length;
  guint n_open; /* values of the record being built; DLP_BUILDER_FAULTY */
  gsize open_bytes;
  gsize value_bytes;  /* of values found by offsets, of whole records */
  gsize record_bytes; /* of what every record has */
  DlpSchema *schema;
  DlpBuilderBuffer coordinates;
  DlpRecordFault fault;
  gboolean fault_is_final; /* its record was ended: no more records come in */
  gpointer waste;          /* what a refused value is written to */
  DlpBuilderField fields[];
};

/* Takes back the values of the open record. */
void dlp_builder_drop_values (DlpRecordBatchBuilder *self);

/* ---- what is wrong with the open record (dlp-record-batch-fault.c) ---- */

/* A value of none of these types, or where there is one already. @given: "an integer". */
void dlp_builder_refuse_value (DlpRecordBatchBuilder *self,
                               guint field,
                               guint type_mask,
                               const char *given);
void dlp_builder_refuse_null (DlpRecordBatchBuilder *self, guint field);
void
dlp_builder_refuse_overflow (DlpRecordBatchBuilder *self, const DlpBuilderField *field, gsize n);
void dlp_builder_refuse_commit (DlpRecordBatchBuilder *self, guint field, gsize used);
void dlp_builder_refuse_missing (DlpRecordBatchBuilder *self);
void dlp_builder_refuse_too_many (DlpRecordBatchBuilder *self);
/* These two end the record too; FALSE. */
gboolean
dlp_builder_refuse_rows (DlpRecordBatchBuilder *self, const DlpColumns *columns, gsize first);
/* @coordinate: (nullable). */
gboolean
dlp_builder_end_faulty_record (DlpRecordBatchBuilder *self, const DlpCoordinate *coordinate);
void dlp_builder_clear_fault (DlpRecordBatchBuilder *self);

G_END_DECLS
