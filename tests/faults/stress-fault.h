/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-plugin.h>

G_BEGIN_DECLS

/* `stress-fault after=N`: passes on what it takes, every third record by its pad `rejected`, and
 * fails behind N records; 0: never. */
GType stress_fault_get_type (void);

G_END_DECLS
