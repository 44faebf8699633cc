/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlpipe.h>

G_BEGIN_DECLS

#define STATE_EXIT_OK 0
#define STATE_EXIT_FAULTS 1
#define STATE_EXIT_USAGE 2

/* ---- options (dlpipe-state.c) ---- */

typedef struct
{
  char *command;
  char **places; /* what stands behind the command */
  gboolean json;
  gboolean all;
  gboolean once;
  gint64 interval; /* ms */
  char *batches;   /* A..B */
  char *element;   /* (nullable) */
  gboolean clear;
} StateOptions;

/* ---- the commands; each gives the exit code ---- */

int state_show (const StateOptions *options, GError **error);
int state_diff (const StateOptions *options, GError **error);
int state_verify (const StateOptions *options, GError **error);
int state_list (const StateOptions *options, GError **error);
int state_watch (const StateOptions *options, GError **error);
int state_skip (const StateOptions *options, GError **error);

/* ---- places (state-place.c) ---- */

/* (transfer full): the state folder that @text means: itself, or the one beside an output. */
char *state_find_folder (const char *text);
/* Of a folder the newest whole one; of a file itself. What was wrong with newer ones is printed. */
DlpCheckpoint *state_open (const char *text, GError **error);

/* ---- texts (state-text.c) ---- */

/* (transfer full): in one line, for people; long lists are cut. */
char *state_print_value (GVariant *value);
/* (transfer full): a digest as it is in reports. */
char *state_print_digest (GVariant *sink);
char *state_print_duration (double seconds);
char *state_print_time (gint64 unix_time);
void state_print_json (GVariant *value);

/* ---- what a checkpoint holds (state-model.c) ---- */

/* (transfer full): the elements, of type aa{sv}. */
GVariant *state_get_elements (GVariant *state);
/* (element-type utf8 GVariant) (transfer full): the same by name. */
GHashTable *state_index_elements (GVariant *elements);
const char *state_get_string (GVariant *dict, const char *key);
guint64 state_get_number (GVariant *dict, const char *key);
gboolean state_get_flag (GVariant *dict, const char *key);
/* "complete", "finished early" or "unfinished". */
const char *state_get_progress (GVariant *state);
/* (transfer full): of each output pad how far the farthest of its consumers is. */
GHashTable *state_index_positions (GVariant *elements);
/* Records of @pad of @element that a resume makes again and drops, since a consumer has had them.
 */
guint64 state_count_replay (GHashTable *positions, GVariant *element, const char *pad);

G_END_DECLS
