/* SPDX-License-Identifier: MIT */
#include "dlp-quantity-private.h"

#include <string.h>

#define K G_GUINT64_CONSTANT (1000)
#define KI G_GUINT64_CONSTANT (1024)
#define SECOND G_GUINT64_CONSTANT (1000000)

typedef struct
{
  const char *name;
  guint64 factor;
  gboolean is_written; /* dlp_quantity_format() uses it */
} Unit;

/* From the largest to the smallest of those written. */
static const Unit count_units[] = {
  { "P", K *K *K *K *K, FALSE },
  { "T", K *K *K *K, FALSE },
  { "G", K *K *K, FALSE },
  { "M", K *K, FALSE },
  { "k", K, FALSE },
  { "K", K, FALSE },
  { "", 1, TRUE },
  { NULL },
};

static const Unit byte_units[] = {
  { "P", KI *KI *KI *KI *KI, TRUE },
  { "T", KI *KI *KI *KI, TRUE },
  { "G", KI *KI *KI, TRUE },
  { "M", KI *KI, TRUE },
  { "k", KI, TRUE },
  { "", 1, TRUE },
  { "K", KI, FALSE },
  { "Ki", KI, FALSE },
  { "Mi", KI *KI, FALSE },
  { "Gi", KI *KI *KI, FALSE },
  { "Ti", KI *KI *KI *KI, FALSE },
  { "Pi", KI *KI *KI *KI *KI, FALSE },
  { "KiB", KI, FALSE },
  { "MiB", KI *KI, FALSE },
  { "GiB", KI *KI *KI, FALSE },
  { "TiB", KI *KI *KI *KI, FALSE },
  { "PiB", KI *KI *KI *KI *KI, FALSE },
  { "kB", K, FALSE },
  { "KB", K, FALSE },
  { "MB", K *K, FALSE },
  { "GB", K *K *K, FALSE },
  { "TB", K *K *K *K, FALSE },
  { "PB", K *K *K *K *K, FALSE },
  { "B", 1, FALSE },
  { NULL },
};

static const Unit duration_units[] = {
  { "d", 86400 * SECOND, TRUE },
  { "h", 3600 * SECOND, TRUE },
  { "m", 60 * SECOND, TRUE },
  { "s", SECOND, TRUE },
  { "ms", SECOND / 1000, TRUE },
  { "us", 1, TRUE },
  { "", SECOND, FALSE },
  { "min", 60 * SECOND, FALSE },
  { "\xc2\xb5s", 1, FALSE },
  { "\xce\xbcs", 1, FALSE },
  { NULL },
};

static const Unit *
get_units (DlpQuantity quantity)
{
  switch (quantity)
    {
    case DLP_QUANTITY_BYTES:
      return byte_units;
    case DLP_QUANTITY_DURATION:
      return duration_units;
    case DLP_QUANTITY_COUNT:
    default:
      return count_units;
    }
}

gboolean
dlp_quantity_get_factor (DlpQuantity quantity, const char *unit, guint64 *factor)
{
  for (const Unit *u = get_units (quantity); u->name != NULL; u++)
    {
      if (strcmp (u->name, unit) == 0)
        {
          *factor = u->factor;
          return TRUE;
        }
    }
  return FALSE;
}

/* The pieces of "12.50e3k": whole is "12", fraction "50", exponent 3, unit "k". */
typedef struct
{
  const char *whole;
  gsize n_whole;
  const char *fraction;
  gsize n_fraction;
  guint exponent;
  const char *unit;
} Number;

static gsize
count_digits (const char *p)
{
  return strspn (p, "0123456789");
}

static gboolean
split_number (const char *p, Number *number)
{
  memset (number, 0, sizeof *number);
  number->whole = p;
  number->n_whole = count_digits (p);
  p += number->n_whole;
  number->fraction = p;
  if (*p == '.')
    {
      number->fraction = p + 1;
      number->n_fraction = count_digits (p + 1);
      p += 1 + number->n_fraction;
    }
  if (number->n_whole + number->n_fraction == 0)
    return FALSE;

  if ((*p == 'e' || *p == 'E') && count_digits (p + 1 + (p[1] == '+')) > 0)
    {
      p += 1 + (p[1] == '+');
      for (; g_ascii_isdigit (*p); p++)
        number->exponent = MIN (number->exponent * 10 + (*p - '0'), 1000);
    }
  number->unit = p;
  while (number->n_fraction > 0 && number->fraction[number->n_fraction - 1] == '0')
    number->n_fraction--;
  return TRUE;
}

static gboolean
is_zero (const Number *number)
{
  return number->n_fraction == 0 && strspn (number->whole, "0") >= number->n_whole;
}

/* The digit after the first n; past the last one there are zeros. */
static guint
get_digit (const Number *number, gsize n)
{
  if (n < number->n_whole)
    return number->whole[n] - '0';
  n -= number->n_whole;
  return n < number->n_fraction ? number->fraction[n] - '0' : 0;
}

/* An exponent moves the point to the right. */
static gboolean
multiply_whole (const Number *number, guint64 factor, guint64 *result)
{
  guint64 value = 0;

  for (gsize i = 0; i < number->n_whole + number->exponent; i++)
    {
      if (!g_uint64_checked_mul (&value, value, 10) ||
          !g_uint64_checked_add (&value, value, get_digit (number, i)))
        return FALSE;
    }
  return g_uint64_checked_mul (result, value, factor);
}

/* 0.d1d2...dn times factor, from the last digit to the first: it is a whole number if and only if
 * no division leaves a rest. */
static gboolean
multiply_fraction (const Number *number, guint64 factor, guint64 *result)
{
  guint64 value = 0;

  for (gsize i = number->n_fraction; i > number->exponent; i--)
    {
      value += factor * (number->fraction[i - 1] - '0');
      if (value % 10 != 0)
        return FALSE;
      value /= 10;
    }
  *result = value;
  return TRUE;
}

gboolean
dlp_quantity_parse (DlpQuantity quantity,
                    const char *text,
                    gboolean *negative,
                    guint64 *magnitude,
                    const char **why)
{
  Number number;
  guint64 factor, whole, fraction;

  *negative = *text == '-';
  if (!split_number (text + (*text == '-' || *text == '+'), &number))
    {
      *why = "is not a number";
      return FALSE;
    }
  if (!dlp_quantity_get_factor (quantity, number.unit, &factor))
    {
      *why = "has an unknown unit";
      return FALSE;
    }

  *magnitude = 0;
  if (is_zero (&number))
    return TRUE;
  if (!multiply_whole (&number, factor, &whole))
    {
      *why = "is too large for any integer";
      return FALSE;
    }
  if (!multiply_fraction (&number, factor, &fraction))
    {
      *why = quantity == DLP_QUANTITY_DURATION ? "is finer than a microsecond" :
                                                 "is not a whole number";
      return FALSE;
    }
  *why = "is too large for any integer";
  return g_uint64_checked_add (magnitude, whole, fraction);
}

char *
dlp_quantity_format (DlpQuantity quantity, gboolean negative, guint64 magnitude)
{
  const char *sign = negative && magnitude != 0 ? "-" : "";
  const Unit *unit = get_units (quantity);

  if (magnitude == 0)
    return g_strdup (quantity == DLP_QUANTITY_DURATION ? "0s" : "0");

  while (!unit->is_written || magnitude % unit->factor != 0)
    unit++;
  return g_strdup_printf ("%s%" G_GUINT64_FORMAT "%s", sign, magnitude / unit->factor, unit->name);
}
