/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The files that the sinks of a pipeline are going to write, so that no two of them write the same
 * one, and none is read. Filled before the elements negotiate, and only read afterwards. Paths are
 * compared as the system resolves them, whether the files are there yet or not. */
typedef struct _DlpOutputNames DlpOutputNames;

DlpOutputNames *dlp_output_names_new (void);
void dlp_output_names_free (DlpOutputNames *self);
/* (transfer none) (nullable): who has the name already; NULL: it is @writer's now. */
const char *dlp_output_names_add (DlpOutputNames *self, const char *path, const char *writer);
/* All in this folder is somebody's. */
void dlp_output_names_add_folder (DlpOutputNames *self, const char *folder, const char *writer);
/* (transfer none) (nullable): who writes it. */
const char *dlp_output_names_find (DlpOutputNames *self, const char *path);

G_END_DECLS
