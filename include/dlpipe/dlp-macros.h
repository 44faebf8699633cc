/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

#ifndef DLP_API
#define DLP_API __attribute__ ((visibility ("default"))) extern
#endif

/* Flags of an element's properties, besides GParamFlags.
 *
 * What may change between two runs over one state: a property without any of these is fixed
 * (recorded, compared, a difference is refused).
 */
#define DLP_PARAM_FREE (1 << (G_PARAM_USER_SHIFT + 0))
#define DLP_PARAM_ELASTIC (1 << (G_PARAM_USER_SHIFT + 1))
#define DLP_PARAM_MUTABLE (1 << (G_PARAM_USER_SHIFT + 2))
/* What a number means in graph text: a count of bytes (16M is 16 MiB), a time in microseconds (5s).
 */
#define DLP_PARAM_BYTES (1 << (G_PARAM_USER_SHIFT + 4))
#define DLP_PARAM_DURATION (1 << (G_PARAM_USER_SHIFT + 5))
/* A name of a file or folder: printed, compared, but not part of the fingerprint of the data. */
#define DLP_PARAM_READWRITE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)
/* Fixed once the element is built into a pipeline. */
#define DLP_PARAM_BUILD (DLP_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY)

G_END_DECLS
