/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "dlp-record-batch.h"

/* The Arrow C data interface. The two structs, their names, guard and flags are fixed by
 * https://arrow.apache.org/docs/format/CDataInterface.html */
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

G_BEGIN_DECLS

/* The schema as a struct type ("+s") with a child a field. The caller releases @out. */
DLP_API void dlp_schema_export (const DlpSchema *self, struct ArrowSchema *out);
/* (transfer full): always released is @in, also on error. Accepted are the formats of DlpFieldType;
 * anything else is an error that names the field and its format. */
DLP_API DlpSchema *dlp_schema_import (struct ArrowSchema *in, DlpSchemaKind kind, GError **error);
/* The batch as a struct array without copying; @out holds a reference until it is released, which
 * may happen on any thread. Coordinates are not exported. */
DLP_API void dlp_record_batch_export (DlpRecordBatch *self, struct ArrowArray *out);
/* (transfer full): takes @in over, without copying. Everything that could make a later access wrong
 * is checked: counts, buffer pointers, offsets ascending and within 2^31, UTF-8 of string fields.
 * @coordinates: (nullable): length of @in of them, copied; else all are 0 with rows counted up. */
DLP_API DlpRecordBatch *dlp_record_batch_import (DlpSchema *schema,
                                                 struct ArrowArray *in,
                                                 const DlpCoordinate *coordinates,
                                                 GError **error);

G_END_DECLS
