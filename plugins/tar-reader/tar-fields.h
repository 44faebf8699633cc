/* SPDX-License-Identifier: MIT */
#pragma once

#include "json-record.h"
#include "reader-fields.h"

G_BEGIN_DECLS

/* What is wanted of the members of a sample, by the property fields: "text=txt, meta=json.title".
 */

typedef struct
{
  ReaderField field; /* its path is as it was written, without a type */
  char *name;
  gint member; /* in members; -1: the key of the sample */
  gint value;  /* of the member's JSON; -1: all of the member */
} TarField;

/* A member that is wanted. */
typedef struct
{
  char *extension;  /* in lower case */
  JsonPlan *plan;   /* (nullable) */
  GPtrArray *paths; /* of char *: of the values */
} TarWanted;

typedef struct
{
  GPtrArray *parsed;  /* of ReaderField */
  GPtrArray *fields;  /* of TarField */
  GPtrArray *members; /* of TarWanted */
} TarFields;

/* (transfer full): NULL with DLP_GRAPH_ERROR_VALUE. */
TarFields *tar_fields_new (const char *const *texts, GError **error);
void tar_fields_free (TarFields *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TarFields, tar_fields_free)

DlpSchema *tar_fields_make_schema (const TarFields *self);

/* -1: it is not wanted. */
gint tar_fields_find_member (const TarFields *self, const char *extension);

G_END_DECLS
