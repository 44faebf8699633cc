/* SPDX-License-Identifier: MIT */
#pragma once

#include "s3-ask.h"
#include "s3-setup.h"

G_BEGIN_DECLS

/* What all requests of a scheme object share: credentials, the regions of buckets, the error of our
 * clock. Used by several threads at once. */
typedef struct _S3Service S3Service;

S3Service *s3_service_new (void);
void s3_service_free (S3Service *self);

/* Those to sign with: read again where they have run out, or are about to. While they are read
 * others wait. */
gboolean s3_service_get_credentials (S3Service *self,
                                     const S3Setup *setup,
                                     S3Credentials *credentials,
                                     GCancellable *cancellable,
                                     GError **error);
/* Reads them again, the server having refused @used. TRUE: they are others now. */
gboolean s3_service_renew_credentials (S3Service *self,
                                       const S3Setup *setup,
                                       const S3Credentials *used,
                                       GCancellable *cancellable);

/* (transfer full) (nullable): where the server said that the bucket is. */
char *s3_service_get_region (S3Service *self, const char *bucket);
void s3_service_set_region (S3Service *self, const char *bucket, const char *region);

/* Unix time, as the server has it. */
gint64 s3_service_get_time (S3Service *self);
void s3_service_set_time (S3Service *self, gint64 time);

G_END_DECLS
