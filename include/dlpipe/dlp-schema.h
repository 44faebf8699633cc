/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * DlpSchemaKind:
 * @DLP_SCHEMA_RECORDS: records with fields
 * @DLP_SCHEMA_FILES: one record a file; see dlp_schema_files()
 * @DLP_SCHEMA_BATCHES: training batches, never cut or merged
 *
 * What a link carries. Links of different kinds do not fit together.
 */
typedef enum
{
  DLP_SCHEMA_RECORDS,
  DLP_SCHEMA_FILES,
  DLP_SCHEMA_BATCHES,
} DlpSchemaKind;

/**
 * DlpFieldType:
 *
 * The type of a field, and the Arrow format string of its column.
 */
typedef enum
{
  DLP_FIELD_STRING,      /* "u": UTF-8, 32-bit offsets */
  DLP_FIELD_BINARY,      /* "z" */
  DLP_FIELD_BOOLEAN,     /* "b" */
  DLP_FIELD_INT64,       /* "l" */
  DLP_FIELD_UINT64,      /* "L" */
  DLP_FIELD_DOUBLE,      /* "g" */
  DLP_FIELD_LIST_UINT16, /* "+l" of "S" */
  DLP_FIELD_LIST_UINT32, /* "+l" of "I" */
} DlpFieldType;

#define DLP_TYPE_SCHEMA (dlp_schema_get_type ())
typedef struct _DlpSchema DlpSchema;

/* A schema is immutable and may be used from any thread; ref and unref are atomic.
 * names[i] and types[i] describe field i; optional[i] says that it may be null (NULL: none may). */
DLP_API GType dlp_schema_get_type (void);
DLP_API DlpSchema *dlp_schema_new (DlpSchemaKind kind,
                                   guint n_fields,
                                   const char *const *names,
                                   const DlpFieldType *types,
                                   const gboolean *optional);
/* (transfer full): the schema of every `files` link: uri (string), size (int64, -1 unknown),
 * identity (string: what must be equal at each later opening, such as an ETag). */
DLP_API DlpSchema *dlp_schema_files (void);
DLP_API DlpSchema *dlp_schema_ref (DlpSchema *self);
DLP_API void dlp_schema_unref (DlpSchema *self);
DLP_API DlpSchemaKind dlp_schema_get_kind (const DlpSchema *self);
DLP_API guint dlp_schema_get_n_fields (const DlpSchema *self);
DLP_API const char *dlp_schema_get_field_name (const DlpSchema *self, guint field);
DLP_API DlpFieldType dlp_schema_get_field_type (const DlpSchema *self, guint field);
DLP_API gboolean dlp_schema_get_field_optional (const DlpSchema *self, guint field);
/* The index of a field, or -1. */
DLP_API int dlp_schema_find (const DlpSchema *self, const char *name);
DLP_API gboolean dlp_schema_equal (const DlpSchema *a, const DlpSchema *b);
/* (transfer full): such as "records {text: string, id: string?}". */
DLP_API char *dlp_schema_to_string (const DlpSchema *self);
DLP_API const char *dlp_field_type_to_string (DlpFieldType type);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpSchema, dlp_schema_unref)

G_END_DECLS
