/* SPDX-License-Identifier: MIT */

#include "s3-sign.h"

#include <string.h>

#include "dlp-http-header.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define HASH_SIZE 32

char *
s3_format_time (gint64 time)
{
  g_autoptr (GDateTime) date = g_date_time_new_from_unix_utc (time);

  return g_date_time_format (date, "%Y%m%dT%H%M%SZ");
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
s3_make_query (const char *const *pairs)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);

  /* No name of ours begins with another one, so that '=' has no part in the order. */
  for (guint i = 0; pairs[i] != NULL; i += 2)
    {
      g_autofree char *name = http_encode (pairs[i], FALSE);
      g_autofree char *value = http_encode (pairs[i + 1], FALSE);

      g_ptr_array_add (parts, g_strconcat (name, "=", value, NULL));
    }
  g_ptr_array_sort (parts, compare_texts);
  g_ptr_array_add (parts, NULL);
  return g_strjoinv ("&", (char **) parts->pdata);
}

static void
compute_hmac (const guint8 *key, gsize key_size, const char *text, guint8 out[HASH_SIZE])
{
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, key, key_size);
  gsize size = HASH_SIZE;

  g_hmac_update (hmac, (const guchar *) text, (gssize) strlen (text));
  g_hmac_get_digest (hmac, out, &size);
  g_hmac_unref (hmac);
}

/* (transfer full) */
static char *
join_header_names (const char *const *headers)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; headers[i] != NULL; i += 2)
    g_string_append_printf (names, "%s%s", i > 0 ? ";" : "", headers[i]);
  return g_string_free (names, FALSE);
}

/* (transfer full): the SHA-256 of what the specification calls the canonical request. */
static char *
hash_request (const S3Request *self, const char *names)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n%s\n%s\n", self->method, self->path, self->query);
  for (guint i = 0; self->headers[i] != NULL; i += 2)
    {
      g_autofree char *value = g_strstrip (g_strdup (self->headers[i + 1]));

      g_string_append_printf (text, "%s:%s\n", self->headers[i], value);
    }
  g_string_append_printf (text, "\n%s\n%s", names, self->payload_hash);
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, text->str, (gssize) text->len);
}

static void
derive_key (const S3Request *self, const char *secret_key, const char *day, guint8 key[HASH_SIZE])
{
  g_autofree char *start = g_strconcat ("AWS4", secret_key, NULL);

  compute_hmac ((const guint8 *) start, strlen (start), day, key);
  compute_hmac (key, HASH_SIZE, self->region, key);
  compute_hmac (key, HASH_SIZE, self->service, key);
  compute_hmac (key, HASH_SIZE, "aws4_request", key);
}

char *
s3_sign (const S3Request *self, const char *access_key, const char *secret_key)
{
  g_autofree char *time = s3_format_time (self->time);
  g_autofree char *day = g_strndup (time, 8);
  g_autofree char *scope =
      g_strconcat (day, "/", self->region, "/", self->service, "/aws4_request", NULL);
  g_autofree char *names = join_header_names (self->headers);
  g_autofree char *hash = hash_request (self, names);
  g_autofree char *text = g_strconcat (ALGORITHM "\n", time, "\n", scope, "\n", hash, NULL);
  guint8 key[HASH_SIZE];
  char signature[2 * HASH_SIZE + 1];

  derive_key (self, secret_key, day, key);
  compute_hmac (key, HASH_SIZE, text, key);
  for (guint i = 0; i < HASH_SIZE; i++)
    g_snprintf (signature + 2 * i, 3, "%02x", key[i]);
  return g_strdup_printf (ALGORITHM " Credential=%s/%s, SignedHeaders=%s, Signature=%s", access_key,
                          scope, names, signature);
}
