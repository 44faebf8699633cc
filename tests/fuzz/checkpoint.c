/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <xxhash.h>

#include "dlp-input-list-private.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* The input is decoded three times: as it is; with its checksum made right; and as the payload of a
 * file that is right otherwise. What is accepted must be the only encoding of what it holds, and be
 * safe to walk. Then it is an entry of the list of inputs. */

static void
walk (GVariant *payload)
{
  GVariantIter iter;
  const char *key;
  GVariant *value;

  g_variant_iter_init (&iter, payload);
  while (g_variant_iter_next (&iter, "{&sv}", &key, &value))
    {
      g_autofree char *text = g_variant_print (value, TRUE);

      g_assert_true (g_utf8_validate (key, -1, NULL));
      g_variant_unref (value);
    }
}

static void
decode (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) payload = dlp_checkpoint_decode (bytes, &error);
  g_autoptr (GBytes) again = NULL;

  if (payload == NULL)
    {
      g_assert_true (error != NULL && error->domain == DLP_STATE_ERROR);
      return;
    }

  g_assert_null (error);
  walk (payload);
  again = dlp_checkpoint_encode (payload);
  g_assert_true (g_bytes_equal (bytes, again));
}

/* @data: @size bytes, of which the last 16 are for the checksum. */
static void
decode_with_checksum (guint8 *data, gsize size)
{
  XXH128_canonical_t checksum;

  XXH128_canonicalFromHash (&checksum, XXH3_128bits (data, size - sizeof checksum));
  memcpy (data + size - sizeof checksum, &checksum, sizeof checksum);
  decode (data, size);
}

static void
parse_entry (const guint8 *data, gsize size)
{
  g_autoptr (DlpInputEntry) entry = NULL;
  g_autoptr (GString) line = g_string_new (NULL);
  g_autoptr (DlpInputEntry) again = NULL;

  if (memchr (data, '\n', size) != NULL)
    return;
  entry = dlp_input_entry_parse ((const char *) data, size);
  if (entry == NULL)
    return;

  dlp_input_entry_append (entry, line);
  again = dlp_input_entry_parse (line->str, line->len - 1);
  g_assert_nonnull (again);
  g_assert_true (again->stage == entry->stage && again->source == entry->source &&
                 again->file == entry->file && again->size == entry->size);
  g_assert_cmpstr (again->identity, ==, entry->identity);
  g_assert_cmpstr (again->uri, ==, entry->uri);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree guint8 *copy = g_malloc0 (24 + size + 16);
  guint64 size_le = GUINT64_TO_LE ((guint64) size);

  decode (data, size);
  if (size > 0)
    {
      memcpy (copy, data, size);
      if (size >= 16)
        decode_with_checksum (copy, size);
      parse_entry (data, size);
    }

  memset (copy, 0, 24);
  memcpy (copy, "DLPSTATE\1", 9);
  memcpy (copy + 16, &size_le, 8);
  if (size > 0)
    memcpy (copy + 24, data, size);
  decode_with_checksum (copy, 24 + size + 16);

  return 0;
}
