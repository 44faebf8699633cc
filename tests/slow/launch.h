/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A run of dlpipe-launch, as another program sees it. */
typedef struct
{
  int status;  /* as of wait() */
  gsize peak;  /* resident bytes */
  double cpu;  /* seconds, user and system */
  double wall; /* seconds */
  char *said;  /* stderr */
} Launch;

/* Runs the program named by DLPIPE_LAUNCH with @args (NULL-terminated), its stderr in @log. */
void launch_run (Launch *self, const char *log, const char *const *args);
void launch_clear (Launch *self);
/* The number before " records" in the last line; asserts that it is there. */
guint64 launch_get_records (const Launch *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Launch, launch_clear)

G_END_DECLS
