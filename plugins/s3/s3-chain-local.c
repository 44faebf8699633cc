/* SPDX-License-Identifier: MIT */

/* Credentials that lie on this machine. */

#include "s3-chain.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-json.h>

static S3Found
take_pair (const char *where,
           char *access_key,
           char *secret_key,
           char *token,
           S3Credentials *found,
           GError **error)
{
  s3_credentials_clear (found);
  found->access_key = access_key;
  found->secret_key = secret_key;
  found->token = token;
  if (access_key != NULL && secret_key != NULL)
    return S3_FOUND;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "%s: there is %s without %s", where,
               access_key != NULL ? "an access key" : "a secret key",
               access_key != NULL ? "its secret key" : "its access key");
  return S3_FAILED;
}

S3Found
s3_find_in_environment (const S3Chain *self, S3Credentials *found, GError **error)
{
  const char *access_key = s3_getenv ("AWS_ACCESS_KEY_ID");
  const char *secret_key = s3_getenv ("AWS_SECRET_ACCESS_KEY");

  if (access_key == NULL && secret_key == NULL)
    return S3_ABSENT;
  return take_pair ("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", g_strdup (access_key),
                    g_strdup (secret_key), g_strdup (s3_getenv ("AWS_SESSION_TOKEN")), found,
                    error);
}

S3Found
s3_find_keys (const S3Chain *self, const char *profile, S3Credentials *found, GError **error)
{
  const S3Profiles *profiles = &self->setup->profiles;
  char *access_key = s3_profiles_get (profiles, profile, "aws_access_key_id");
  char *secret_key = s3_profiles_get (profiles, profile, "aws_secret_access_key");
  g_autofree char *where = g_strdup_printf ("profile \"%s\"", profile);

  if (access_key == NULL && secret_key == NULL)
    return S3_ABSENT;
  return take_pair (where, access_key, secret_key,
                    s3_profiles_get (profiles, profile, "aws_session_token"), found, error);
}

/* ---- a program that prints them ---- */

gint64
s3_parse_time (const char *text)
{
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) date = g_date_time_new_from_iso8601 (text, utc);

  return date != NULL ? g_date_time_to_unix (date) : 0;
}

/* (transfer full) (nullable) */
static char *
get_text (GVariant *object, const char *name)
{
  char *text = NULL;

  g_variant_lookup (object, name, "s", &text);
  if (text != NULL && *text == '\0')
    g_clear_pointer (&text, g_free);
  return text;
}

gboolean
s3_parse_credentials (GBytes *text,
                      const char *const names[4],
                      const char *what,
                      S3Credentials *found,
                      GError **error)
{
  const char *data = g_bytes_get_data (text, NULL);
  g_autoptr (GVariant) object =
      dlp_json_parse (data != NULL ? data : "", g_bytes_get_size (text), NULL);
  g_autofree char *expires = NULL;

  s3_credentials_clear (found);
  if (object != NULL && g_variant_is_of_type (object, G_VARIANT_TYPE_VARDICT))
    {
      found->access_key = get_text (object, names[0]);
      found->secret_key = get_text (object, names[1]);
      found->token = get_text (object, names[2]);
      expires = get_text (object, names[3]);
      found->expires = expires != NULL ? s3_parse_time (expires) : 0;
    }
  if (found->access_key != NULL && found->secret_key != NULL)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "%s gives no credentials: a JSON object with %s and %s was expected", what, names[0],
               names[1]);
  return FALSE;
}

/* What it says is never shown: it may have secrets in it. */
static gboolean
run (const S3Chain *self, const char *profile, const char *command, GBytes **out, GError **error)
{
  g_auto (GStrv) arguments = NULL;
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) cause = NULL;

  if (g_shell_parse_argv (command, NULL, &arguments, &cause))
    process = g_subprocess_newv ((const char *const *) arguments,
                                 G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                                 &cause);
  if (process != NULL &&
      !g_subprocess_communicate (process, NULL, self->cancellable, out, NULL, &cause))
    g_subprocess_force_exit (process);
  if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return FALSE;
  if (cause == NULL && g_subprocess_get_successful (process))
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "profile \"%s\": credential_process %s", profile,
               cause != NULL ? cause->message : "ends with an error");
  return FALSE;
}

S3Found
s3_find_by_process (const S3Chain *self, const char *profile, S3Credentials *found, GError **error)
{
  static const char *const names[4] = { "AccessKeyId", "SecretAccessKey", "SessionToken",
                                        "Expiration" };
  g_autofree char *command =
      s3_profiles_get (&self->setup->profiles, profile, "credential_process");
  g_autofree char *what = g_strdup_printf ("credential_process of profile \"%s\"", profile);
  g_autoptr (GBytes) out = NULL;

  if (command == NULL)
    return S3_ABSENT;
  return run (self, profile, command, &out, error) &&
                 s3_parse_credentials (out, names, what, found, error) ?
             S3_FOUND :
             S3_FAILED;
}
