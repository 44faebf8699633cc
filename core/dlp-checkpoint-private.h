/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-checkpoint.h>

G_BEGIN_DECLS

/* Of the payload; another one is DLP_STATE_ERROR_VERSION. */
#define DLP_CHECKPOINT_FORMAT 1

/* Bytes of the name of a plugin, and of its version. */
#define DLP_CHECKPOINT_MAX_PLUGIN 128

/* Of an input: its end was seen, or it was closed early at a position. */
#define DLP_CHECKPOINT_DRAINED (-1)
#define DLP_CHECKPOINT_CLOSED_AT(position) (-2 - (gint64) (position))

/* Takes over @payload, which may be floating, unchecked. */
DlpCheckpoint *dlp_checkpoint_new_unchecked (GVariant *payload);

/* With a path as @self has it, for the files of its folder. */
DlpCheckpoint *dlp_checkpoint_new_like (DlpCheckpoint *self, GVariant *payload);
/* (transfer none): the payload that @self, or what it was made like, was read with. */
GVariant *dlp_checkpoint_get_origin (DlpCheckpoint *self);

/* All that can be looked at without the elements: keys, types, and that each input goes on where
 * its producer can make it again. */
bool dlp_checkpoint_check (GVariant *payload, GError **error);

#define DLP_CHECKPOINT_ALL (G_MAXUINT64 - 1)

/* How many records of @element have gone out of it, or are at least behind a consumer; all of them
 * where a consumer has seen the end. Not known: DLP_PIPELINE_ERROR_STATE. */
bool
dlp_checkpoint_find_place (GVariant *elements, GVariant *element, guint64 *place, GError **error);

/* Values as JSON has them, and back: DLP_STATE_ERROR_CORRUPT. */
GVariant *dlp_checkpoint_print_value (GVariant *value);
GVariant *dlp_checkpoint_parse_value (GVariant *json, const GVariantType *type, GError **error);

G_END_DECLS
