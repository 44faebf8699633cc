/* SPDX-License-Identifier: MIT */

#include "number.h"

#include <float.h>
#include <math.h>

/* So many digits fit guint64, whatever they are. */
#define SAFE_DIGITS 19
/* Doubles hold whole numbers up to this, and powers of ten up to this, exactly. */
#define MAX_EXACT (G_GUINT64_CONSTANT (1) << 53)
#define MAX_EXACT_POWER 22
/* An exponent above this is as good as this: no line has so many digits to make up for it. */
#define MAX_EXPONENT (G_GINT64_CONSTANT (1) << 56)

/* mantissa * 10^exponent. */
typedef struct
{
  guint64 mantissa;
  gint64 exponent;
  gboolean negative;
  gboolean is_long; /* the digits, without zeros at the end, do not fit the mantissa */
} Decimal;

static gboolean
is_digit (guint8 c)
{
  return (guint8) (c - '0') < 10;
}

/* The digits once more, but for zeros at their end: they go into the exponent. Returns what is
 * behind them. */
static const guint8 *
read_long_digits (Decimal *self, const guint8 *p, const guint8 *end)
{
  gboolean in_fraction = FALSE;
  guint64 zeros = 0;

  self->mantissa = 0;
  self->exponent = 0;
  for (; p < end && (is_digit (*p) || *p == '.'); p++)
    {
      if (*p == '.')
        {
          in_fraction = TRUE;
          continue;
        }
      self->exponent -= in_fraction;
      if (*p == '0')
        {
          zeros++;
          continue;
        }
      for (zeros = self->mantissa != 0 ? zeros + 1 : 0; zeros > 0 && !self->is_long; zeros--)
        self->is_long = __builtin_mul_overflow (self->mantissa, 10, &self->mantissa);
      self->is_long |= __builtin_add_overflow (self->mantissa, *p - '0', &self->mantissa);
      zeros = 0;
    }
  self->exponent += (gint64) zeros;
  return p;
}

static const guint8 *
read_digits (Decimal *self, const guint8 *p, const guint8 *end)
{
  const guint8 *start = p;
  const guint8 *point = NULL;
  const guint8 *first = NULL; /* digit that is no zero */

  for (; p < end; p++)
    if (is_digit (*p))
      {
        self->mantissa = self->mantissa * 10 + (*p - '0');
        if (first == NULL && *p != '0')
          first = p;
      }
    else if (*p == '.')
      point = p;
    else
      break;

  if (G_UNLIKELY (first != NULL && p - first - (point != NULL && point > first) > SAFE_DIGITS))
    return read_long_digits (self, start, end);
  self->exponent = point != NULL ? -(p - point - 1) : 0;
  return p;
}

static Decimal
read_decimal (const guint8 *text, gsize size)
{
  const guint8 *p = text;
  const guint8 *end = text + size;
  Decimal self = { .negative = *p == '-' };
  gboolean negative = FALSE;
  gint64 exponent = 0;

  p = read_digits (&self, p + self.negative, end);
  if (p == end)
    return self;

  /* Behind an e. */
  p++;
  if (*p == '+' || *p == '-')
    negative = *p++ == '-';
  for (; p < end; p++)
    if (exponent < MAX_EXPONENT)
      exponent = exponent * 10 + (*p - '0');
  self.exponent += negative ? -exponent : exponent;
  return self;
}

/* Without its sign. */
static NumberResult
to_integer (const Decimal *self, guint64 *number)
{
  guint64 rest = self->mantissa;
  gint64 exponent = self->exponent;

  if (self->is_long)
    return exponent >= 0 ? NUMBER_RANGE : NUMBER_FRACTION;
  for (; exponent < 0 && rest != 0; exponent++)
    {
      if (rest % 10 != 0)
        return NUMBER_FRACTION;
      rest /= 10;
    }
  for (; exponent > 0 && rest != 0; exponent--)
    if (__builtin_mul_overflow (rest, 10, &rest))
      return NUMBER_RANGE;

  *number = rest;
  return NUMBER_OK;
}

/* NaN, Infinity and -Infinity. */
static gboolean
is_non_finite (const guint8 *text, gsize size)
{
  return !is_digit (text[size - 1]);
}

NumberResult
number_get_int64 (const guint8 *text, gsize size, gint64 *number)
{
  const guint64 limit = G_GUINT64_CONSTANT (1) << 63;
  NumberResult result;
  guint64 whole = 0;
  Decimal decimal;

  if (is_non_finite (text, size))
    return NUMBER_NON_FINITE;
  decimal = read_decimal (text, size);
  result = to_integer (&decimal, &whole);
  if (result != NUMBER_OK)
    return result;
  if (whole > limit - !decimal.negative)
    return NUMBER_RANGE;

  *number = (gint64) (decimal.negative ? -whole : whole);
  return NUMBER_OK;
}

NumberResult
number_get_uint64 (const guint8 *text, gsize size, guint64 *number)
{
  NumberResult result;
  guint64 whole = 0;
  Decimal decimal;

  if (is_non_finite (text, size))
    return NUMBER_NON_FINITE;
  decimal = read_decimal (text, size);
  result = to_integer (&decimal, &whole);
  if (result != NUMBER_OK)
    return result;
  if (decimal.negative && whole > 0)
    return NUMBER_RANGE;

  *number = whole;
  return NUMBER_OK;
}

static double
get_non_finite (const guint8 *text)
{
  if (text[0] == 'N')
    return NAN;
  return text[0] == '-' ? -INFINITY : INFINITY;
}

/* Both are exact, so what one operation makes of them is rounded once. */
static double
combine (guint64 mantissa, gint64 exponent)
{
  static const double powers[MAX_EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  };

  return exponent < 0 ? (double) mantissa / powers[-exponent] :
                        (double) mantissa * powers[exponent];
}

NumberResult
number_get_double (const guint8 *text, gsize size, double *number)
{
  Decimal decimal;
  double value;

  if (is_non_finite (text, size))
    {
      *number = get_non_finite (text);
      return NUMBER_OK;
    }

  decimal = read_decimal (text, size);
  if (FLT_EVAL_METHOD == 0 && !decimal.is_long && decimal.mantissa <= MAX_EXACT &&
      ABS (decimal.exponent) <= MAX_EXACT_POWER)
    {
      value = combine (decimal.mantissa, decimal.exponent);
      *number = decimal.negative ? -value : value;
      return NUMBER_OK;
    }

  value = g_ascii_strtod ((const char *) text, NULL);
  if (isinf (value))
    return NUMBER_RANGE;
  *number = value;
  return NUMBER_OK;
}

static const guint8 *
skip_digits (const guint8 *p, const guint8 *end)
{
  while (p < end && is_digit (*p))
    p++;
  return p;
}

gboolean
number_is_well_formed (const guint8 *text, gsize size)
{
  const guint8 *end = text + size;
  const guint8 *p = text + (size > 0 && *text == '-');
  const guint8 *start = p;

  p = skip_digits (p, end);
  if (p == start || (*start == '0' && p > start + 1))
    return FALSE;
  if (p < end && *p == '.')
    {
      start = ++p;
      p = skip_digits (p, end);
      if (p == start)
        return FALSE;
    }
  if (p < end && (*p == 'e' || *p == 'E'))
    {
      p++;
      p += p < end && (*p == '+' || *p == '-');
      start = p;
      p = skip_digits (p, end);
      if (p == start)
        return FALSE;
    }
  return p == end;
}
