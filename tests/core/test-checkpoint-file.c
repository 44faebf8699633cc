/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <xxhash.h>

#include "dlp-state-dir-private.h"

#define HEADER_SIZE 24

static GVariant *
make_payload (void)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "run", "s", "b5c1");
  g_variant_dict_insert (&dict, "attempt", "u", 3u);
  g_variant_dict_insert (&dict, "tiny", "d", 4.9e-324);
  g_variant_dict_insert (&dict, "elements", "@a(sv)",
                         g_variant_new_parsed ("[('reader', <(@t 7, 'x')>), ('sink', <@ay []>)]"));
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

static void
assert_refused (const guint8 *data, gsize size, int code, const char *what)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) payload = dlp_checkpoint_decode (bytes, &error);

  g_assert_null (payload);
  g_assert_error (error, DLP_STATE_ERROR, code);
  if (what != NULL && strstr (error->message, what) == NULL)
    g_error ("“%s” does not say “%s”", error->message, what);
}

static void
fix_checksum (guint8 *data, gsize size)
{
  XXH128_canonical_t checksum;

  XXH128_canonicalFromHash (&checksum, XXH3_128bits (data, size - 16));
  memcpy (data + size - 16, &checksum, 16);
}

static void
test_round_trip (void)
{
  g_autoptr (GVariant) payload = make_payload ();
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (payload);
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) decoded = dlp_checkpoint_decode (bytes, &error);

  g_assert_no_error (error);
  g_assert_true (g_variant_equal (payload, decoded));
  again = dlp_checkpoint_encode (decoded);
  g_assert_true (g_bytes_equal (bytes, again));
}

/* Fixed bytes: a later version must go on reading them. */
static void
test_layout (void)
{
  static const guint8 expected[] = {
    'D',  'L',  'P',  'S',  'T',  'A',  'T',  'E',  1,    0,    0,    0,    0,    0,
    0,    0,    16,   0,    0,    0,    0,    0,    0,    0,    'a',  0,    0,    0,
    0,    0,    0,    0,    2,    1,    0,    0,    0,    'u',  2,    15,   0x1f, 0xe7,
    0x8f, 0xef, 0x92, 0xba, 0x5f, 0x91, 0xbb, 0xd9, 0xf8, 0xca, 0x44, 0x96, 0x89, 0x29,
  };
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (g_variant_new_parsed ("{'a': <@u 258>}"));
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  g_assert_cmpmem (data, size, expected, sizeof expected);
}

static void
test_empty_payload (void)
{
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (g_variant_new_parsed ("@a{sv} {}"));
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) decoded = dlp_checkpoint_decode (bytes, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (g_variant_n_children (decoded), ==, 0);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 40);
}

static void
test_truncated (void)
{
  g_autoptr (GVariant) payload = make_payload ();
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (payload);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  for (gsize n = 0; n < size; n++)
    assert_refused (data, n, DLP_STATE_ERROR_CORRUPT, n == 0 ? "empty" : "cut off");
}

static void
test_flipped (void)
{
  g_autoptr (GVariant) payload = make_payload ();
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (payload);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  for (gsize i = 0; i < size; i++)
    for (guint value = 1; value < 256; value++)
      {
        g_autofree guint8 *copy = g_memdup2 (data, size);
        const char *what = i < 8             ? "does not begin" :
                           i < 16 || i >= 24 ? "checksum" :
                                               "header says";

        copy[i] ^= (guint8) value;
        assert_refused (copy, size, DLP_STATE_ERROR_CORRUPT, what);
      }
}

static void
test_garbage_behind (void)
{
  g_autoptr (GVariant) payload = make_payload ();
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (payload);
  gsize size = g_bytes_get_size (bytes);
  g_autofree guint8 *copy = g_malloc0 (size * 2);

  memcpy (copy, g_bytes_get_data (bytes, NULL), size);
  for (gsize n = 1; n <= size; n++)
    assert_refused (copy, size + n, DLP_STATE_ERROR_CORRUPT, "something follows its end");
}

static void
test_versions (void)
{
  g_autoptr (GVariant) payload = make_payload ();
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (payload);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autofree guint8 *copy = g_memdup2 (data, size);

  copy[8] = 2;
  fix_checksum (copy, size);
  assert_refused (copy, size, DLP_STATE_ERROR_VERSION,
                  "written by a newer dlpipe, format 2, this one reads 1");
  /* Its layout is its own business. */
  copy[16] ^= 1;
  fix_checksum (copy, size);
  assert_refused (copy, size, DLP_STATE_ERROR_VERSION, "format 2");
  copy[16] ^= 1;
  copy[8] = 0;
  fix_checksum (copy, size);
  assert_refused (copy, size, DLP_STATE_ERROR_VERSION, "an older dlpipe, format 0");
  copy[8] = 1;
  copy[13] = 1;
  fix_checksum (copy, size);
  assert_refused (copy, size, DLP_STATE_ERROR_VERSION, "flags 0x100");
}

