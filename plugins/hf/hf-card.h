/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* (transfer full) (nullable): the patterns of files that the card of a dataset, its README.md, has
 * for a config and a split. NULL for one of them: the only one there is, or the config that the
 * card has as default. Errors: DLP_DATA_ERROR_NO_INPUT, which say what there is. A pure function.
 */
char **hf_card_find_files (const char *text,
                           gsize size,
                           const char *config,
                           const char *split,
                           GError **error);

G_END_DECLS
