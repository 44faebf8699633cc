/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * dlp_get_version:
 * @major: (out) (optional): the major number
 * @minor: (out) (optional): the minor number
 * @micro: (out) (optional): the micro number
 *
 * Gets the version of the library that is running, which may be later than the one that the program
 * was built against.
 *
 * Threads: any.
 *
 * Returns: (transfer none): the version as text, such as "0.2.0"
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const char *dlp_get_version (guint *major, guint *minor, guint *micro);

/**
 * dlp_check_version:
 * @major: a major number
 * @minor: a minor number
 * @micro: a micro number
 *
 * Looks whether the library that is running is of this version or a later one.
 *
 * Threads: any.
 *
 * Returns: whether it is
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_check_version (guint major, guint minor, guint micro);

G_END_DECLS
