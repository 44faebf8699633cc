/* SPDX-License-Identifier: MIT */
#pragma once

/* Of a process that runs pipelines, before it has threads: as many open files as it may have, and
 * memory that goes back to the system when it is freed. */
void process_limits_set (void);
