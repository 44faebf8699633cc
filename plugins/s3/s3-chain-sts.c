/* SPDX-License-Identifier: MIT */

/* Credentials that AWS gives for something else: a token of an identity provider, a login by SSO,
 * other credentials. */

#include "s3-chain.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>
#include <dlpipe/dlp-json.h>

#include "s3-sign.h"
#include "s3-xml.h"

#define STS_VERSION "2011-06-15"
#define TIMEOUT 30
#define BUDGET (60 * G_USEC_PER_SEC)

/* ---- STS ---- */

static gboolean
parse_answer (GBytes *body, S3Credentials *found, GError **error)
{
  const char *text = g_bytes_get_data (body, NULL);
  gsize size = g_bytes_get_size (body);
  g_autofree char *expires = s3_xml_find (text, size, "Expiration");

  s3_credentials_clear (found);
  found->access_key = s3_xml_find (text, size, "AccessKeyId");
  found->secret_key = s3_xml_find (text, size, "SecretAccessKey");
  found->token = s3_xml_find (text, size, "SessionToken");
  found->expires = expires != NULL ? s3_parse_time (expires) : 0;
  if (found->access_key != NULL && found->secret_key != NULL && found->token != NULL)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "STS gives no credentials: AccessKeyId, SecretAccessKey and SessionToken were "
               "expected");
  return FALSE;
}

static gboolean
ask_sts (const S3Chain *self,
         const char *const *parameters,
         const char *ending,
         const S3Credentials *source,
         S3Credentials *found,
         GError **error)
{
  const char *region = self->setup->region;
  g_autofree char *base = s3_setup_get_service_uri (self->setup, "STS", "sts", region);
  g_autofree char *uri = g_strconcat (base, g_str_has_suffix (base, "/") ? "" : "/", NULL);
  g_autofree char *form = s3_make_query (parameters);
  g_auto (HttpDocument) document = { 0 };
  const S3Ask ask = { .uri = uri,
                      .name = "STS, which gives credentials for S3",
                      .method = "POST",
                      .form = form,
                      .ending = ending,
                      .signed_by = source,
                      .region = region,
                      .timeout = TIMEOUT,
                      .budget = BUDGET };

  return s3_ask (&ask, &document, self->cancellable, error) &&
         parse_answer (document.body, found, error);
}

S3Found
s3_find_by_web_identity (const S3Chain *self,
                         const char *role,
                         const char *token_file,
                         const char *session_name,
                         S3Credentials *found,
                         GError **error)
{
  g_autofree char *token = NULL;
  g_autoptr (GError) cause = NULL;

  if (role == NULL || token_file == NULL)
    return S3_ABSENT;
  if (!g_file_get_contents (token_file, &token, NULL, &cause))
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "the web identity's token: %s",
                   cause->message);
      return S3_FAILED;
    }
  g_strstrip (token);
  return ask_sts (self,
                  (const char *const[]){ "Action", "AssumeRoleWithWebIdentity", "Version",
                                         STS_VERSION, "RoleArn", role, "RoleSessionName",
                                         session_name != NULL ? session_name : "dlpipe",
                                         "WebIdentityToken", token, NULL },
                  "</AssumeRoleWithWebIdentityResponse>", NULL, found, error) ?
             S3_FOUND :
             S3_FAILED;
}

gboolean
s3_assume_role (const S3Chain *self,
                const char *profile,
                const char *role,
                const S3Credentials *source,
                S3Credentials *found,
                GError **error)
{
  const S3Profiles *profiles = &self->setup->profiles;
  g_autofree char *session = s3_profiles_get (profiles, profile, "role_session_name");
  g_autofree char *external = s3_profiles_get (profiles, profile, "external_id");
  g_autofree char *duration = s3_profiles_get (profiles, profile, "duration_seconds");
  const char *parameters[13] = { "Action",          "AssumeRole",
                                 "Version",         STS_VERSION,
                                 "RoleArn",         role,
                                 "RoleSessionName", session != NULL ? session : "dlpipe" };
  guint n = 8;

  if (external != NULL)
    {
      parameters[n++] = "ExternalId";
      parameters[n++] = external;
    }
  if (duration != NULL)
    {
      parameters[n++] = "DurationSeconds";
      parameters[n++] = duration;
    }
  return ask_sts (self, parameters, "</AssumeRoleResponse>", source, found, error);
}

/* ---- SSO ---- */

typedef struct
{
  char *name; /* what the cached login is named after */
  char *start_url;
  char *region;
  char *account;
  char *role;
} Sso;

static void
sso_clear (Sso *self)
{
  g_free (self->name);
  g_free (self->start_url);
  g_free (self->region);
  g_free (self->account);
  g_free (self->role);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sso, sso_clear)

