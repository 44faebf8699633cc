/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 records;
  guint64 bad;
  guint64 text_bytes;
} BenchResult;

/* Every line of @data (which has 64 readable bytes behind it): parsed, validated, `text` measured.
 */
BenchResult bench_simdjson_dom (const char *data, gsize len);
BenchResult bench_simdjson_on_demand (const char *data, gsize len);
const char *bench_simdjson_get_name (void);

G_END_DECLS
