/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* The input is a text, behind a byte that chooses what is done to it; or, if that is 0xff, a
 * charsmap of four times the length that the next byte gives and then a text. What comes out must
 * be UTF-8, and of a form that is its own normalization. */

static const char *const descriptions[] = {
  "{\"type\": \"NFC\"}",
  "{\"type\": \"NFD\"}",
  "{\"type\": \"NFKC\"}",
  "{\"type\": \"NFKD\"}",
  "{\"type\": \"StripAccents\"}",
  "{\"type\": \"Nmt\"}",
  "{\"type\": \"Lowercase\"}",
  "{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}",
  "{\"type\": \"ByteLevel\"}",
  "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"\\u2581\"}",
  "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"a*\"}, \"content\": \"-\"}",
  "{\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": true, "
  "\"lowercase\": true}",
  "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", \"prepend\": \"_\"}, "
  "{\"type\": \"NFKC\"}, {\"type\": \"Lowercase\"}]}",
};

#define N_STABLE 8 /* of these the first are stable */

static DlpNormalizer *normalizers[G_N_ELEMENTS (descriptions)];

static void
init (void)
{
  for (guint i = 0; normalizers[i] == NULL; i = (i + 1) % G_N_ELEMENTS (descriptions))
    {
      g_autoptr (DlpJsonTree) tree =
          dlp_json_tree_new (descriptions[i], strlen (descriptions[i]), "input", NULL);

      normalizers[i] = dlp_normalizer_new (dlp_json_tree_get_root (tree), NULL);
      g_assert_nonnull (normalizers[i]);
    }
}

static void
check (const DlpNormalizer *normalizer, const guint8 *data, gsize size, gboolean again)
{
  g_autofree char *text = g_utf8_make_valid ((const char *) data, size);
  DlpNormalizerScratch scratch = { 0 };
  const guint8 *result = (const guint8 *) text;
  gsize len = strlen (text);

  g_assert_true (dlp_normalizer_run (normalizer, &scratch, &result, &len));
  g_assert_true (len == 0 || g_utf8_validate_len ((const char *) result, len, NULL));
  if (again && len > 0)
    {
      g_autofree guint8 *copy = g_memdup2 (result, len);
      const guint8 *twice = copy;
      gsize twice_len = len;

      g_assert_true (dlp_normalizer_run (normalizer, &scratch, &twice, &twice_len));
      g_assert_cmpmem (twice, twice_len, copy, len);
    }
  dlp_normalizer_scratch_clear (&scratch);
}

static void
check_charsmap (const guint8 *data, gsize size)
{
  static const char *const symbols[] = { "ab", "a b", NULL };
  gsize charsmap_size = size > 0 ? MIN (data[0] * 4u, size - 1) : 0;

  for (guint flags = 0; flags < 16; flags++)
    {
      g_autoptr (DlpNormalizer) normalizer = dlp_normalizer_new_sentencepiece (
          data + 1, charsmap_size, flags & 1 ? symbols : NULL, flags, "input", NULL);
      if (normalizer == NULL)
        return;
      check (normalizer, data + 1 + charsmap_size, size - MIN (size, 1 + charsmap_size), FALSE);
    }
}

static void
check_precompiled (const guint8 *data, gsize size)
{
  gsize charsmap_size = size > 0 ? MIN (data[0] * 4u, size - 1) : 0;
  g_autofree char *base64 = g_base64_encode (data + 1, charsmap_size);
  g_autofree char *json =
      g_strdup_printf ("{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"%s\"}", base64);
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (json, strlen (json), "input", NULL);
  g_autoptr (DlpNormalizer) normalizer = dlp_normalizer_new (dlp_json_tree_get_root (tree), NULL);

  if (normalizer)
    check (normalizer, data + 1 + charsmap_size, size - MIN (size, 1 + charsmap_size), FALSE);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  guint kind;

  if (size == 0)
    return 0;
  init ();
  if (data[0] == 0xff)
    {
      check_charsmap (data + 1, size - 1);
      check_precompiled (data + 1, size - 1);
      return 0;
    }
  kind = data[0] % G_N_ELEMENTS (descriptions);
  check (normalizers[kind], data + 1, size - 1, kind < N_STABLE);
  return 0;
}
