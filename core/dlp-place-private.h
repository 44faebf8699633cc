/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where the library (or program) that this is compiled into lies; shared by libdlpipe and the
 * tokenizer. Nothing here knows a folder of the machine it was built on: a build folder says so
 * itself, by a file beside the library that is never installed. */

/* (transfer full) (nullable): the folder named by the file dlpipe-uninstalled beside the library;
 * NULL: it is installed. */
char *dlp_place_get_uninstalled (void);
/* (transfer full) (nullable): @relative to the folder of the library, if that is a folder. */
char *dlp_place_find_folder (const char *relative);

G_END_DECLS
