/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The file "lock" of a state folder: flock()ed as long as its run lives, never removed, and with
 * the name of the run in it. Not inherited by fork(): the child's copy of the descriptor is closed,
 * for a child must not keep a dead run's lock. One thread at a time.
 */
typedef struct _DlpStateLock DlpStateLock;

/* Held: DLP_STATE_ERROR_LOCKED. A file system without locks: goes on, with a warning. */
DlpStateLock *dlp_state_lock_take (int folder, const char *path, GError **error);
/* What the file of that name in the folder is. */
typedef enum
{
  DLP_STATE_LOCK_OURS,    /* as whoever took it wrote it */
  DLP_STATE_LOCK_EMPTY,   /* nobody has written to it */
  DLP_STATE_LOCK_FOREIGN, /* or none is there */
} DlpStateLockKind;

gboolean
dlp_state_lock_identify (int folder, const char *path, DlpStateLockKind *kind, GError **error);
void dlp_state_lock_release (DlpStateLock *self);
gboolean dlp_state_lock_former_is_dead (DlpStateLock *self);
guint dlp_state_lock_get_attempt (DlpStateLock *self);
/* Has this attempt come after @former, which a checkpoint knows of: whoever deletes the file takes
 * the count with it. */
gboolean dlp_state_lock_come_after (DlpStateLock *self, guint former, GError **error);
/* Reads the file: is it still this run's? Otherwise DLP_STATE_ERROR_FENCED. */
gboolean dlp_state_lock_check (DlpStateLock *self, GError **error);
/* Nothing refers to files of former attempts any more: whether those live no longer matters to
 * later runs. */
gboolean dlp_state_lock_settle (DlpStateLock *self, GError **error);
/* Who holds it or held it last, as dlp_checkpoint_describe_folder() has it: reads, takes nothing.
 */
void dlp_state_lock_describe (int folder, GVariantDict *dict);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpStateLock, dlp_state_lock_release)

G_END_DECLS
