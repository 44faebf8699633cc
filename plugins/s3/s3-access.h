/* SPDX-License-Identifier: MIT */
#pragma once

#include "s3-service.h"

G_BEGIN_DECLS

/* Requests for one object, or of one bucket: signed anew each time. */
typedef struct
{
  HttpAccess parent;
  GObject *owner; /* what holds the service */
  S3Service *service;
  S3Setup setup;
  char *bucket;
  char *key;   /* (nullable): the bucket itself */
  char *query; /* "": none */

  S3Credentials used;
  char *region; /* that the last request was signed for */
  char *code;   /* (nullable): of the last error */
} S3Access;

/* (nullable). @key: (nullable). */
S3Access *s3_access_new (GObject *owner,
                         S3Service *service,
                         const S3Options *options,
                         const char *bucket,
                         const char *key,
                         GError **error);
void s3_access_free (S3Access *self);
void s3_access_set_query (S3Access *self, const char *const *pairs);
/* (transfer full): as things stand. */
char *s3_access_make_uri (S3Access *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (S3Access, s3_access_free)

G_END_DECLS
