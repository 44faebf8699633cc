/* SPDX-License-Identifier: MIT */

#pragma once

#include "json-record.h"

G_BEGIN_DECLS

/*
 * The number of a value of kind JSON_VALUE_NUMBER, exactly: JSON has one kind of number, so 1.0 and
 * 1e3 are whole ones. The values must be of json_parse_record(): the byte behind one is read, and
 * ends it.
 */
typedef enum
{
  JSON_NUMBER_OK,
  JSON_NUMBER_FRACTION,   /* not a whole number */
  JSON_NUMBER_RANGE,      /* beyond what the type holds */
  JSON_NUMBER_NON_FINITE, /* NaN or an infinity, for an integer */
} JsonNumberResult;

JsonNumberResult json_value_get_int64 (const JsonValue *value, gint64 *number);
JsonNumberResult json_value_get_uint64 (const JsonValue *value, guint64 *number);
/* The nearest double, ties to even; below the smallest one that is 0 with the number's sign. */
JsonNumberResult json_value_get_double (const JsonValue *value, double *number);

G_END_DECLS
