/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib-object.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

/* Reads text as a value of pspec's type; out is unset (G_VALUE_INIT) before, and stays so on
 * failure.
 *
 *   integers     counts: k, M, G, T are powers of 1000; with DLP_PARAM_BYTES: k, K, M, G, T, P and
 *                KiB, MiB, ... are powers of 1024, kB, MB, ... of 1000; with DLP_PARAM_DURATION:
 *                us, ms, s, m, min, h, d, and a bare number is seconds; the value is microseconds
 *   double       C locale; "1%" is 0.01; with DLP_PARAM_DURATION a time in seconds
 *   enum, flags  by nick; flags joined by '+', ',' or '|'
 *   GStrv        one element: the caller appends when a property is given several times
 *
 * Fails with DLP_GRAPH_ERROR_VALUE; the message names the property, the value and what is allowed,
 * but no place. Any thread. */
DLP_API gboolean dlp_value_parse (GParamSpec *pspec, const char *text, GValue *out, GError **error);

/* The canonical text of value, which dlp_value_parse() reads back to the same value. A GStrv must
 * have one element. NULL if the type is not one that dlp_value_parse() knows. */
DLP_API char *dlp_value_to_text (GParamSpec *pspec, const GValue *value);

/* What dlp_value_parse() allows for pspec, for messages and listings: "1 to 64",
 * "fail, skip", "true, false". */
DLP_API char *dlp_value_describe_allowed (GParamSpec *pspec);

G_END_DECLS
