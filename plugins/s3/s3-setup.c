/* SPDX-License-Identifier: MIT */

#include "s3-setup.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

const char *
s3_getenv (const char *name)
{
  const char *value = g_getenv (name);

  return value != NULL && *value != '\0' ? value : NULL;
}

/* (transfer full) (nullable): the first of them that says something. */
static char *
choose (const S3Setup *self, const char *option, const char *a, const char *b, const char *key)
{
  const char *value = option;

  if (value == NULL || *value == '\0')
    value = s3_getenv (a);
  if (value == NULL && b != NULL)
    value = s3_getenv (b);
  return value != NULL ? g_strdup (value) : s3_profiles_get (&self->profiles, self->profile, key);
}

/* "https://HOST[:PORT][/PATH]" */
static gboolean
check_endpoint (const char *endpoint, GError **error)
{
  g_autoptr (GUri) uri =
      endpoint != NULL ? g_uri_parse (endpoint, G_URI_FLAGS_HAS_PASSWORD, NULL) : NULL;
  g_autofree char *shown = NULL;

  if (endpoint == NULL ||
      (uri != NULL && g_uri_get_host (uri) != NULL && *g_uri_get_host (uri) != '\0' &&
       g_uri_get_query (uri) == NULL && g_uri_get_fragment (uri) == NULL &&
       g_uri_get_user (uri) == NULL &&
       (g_str_has_prefix (endpoint, "http://") || g_str_has_prefix (endpoint, "https://"))))
    return TRUE;
  shown = dlp_uri_escape_for_display (endpoint);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "the endpoint of S3 is http://HOST or https://HOST, with a port and a path where "
               "needed, not %s",
               shown);
  return FALSE;
}

/* It becomes a part of a host's name. */
static gboolean
check_region (const char *region, GError **error)
{
  g_autofree char *shown = NULL;

  if (*region != '\0' && strlen (region) < 64 &&
      strspn (region, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_") == strlen (region))
    return TRUE;
  shown = dlp_uri_escape_for_display (region);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "a region of S3 is a name such as eu-central-1, not \"%s\"", shown);
  return FALSE;
}

static gboolean
check_profile (const S3Setup *self, gboolean is_named, GError **error)
{
  g_autofree char *shown = NULL;

  if (!is_named || s3_profiles_has (&self->profiles, self->profile))
    return TRUE;
  shown = dlp_uri_escape_for_display (self->profile);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "the profile \"%s\" is neither in ~/.aws/config nor in ~/.aws/credentials "
               "(or where AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE say)",
               shown);
  return FALSE;
}

gboolean
s3_setup_load (S3Setup *self, const S3Options *options, GError **error)
{
  const char *profile = options->profile;

  self->is_profile_given = profile != NULL && *profile != '\0';
  if (!self->is_profile_given)
    profile = s3_getenv ("AWS_PROFILE");
  self->profile = g_strdup (profile != NULL ? profile : "default");
  self->path_style = options->path_style;
  self->anonymous = options->anonymous;
  self->requester_pays = options->requester_pays;
  if (!s3_profiles_load (&self->profiles, error) ||
      !check_profile (self, profile != NULL && !options->anonymous, error))
    return FALSE;

  self->region = choose (self, options->region, "AWS_REGION", "AWS_DEFAULT_REGION", "region");
  if (self->region == NULL)
    self->region = g_strdup ("us-east-1");
  self->endpoint =
      choose (self, options->endpoint, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "endpoint_url");
  return check_region (self->region, error) && check_endpoint (self->endpoint, error);
}

void
s3_setup_clear (S3Setup *self)
{
  g_clear_pointer (&self->region, g_free);
  g_clear_pointer (&self->endpoint, g_free);
  g_clear_pointer (&self->profile, g_free);
  s3_profiles_clear (&self->profiles);
}

char *
s3_setup_get_service_uri (const S3Setup *self,
                          const char *name,
                          const char *service,
                          const char *region)
{
  g_autofree char *variable = g_strconcat ("AWS_ENDPOINT_URL_", name, NULL);
  const char *given = s3_getenv (variable);

  if (given == NULL)
    given = s3_getenv ("AWS_ENDPOINT_URL");
  return given != NULL ? g_strdup (given) : s3_place_make_service_uri (service, region);
}
