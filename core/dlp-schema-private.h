/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-schema.h>

G_BEGIN_DECLS

typedef struct
{
  char *name;
  DlpFieldType type;
  gboolean optional;
} DlpField;

struct _DlpSchema
{
  gint ref_count;
  DlpSchemaKind kind;
  guint n_fields;
  guint64 hash; /* of the names and types, for dlp_digest_add() */
  DlpField fields[];
};

#define DLP_FIELD_LAST DLP_FIELD_LIST_DOUBLE

/* Of types, as bits: the lists, and those of them that token ids are in. */
#define DLP_FIELD_LISTS                                                                            \
  (DLP_FIELD_LISTS_OF_IDS | 1 << DLP_FIELD_LIST_INT64 | 1 << DLP_FIELD_LIST_FLOAT |                \
   1 << DLP_FIELD_LIST_DOUBLE)
#define DLP_FIELD_LISTS_OF_IDS                                                                     \
  (1 << DLP_FIELD_LIST_UINT16 | 1 << DLP_FIELD_LIST_UINT32 | 1 << DLP_FIELD_LIST_INT32)

/* How a field of a type lies in memory: a value's width in bytes, 0 for bits. */
static inline guint
dlp_field_type_width (DlpFieldType type)
{
  static const guint8 widths[] = { 1, 1, 0, 8, 8, 8, 2, 4, 4, 8, 4, 8 };

  return widths[type];
}

/* Whether a value is a run of bytes or of list values, found by offsets. */
static inline gboolean
dlp_field_type_has_offsets (DlpFieldType type)
{
  return type <= DLP_FIELD_BINARY || type >= DLP_FIELD_LIST_UINT16;
}

static inline gboolean
dlp_field_type_is_list (DlpFieldType type)
{
  return type >= DLP_FIELD_LIST_UINT16;
}

/* The Arrow format string, such as "u"; "+l" for lists, whose items have the second. */
const char *dlp_field_type_get_format (DlpFieldType type);
const char *dlp_field_type_get_item_format (DlpFieldType type);

G_END_DECLS
