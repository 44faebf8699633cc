/* SPDX-License-Identifier: MIT */

#include "s3-chain.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#define MAX_DEPTH 5

static S3Found
find_in_profile (const S3Chain *self, const char *profile, S3Credentials *found, GError **error);

static S3Found
fail (GError **error, const char *profile, const char *what, const char *value)
{
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "profile \"%s\": %s%s", profile,
               what, value);
  return S3_FAILED;
}

/* What a role is assumed with. */
static S3Found
find_source (const S3Chain *self, const char *profile, S3Credentials *found, GError **error)
{
  const S3Profiles *profiles = &self->setup->profiles;
  g_autofree char *source = s3_profiles_get (profiles, profile, "source_profile");
  g_autofree char *kind = s3_profiles_get (profiles, profile, "credential_source");
  const S3Chain below = { self->setup, self->cancellable, self->depth + 1 };

  if (source != NULL && strcmp (source, profile) == 0)
    return s3_find_keys (self, profile, found, error);
  if (source != NULL && self->depth >= MAX_DEPTH)
    return fail (error, profile,
                 "profiles name one another more than five deep, source_profile=", source);
  if (source != NULL)
    return find_in_profile (&below, source, found, error);
  if (g_strcmp0 (kind, "Environment") == 0)
    return s3_find_in_environment (self, found, error);
  if (g_strcmp0 (kind, "EcsContainer") == 0)
    return s3_find_in_container (self, found, error);
  if (g_strcmp0 (kind, "Ec2InstanceMetadata") == 0)
    return s3_find_in_instance (self, found, error);
  return fail (error, profile,
               "role_arn needs source_profile, web_identity_token_file, or credential_source, one "
               "of Environment, EcsContainer, Ec2InstanceMetadata; not ",
               kind != NULL ? kind : "none of them");
}

static S3Found
find_by_role (const S3Chain *self,
              const char *profile,
              const char *role,
              S3Credentials *found,
              GError **error)
{
  g_autofree char *mfa = s3_profiles_get (&self->setup->profiles, profile, "mfa_serial");
  g_auto (S3Credentials) source = { NULL };
  S3Found answer;

  if (mfa != NULL)
    return fail (error, profile, "mfa_serial: nobody can be asked for a code here", "");
  answer = find_source (self, profile, &source, error);
  if (answer == S3_ABSENT)
    return fail (error, profile, "there are no credentials to assume the role with", "");
  if (answer == S3_FOUND && !s3_assume_role (self, profile, role, &source, found, error))
    return S3_FAILED;
  return answer;
}

static S3Found
find_in_profile (const S3Chain *self, const char *profile, S3Credentials *found, GError **error)
{
  const S3Profiles *profiles = &self->setup->profiles;
  g_autofree char *role = s3_profiles_get (profiles, profile, "role_arn");
  g_autofree char *token_file = s3_profiles_get (profiles, profile, "web_identity_token_file");
  g_autofree char *session = s3_profiles_get (profiles, profile, "role_session_name");
  S3Found answer = s3_find_by_web_identity (self, role, token_file, session, found, error);

  if (answer == S3_ABSENT && role != NULL)
    answer = find_by_role (self, profile, role, found, error);
  if (answer == S3_ABSENT)
    answer = s3_find_by_sso (self, profile, found, error);
  if (answer == S3_ABSENT)
    answer = s3_find_keys (self, profile, found, error);
  if (answer == S3_ABSENT)
    answer = s3_find_by_process (self, profile, found, error);
  return answer;
}

gboolean
s3_chain_find (const S3Chain *self, S3Credentials *found, GError **error)
{
  S3Found answer = S3_ABSENT;

  if (!self->setup->is_profile_given)
    answer = s3_find_in_environment (self, found, error);
  if (answer == S3_ABSENT && !self->setup->is_profile_given)
    answer = s3_find_by_web_identity (self, s3_getenv ("AWS_ROLE_ARN"),
                                      s3_getenv ("AWS_WEB_IDENTITY_TOKEN_FILE"),
                                      s3_getenv ("AWS_ROLE_SESSION_NAME"), found, error);
  if (answer == S3_ABSENT)
    answer = find_in_profile (self, self->setup->profile, found, error);
  if (answer == S3_ABSENT)
    answer = s3_find_in_container (self, found, error);
  if (answer == S3_ABSENT)
    answer = s3_find_in_instance (self, found, error);
  if (answer == S3_ABSENT)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "no credentials for S3: not in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not "
                 "in profile \"%s\", not from a container or an instance; what is public is read "
                 "with anonymous=true",
                 self->setup->profile);
  return answer == S3_FOUND;
}
