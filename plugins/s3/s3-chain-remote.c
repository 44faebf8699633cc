/* SPDX-License-Identifier: MIT */

/* Credentials that the machine's surroundings give: those of its container, or of itself. */

#include "s3-chain.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

static const char *const json_names[4] = { "AccessKeyId", "SecretAccessKey", "Token",
                                           "Expiration" };

/* ---- containers ---- */

#define CONTAINER_HOST "http://169.254.170.2"
#define CONTAINER_TIMEOUT 5

/* A token goes by plain http only to where no network is: this machine, and the addresses that AWS
 * has for it. */
static gboolean
is_near (GUri *uri)
{
  const char *host = g_uri_get_host (uri);
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (host);

  return strcmp (host, "localhost") == 0 || strcmp (host, "169.254.170.2") == 0 ||
         strcmp (host, "169.254.170.23") == 0 || g_ascii_strcasecmp (host, "fd00:ec2::23") == 0 ||
         (address != NULL && g_inet_address_get_is_loopback (address));
}

static gboolean
check_container_uri (const char *text, GError **error)
{
  g_autoptr (GUri) uri = http_parse_uri (text, NULL);
  g_autofree char *shown = NULL;

  if (uri != NULL && (strcmp (g_uri_get_scheme (uri), "https") == 0 ||
                      (strcmp (g_uri_get_scheme (uri), "http") == 0 && is_near (uri))))
    return TRUE;
  shown = dlp_uri_escape_for_display (text);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "AWS_CONTAINER_CREDENTIALS_FULL_URI=%s: expected https, or http to this machine",
               shown);
  return FALSE;
}

/* It is written anew from time to time. */
static gboolean
get_container_token (char **token, GError **error)
{
  const char *path = s3_getenv ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  g_autoptr (GError) cause = NULL;

  if (path == NULL)
    *token = g_strdup (s3_getenv ("AWS_CONTAINER_AUTHORIZATION_TOKEN"));
  else if (g_file_get_contents (path, token, NULL, &cause))
    g_strstrip (*token);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: %s", cause->message);
  if (cause != NULL)
    return FALSE;
  if (*token == NULL || strpbrk (*token, "\r\n") == NULL)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "the token of the container's endpoint is not one line");
  return FALSE;
}

S3Found
s3_find_in_container (const S3Chain *self, S3Credentials *found, GError **error)
{
  const char *path = s3_getenv ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const char *full = s3_getenv ("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  g_autofree char *uri = path != NULL ? g_strconcat (CONTAINER_HOST, path, NULL) : g_strdup (full);
  g_autofree char *token = NULL;
  const char *headers[] = { "Authorization", NULL, NULL };
  g_auto (HttpDocument) document = { 0 };
  S3Ask ask = { .uri = uri,
                .name = "the container's endpoint for credentials",
                .ending = "}",
                .timeout = CONTAINER_TIMEOUT,
                .budget = 3 * CONTAINER_TIMEOUT * G_USEC_PER_SEC,
                .is_direct = TRUE };

  if (uri == NULL)
    return S3_ABSENT;
  if (!check_container_uri (uri, error) || !get_container_token (&token, error))
    return S3_FAILED;
  headers[1] = token;
  ask.headers = token != NULL ? headers : NULL;
  return s3_ask (&ask, &document, self->cancellable, error) &&
                 s3_parse_credentials (document.body, json_names, ask.name, found, error) ?
             S3_FOUND :
             S3_FAILED;
}

/* ---- instances, by the second version of their service alone ---- */

#define INSTANCE_HOST "http://169.254.169.254"
#define INSTANCE_PATH "/latest/meta-data/iam/security-credentials/"
#define TOKEN_HEADER "x-aws-ec2-metadata-token"

static guint
get_seconds (const char *variable, guint usual)
{
  const char *text = s3_getenv (variable);
  guint64 value;

  return text != NULL && g_ascii_string_to_unsigned (text, 10, 1, 3600, &value, NULL) ?
             (guint) value :
             usual;
}

/* (transfer full) (nullable): the text of an answer; NULL: @status says why, 0: no answer. */
static char *
ask_instance (const S3Chain *self,
              const char *method,
              const char *path,
              const char *const *headers,
              guint *status,
              GError **error)
{
  const char *host = s3_getenv ("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  guint timeout = get_seconds ("AWS_METADATA_SERVICE_TIMEOUT", 1);
  guint attempts = get_seconds ("AWS_METADATA_SERVICE_NUM_ATTEMPTS", 1);
  gsize length = host != NULL ? strlen (host) : 0;
  g_autofree char *uri = NULL;
  g_auto (HttpDocument) document = { 0 };
  S3Ask ask = { .name = "the instance's endpoint for credentials",
                .method = method,
                .headers = headers,
                .timeout = timeout,
                .budget = (gint64) (attempts - 1) * timeout * G_USEC_PER_SEC,
                .is_direct = TRUE };

  while (length > 0 && host[length - 1] == '/')
    length--;
  uri = host != NULL ? g_strdup_printf ("%.*s%s", (int) length, host, path) :
                       g_strconcat (INSTANCE_HOST, path, NULL);
  ask.uri = uri;
  *status = 0;
  if (!s3_ask (&ask, &document, self->cancellable, error))
    {
      *status = document.status;
      return NULL;
    }
  *status = document.status;
  return g_strndup (g_bytes_get_data (document.body, NULL), g_bytes_get_size (document.body));
}

/* (transfer full) (nullable): NULL is that there is no such service. */
static char *
get_instance_token (const S3Chain *self)
{
  const char *const headers[] = { "x-aws-ec2-metadata-token-ttl-seconds", "21600", NULL };
  guint status;
  char *token = ask_instance (self, "PUT", "/latest/api/token", headers, &status, NULL);

  if (token != NULL && strpbrk (g_strstrip (token), "\r\n") != NULL)
    g_clear_pointer (&token, g_free);
  return token;
}

S3Found
s3_find_in_instance (const S3Chain *self, S3Credentials *found, GError **error)
{
  const char *disabled = s3_getenv ("AWS_EC2_METADATA_DISABLED");
  g_autofree char *token = NULL;
  g_autofree char *roles = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const char *headers[] = { TOKEN_HEADER, NULL, NULL };
  guint status;

  if (disabled != NULL && g_ascii_strcasecmp (disabled, "true") == 0)
    return S3_ABSENT;
  token = get_instance_token (self);
  if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return S3_FAILED;
  if (token == NULL)
    return S3_ABSENT;
  headers[1] = token;
  roles = ask_instance (self, NULL, INSTANCE_PATH, headers, &status, error);
  if (roles == NULL && status == 404)
    {
      g_clear_error (error);
      return S3_ABSENT;
    }
  if (roles == NULL)
    return S3_FAILED;

  roles[strcspn (roles, "\r\n")] = '\0';
  path = g_strconcat (INSTANCE_PATH, roles, NULL);
  text = ask_instance (self, NULL, path, headers, &status, error);
  if (text == NULL)
    return S3_FAILED;
  bytes = g_bytes_new (text, strlen (text));
  return s3_parse_credentials (bytes, json_names, "the instance's endpoint", found, error) ?
             S3_FOUND :
             S3_FAILED;
}
