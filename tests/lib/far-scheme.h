/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* "far:///PATH" is the local file as a server would have it: opened by a stream, and brought near
 * by nobody. Says who opened what, and does what a test asks for to the threads that read ahead. */

typedef enum
{
  FAR_NOTHING,
  FAR_FAILS_TO_OPEN,
  FAR_BREAKS,  /* with an error, behind 1,000 bytes */
  FAR_HANGS,   /* behind 1,000 bytes, until it is cancelled */
  FAR_CHANGES, /* after it was opened, by what the scheme says when it is asked */
} FarFault;

typedef enum
{
  FAR_SIZE_RIGHT,
  FAR_SIZE_LESS, /* ten bytes less than there are */
  FAR_SIZE_UNKNOWN,
} FarSize;

void far_scheme_register (void);
/* Before a run: forgets what was opened. @ahead: what happens to the threads that read ahead. */
void far_scheme_begin (FarFault ahead);
/* Who reads this file waits behind 40,000 bytes, until another one is held, or NULL. */
void far_scheme_hold (const char *path);
/* What is said of sizes from now on; @path: (nullable): of this file alone. */
void far_scheme_set_size (FarSize size, const char *path);
/* How many times the file was opened, at @offset; -1: at any. */
guint far_scheme_count_opens (const char *path, gint64 offset);
guint far_scheme_count_all_opens (void);
/* Bytes that threads read ahead, and the most that streams were open at once. */
guint64 far_scheme_get_ahead_bytes (void);
guint far_scheme_get_most_open (void);

G_END_DECLS
