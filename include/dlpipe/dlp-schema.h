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
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_SCHEMA_RECORDS,
  DLP_SCHEMA_FILES,
  DLP_SCHEMA_BATCHES,
} DlpSchemaKind;

#define DLP_TYPE_SCHEMA_KIND (dlp_schema_kind_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_schema_kind_get_type (void) G_GNUC_CONST;

/**
 * DlpFieldType:
 * @DLP_FIELD_STRING: UTF-8; "u", with offsets of 32 bits
 * @DLP_FIELD_BINARY: bytes; "z"
 * @DLP_FIELD_BOOLEAN: "b"
 * @DLP_FIELD_INT64: "l"
 * @DLP_FIELD_UINT64: "L"
 * @DLP_FIELD_DOUBLE: "g"
 * @DLP_FIELD_LIST_UINT16: "+l" of "S"
 * @DLP_FIELD_LIST_UINT32: "+l" of "I"
 * @DLP_FIELD_LIST_INT32: "+l" of "i"; since 0.2
 * @DLP_FIELD_LIST_INT64: "+l" of "l"; since 0.2
 * @DLP_FIELD_LIST_FLOAT: "+l" of "f"; since 0.2
 * @DLP_FIELD_LIST_DOUBLE: "+l" of "g"; since 0.2
 *
 * The type of a field, and the Arrow format string of its column.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_FIELD_STRING,
  DLP_FIELD_BINARY,
  DLP_FIELD_BOOLEAN,
  DLP_FIELD_INT64,
  DLP_FIELD_UINT64,
  DLP_FIELD_DOUBLE,
  DLP_FIELD_LIST_UINT16,
  DLP_FIELD_LIST_UINT32,
  DLP_FIELD_LIST_INT32,
  DLP_FIELD_LIST_INT64,
  DLP_FIELD_LIST_FLOAT,
  DLP_FIELD_LIST_DOUBLE,
} DlpFieldType;

#define DLP_TYPE_FIELD_TYPE (dlp_field_type_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_field_type_get_type (void) G_GNUC_CONST;

#define DLP_TYPE_SCHEMA (dlp_schema_get_type ())
/**
 * DlpSchema:
 *
 * The fields of the records of a link. Immutable, reference counted (atomically).
 *
 * Since: 0.1
 */
typedef struct _DlpSchema DlpSchema;

DLP_AVAILABLE_IN_0_1
GType dlp_schema_get_type (void) G_GNUC_CONST;

/**
 * dlp_schema_new:
 * @kind: what links of this schema carry
 * @n_fields: how many fields
 * @names: (array length=n_fields): their names
 * @types: (array length=n_fields): their types
 * @optional: (array length=n_fields) (nullable): whether they may be null; %NULL: none may
 *
 * Makes a schema; names[i] and types[i] describe field i, optional[i] says that it may be null.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a schema
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpSchema *dlp_schema_new (DlpSchemaKind kind,
                           guint n_fields,
                           const char *const *names,
                           const DlpFieldType *types,
                           const gboolean *optional);

/**
 * dlp_schema_files:
 *
 * Gets the schema of `files` links: uri (string), size (int64, -1 unknown), identity (string:
 * what must be equal at each later opening, such as an ETag). A source that knows more of its files
 * has a schema of its own, with these and any of the optional fields expected-size (int64, of
 * bytes), expected-rows (int64, good and bad) and sha256 (string, of 64 hexadecimal digits): a
 * reader finds a file damaged that is not so.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a schema
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpSchema *dlp_schema_files (void);

/**
 * dlp_schema_ref:
 * @self: a schema
 *
 * Adds a reference.
 *
 * Threads: any.
 *
 * Returns: (transfer full): @self
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpSchema *dlp_schema_ref (DlpSchema *self);

/**
 * dlp_schema_unref:
 * @self: (transfer full): a schema
 *
 * Drops a reference.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_schema_unref (DlpSchema *self);

/**
 * dlp_schema_get_kind:
 * @self: a schema
 *
 * Gets what links of this schema carry.
 *
 * Threads: any.
 *
 * Returns: a kind
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpSchemaKind dlp_schema_get_kind (const DlpSchema *self);

/**
 * dlp_schema_get_n_fields:
 * @self: a schema
 *
 * Gets the number of fields.
 *
 * Threads: any.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_schema_get_n_fields (const DlpSchema *self);

/**
 * dlp_schema_get_field_name:
 * @self: a schema
 * @field: its index
 *
 * Gets the name of a field.
 *
 * Threads: any.
 *
 * Returns: (transfer none): a name
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_schema_get_field_name (const DlpSchema *self, guint field);

/**
 * dlp_schema_get_field_type:
 * @self: a schema
 * @field: its index
 *
 * Gets the type of a field.
 *
 * Threads: any.
 *
 * Returns: a type
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpFieldType dlp_schema_get_field_type (const DlpSchema *self, guint field);

/**
 * dlp_schema_get_field_optional:
 * @self: a schema
 * @field: its index
 *
 * Gets whether a field may be null.
 *
 * Threads: any.
 *
 * Returns: whether it may
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_schema_get_field_optional (const DlpSchema *self, guint field);

/**
 * dlp_schema_find:
 * @self: a schema
 * @name: its name
 *
 * Finds a field.
 *
 * Threads: any.
 *
 * Returns: its index, or -1
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
int dlp_schema_find (const DlpSchema *self, const char *name);

/**
 * dlp_schema_equal:
 * @a: a schema
 * @b: a schema
 *
 * Compares two schemas.
 *
 * Threads: any.
 *
 * Returns: whether they are equal
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_schema_equal (const DlpSchema *a, const DlpSchema *b);

/**
 * dlp_schema_to_string:
 * @self: a schema
 *
 * Prints a schema.
 *
 * Threads: any.
 *
 * Returns: (transfer full): such as "records {text: string, id: string?}"
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_schema_to_string (const DlpSchema *self);

/**
 * dlp_field_type_to_string:
 * @type: a type
 *
 * Gets the name of a type.
 *
 * Threads: any.
 *
 * Returns: (transfer none): such as "string"
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_field_type_to_string (DlpFieldType type);

/**
 * dlp_field_type_from_string:
 * @text: the name of a type, with a question mark behind it where values may be null, such as
 *   "double?"
 * @type: (out): the type
 * @optional: (out) (optional): whether there is a question mark
 * @error: return location for an error
 *
 * Reads a type as it is written in properties, such as `schema` of `app-source` and `fields` of
 * `jsonl-reader`. Anything else is %DLP_GRAPH_ERROR_VALUE, with the names there are.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_field_type_from_string (const char *text,
                                     DlpFieldType *type,
                                     gboolean *optional,
                                     GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpSchema, dlp_schema_unref)

G_END_DECLS
