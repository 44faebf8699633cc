/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

#include "reader-number.h"

G_BEGIN_DECLS

/* A further field of the records of a reader. */
typedef struct
{
  char *entry; /* as it was written, without its type */
  char *path;  /* where it comes from, as it was written: all of that, or what is behind OUT= */
  char *name;  /* of the field: OUT, without its backslashes, or the path */
  gboolean has_name;

  DlpFieldType type;
  gboolean optional;
  gboolean has_type; /* one was written */
  char *type_name;   /* (nullable): as it was written, without a question mark */
  ReaderRange range; /* of a number, or of the items of a list */
  guint length;      /* of a list; 0: any */
  gboolean has_pad;  /* a shorter one is filled up */
  ReaderNumber pad;  /* with this, which fits */
  gboolean cut;      /* a longer one is cut off */
} ReaderField;

typedef enum
{
  READER_FIELDS_PLAIN = 0,
  READER_FIELDS_BINARY = 1 << 0, /* one may be binary */
  READER_FIELDS_LISTS = 1 << 1,  /* or a list of numbers */
} ReaderFieldsFlags;

/* (transfer full) (element-type ReaderField): of the values of the property fields, each
 * "[OUT=]PATH[:TYPE[?]] [pad=N] [cut=true]", or several with commas between. No name may come
 * twice, or, with @field (nullable: the property), which is not empty, be "text", which is what
 * that becomes. @format: what is read, for messages. Errors: DLP_GRAPH_ERROR_VALUE, with a caret
 * under the place. */
GPtrArray *reader_fields_parse (const char *const *texts,
                                const char *field,
                                const char *format,
                                ReaderFieldsFlags flags,
                                GError **error);

/* Whether there is a field text: the property names one. */
gboolean reader_fields_has_text (const char *field);

/* Where that one is empty and there are no fields. */
void reader_fields_refuse_none (GError **error);

/* Whether a value is a list. */
gboolean reader_field_is_list (const ReaderField *field);

/* (transfer full): a name as it is, without the backslashes of how it was written. */
char *reader_field_unescape (const char *path);

/* (transfer full): the names that a path goes down by, at dots that no backslash stands before. */
GPtrArray *reader_field_split_path (const char *path);

/* (transfer full): of "a,b\,c", or several of those. */
GPtrArray *reader_fields_split_names (const char *const *texts);

/* (transfer full): “"id", "body"; did you mean "body"?” of a name that is not among them, of which
 * there are NULL-terminated @n_names. */
char *reader_fields_list_names (const char *const *names, guint n_names, const char *wanted);

/* What a value has to be, in a message. */
const char *reader_field_get_wanted (const ReaderField *field);
/* Its type, as it was written. */
const char *reader_field_get_type_name (const ReaderField *field);

/* Of the reader's class: the declarations of the properties field and fields. @what: such as "The
 * column"; @path: (nullable): what is said of how it is written. */
GParamSpec *reader_field_new_pspec (const char *what, const char *path);
GParamSpec *reader_fields_new_pspec (const char *what, ReaderFieldsFlags flags);

G_END_DECLS
