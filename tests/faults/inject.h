/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* What a program asks of the system, seen and spoilt from within: inject.c is a library to be
 * preloaded (LD_PRELOAD), told what to do by the environment. Calls on files that are not below the
 * folder pass through, and are not counted.
 *
 *   DLPIPE_INJECT_DIR    the folder, without symbolic links; unset: nothing is done
 *   DLPIPE_INJECT_LOG    a file to which an InjectEntry is appended for each call
 *   DLPIPE_INJECT_DATA   set: entries of writes have the bytes
 *   DLPIPE_INJECT        one of (N from 0, counted over the calls that it is about)
 *                          kill-before=N kill-after=N    calls that change something
 *                          fail=ERRNO,N                  that call fails, ERRNO a number
 *                          fill=ERRNO,N                  and all that come after it
 *                          short=N                       half of it is written, or copied
 *                          short-read=N                  half of it is read
 *   DLPIPE_INJECT_GATES  NAME=N ...: that file is read once N checkpoints have been made of
 *                        which each has new bytes of an output
 *   DLPIPE_INJECT_SLOW   microseconds that each sync takes
 *   DLPIPE_INJECT_REMOTE set: the file system is one that hosts share, whose renames know no flags,
 *                        and each process is on another host
 */

typedef enum
{
  INJECT_OPEN, /* of what is there */
  INJECT_CREATE,
  INJECT_READ,
  INJECT_WRITE,
  INJECT_COPY,
  INJECT_TRUNCATE,
  INJECT_SYNC,
  INJECT_SYNC_FOLDER,
  INJECT_RENAME,
  INJECT_LINK,
  INJECT_SYMLINK, /* the other path is what it says */
  INJECT_UNLINK,
  INJECT_MKDIR,
  INJECT_LOCK,
  INJECT_N_CALLS
} InjectCall;

/* In the log there follow: path, other path, bytes. */
typedef struct
{
  uint32_t size; /* of all of it */
  uint8_t call;
  uint8_t is_fault; /* it was spoilt */
  uint16_t path_size;
  uint16_t other_size; /* where a rename or link leads to */
  uint16_t padding;
  int32_t code; /* errno; 0: it went well */
  uint64_t inode;
  uint64_t offset; /* of a truncate: the length */
  uint64_t length; /* written or read */
  uint64_t data_size;
} InjectEntry;
