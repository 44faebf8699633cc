/* SPDX-License-Identifier: MIT */
#pragma once

#include "s3-place.h"
#include "s3-profile.h"

G_BEGIN_DECLS

/* What the properties of the scheme say; NULL: not set. */
typedef struct
{
  char *region;
  char *endpoint;
  char *profile;
  S3PathStyle path_style;
  gboolean anonymous;
  gboolean requester_pays;
} S3Options;

/* What holds: the properties, else the environment, else the profile, else a default. */
typedef struct
{
  char *region;
  char *endpoint; /* (nullable): AWS's own */
  char *profile;
  gboolean is_profile_given; /* by the property: the credentials of the environment are not meant */
  S3PathStyle path_style;
  gboolean anonymous;
  gboolean requester_pays;
  S3Profiles profiles;
} S3Setup;

/* @self is to be cleared in any case. */
gboolean s3_setup_load (S3Setup *self, const S3Options *options, GError **error);
void s3_setup_clear (S3Setup *self);

/* (transfer full): where a service is asked: AWS_ENDPOINT_URL_NAME, AWS_ENDPOINT_URL, else AWS's
 * own host. @name: such as "STS". */
char *s3_setup_get_service_uri (const S3Setup *self,
                                const char *name,
                                const char *service,
                                const char *region);
/* (nullable): a variable of the environment that is not empty. */
const char *s3_getenv (const char *name);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (S3Setup, s3_setup_clear)

G_END_DECLS
