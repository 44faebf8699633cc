/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * A number in decimal, exactly: 1.0 and 1e3 are whole ones. But for number_is_well_formed() the
 * text must be as JSON writes numbers, or one of NaN, Infinity and -Infinity; the byte behind it is
 * read, and ends it.
 */
typedef enum
{
  NUMBER_OK,
  NUMBER_FRACTION,   /* not a whole number */
  NUMBER_RANGE,      /* beyond what the type holds */
  NUMBER_NON_FINITE, /* NaN or an infinity, for an integer */
} NumberResult;

NumberResult number_get_int64 (const guint8 *text, gsize size, gint64 *number);
NumberResult number_get_uint64 (const guint8 *text, gsize size, guint64 *number);
/* The nearest double, ties to even; below the smallest one that is 0 with the number's sign. */
NumberResult number_get_double (const guint8 *text, gsize size, double *number);

/* As JSON writes them, and finite. */
gboolean number_is_well_formed (const guint8 *text, gsize size);

G_END_DECLS
