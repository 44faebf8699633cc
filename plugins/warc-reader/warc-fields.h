/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

#include "warc-body.h"

G_BEGIN_DECLS

/* The further fields of a record, by the property fields. */

typedef enum
{
  WARC_FIELD_WARC,         /* of the record's header, by its name there */
  WARC_FIELD_HTTP,         /* of the HTTP header */
  WARC_FIELD_URL,          /* WARC-Target-URI, without <> around it */
  WARC_FIELD_CONTENT_TYPE, /* of the body: by HTTP, where that is there */
  WARC_FIELD_HTTP_STATUS,
} WarcFieldSource;

typedef struct
{
  char *name;       /* as it was written */
  const char *from; /* of the header field; within @name, or constant */
  WarcFieldSource source;
} WarcField;

/* A record as its fields see it. */
typedef struct
{
  const guint8 *header;
  gsize header_size;
  const HttpMessage *http; /* (nullable) */
} WarcHeaders;

/* (transfer full) (element-type WarcField). @taken: a name that no field may have. */
GPtrArray *warc_fields_parse (const char *const *texts, const char *taken, GError **error);

DlpFieldType warc_field_get_type (const WarcField *field);

/* (nullable): what the body says that it is. */
const guint8 *warc_headers_get_content_type (const WarcHeaders *self, gsize *size);

/* Null where the record has no such field. */
void warc_field_append (const WarcField *field,
                        const WarcHeaders *headers,
                        DlpRecordBatchBuilder *builder,
                        guint index);

G_END_DECLS
