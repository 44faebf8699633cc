/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-schema.h>

#include "arrow-table.h"
#include "reader-fields.h"

G_BEGIN_DECLS

/* What becomes a field of the records. */
typedef struct
{
  char *path; /* as it was written: a column, or a.b within structs */
  char *name; /* of the column, fit for a message */
  DlpFieldType type;
  gboolean is_text;         /* the field text: nothing but text becomes it */
  gboolean has_type;        /* one was written */
  gboolean optional;        /* null and a missing column are null */
  const ReaderField *field; /* (nullable): what was written; NULL: of the text */
} ArrowWish;

typedef enum
{
  ARROW_VALUE_NULL,
  ARROW_VALUE_BOOLEAN,
  ARROW_VALUE_INTEGER,
  ARROW_VALUE_REAL,
  ARROW_VALUE_BYTES_32, /* text or bytes, by offsets of 32 bits */
  ARROW_VALUE_BYTES_64,
  ARROW_VALUE_BYTES_VIEW,
  ARROW_VALUE_BYTES_FIXED,
  ARROW_VALUE_LIST_32,
  ARROW_VALUE_LIST_64,
  ARROW_VALUE_LIST_FIXED,
  ARROW_VALUE_OTHER, /* not read */
} ArrowValueKind;

typedef struct
{
  ArrowValueKind kind;
  guint width; /* of a number or of fixed bytes; items of a fixed list */
  gboolean is_signed;
} ArrowValueType;

/* Where the values of a wish are in record batches. */
typedef struct
{
  const ArrowWish *wish;
  gboolean is_absent;
  guint *steps; /* child of the record batch, that one's child, ... */
  guint n_steps;
  ArrowValueType value;
  ArrowValueType item; /* of a list */
  gboolean has_dictionary;
  ArrowValueType index; /* then: of the value in the dictionary */
} ArrowColumn;

typedef struct
{
  gatomicrefcount ref_count;
  guint n_columns;
  ArrowColumn columns[]; /* by wish */
} ArrowPlan;

/* @schema: of a file. NULL with @why, if it does not have what is wanted. */
ArrowPlan *arrow_plan_new (const ArrowWish *wishes,
                           guint n_wishes,
                           const struct ArrowSchema *schema,
                           char **why);
ArrowPlan *arrow_plan_ref (ArrowPlan *self);
void arrow_plan_unref (ArrowPlan *self);

G_END_DECLS
