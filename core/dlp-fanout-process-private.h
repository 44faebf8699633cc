/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "dlp-fanout-link-private.h"

G_BEGIN_DECLS

/* How a process ended. */
typedef struct
{
  int exit_code;      /* -1: by a signal, or nobody knows */
  int signal_number;  /* 0: none */
  bool out_of_memory; /* the kernel counted such a kill meanwhile */
} DlpFanoutVerdict;

/* "was killed by SIGKILL, probably for lack of memory: ..." */
char *dlp_fanout_verdict_describe (const DlpFanoutVerdict *self);

/* The process of a worker, or its thread where it is in this one. */
typedef struct
{
  pid_t pid; /* 0: none */
  GThread *thread;
  DlpFanoutLink link;
  char *oom_file; /* (nullable): where the kernel counts its kills for lack of memory */
  guint64 oom_kills;
} DlpFanoutProcess;

/* (transfer full): the worker program, of the library's own place. */
char *dlp_fanout_find_worker (void);
/* @environment: (nullable): that of this process. @log: of what is said before the first task. */
bool dlp_fanout_process_start (DlpFanoutProcess *self,
                               const char *program,
                               char **environment,
                               int log,
                               GError **error);
bool dlp_fanout_process_start_thread (DlpFanoutProcess *self, GError **error);
/* Once it has said that it is there: what its later end is compared with. */
void dlp_fanout_process_note_memory (DlpFanoutProcess *self);
/* Whether it is over; never waits. */
bool dlp_fanout_process_reap (DlpFanoutProcess *self, DlpFanoutVerdict *verdict);
/* With all that it has started. */
void dlp_fanout_process_kill (DlpFanoutProcess *self);
/* Gives up what is left of one that is over. @idle: a thread that does nothing is waited for. */
void dlp_fanout_process_clear (DlpFanoutProcess *self, bool idle);

/* The counter of a file of a memory cgroup: memory.events, or memory.oom_control of version 1; 0
 * where there is none. */
guint64 dlp_fanout_count_oom_kills (const char *path);
/* (transfer full) (nullable): that file, by the text of /proc/PID/cgroup. */
char *dlp_fanout_find_oom_file (const char *cgroups, const char *root);

G_END_DECLS
