/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

/* Decoded bytes of a file that are looked at to see what it is. */
#define DLP_READER_HEAD 512

/* Into the description of an element: "file-names" (as) and "file-magic" (as), if the type has
 * said by what its files are known. */
void dlp_reader_describe_format (GType type, GVariantBuilder *dict);

/* @described: what dlp_registry_describe_element() says of a reader. */
gboolean dlp_reader_knows_name (GVariant *described, const char *uri);
/* How many bytes of a magic number are there: of the longest one, or 0. */
gsize dlp_reader_count_magic (GVariant *described, const guint8 *head, gsize size);

G_END_DECLS
