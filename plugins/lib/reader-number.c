/* SPDX-License-Identifier: MIT */

/* Numbers as files have them, and what a field or a list holds of them. */

#include "reader-number.h"

#include <math.h>

#define TWO_TO_63 9223372036854775808.0
#define TWO_TO_64 18446744073709551616.0

static const struct
{
  const char *limits;
  ReaderNumberForm form;
  gint64 min;
  guint64 max;
} ranges[] = {
  [READER_RANGE_I32] = { "-2147483648 to 2147483647", READER_NUMBER_SIGNED, G_MININT32,
                         G_MAXINT32 },
  [READER_RANGE_I64] = { "-9223372036854775808 to 9223372036854775807", READER_NUMBER_SIGNED,
                         G_MININT64, G_MAXINT64 },
  [READER_RANGE_U16] = { "0 to 65535", READER_NUMBER_UNSIGNED, 0, G_MAXUINT16 },
  [READER_RANGE_U32] = { "0 to 4294967295", READER_NUMBER_UNSIGNED, 0, G_MAXUINT32 },
  [READER_RANGE_U64] = { "0 to 18446744073709551615", READER_NUMBER_UNSIGNED, 0, G_MAXUINT64 },
  [READER_RANGE_F32] = { "-3.4028234663852886e38 to 3.4028234663852886e38", READER_NUMBER_REAL },
  [READER_RANGE_F64] = { "-1.7976931348623157e308 to 1.7976931348623157e308", READER_NUMBER_REAL },
};

const char *
reader_range_get_wanted (ReaderRange range)
{
  return range >= READER_RANGE_F32 ? "a number" : "a whole number";
}

const char *
reader_range_get_limits (ReaderRange range)
{
  return ranges[range].limits;
}

/* ---- what fits ---- */

/* Doubles from 2^63 on have none. */
static gboolean
is_fraction (double value)
{
  return value > -TWO_TO_63 && value < TWO_TO_63 && (double) (gint64) value != value;
}

static NumberResult
fit_signed (ReaderNumber *self, ReaderRange range)
{
  if (self->form == READER_NUMBER_REAL)
    {
      if (!isfinite (self->d))
        return NUMBER_NON_FINITE;
      if (is_fraction (self->d))
        return NUMBER_FRACTION;
      if (!(self->d >= -TWO_TO_63 && self->d < TWO_TO_63))
        return NUMBER_RANGE;
      self->i = (gint64) self->d;
    }
  else if (self->form == READER_NUMBER_UNSIGNED)
    {
      if (self->u > G_MAXINT64)
        return NUMBER_RANGE;
      self->i = (gint64) self->u;
    }
  if (self->i < ranges[range].min || self->i > (gint64) ranges[range].max)
    return NUMBER_RANGE;
  self->form = READER_NUMBER_SIGNED;
  return NUMBER_OK;
}

static NumberResult
fit_unsigned (ReaderNumber *self, ReaderRange range)
{
  if (self->form == READER_NUMBER_REAL)
    {
      if (!isfinite (self->d))
        return NUMBER_NON_FINITE;
      if (is_fraction (self->d))
        return NUMBER_FRACTION;
      if (!(self->d >= 0 && self->d < TWO_TO_64))
        return NUMBER_RANGE;
      self->u = (guint64) self->d;
    }
  else if (self->form == READER_NUMBER_SIGNED)
    {
      if (self->i < 0)
        return NUMBER_RANGE;
      self->u = (guint64) self->i;
    }
  if (self->u > ranges[range].max)
    return NUMBER_RANGE;
  self->form = READER_NUMBER_UNSIGNED;
  return NUMBER_OK;
}

static NumberResult
fit_real (ReaderNumber *self, ReaderRange range)
{
  double value = self->form == READER_NUMBER_REAL     ? self->d :
                 self->form == READER_NUMBER_UNSIGNED ? (double) self->u :
                                                        (double) self->i;

  if (range == READER_RANGE_F32)
    {
      double narrow = (double) (float) value;

      if (isinf (narrow) && !isinf (value))
        return NUMBER_RANGE;
      value = narrow;
    }
  self->form = READER_NUMBER_REAL;
  self->d = value;
  return NUMBER_OK;
}

NumberResult
reader_number_fit (ReaderNumber *self, ReaderRange range)
{
  switch (ranges[range].form)
    {
    case READER_NUMBER_SIGNED:
      return fit_signed (self, range);
    case READER_NUMBER_UNSIGNED:
      return fit_unsigned (self, range);
    default:
      return fit_real (self, range);
    }
}

NumberResult
reader_number_read (ReaderNumber *self, ReaderRange range, const guint8 *text, gsize size)
{
  NumberResult result;

  self->form = ranges[range].form;
  if (self->form == READER_NUMBER_SIGNED)
    result = number_get_int64 (text, size, &self->i);
  else if (self->form == READER_NUMBER_UNSIGNED)
    result = number_get_uint64 (text, size, &self->u);
  else
    result = number_get_double (text, size, &self->d);
  return result == NUMBER_OK ? reader_number_fit (self, range) : result;
}

/* ---- to be looked at ---- */

static void
show_real (GString *to, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.15g", value);
  if (g_ascii_strtod (text, NULL) != value)
    g_ascii_formatd (text, sizeof text, "%.17g", value);
  g_string_append (to, text);
}

void
reader_number_show (GString *to, const ReaderNumber *self)
{
  if (self->form == READER_NUMBER_REAL)
    show_real (to, self->d);
  else if (self->form == READER_NUMBER_SIGNED)
    g_string_append_printf (to, "%" G_GINT64_FORMAT, self->i);
  else
    g_string_append_printf (to, "%" G_GUINT64_FORMAT, self->u);
}
