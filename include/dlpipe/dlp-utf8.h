/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * dlp_utf8_measure_valid:
 * @text: (array length=size): bytes
 * @size: how many
 *
 * Gets how many bytes from the start are well-formed UTF-8. U+0000 is a character as any other,
 * which g_utf8_validate_len() refuses.
 *
 * Threads: any.
 *
 * Returns: @size where all of them are; else where the first ill-formed sequence begins
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gsize dlp_utf8_measure_valid (const guint8 *text, gsize size);

/**
 * dlp_utf8_append_repaired:
 * @to: a string
 * @text: (array length=size): bytes
 * @size: how many
 *
 * Appends the text with U+FFFD for each maximal subpart of an ill-formed sequence (The Unicode
 * Standard 16.0, 3.9.6, U+FFFD Substitution of Maximal Subparts).
 *
 * Threads: any.
 *
 * Returns: how many there were
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gsize dlp_utf8_append_repaired (GString *to, const guint8 *text, gsize size);

G_END_DECLS
