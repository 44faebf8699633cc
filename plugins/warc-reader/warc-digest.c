/* SPDX-License-Identifier: MIT */

#include "warc-digest.h"

#include <string.h>

/* SHA-512 */
#define MAX_BYTES 64

static const struct
{
  const char *name; /* without hyphens */
  GChecksumType type;
} algorithms[] = {
  { "md5", G_CHECKSUM_MD5 },       { "sha1", G_CHECKSUM_SHA1 },     { "sha256", G_CHECKSUM_SHA256 },
  { "sha384", G_CHECKSUM_SHA384 }, { "sha512", G_CHECKSUM_SHA512 },
};

static gboolean
find_algorithm (const char *name, gsize size, GChecksumType *type)
{
  g_autofree char *given = g_ascii_strdown (name, (gssize) size);
  g_auto (GStrv) parts = g_strsplit (given, "-", -1);
  g_autofree char *plain = g_strjoinv ("", parts);

  for (guint i = 0; i < G_N_ELEMENTS (algorithms); i++)
    if (strcmp (plain, algorithms[i].name) == 0)
      {
        *type = algorithms[i].type;
        return TRUE;
      }
  return FALSE;
}

static int
get_base32_value (char c)
{
  c = g_ascii_toupper (c);
  return c >= 'A' && c <= 'Z' ? c - 'A' : c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

/* RFC 4648, with or without "=" at its end. */
static gboolean
read_base32 (const char *text, gsize size, guint8 *bytes, gsize n)
{
  guint64 bits = 0;
  guint n_bits = 0;
  gsize done = 0;

  while (size > 0 && text[size - 1] == '=')
    size--;
  if (size != (n * 8 + 4) / 5)
    return FALSE;
  for (gsize i = 0; i < size; i++)
    {
      int value = get_base32_value (text[i]);

      if (value < 0)
        return FALSE;
      bits = (bits << 5 | (guint) value) & 0xffff;
      n_bits += 5;
      if (n_bits >= 8 && done < n)
        {
          n_bits -= 8;
          bytes[done++] = (guint8) (bits >> n_bits);
        }
    }
  return done == n;
}

static gboolean
read_hexadecimal (const char *text, gsize size, guint8 *bytes, gsize n)
{
  if (size != 2 * n)
    return FALSE;
  for (gsize i = 0; i < size; i++)
    if (!g_ascii_isxdigit (text[i]))
      return FALSE;
  for (gsize i = 0; i < n; i++)
    bytes[i] =
        (guint8) (g_ascii_xdigit_value (text[2 * i]) << 4 | g_ascii_xdigit_value (text[2 * i + 1]));
  return TRUE;
}

WarcDigest
warc_digest_check (const char *digest, gsize digest_size, const guint8 *data, gsize size)
{
  const char *colon = memchr (digest, ':', digest_size);
  gsize n = colon != NULL ? (gsize) (colon - digest) : 0;
  guint8 expected[MAX_BYTES], found[MAX_BYTES];
  g_autoptr (GChecksum) checksum = NULL;
  GChecksumType type;
  gsize length, found_length = sizeof found;

  if (colon == NULL || !find_algorithm (digest, n, &type))
    return WARC_DIGEST_UNKNOWN;
  length = (gsize) g_checksum_type_get_length (type);
  colon++;
  n = digest_size - n - 1;
  if (!read_base32 (colon, n, expected, length) && !read_hexadecimal (colon, n, expected, length))
    return WARC_DIGEST_UNKNOWN;

  checksum = g_checksum_new (type);
  g_checksum_update (checksum, data, (gssize) size);
  g_checksum_get_digest (checksum, found, &found_length);
  return memcmp (found, expected, length) == 0 ? WARC_DIGEST_RIGHT : WARC_DIGEST_WRONG;
}
