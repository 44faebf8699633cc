/* SPDX-License-Identifier: MIT */
#pragma once

#include "s3-access.h"

G_BEGIN_DECLS

/* (transfer container) (nullable): the DlpFiles whose keys match @pattern, sorted by bytes. One
 * that is a key itself means that object alone. None is an error. */
GPtrArray *s3_list_glob (S3Access *access,
                         const char *pattern,
                         const HttpSettings *settings,
                         GCancellable *cancellable,
                         GError **error);
/* The same for what is directly below @prefix, which ends with '/' or is empty; hidden ones
 * excepted. None is an empty array. */
GPtrArray *s3_list_folder (S3Access *access,
                           const char *prefix,
                           const HttpSettings *settings,
                           GCancellable *cancellable,
                           GError **error);
/* Is it a pattern? */
gboolean s3_list_is_pattern (const char *key);

G_END_DECLS
