/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The files that the sinks of a pipeline are going to write, so that no two of them write the same
 * one, and none is read. Filled before the elements negotiate, and only read afterwards. Names are
 * compared as the system resolves them, whether the files are there yet or not; a file that is to
 * be read is there, and is the same one by whatever name. */
typedef struct _DlpOutputNames DlpOutputNames;

/* Who writes what is in the state folder. */
#define DLP_OUTPUT_NAMES_STATE "the state folder"

DlpOutputNames *dlp_output_names_new (void);
void dlp_output_names_free (DlpOutputNames *self);
/* Of what is in this folder the names that a state uses are the state's. */
void dlp_output_names_set_state (DlpOutputNames *self, const char *folder);
/* (transfer none) (nullable): who has the name already; NULL: it is @writer's now. */
const char *dlp_output_names_add (DlpOutputNames *self, const char *path, const char *writer);
/* (transfer none) (nullable): who writes it. */
const char *dlp_output_names_find (DlpOutputNames *self, const char *path);

G_END_DECLS
