/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-state-file.h>

#include "dlp-state-dir-private.h"

G_BEGIN_DECLS

/* The files of the states of a run: those that somebody holds, by name, and where new ones go.
 * Reference counted: a file may outlive its run. Any thread. */
typedef struct _DlpStateFiles DlpStateFiles;

DlpStateFiles *dlp_state_files_new (void);
DlpStateFiles *dlp_state_files_ref (DlpStateFiles *self);
void dlp_state_files_unref (DlpStateFiles *self);
/* Files go into the folder from now on; @attempt is part of their names. */
gboolean
dlp_state_files_set_dir (DlpStateFiles *self, DlpStateDir *dir, guint attempt, GError **error);
/* The folder is not this run's any more: new files have no name in it. */
void dlp_state_files_leave_dir (DlpStateFiles *self);

/* Takes the payload of a checkpoint, and gives one, both floating: what its states name is durable
 * where there is a folder (@durable), or in it, under the key "files". */
GVariant *
dlp_state_files_settle (DlpStateFiles *self, GVariant *payload, gboolean durable, GError **error);
/* Makes those that @payload names durable, each once. A sync that failed is never tried again. */
gboolean dlp_state_files_sync (DlpStateFiles *self, GVariant *payload, GError **error);
/* (floating): a{say}, the content of those that @payload names, which somebody must hold. */
GVariant *dlp_state_files_embed (DlpStateFiles *self, GVariant *payload, GError **error);
/* Keeps what dlp_state_files_embed() gave, to be opened by name. */
gboolean dlp_state_files_restore (DlpStateFiles *self, GVariant *embedded, GError **error);
/* Those that were not opened are gone. */
void dlp_state_files_forget_restored (DlpStateFiles *self);

/* Names: state-ELEMENT-ATTEMPT-NUMBER. */
typedef struct
{
  char *element;
  guint attempt;
  guint64 number;
} DlpStateFileName;

gboolean dlp_state_file_name_parse (const char *name, DlpStateFileName *parsed);
void dlp_state_file_name_clear (DlpStateFileName *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpStateFileName, dlp_state_file_name_clear)
/* (element-type utf8) (transfer full): those that a payload of a checkpoint names; of a payload
 * that is not well formed, what can be found. */
GPtrArray *dlp_state_file_list_names (GVariant *payload);
/* The same, and how many bytes of each (guint64) it names. @sizes: (nullable). */
GPtrArray *dlp_state_file_list (GVariant *payload, GArray *sizes);
/* Takes the state of an element, and gives it without the names of its files: of one that nobody
 * needs only the counters are kept. Nothing is made again with what its files hold, and they are
 * removed when the run is complete. */
GVariant *dlp_state_file_drop (GVariant *state);

G_END_DECLS
