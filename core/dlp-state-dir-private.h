/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include <dlpipe/dlp-error.h>

G_BEGIN_DECLS

/* A state folder: the lock of its run, two generations of the checkpoint, the list of input files,
 * a status for whoever watches. Used by one thread at a time, except that find_input, add_input,
 * sync_inputs and write_status may be called on any thread at any time.
 *
 *   lock            held (flock) as long as the run lives; holds its pid and host as text
 *   checkpoint-N    generation N, N ascending; the newest two are kept
 *   checkpoint-N.bad  one that was found damaged when another could be used: never looked at again
 *   run-id          of the run whose state this is, before there is a checkpoint
 *   inputs          append-only, one entry an input file that was opened
 *   status.json     replaced once a second
 */
typedef struct _DlpStateDir DlpStateDir;

/* Whether a state uses the name. */
gboolean dlp_state_dir_is_own_name (const char *name);
/* Is it still this run's? Otherwise DLP_STATE_ERROR_FENCED. */
gboolean dlp_state_dir_check (DlpStateDir *self, GError **error);
/* Makes the folder if need be. Held by another run: DLP_STATE_ERROR_LOCKED, naming its pid and
 * host. */
DlpStateDir *dlp_state_dir_open (const char *path, GError **error);
/* For tools: no lock, nothing is made or written. */
DlpStateDir *dlp_state_dir_open_read_only (const char *path, GError **error);
void dlp_state_dir_free (DlpStateDir *self);
const char *dlp_state_dir_get_path (DlpStateDir *self);
/* TRUE if the lock file was there and could be taken: whoever ran before is dead. On file systems
 * where flock() proves nothing across hosts (NFS and the like) FALSE if the former host is another
 * one. */
gboolean dlp_state_dir_former_is_dead (DlpStateDir *self);
/* How many runs have taken the lock, this one included: greater than the number of any former
 * attempt, also of one that died before its first checkpoint. Once the state is loaded also if
 * somebody deleted the lock. 0: read-only. */
guint dlp_state_dir_get_attempt (DlpStateDir *self);

/* (transfer full) (nullable): the payload of the newest generation that is whole. NULL without an
 * error: no checkpoint there. One generation corrupt: falls back to the other and sets *fell_back
 * to a message that says so. All corrupt: DLP_STATE_ERROR_CORRUPT naming each file and why.
 * *generation: the one loaded. */
GVariant *
dlp_state_dir_load (DlpStateDir *self, guint64 *generation, char **fell_back, GError **error);
/* Writes @payload (type a{sv}, floating or not) as the next generation, durably, and removes those
 * older than the newest two. Taken over by another run meanwhile (possible where flock() proves
 * nothing): DLP_STATE_ERROR_FENCED. Once a sync has failed every later save fails. */
gboolean dlp_state_dir_save (DlpStateDir *self, GVariant *payload, GError **error);

/* (transfer full): what dlp_checkpoint_describe_folder() gives. */
GVariant *dlp_state_dir_describe (DlpStateDir *self, GError **error);

/* One checkpoint file: magic "DLPSTATE", u32 format version, u32 flags 0, u64 payload size, payload
 * (a little-endian serialised GVariant a{sv}), 16 bytes XXH3-128 over all that is before. */
GBytes *dlp_checkpoint_encode (GVariant *payload);
GVariant *dlp_checkpoint_decode (GBytes *bytes, GError **error);
/* What is as large is looked at in a file before it is read as a whole. */
#define DLP_CHECKPOINT_LARGE ((guint64) 64 << 20)
/* Looks at a file of @size bytes that is large, in pieces, before it takes as much memory: what
 * decode() would refuse by its size or its checksum is an error here already. */
gboolean dlp_checkpoint_check_file (int fd, const char *path, guint64 size, GError **error);
/* The most bytes that what begins so can have, as bytes or as JSON; 0 with an error: it is none. */
guint64 dlp_checkpoint_get_limit (const guint8 *data, gsize size, GError **error);
/* @damaged: whether the generation before may be taken instead. */
GVariant *dlp_checkpoint_load (int folder,
                               const char *path,
                               const char *name,
                               gboolean *damaged,
                               GError **error);
/* Of a file, a pipe, a device, that holds a checkpoint as bytes or as JSON; no more than there can
 * be of one. */
GBytes *dlp_checkpoint_read (const char *path, GError **error);
/* Whether the file of that name in the folder begins as one does, of whatever version. */
gboolean dlp_checkpoint_identify (int folder,
                                  const char *path,
                                  const char *name,
                                  gboolean *is_one,
                                  GError **error);

/* The list of inputs: appends are buffered; sync makes them durable and returns the length and a
 * hash of the file up to there, for the checkpoint. Restore truncates to that length and checks the
 * hash; entries behind it are dropped. An entry: source ordinal, file index, size, identity, uri.
 */
typedef struct
{
  guint32 stage, source, file;
  gint64 size;
  char *identity; /* nullable */
  char *uri;
} DlpInputEntry;
void dlp_input_entry_free (DlpInputEntry *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpInputEntry, dlp_input_entry_free)

gboolean
dlp_state_dir_restore_inputs (DlpStateDir *self, guint64 length, guint64 hash, GError **error);
/* (transfer full) (nullable): what is known of this file; NULL without an error: nothing. */
DlpInputEntry *dlp_state_dir_find_input (DlpStateDir *self,
                                         guint32 stage,
                                         guint32 source,
                                         guint32 file,
                                         GError **error);
/* A later entry of the same file replaces the earlier one. */
gboolean dlp_state_dir_add_input (DlpStateDir *self, const DlpInputEntry *entry, GError **error);
/* Never waits for the disk while it holds up a find or add. */
gboolean
dlp_state_dir_sync_inputs (DlpStateDir *self, guint64 *length, guint64 *hash, GError **error);

/* Replaces status.json by rename, not durably; never blocks the stream for a failure (returns
 * FALSE). */
gboolean dlp_state_dir_write_status (DlpStateDir *self, const char *json);

/* (transfer full) (nullable): what was saved, NULL without an error: nothing that is one; by it
 * unfinished outputs are known also if there is no checkpoint that can be read. */
char *dlp_state_dir_load_run_id (DlpStateDir *self, GError **error);
gboolean dlp_state_dir_save_run_id (DlpStateDir *self, const char *run_id, GError **error);

/* --restart: removes checkpoints, run-id, inputs, status.json, quarantine files, report.json and
 * what is unfinished of them; keeps the lock, and whatever else is there. */
gboolean dlp_state_dir_clear (DlpStateDir *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpStateDir, dlp_state_dir_free)

G_END_DECLS
