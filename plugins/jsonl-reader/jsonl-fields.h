/* SPDX-License-Identifier: MIT */

#pragma once

#include <dlpipe/dlp-record-batch.h>

#include "json-record.h"
#include "reader-list.h"

G_BEGIN_DECLS

typedef ReaderField JsonlField;

/* Why a value is not one of the field. */
typedef struct
{
  const char *kind; /* of the bad record */
  gsize offset;     /* of the value in its line */
  char *message;
} JsonlFault;

/* Appends a value of @line that is not missing to a field of another type than string, or fills
 * @fault; a null to any. @list is used for lists. */
gboolean jsonl_field_append (const JsonlField *field,
                             ReaderList *list,
                             DlpRecordBatchBuilder *builder,
                             guint index,
                             const JsonValue *value,
                             const guint8 *line,
                             JsonlFault *fault);

/* Where a value begins; for a string, with its quote. */
gsize jsonl_value_get_offset (const JsonValue *value, const guint8 *line);

G_END_DECLS
