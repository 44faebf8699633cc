/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* A loop over all of something takes every so many-th where DLPIPE_TEST_SCALE is below 0.1, as
 * under memcheck; elsewhere it is 1. */
static inline guint
test_get_step (void)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  double value = scale != NULL ? g_ascii_strtod (scale, NULL) : 1;

  return value < 0.1 ? (guint) (0.1 / MAX (value, 0.005)) : 1;
}

/* Whether @i of @n is taken: the first two and the last always. */
static inline gboolean
test_takes (guint i, guint n)
{
  return i < 2 || i % test_get_step () == 0 || i + 1 == n;
}

/* The one after @i: the first two are never left out. */
static inline guint
test_get_next (guint i)
{
  return i == 0 ? 1 : i + test_get_step ();
}
