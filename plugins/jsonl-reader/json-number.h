/* SPDX-License-Identifier: MIT */

#pragma once

#include "json-record.h"
#include "number.h"

G_BEGIN_DECLS

/* The number of a value of kind JSON_VALUE_NUMBER of json_parse_record(); see number.h. */

static inline NumberResult
json_value_get_int64 (const JsonValue *value, gint64 *number)
{
  return number_get_int64 (value->data, value->len, number);
}

static inline NumberResult
json_value_get_uint64 (const JsonValue *value, guint64 *number)
{
  return number_get_uint64 (value->data, value->len, number);
}

static inline NumberResult
json_value_get_double (const JsonValue *value, double *number)
{
  return number_get_double (value->data, value->len, number);
}

G_END_DECLS
