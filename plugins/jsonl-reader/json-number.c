/* SPDX-License-Identifier: MIT */

#include "json-number.h"

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
read_decimal (const JsonValue *value)
{
  const guint8 *p = value->data;
  const guint8 *end = p + value->len;
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
static JsonNumberResult
to_integer (const Decimal *self, guint64 *number)
{
  guint64 rest = self->mantissa;
  gint64 exponent = self->exponent;

  if (self->is_long)
    return exponent >= 0 ? JSON_NUMBER_RANGE : JSON_NUMBER_FRACTION;
  for (; exponent < 0 && rest != 0; exponent++)
    {
      if (rest % 10 != 0)
        return JSON_NUMBER_FRACTION;
      rest /= 10;
    }
  for (; exponent > 0 && rest != 0; exponent--)
    if (__builtin_mul_overflow (rest, 10, &rest))
      return JSON_NUMBER_RANGE;

  *number = rest;
  return JSON_NUMBER_OK;
}

/* NaN, Infinity and -Infinity. */
static gboolean
is_non_finite (const JsonValue *value)
{
  return !is_digit (value->data[value->len - 1]);
}

JsonNumberResult
json_value_get_int64 (const JsonValue *value, gint64 *number)
{
  const guint64 limit = G_GUINT64_CONSTANT (1) << 63;
  JsonNumberResult result;
  guint64 size = 0;
  Decimal decimal;

  if (is_non_finite (value))
    return JSON_NUMBER_NON_FINITE;
  decimal = read_decimal (value);
  result = to_integer (&decimal, &size);
  if (result != JSON_NUMBER_OK)
    return result;
  if (size > limit - !decimal.negative)
    return JSON_NUMBER_RANGE;

  *number = (gint64) (decimal.negative ? -size : size);
  return JSON_NUMBER_OK;
}

JsonNumberResult
json_value_get_uint64 (const JsonValue *value, guint64 *number)
{
  JsonNumberResult result;
  guint64 size = 0;
  Decimal decimal;

  if (is_non_finite (value))
    return JSON_NUMBER_NON_FINITE;
  decimal = read_decimal (value);
  result = to_integer (&decimal, &size);
  if (result != JSON_NUMBER_OK)
    return result;
  if (decimal.negative && size > 0)
    return JSON_NUMBER_RANGE;

  *number = size;
  return JSON_NUMBER_OK;
}

static double
get_non_finite (const JsonValue *value)
{
  if (value->data[0] == 'N')
    return NAN;
  return value->data[0] == '-' ? -INFINITY : INFINITY;
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

JsonNumberResult
json_value_get_double (const JsonValue *value, double *number)
{
  Decimal decimal;
  double size;

  if (is_non_finite (value))
    {
      *number = get_non_finite (value);
      return JSON_NUMBER_OK;
    }

  decimal = read_decimal (value);
  if (FLT_EVAL_METHOD == 0 && !decimal.is_long && decimal.mantissa <= MAX_EXACT &&
      ABS (decimal.exponent) <= MAX_EXACT_POWER)
    {
      size = combine (decimal.mantissa, decimal.exponent);
      *number = decimal.negative ? -size : size;
      return JSON_NUMBER_OK;
    }

  size = g_ascii_strtod ((const char *) value->data, NULL);
  if (isinf (size))
    return JSON_NUMBER_RANGE;
  *number = size;
  return JSON_NUMBER_OK;
}
