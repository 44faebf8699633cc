/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where an object lies. Pure functions. */

/* "s3://BUCKET/KEY": the key is taken as it is, byte by byte. FALSE and DLP_DATA_ERROR_NO_INPUT. */
gboolean s3_place_parse (const char *uri, char **bucket, char **key, GError **error);

typedef enum
{
  S3_PATH_STYLE_AUTO,  /* where a bucket's name can be no part of a host's, or with an endpoint */
  S3_PATH_STYLE_TRUE,  /* HOST/BUCKET/KEY */
  S3_PATH_STYLE_FALSE, /* BUCKET.HOST/KEY */
} S3PathStyle;

/* (transfer full): @endpoint: (nullable): AWS's own. @key: (nullable): the bucket itself. @query:
 * "" is none. */
char *s3_place_make_uri (const char *endpoint,
                         S3PathStyle style,
                         const char *region,
                         const char *bucket,
                         const char *key,
                         const char *query);

/* (transfer full): of the regional host of another service. */
char *s3_place_make_service_uri (const char *service, const char *region);

G_END_DECLS
