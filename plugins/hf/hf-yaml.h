/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* As much of YAML as cards of datasets are written in: lists and maps by indentation, texts in one
 * line, plain or quoted, lists of such in []. Anything else is refused, never guessed. */

typedef enum
{
  HF_TEXT, /* also one that is not there: "" */
  HF_LIST,
  HF_MAP,
} HfKind;

typedef struct _HfNode HfNode;

struct _HfNode
{
  HfKind kind;
  guint line; /* of the file, from 1 */
  char *text;
  GPtrArray *keys;  /* of char *; of a map */
  GPtrArray *items; /* of HfNode */
};

/* The value of a key of the front matter, which begins the text between two lines "---". TRUE and
 * NULL: there is none. Errors: DLP_DATA_ERROR_NO_INPUT, with the line. */
gboolean
hf_yaml_find (const char *text, gsize size, const char *key, HfNode **node, GError **error);
void hf_node_free (HfNode *self);
/* (transfer none) (nullable): of a map. */
const HfNode *hf_node_get (const HfNode *self, const char *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (HfNode, hf_node_free)

G_END_DECLS
