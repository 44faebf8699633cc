/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* A JSON text (RFC 8259) as a flat array of nodes: a file of 30 MB with half a million merges is
 * read in some tenths of a second and takes 16 bytes a value besides the text. Read-only once it is
 * parsed; strings are unescaped in place, in a copy that the tree owns. */
typedef struct _DlpJsonTree DlpJsonTree;

typedef enum
{
  DLP_JSON_NONE, /* no such node */
  DLP_JSON_NULL,
  DLP_JSON_FALSE,
  DLP_JSON_TRUE,
  DLP_JSON_NUMBER,
  DLP_JSON_STRING,
  DLP_JSON_ARRAY,
  DLP_JSON_OBJECT, /* its children are keys, each followed by its value */
} DlpJsonType;

/* A place in a tree; passed by value. */
typedef struct
{
  const DlpJsonTree *tree;
  guint32 index;
} DlpJsonNode;

DlpJsonTree *dlp_json_tree_new (const char *data, gsize size, const char *where, GError **error);
void dlp_json_tree_free (DlpJsonTree *self);
DlpJsonNode dlp_json_tree_get_root (const DlpJsonTree *self);
const char *dlp_json_tree_get_where (const DlpJsonTree *self);

DlpJsonType dlp_json_get_type (DlpJsonNode node);
gsize dlp_json_get_position (DlpJsonNode node);
guint dlp_json_get_n_children (DlpJsonNode node);
DlpJsonNode dlp_json_get_first (DlpJsonNode node);
DlpJsonNode dlp_json_get_next (DlpJsonNode node);
DlpJsonNode dlp_json_get_member (DlpJsonNode object, const char *key);
const char *dlp_json_get_string (DlpJsonNode node, gsize *len);
gboolean dlp_json_is_string (DlpJsonNode node, const char *string);

/* What follows sets an error in DLP_TOKENIZER_ERROR_BAD_VOCABULARY that says file, byte, what was
 * found and what was allowed. */
gboolean dlp_json_fail (DlpJsonNode node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
gboolean dlp_json_check_type (DlpJsonNode node, DlpJsonType type, const char *what, GError **error);
gboolean dlp_json_check_members (DlpJsonNode object, const char *const *known, GError **error);
gboolean dlp_json_read_uint (DlpJsonNode node, guint64 max, guint64 *value, GError **error);
gboolean dlp_json_read_double (DlpJsonNode node, double *value, GError **error);
gboolean dlp_json_read_boolean (DlpJsonNode object,
                                const char *key,
                                int fallback,
                                gboolean *value,
                                GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpJsonTree, dlp_json_tree_free)