static void
load_sso (Sso *self, const S3Profiles *profiles, const char *profile)
{
  g_autofree char *session = s3_profiles_get (profiles, profile, "sso_session");

  self->account = s3_profiles_get (profiles, profile, "sso_account_id");
  self->role = s3_profiles_get (profiles, profile, "sso_role_name");
  if (session != NULL)
    {
      self->start_url = s3_profiles_get_session (profiles, session, "sso_start_url");
      self->region = s3_profiles_get_session (profiles, session, "sso_region");
      self->name = g_steal_pointer (&session);
      return;
    }
  self->start_url = s3_profiles_get (profiles, profile, "sso_start_url");
  self->region = s3_profiles_get (profiles, profile, "sso_region");
  self->name = g_strdup (self->start_url);
}

/* (transfer full) (nullable): of the login that "aws sso login" left. */
static char *
get_login (const Sso *self, const char *profile, GError **error)
{
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA1, self->name, -1);
  g_autofree char *file = g_strconcat (hash, ".json", NULL);
  g_autofree char *folder = s3_profile_make_path ("sso");
  g_autofree char *path = g_build_filename (folder, "cache", file, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GVariant) object = NULL;
  const char *expires = NULL;
  char *token = NULL;
  gsize size;

  if (g_file_get_contents (path, &text, &size, NULL))
    object = dlp_json_parse (text, size, NULL);
  if (object != NULL && g_variant_is_of_type (object, G_VARIANT_TYPE_VARDICT) &&
      g_variant_lookup (object, "expiresAt", "&s", &expires) &&
      s3_parse_time (expires) > g_get_real_time () / G_USEC_PER_SEC)
    g_variant_lookup (object, "accessToken", "s", &token);
  if (token != NULL && strpbrk (token, "\r\n") == NULL)
    return token;
  g_free (token);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "profile \"%s\": there is no login by SSO that still holds; run: aws sso login "
               "--profile %s",
               profile, profile);
  return NULL;
}

static gboolean
parse_role_credentials (GBytes *body, S3Credentials *found, GError **error)
{
  g_autoptr (GVariant) object =
      dlp_json_parse (g_bytes_get_data (body, NULL), g_bytes_get_size (body), NULL);
  g_autoptr (GVariant) inner = NULL;

  s3_credentials_clear (found);
  if (object != NULL && g_variant_is_of_type (object, G_VARIANT_TYPE_VARDICT))
    inner = g_variant_lookup_value (object, "roleCredentials", G_VARIANT_TYPE_VARDICT);
  if (inner != NULL)
    {
      gint64 milliseconds = 0;

      g_variant_lookup (inner, "accessKeyId", "s", &found->access_key);
      g_variant_lookup (inner, "secretAccessKey", "s", &found->secret_key);
      g_variant_lookup (inner, "sessionToken", "s", &found->token);
      g_variant_lookup (inner, "expiration", "x", &milliseconds);
      found->expires = milliseconds / 1000;
    }
  if (found->access_key != NULL && found->secret_key != NULL)
    return TRUE;
  g_set_error (
      error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
      "SSO gives no credentials: roleCredentials with accessKeyId and secretAccessKey were "
      "expected");
  return FALSE;
}

S3Found
s3_find_by_sso (const S3Chain *self, const char *profile, S3Credentials *found, GError **error)
{
  g_auto (Sso) sso = { NULL };
  g_autofree char *token = NULL;
  g_autofree char *base = NULL;
  g_autofree char *query = NULL;
  g_autofree char *uri = NULL;
  g_auto (HttpDocument) document = { 0 };
  S3Ask ask = { .name = "SSO, which gives credentials for S3",
                .ending = "}",
                .timeout = TIMEOUT,
                .budget = BUDGET };

  load_sso (&sso, &self->setup->profiles, profile);
  if (sso.name == NULL)
    return S3_ABSENT;
  if (sso.start_url == NULL || sso.region == NULL || sso.account == NULL || sso.role == NULL)
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "profile \"%s\": SSO needs sso_start_url, sso_region, sso_account_id and "
                   "sso_role_name",
                   profile);
      return S3_FAILED;
    }
  token = get_login (&sso, profile, error);
  if (token == NULL)
    return S3_FAILED;
  base = s3_setup_get_service_uri (self->setup, "SSO", "portal.sso", sso.region);
  query = s3_make_query (
      (const char *const[]){ "account_id", sso.account, "role_name", sso.role, NULL });
  uri = g_strconcat (base, g_str_has_suffix (base, "/") ? "" : "/", "federation/credentials?",
                     query, NULL);
  ask.uri = uri;
  ask.headers = (const char *const[]){ "x-amz-sso_bearer_token", token, NULL };
  return s3_ask (&ask, &document, self->cancellable, error) &&
                 parse_role_credentials (document.body, found, error) ?
             S3_FOUND :
             S3_FAILED;
}
