/* SPDX-License-Identifier: MIT */

/* Numbers of different types are compared as the numbers that they are, not as what one becomes
 * when it is converted. */

#include "filter-private.h"

#include <math.h>
#include <string.h>

#define TWO_TO_63 9223372036854775808.0
#define TWO_TO_64 18446744073709551616.0

#define COMPARE(a, b) ((a) < (b) ? FILTER_LESS : (a) > (b) ? FILTER_GREATER : FILTER_EQUAL)

static guint
mirror (guint result)
{
  return result == FILTER_LESS ? FILTER_GREATER : result == FILTER_GREATER ? FILTER_LESS : result;
}

static guint
compare_doubles (double a, double b)
{
  if (isnan (a) || isnan (b))
    return FILTER_UNORDERED;
  return COMPARE (a, b);
}

static guint
compare_int64_uint64 (gint64 a, guint64 b)
{
  return a < 0 ? FILTER_LESS : COMPARE ((guint64) a, b);
}

/* The whole part of a double in range converts exactly, and back. */
static guint
compare_int64_double (gint64 a, double b)
{
  gint64 whole;

  if (isnan (b))
    return FILTER_UNORDERED;
  if (b >= TWO_TO_63)
    return FILTER_LESS;
  if (b < -TWO_TO_63)
    return FILTER_GREATER;
  whole = (gint64) b;
  return a != whole ? COMPARE (a, whole) : COMPARE ((double) whole, b);
}

static guint
compare_uint64_double (guint64 a, double b)
{
  guint64 whole;

  if (isnan (b))
    return FILTER_UNORDERED;
  if (b >= TWO_TO_64)
    return FILTER_LESS;
  if (b < 0)
    return FILTER_GREATER;
  whole = (guint64) b;
  return a != whole ? COMPARE (a, whole) : COMPARE ((double) whole, b);
}

static guint
compare_bytes (const FilterValue *a, const FilterValue *b)
{
  gsize n = MIN (a->size, b->size);
  int order = n > 0 ? memcmp (a->bytes, b->bytes, n) : 0;

  return order != 0 ? COMPARE (order, 0) : COMPARE (a->size, b->size);
}

static guint
compare_with_int64 (gint64 a, const FilterValue *b)
{
  if (b->type == FILTER_INT64)
    return COMPARE (a, b->i);
  return b->type == FILTER_UINT64 ? compare_int64_uint64 (a, b->u) : compare_int64_double (a, b->d);
}

static guint
compare_with_uint64 (guint64 a, const FilterValue *b)
{
  if (b->type == FILTER_INT64)
    return mirror (compare_int64_uint64 (b->i, a));
  return b->type == FILTER_UINT64 ? COMPARE (a, b->u) : compare_uint64_double (a, b->d);
}

static guint
compare_with_double (double a, const FilterValue *b)
{
  if (b->type == FILTER_INT64)
    return mirror (compare_int64_double (b->i, a));
  return b->type == FILTER_UINT64 ? mirror (compare_uint64_double (b->u, a)) :
                                    compare_doubles (a, b->d);
}

guint
filter_value_compare (const FilterValue *a, const FilterValue *b)
{
  switch (a->type)
    {
    case FILTER_INT64:
      return compare_with_int64 (a->i, b);
    case FILTER_UINT64:
      return compare_with_uint64 (a->u, b);
    case FILTER_DOUBLE:
      return compare_with_double (a->d, b);
    case FILTER_BOOLEAN:
      return COMPARE (a->b, b->b);
    case FILTER_BYTES:
      return compare_bytes (a, b);
    case FILTER_LIST:
      break;
    }
  g_assert_not_reached ();
}
