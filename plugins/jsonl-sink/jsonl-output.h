/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* How far the output is. */
typedef struct
{
  guint64 attempt; /* whose unfinished file it is; 0: none was begun */
  guint64 lines;
  guint64 bytes;
  guint64 finished;
  guint64 hash;  /* DlpFileHash */
  guint64 chain; /* the same of the whole blocks */
} JsonlState;

/* As a{sv}, without the members of whoever has more to say. */
void jsonl_state_describe (const JsonlState *self, GVariantDict *dict);
gboolean jsonl_state_load (JsonlState *self, GVariant *described, GError **error);
/* Names of its keys, NULL-terminated. */
extern const char *const jsonl_state_keys[];

/**
 * JsonlOutput:
 *
 * The file that lines are written to, or the standard output. All of it on one thread, but sync.
 */
typedef struct _JsonlOutput JsonlOutput;

JsonlOutput *
jsonl_output_create (const char *path, const char *run_id, guint attempt, GError **error);
/* @state: not finished. */
JsonlOutput *jsonl_output_resume (const char *path,
                                  const char *run_id,
                                  const JsonlState *state,
                                  guint attempt,
                                  gboolean former_is_dead,
                                  GCancellable *cancellable,
                                  GError **error);
JsonlOutput *jsonl_output_stdout (GError **error);
void jsonl_output_free (JsonlOutput *self);
/* A JsonWriteFunc. @cancellable: (nullable): ends a wait for a reader who does not read. */
gboolean jsonl_output_write (gpointer self,
                             gconstpointer data,
                             gsize size,
                             GCancellable *cancellable,
                             GError **error);
void jsonl_output_add_lines (JsonlOutput *self, guint n);
gboolean jsonl_output_flush (JsonlOutput *self, GError **error);
gboolean jsonl_output_sync (JsonlOutput *self, GError **error);
/* Flushes; the state is then that of a finished file. */
gboolean jsonl_output_finish (JsonlOutput *self, GError **error);
void jsonl_output_get_state (JsonlOutput *self, JsonlState *state);
/* (nullable): the unfinished file. */
const char *jsonl_output_get_partial_path (JsonlOutput *self);

/* Of a finished state: gives the file its name, and deletes what is left of other attempts. */
gboolean jsonl_output_publish (const char *path,
                               const char *run_id,
                               const JsonlState *state,
                               GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonlOutput, jsonl_output_free)

G_END_DECLS
