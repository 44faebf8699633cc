/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Stands between the code under test and the system: a test program that links faults.c has its
 * calls of pwrite, ftruncate, fdatasync, fsync, renameat(2), linkat, unlinkat, copy_file_range,
 * flock and fstatfs go through here. What changes files is counted and noted; nothing waits for the
 * disk. One thread sets faults up, before others run.
 */

void faults_reset (void);

/* The calls since reset, as "pwrite fdatasync renameat fsync"; a run of equal ones is one. */
const char *faults_get_trace (void);
guint faults_get_count (void);

typedef enum
{
  FAULTS_KILL,  /* what was called has happened */
  FAULTS_POWER, /* what was not synced has not: neither data, nor a rename to a name that was free
                 */
} FaultsCrash;

/* The @nth call, from 0, does not happen: the process ends with status FAULTS_CRASHED. */
void faults_crash_at (guint nth, FaultsCrash how);
#define FAULTS_CRASHED 99

/* The next call of that name fails with @code (0: none). */
void faults_fail_next (const char *call, int code);
/* All of them do. */
void faults_fail_all (const char *call, int code);
/* Each pwrite is interrupted once, then writes at most @size bytes. */
void faults_shorten_writes (gsize size);
/* 1: renameat2 is not known; 2: nor is linkat. */
void faults_limit_renames (guint limit);
/* What fstatfs says; 0: the truth. */
void faults_set_fs_type (long type);

/* A new empty folder, and its removal with all that is in it. */
char *faults_make_folder (void);
void faults_remove_folder (char *path);
/* The names in it, sorted, with blanks between. */
char *faults_list_folder (const char *path);

/* Runs @func in a child; its exit status. */
int faults_run_child (void (*func) (gpointer data), gpointer data);
