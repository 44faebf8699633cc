/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib-object.h>

#include <dlpipe/dlp-version.h>

/* clang-format off */
#ifndef DLP_API
# define DLP_API __attribute__ ((visibility ("default"))) extern
#endif

/**
 * DLP_VERSION_0_1:
 *
 * Version 0.1, for %DLP_VERSION_MIN_REQUIRED and %DLP_VERSION_MAX_ALLOWED.
 *
 * Since: 0.1
 */
#define DLP_VERSION_0_1 (G_ENCODE_VERSION (0, 1))

/**
 * DLP_VERSION_0_2:
 *
 * Version 0.2, for %DLP_VERSION_MIN_REQUIRED and %DLP_VERSION_MAX_ALLOWED.
 *
 * Since: 0.2
 */
#define DLP_VERSION_0_2 (G_ENCODE_VERSION (0, 2))

#define DLP_VERSION_CUR (G_ENCODE_VERSION (DLP_MAJOR_VERSION, DLP_MINOR_VERSION))

/* What a program may define, before it includes anything of dlpipe, as one of the versions above:
 * the use of what was deprecated in DLP_VERSION_MIN_REQUIRED or before warns, and so does the use of
 * what is newer than DLP_VERSION_MAX_ALLOWED. */
#ifndef DLP_VERSION_MIN_REQUIRED
# define DLP_VERSION_MIN_REQUIRED (DLP_VERSION_CUR)
#endif
#ifndef DLP_VERSION_MAX_ALLOWED
# if DLP_VERSION_MIN_REQUIRED > DLP_VERSION_CUR
#  define DLP_VERSION_MAX_ALLOWED (DLP_VERSION_MIN_REQUIRED)
# else
#  define DLP_VERSION_MAX_ALLOWED (DLP_VERSION_CUR)
# endif
#endif
#if DLP_VERSION_MAX_ALLOWED < DLP_VERSION_MIN_REQUIRED
# error "DLP_VERSION_MAX_ALLOWED must not be lower than DLP_VERSION_MIN_REQUIRED"
#endif
#if DLP_VERSION_MIN_REQUIRED < DLP_VERSION_0_1
# error "DLP_VERSION_MIN_REQUIRED must be DLP_VERSION_0_1 or later"
#endif

#ifndef __GI_SCANNER__
#ifdef DLP_DISABLE_DEPRECATION_WARNINGS
# define DLP_UNAVAILABLE(major, minor) DLP_API
#else
# define DLP_UNAVAILABLE(major, minor) G_UNAVAILABLE (major, minor) DLP_API
#endif
#endif

#define DLP_AVAILABLE_IN_ALL DLP_API

#if DLP_VERSION_MAX_ALLOWED < DLP_VERSION_0_1
# define DLP_AVAILABLE_IN_0_1 DLP_UNAVAILABLE (0, 1)
#else
# define DLP_AVAILABLE_IN_0_1 DLP_API
#endif

#if DLP_VERSION_MAX_ALLOWED < DLP_VERSION_0_2
# define DLP_AVAILABLE_IN_0_2 DLP_UNAVAILABLE (0, 2)
#else
# define DLP_AVAILABLE_IN_0_2 DLP_API
#endif
/* clang-format on */

G_BEGIN_DECLS

/* Flags of an element's properties, besides GParamFlags. A property without any of the first three
 * is fixed: recorded, compared, a difference between two runs over one state is refused. */

/**
 * DLP_PARAM_FREE: (value 256)
 *
 * A flag of an element's property: it may change between two runs over one state.
 *
 * Since: 0.1
 */
#define DLP_PARAM_FREE (1 << (G_PARAM_USER_SHIFT + 0))

/**
 * DLP_PARAM_ELASTIC: (value 512)
 *
 * A flag of an element's property: it may change between two runs over one state, as rank and world
 * size do.
 *
 * Since: 0.1
 */
#define DLP_PARAM_ELASTIC (1 << (G_PARAM_USER_SHIFT + 1))

/**
 * DLP_PARAM_MUTABLE: (value 1024)
 *
 * A flag of an element's property: it may change while the pipeline runs.
 *
 * Since: 0.1
 */
#define DLP_PARAM_MUTABLE (1 << (G_PARAM_USER_SHIFT + 2))

/**
 * DLP_PARAM_BYTES: (value 4096)
 *
 * A flag of an element's property: in graph text a count of bytes (16M is 16 MiB).
 *
 * Since: 0.1
 */
#define DLP_PARAM_BYTES (1 << (G_PARAM_USER_SHIFT + 4))

/**
 * DLP_PARAM_DURATION: (value 8192)
 *
 * A flag of an element's property: a time in microseconds; in graph text with a unit (5s).
 *
 * Since: 0.1
 */
#define DLP_PARAM_DURATION (1 << (G_PARAM_USER_SHIFT + 5))

/**
 * DLP_PARAM_RECORDS: (skip)
 *
 * A flag of an element's property: a count of records. For listings.
 *
 * Since: 0.2
 */
#define DLP_PARAM_RECORDS (1 << (G_PARAM_USER_SHIFT + 6))

/**
 * DLP_PARAM_FOREVER: (value 32768)
 *
 * A flag of an element's property of type guint: in graph text 0 is `forever`.
 *
 * Since: 0.2
 */
#define DLP_PARAM_FOREVER (1 << (G_PARAM_USER_SHIFT + 7))

/**
 * DLP_PARAM_READWRITE: (skip)
 *
 * The flags of a property that is read and written, and whose texts are static.
 *
 * Since: 0.1
 */
#define DLP_PARAM_READWRITE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)

/**
 * DLP_PARAM_BUILD: (skip)
 *
 * The flags of a property that is fixed once the element is built into a pipeline.
 *
 * Since: 0.1
 */
#define DLP_PARAM_BUILD (DLP_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY)

G_END_DECLS
