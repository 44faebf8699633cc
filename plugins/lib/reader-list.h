/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader-value.h"

G_BEGIN_DECLS

/* A list of numbers that is being read: of one field, one record after another. */
typedef struct
{
  const ReaderField *field;
  GByteArray *values; /* those that will be kept, as they lie in a column */
  guint64 n;          /* of all */
} ReaderList;

void reader_list_init (ReaderList *self);
void reader_list_clear (ReaderList *self);
void reader_list_begin (ReaderList *self, const ReaderField *field);
/* Whether what comes now is counted only: the list is longer than its field's. */
static inline gboolean
reader_list_is_full (const ReaderList *self)
{
  return self->field->length > 0 && self->n >= self->field->length;
}
/* The next item, which is not of a full list: it is kept if it fits. */
NumberResult reader_list_add (ReaderList *self, const ReaderNumber *number);
/* The next item of a full list. */
static inline void
reader_list_count (ReaderList *self, guint64 n)
{
  self->n += n;
}
/* Many items of a list that has any length, as they lie in a column. */
void reader_list_add_run (ReaderList *self, gconstpointer values, gsize n);
/* Fills it up or cuts it off, and appends it. FALSE: it has another length, see @fault, but for its
 * place. @noun and @name say what it is, in a message. */
gboolean reader_list_end (ReaderList *self,
                          const char *noun,
                          const char *name,
                          DlpRecordBatchBuilder *builder,
                          guint index,
                          ReaderFault *fault);

/* The kind and the message of an item, the next of the list, that is none: @shown, or null. */
void reader_list_refuse (const ReaderList *self,
                         const char *noun,
                         const char *name,
                         const char *shown,
                         NumberResult result,
                         ReaderFault *fault);

/* Reads and appends a list as JSON writes it, "[1, 2]". @non_finite: whether NaN, Infinity and
 * -Infinity are numbers. The byte behind the text is read. */
gboolean reader_list_append_json (ReaderList *self,
                                  const ReaderField *field,
                                  gboolean non_finite,
                                  const char *noun,
                                  const char *name,
                                  const guint8 *text,
                                  gsize size,
                                  DlpRecordBatchBuilder *builder,
                                  guint index,
                                  ReaderFault *fault);

G_END_DECLS