static void
test_foreign (void)
{
  static const char json[] = "{\"version\":1,\"seq\":4";

  assert_refused ((const guint8 *) json, strlen (json), DLP_STATE_ERROR_CORRUPT,
                  "not a checkpoint");
}

/* Any payload, with a checksum that is right. */
static GBytes *
wrap (gconstpointer payload, gsize payload_size)
{
  gsize size = HEADER_SIZE + payload_size + 16;
  guint8 *data = g_malloc0 (size);
  guint64 size_le = GUINT64_TO_LE (payload_size);

  memcpy (data, "DLPSTATE\1", 9);
  memcpy (data + 16, &size_le, 8);
  if (payload_size > 0)
    memcpy (data + HEADER_SIZE, payload, payload_size);
  fix_checksum (data, size);
  return g_bytes_new_take (data, size);
}

static void
assert_malformed (gconstpointer payload, gsize size)
{
  g_autoptr (GBytes) bytes = wrap (payload, size);

  assert_refused (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), DLP_STATE_ERROR_CORRUPT,
                  "malformed");
}

static void
test_hostile_payloads (void)
{
  g_autoptr (GVariant) payload = make_payload ();
  gsize size = g_variant_get_size (payload);
  g_autofree guint8 *copy = g_malloc (size);
  guint accepted = 0;

  g_variant_store (payload, copy);
  for (gsize n = 1; n < size; n++)
    assert_malformed (copy, n);

  /* With the checksum made right, a changed byte is refused, or is the one way to write another
   * payload. */
  for (gsize i = 0; i < size; i++)
    for (guint value = 1; value < 256; value++)
      {
        g_autoptr (GBytes) bytes = NULL;
        g_autoptr (GVariant) decoded = NULL;

        copy[i] ^= (guint8) value;
        bytes = wrap (copy, size);
        decoded = dlp_checkpoint_decode (bytes, NULL);
        copy[i] ^= (guint8) value;
        if (decoded != NULL)
          {
            g_autoptr (GBytes) again = dlp_checkpoint_encode (decoded);

            g_assert_true (g_bytes_equal (bytes, again));
            accepted++;
          }
      }
  g_assert_cmpuint (accepted, >, 0);
  g_assert_cmpuint (accepted, <, size * 255 / 2);
}

/* 5,000 variants in each other, serialised by hand: GVariant would not read what it built. */
static void
test_deep (void)
{
  g_autoptr (GString) data = g_string_new ("a");
  gsize end;

  g_string_append_len (data, "\0\0\0\0\0\0\0\1", 8);
  for (guint i = 0; i < 5000; i++)
    g_string_append_len (data, "\0v", 2);
  g_string_append_len (data, "\0b\1", 3);
  end = data->len - 1;
  g_string_append_c (data, (char) (end & 0xff));
  g_string_append_c (data, (char) (end >> 8));
  assert_malformed (data->str, data->len);
}

static void
test_duplicate_key (void)
{
  g_autoptr (GVariant) payload = g_variant_ref_sink (g_variant_new_parsed ("{'a': <1>, 'b': <2>}"));
  gsize size = g_variant_get_size (payload);
  g_autofree char *data = g_malloc (size);
  char *second;

  g_variant_store (payload, data);
  second = memchr (data, 'b', size);
  *second = 'a';
  assert_malformed (data, size);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/checkpoint-file/round-trip", test_round_trip);
  g_test_add_func ("/checkpoint-file/layout", test_layout);
  g_test_add_func ("/checkpoint-file/empty-payload", test_empty_payload);
  g_test_add_func ("/checkpoint-file/truncated", test_truncated);
  g_test_add_func ("/checkpoint-file/flipped", test_flipped);
  g_test_add_func ("/checkpoint-file/garbage-behind", test_garbage_behind);
  g_test_add_func ("/checkpoint-file/versions", test_versions);
  g_test_add_func ("/checkpoint-file/foreign", test_foreign);
  g_test_add_func ("/checkpoint-file/hostile-payloads", test_hostile_payloads);
  g_test_add_func ("/checkpoint-file/deep", test_deep);
  g_test_add_func ("/checkpoint-file/duplicate-key", test_duplicate_key);
  return g_test_run ();
}
