/* SPDX-License-Identifier: MIT */
#pragma once

#include "s3-ask.h"
#include "s3-setup.h"

G_BEGIN_DECLS

/* Where credentials may be, each a function. */

typedef enum
{
  S3_ABSENT, /* this one is not set up */
  S3_FOUND,
  S3_FAILED, /* it is, and @error says what is wrong; never with a value of it */
} S3Found;

typedef struct
{
  const S3Setup *setup;
  GCancellable *cancellable;
  guint depth; /* of profiles that name another one */
} S3Chain;

/* All of them, in the usual order. None is an error that names them. */
gboolean s3_chain_find (const S3Chain *self, S3Credentials *found, GError **error);

/* s3-chain-local.c */
S3Found s3_find_in_environment (const S3Chain *self, S3Credentials *found, GError **error);
S3Found
s3_find_keys (const S3Chain *self, const char *profile, S3Credentials *found, GError **error);
S3Found
s3_find_by_process (const S3Chain *self, const char *profile, S3Credentials *found, GError **error);
/* The JSON of credential_process, of containers and of instances: @names are those of access key,
 * secret, token, expiration. */
gboolean s3_parse_credentials (GBytes *text,
                               const char *const names[4],
                               const char *what,
                               S3Credentials *found,
                               GError **error);
/* Unix time of an ISO 8601 text; 0: it is none. */
gint64 s3_parse_time (const char *text);

/* s3-chain-remote.c */
S3Found s3_find_in_container (const S3Chain *self, S3Credentials *found, GError **error);
S3Found s3_find_in_instance (const S3Chain *self, S3Credentials *found, GError **error);

/* s3-chain-sts.c */
/* @role: (nullable), @token_file: (nullable): set up is what has both. */
S3Found s3_find_by_web_identity (const S3Chain *self,
                                 const char *role,
                                 const char *token_file,
                                 const char *session_name,
                                 S3Credentials *found,
                                 GError **error);
S3Found
s3_find_by_sso (const S3Chain *self, const char *profile, S3Credentials *found, GError **error);
gboolean s3_assume_role (const S3Chain *self,
                         const char *profile,
                         const char *role,
                         const S3Credentials *source,
                         S3Credentials *found,
                         GError **error);

G_END_DECLS
