/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "dlp-record-batch.h"

/* The Arrow C data interface. The two structs, their names, guard and flags are fixed by
 * https://arrow.apache.org/docs/format/CDataInterface.html */
#ifndef __GI_SCANNER__
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema
{
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release) (struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray
{
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release) (struct ArrowArray *);
  void *private_data;
};

#endif
#endif

G_BEGIN_DECLS

/**
 * dlp_schema_export:
 * @self: a schema
 * @out: (type gpointer): the address of a `struct ArrowSchema`, whose content is overwritten
 *
 * Exports the schema as a struct type ("+s") with a child a field. The caller releases @out.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_schema_export (const DlpSchema *self, struct ArrowSchema *out);

/**
 * dlp_schema_import:
 * @in: (type gpointer): the address of a `struct ArrowSchema`, which is taken over
 * @kind: what links of this schema carry
 * @error: return location for an error
 *
 * Makes a schema of an Arrow one. @in is released always, also on error. Accepted are the formats
 * of #DlpFieldType; anything else is an error that names the field and its format.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a schema
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpSchema *dlp_schema_import (struct ArrowSchema *in, DlpSchemaKind kind, GError **error);

/**
 * dlp_record_batch_export:
 * @self: a record batch
 * @out: (type gpointer): the address of a `struct ArrowArray`, whose content is overwritten
 *
 * Exports the batch as a struct array without copying; @out holds a reference until it is released,
 * which may happen on any thread. Coordinates are not exported.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_export (DlpRecordBatch *self, struct ArrowArray *out);

/**
 * dlp_record_batch_import:
 * @schema: the schema of the new record batch
 * @in: (type gpointer): the address of a `struct ArrowArray`, which is taken over
 * @coordinates: (nullable) (array) (transfer none): as many as @in has rows, copied; %NULL: all are
 *   0, with rows counted up
 * @error: return location for an error
 *
 * Makes a record batch of an Arrow array, without copying it. Everything that could make a later
 * access wrong is checked: counts, buffer pointers, offsets ascending and within 2^31, UTF-8 of
 * string fields. @in is released always, also on error.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a record batch
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatch *dlp_record_batch_import (DlpSchema *schema,
                                         struct ArrowArray *in,
                                         const DlpCoordinate *coordinates,
                                         GError **error);

G_END_DECLS
