/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Memory for tables that are looked up all over: from a megabyte on in huge pages where the system
 * has them. With pages of 4 KiB most lookups miss the TLB: merges take 1.4 times as long. */
gpointer dlp_huge_alloc0 (gsize size);
void dlp_huge_free (gpointer data);
