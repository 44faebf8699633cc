/* SPDX-License-Identifier: MIT */

#pragma once

#include "json-record.h"

G_BEGIN_DECLS

/*
 * JSON byte by byte, as the RFC reads, into a tree: slow, and simple enough to be believed. What
 * the parser says is compared with it.
 */

typedef struct _RefNode RefNode;

typedef struct
{
  GByteArray *key;
  RefNode *value;
} RefMember;

struct _RefNode
{
  JsonValueKind kind;
  gsize start; /* its text in the line */
  gsize end;
  GByteArray *string; /* decoded */
  GPtrArray *members; /* of RefMember, for an object */
  GPtrArray *items;   /* of RefNode, for an array */
};

typedef struct
{
  RefNode *root; /* NULL: refused */
  JsonErrorKind kind;
  gsize offset;
  guint64 lone_surrogates;
} RefResult;

RefResult ref_parse (const guint8 *line, gsize len, gboolean allow_non_finite);
void ref_node_free (RefNode *node);

/* The value at a path without escapes, the last of equal keys at each step; NULL: missing. */
const RefNode *ref_find (const RefNode *root, const char *path);

/* How often a key was met again that is a step of one of @paths. */
guint64 ref_count_duplicates (const RefNode *root, const char *const *paths, guint n_paths);

G_END_DECLS
