/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Two ways to do the same, compared by the CPU time of the whole process, user and system, in pairs
 * of which each takes turns in going first. What counts is the median of the pairs' ratios: a
 * machine that is busy with something else slows both of a pair. */
typedef void (*BenchFunc) (gpointer data);

typedef struct
{
  const char *name;
  BenchFunc ours;
  BenchFunc reference;
  gpointer data;
  /* What is done in one call, for the figures beside the ratio, such as 100 "MB". */
  double amount;
  const char *unit;
  double bar; /* largest ratio of ours to the reference that passes */
} Bench;

/* Prints the figures and PASS or FAIL. */
gboolean bench_run (const Bench *bench);

/* The plain JSON lines to measure with: DLPIPE_BENCH_FILE, or a file of about 100 MB made of the
 * sample corpus, which bench_remove_file() removes. (transfer full) */
char *bench_make_file (void);
void bench_remove_file (const char *path);
/* With all that is in it. */
void bench_remove_folder (const char *path);

G_END_DECLS
