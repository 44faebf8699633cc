/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Memory for tables that are looked up all over: from a megabyte on in huge pages where the system
 * has them. With pages of 4 KiB most lookups miss the TLB: merges take 1.4 times as long.
 * Begins at a line of the processor's cache. What is not zeroed is not touched either. */
gpointer dlp_huge_alloc (gsize size);
gpointer dlp_huge_alloc0 (gsize size);
void dlp_huge_free (gpointer data);
