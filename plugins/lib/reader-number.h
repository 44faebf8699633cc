/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-schema.h>

#include "number.h"

G_BEGIN_DECLS

/* What a number has to be, of a field or of each item of a list. */
typedef enum
{
  READER_RANGE_NONE, /* no number */
  READER_RANGE_I32,
  READER_RANGE_I64,
  READER_RANGE_U16,
  READER_RANGE_U32,
  READER_RANGE_U64,
  READER_RANGE_F32,
  READER_RANGE_F64,
} ReaderRange;

typedef enum
{
  READER_NUMBER_SIGNED,
  READER_NUMBER_UNSIGNED,
  READER_NUMBER_REAL,
} ReaderNumberForm;

/* As a file has it, or, once it was made to fit, as its range has it. */
typedef struct
{
  ReaderNumberForm form;
  gint64 i;
  guint64 u;
  double d;
} ReaderNumber;

/* In a message: "a whole number" or "a number", and "0 to 65535". */
const char *reader_range_get_wanted (ReaderRange range);
const char *reader_range_get_limits (ReaderRange range);

/* Makes it one of the range, without the loss of a digit but in real numbers; those of 32 bits are
 * rounded to the nearest. NaN and infinities stay in real numbers. */
NumberResult reader_number_fit (ReaderNumber *self, ReaderRange range);
/* The same of a text in decimal, as number.h has it. */
NumberResult
reader_number_read (ReaderNumber *self, ReaderRange range, const guint8 *text, gsize size);

/* With as few digits as say which one it is. */
void reader_number_show (GString *to, const ReaderNumber *self);

G_END_DECLS
