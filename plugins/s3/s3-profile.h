/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The two files that AWS's programs are set up by: ~/.aws/config and ~/.aws/credentials, or where
 * AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE say. Read anew by whoever asks. */
typedef struct
{
  char *config;      /* "": there is none */
  char *credentials; /* "" */
} S3Profiles;

/* A file that is there and cannot be read is an error. @self is to be cleared in any case. */
gboolean s3_profiles_load (S3Profiles *self, GError **error);
void s3_profiles_clear (S3Profiles *self);

gboolean s3_profiles_has (const S3Profiles *self, const char *profile);
/* (transfer full) (nullable): of the profile; what the file of credentials has comes first. */
char *s3_profiles_get (const S3Profiles *self, const char *profile, const char *key);
/* (transfer full) (nullable): of "[sso-session NAME]". */
char *s3_profiles_get_session (const S3Profiles *self, const char *session, const char *key);

/* (transfer full) (nullable): the last value of @key in the section; NULL also where @key is NULL
 * and the section is not there. A pure function. */
char *s3_profile_parse (const char *text, const char *section, const char *key);
/* (transfer full): a file below ~/.aws. */
char *s3_profile_make_path (const char *name);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (S3Profiles, s3_profiles_clear)

G_END_DECLS
