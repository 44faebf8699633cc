/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* Brings the start of files near before they are read, on threads of its own. How it fits together
 * with the readers, which say what they will want, is in docs/internals/read-ahead.md. */
typedef struct _DlpReadAhead DlpReadAhead;
/* One file that was asked for. */
typedef struct _DlpAhead DlpAhead;

DlpReadAhead *dlp_read_ahead_new (guint max_threads);
/* When all that was asked for was taken or dropped. Waits for what goes on, which is cancelled. */
void dlp_read_ahead_free (DlpReadAhead *self);

/* Whether the bytes of the file would be held in memory, and not brought near by its scheme. */
bool dlp_read_ahead_is_held (DlpFile *file);
/* (transfer full): asks for the first @bytes of a file; of what is asked for, lower ranks come
 * first. @used counts @bytes until they are given back; it stays as long as the result, and the
 * stream that is taken of it. Never fails: at worst nothing is brought near. */
DlpAhead *
dlp_read_ahead_ask (DlpReadAhead *self, DlpFile *file, gsize bytes, guint rank, gsize *used);

/* Takes @ahead. (transfer full) (nullable): the file from its start, of which the first bytes are
 * there; NULL: it has to be opened. Waits a second at most for a thread that is reading it. */
GInputStream *dlp_ahead_take (DlpAhead *ahead, GCancellable *cancellable);
/* Takes @ahead: nobody wants it. */
void dlp_ahead_drop (DlpAhead *ahead);

/* (transfer none) (nullable): of a stream that was taken, what its scheme opened, if it is open;
 * of any other stream, itself. */
GInputStream *dlp_ahead_get_inner (GInputStream *stream);

G_END_DECLS
