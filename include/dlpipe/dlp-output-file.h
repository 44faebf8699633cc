/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * DlpOutputFile:
 *
 * A file being written by a sink, which survives a crash: it is appended to under an unfinished
 * name (".NAME.RUN.ATTEMPT.partial" beside its final one), made durable up to a length, and
 * published by rename. Writing, flushing and telling is the streaming thread's; sync may run at the
 * same time on another.
 *
 * RUN is the identity of the run, hexadecimal (dlp_sink_get_run_id()): no run touches an unfinished
 * file of another one, and none replaces what is at the final name. As long as it is open the file
 * is locked (flock, where there is such), by which others know that its run lives.
 *
 * A resumed attempt never writes into the file of a former attempt that may still live: it copies
 * the durable prefix to its own; where the lock of the state proves the former attempt dead, the
 * file is renamed and truncated.
 */
typedef struct _DlpOutputFile DlpOutputFile;

/* @path: the final name; its folder is made if it is missing. @attempt: the number of this attempt,
 * 1 is the first. An unfinished file of that attempt is replaced, not written to. The final name is
 * taken: DLP_STATE_ERROR_FOREIGN_OUTPUT. */
DLP_API DlpOutputFile *
dlp_output_file_create (const char *path, const char *run_id, guint attempt, GError **error);
/* Goes on with the unfinished file of @former_attempt at @length. @former_is_dead: see above. Found
 * shorter than @length, or missing: DLP_STATE_ERROR_CHANGED. Missing, but an attempt after it,
 * which died before its first checkpoint, had taken it over: that one's. Copied: durable when it
 * returns, and the former file stays. The final name is taken: DLP_STATE_ERROR_FOREIGN_OUTPUT. */
DLP_API DlpOutputFile *dlp_output_file_resume (const char *path,
                                               const char *run_id,
                                               guint attempt,
                                               guint former_attempt,
                                               gboolean former_is_dead,
                                               guint64 length,
                                               GError **error);
/* Closes it; the unfinished file stays. What was not flushed is lost. No sync may be running. */
DLP_API void dlp_output_file_free (DlpOutputFile *self);
/* Buffered (1 MiB). After an error every later call fails with the same. The message of a full disk
 * names the path and the bytes wanted. */
DLP_API gboolean dlp_output_file_write (DlpOutputFile *self,
                                        gconstpointer data,
                                        gsize size,
                                        GError **error);
/* Room for @size bytes to be written in place, then committed; @size at most 1 MiB. */
DLP_API gpointer dlp_output_file_reserve (DlpOutputFile *self, gsize size, GError **error);
DLP_API void dlp_output_file_commit (DlpOutputFile *self, gsize used);
/* Hands the buffer to the system, without waiting for the disk. */
DLP_API gboolean dlp_output_file_flush (DlpOutputFile *self, GError **error);
DLP_API guint64 dlp_output_file_get_length (DlpOutputFile *self);
DLP_API const char *dlp_output_file_get_path (DlpOutputFile *self);
/* The unfinished name. */
DLP_API const char *dlp_output_file_get_partial_path (DlpOutputFile *self);
/* On any thread: what was flushed before is on disk when it returns (fdatasync, and once fsync of
 * the folder). Takes no lock that a write waits for. A sync that failed makes all later calls fail.
 */
DLP_API gboolean dlp_output_file_sync (DlpOutputFile *self, GError **error);
/* Renames the unfinished file of @attempt to @path, durably. Something is there:
 * DLP_STATE_ERROR_FOREIGN_OUTPUT, and it stays. Done already (no unfinished file, and @path has
 * @length bytes): success. Another length: DLP_STATE_ERROR_CHANGED. */
DLP_API gboolean dlp_output_file_publish (const char *path,
                                          const char *run_id,
                                          guint attempt,
                                          guint64 length,
                                          GError **error);
/* Deletes the unfinished file of any attempt of @run_id other than @keep_attempt (0: all), and what
 * a resume that died left. @run_id NULL: temporary files that a dlp_write_file_durably() left.
 * Lists the folder: not for each of many. */
DLP_API gboolean dlp_output_file_clean (const char *path,
                                        const char *run_id,
                                        guint keep_attempt,
                                        GError **error);
/* Whether @name, in whatever folder, is the name of an unfinished file of @path and @run_id (NULL:
 * of any run). */
DLP_API gboolean dlp_output_file_is_unfinished (const char *name,
                                                const char *path,
                                                const char *run_id);

/* Whose output may be at a location where a run begins. */
typedef struct
{
  const char *run_id;           /* this run's own */
  const char *discarded_run_id; /* nullable: that of the run which --restart discards */
  gboolean discarded_complete;  /* its checkpoint says that it came to its end */
  gboolean overwrite;           /* that of any run, by its manifest */
} DlpOutputClaim;

/* Whether another run writes @path now: DLP_STATE_ERROR_FOREIGN_OUTPUT, naming its unfinished file.
 * *left: (transfer full) (nullable): a warning that names those of other runs which nobody writes;
 * they are left alone. */
DLP_API gboolean dlp_output_file_check_others (const char *path,
                                               const DlpOutputClaim *claim,
                                               char **left,
                                               GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpOutputFile, dlp_output_file_free)

/* Writes a small file at once and durably: unique temporary name, fsync, rename, fsync of the
 * folder. */
DLP_API gboolean dlp_write_file_durably (const char *path,
                                         gconstpointer data,
                                         gsize size,
                                         GError **error);

G_END_DECLS
