/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint8 delimiter;
  guint8 quote; /* 0: none */
} CsvDialect;

/*
 * Where rows end, as DlpReaderClass::find_border() wants it: at an LF that is not within quotes. A
 * quote opens only at the start of a field, is doubled to stand for itself, and is text elsewhere.
 */
gsize csv_find_border (const CsvDialect *dialect,
                       guint64 *state,
                       const guint8 *data,
                       gsize size,
                       gboolean first);

/* The first delimiter or LF in @data, or @end; 16 bytes behind @end may be read. */
const guint8 *csv_find_separator (const guint8 *data, const guint8 *end, guint8 delimiter);

guint csv_count_newlines (const guint8 *data, gsize size);

G_END_DECLS
