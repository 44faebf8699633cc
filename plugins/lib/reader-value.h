/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader-fields.h"

G_BEGIN_DECLS

/* Why a text is not a value of its field. */
typedef struct
{
  const char *kind; /* of the bad record */
  const guint8 *at;
  char *message;
} ReaderFault;

/* Appends a text to a field that is a number or a boolean; blanks around it do not count. @noun and
 * @name say what it is, in a message. FALSE: see @fault. */
gboolean reader_value_append (const ReaderField *field,
                              const char *noun,
                              const char *name,
                              const guint8 *text,
                              gsize size,
                              DlpRecordBatchBuilder *builder,
                              guint index,
                              ReaderFault *fault);

/* Appends a number that fits the field's range. */
void reader_number_append (const ReaderNumber *number,
                           const ReaderField *field,
                           DlpRecordBatchBuilder *builder,
                           guint index);

/* (transfer full): a text as it is, or its beginning, for a message. */
char *reader_value_show_bare (const guint8 *text, gsize size);
/* (transfer full): a text with quotes, or its beginning, for a message. */
char *reader_value_show (const guint8 *text, gsize size);

G_END_DECLS
