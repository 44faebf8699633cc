/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file-hash.h>
#include <dlpipe/dlp-output-file.h>

#include "dlp-megatron-state.h"

G_BEGIN_DECLS

/* The files of one output, by their final names. */
typedef struct
{
  char *bin;
  char *idx;
  char *lengths; /* this and the next are never published: the index is made of them */
  char *documents;
  char *manifest;
} DlpMegatronPaths;

void dlp_megatron_paths_init (DlpMegatronPaths *self, const char *location);
void dlp_megatron_paths_clear (DlpMegatronPaths *self);

/**
 * DlpMegatronWriter:
 *
 * Writes the .bin, and the streams for the .idx. All of it on one thread, but sync.
 */
typedef struct _DlpMegatronWriter DlpMegatronWriter;

DlpMegatronWriter *dlp_megatron_writer_create (const char *location,
                                               const char *run_id,
                                               guint width,
                                               guint attempt,
                                               GError **error);
/* @state: not finished. */
DlpMegatronWriter *dlp_megatron_writer_resume (const char *location,
                                               const char *run_id,
                                               const DlpMegatronState *state,
                                               guint attempt,
                                               gboolean former_is_dead,
                                               GCancellable *cancellable,
                                               GError **error);
void dlp_megatron_writer_free (DlpMegatronWriter *self);

/* @n ids of @width bytes, which fit. */
gboolean dlp_megatron_writer_add_tokens (DlpMegatronWriter *self,
                                         gconstpointer tokens,
                                         guint width,
                                         gsize n,
                                         GError **error);
/* Documents of what was added: how many tokens each has. */
gboolean dlp_megatron_writer_add_documents (DlpMegatronWriter *self,
                                            const guint32 *lengths,
                                            guint n,
                                            GError **error);
gboolean dlp_megatron_writer_flush (DlpMegatronWriter *self, GError **error);
/* Any thread: makes durable what was flushed for @state. */
gboolean
dlp_megatron_writer_sync (DlpMegatronWriter *self, const DlpMegatronState *state, GError **error);
/* Writes the index, and flushes. Cancelled: all is as before, and it may be called again. */
gboolean
dlp_megatron_writer_finish (DlpMegatronWriter *self, GCancellable *cancellable, GError **error);
void dlp_megatron_writer_get_state (DlpMegatronWriter *self, DlpMegatronState *state);

/* Of a finished state, which is durable: gives the files their names, and deletes the streams.
 * Again: does what is left to be done. */
gboolean dlp_megatron_publish (const char *location,
                               const char *run_id,
                               const DlpMegatronState *state,
                               GError **error);
/* Deletes what a run has left unfinished. */
gboolean dlp_megatron_clean (const char *location, const char *run_id, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpMegatronWriter, dlp_megatron_writer_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpMegatronPaths, dlp_megatron_paths_clear)

G_END_DECLS
