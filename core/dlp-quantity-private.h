/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whole numbers with a unit, read and written exactly. */
typedef enum
{
  DLP_QUANTITY_COUNT,    /* k, M, G, T, P: powers of 1000 */
  DLP_QUANTITY_BYTES,    /* the same: powers of 1024; kB, MB, ...: powers of 1000 */
  DLP_QUANTITY_DURATION, /* in microseconds; us, ms, s (also without a unit), m, h, d */
} DlpQuantity;

/* Decimals and exponents are allowed ("1.5M", "1e9") where the result is a whole number. On failure
 * why says what is wrong, as a phrase. */
gboolean dlp_quantity_parse (DlpQuantity quantity,
                             const char *text,
                             gboolean *negative,
                             guint64 *magnitude,
                             const char **why);

/* The shortest text that is read back to the same. */
char *dlp_quantity_format (DlpQuantity quantity, gboolean negative, guint64 magnitude);

/* What a unit multiplies by; FALSE if there is no such unit. */
gboolean dlp_quantity_get_factor (DlpQuantity quantity, const char *unit, guint64 *factor);

G_END_DECLS
