/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib-object.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * dlp_value_parse:
 * @pspec: the property
 * @text: its value as text
 * @out: (out caller-allocates): the value, unset (%G_VALUE_INIT) before; stays so on failure
 * @error: return location for an error
 *
 * Reads text as a value of the type of @pspec.
 *
 * - integers: counts, k, M, G, T are powers of 1000; with %DLP_PARAM_BYTES k, K, M, G, T, P and
 * KiB, MiB, ... are powers of 1024, kB, MB, ... of 1000; with %DLP_PARAM_DURATION us, ms, s, m,
 * min, h, d, and a bare number is seconds; the value is microseconds
 * - double: C locale; "1%" is 0.01; with %DLP_PARAM_DURATION a time in seconds
 * - enum, flags: by nick; flags joined by '+', ',' or '|'
 * - GStrv: one element; the caller appends when a property is given several times
 *
 * Fails with %DLP_GRAPH_ERROR_VALUE; the message names the property, the value and what is allowed,
 * but no place.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_value_parse (GParamSpec *pspec, const char *text, GValue *out, GError **error);

/**
 * dlp_value_to_text:
 * @pspec: the property
 * @value: its value
 *
 * Gets the canonical text of a value, which dlp_value_parse() reads back to the same value. A GStrv
 * must have one element.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable): a text; %NULL if the type is not one that dlp_value_parse()
 *   knows
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_value_to_text (GParamSpec *pspec, const GValue *value);

/**
 * dlp_value_describe_allowed:
 * @pspec: the property
 *
 * Gets what dlp_value_parse() allows for a property, for messages and listings: "1 to 64", "fail,
 * skip", "true, false".
 *
 * Threads: any.
 *
 * Returns: (transfer full): a text
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_value_describe_allowed (GParamSpec *pspec);

G_END_DECLS
