/* SPDX-License-Identifier: MIT */
#include "dlp-bpe.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* The input is a rank file, behind the 256 single bytes that each needs if its first byte is not a
 * newline; what loads must be able to encode. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static GString *bytes;
  g_autoptr (GString) file = g_string_new (NULL);
  g_autoptr (DlpVocabulary) vocabulary = NULL;
  DlpBpeScratch scratch = { NULL };

  if (bytes == NULL)
    {
      bytes = g_string_new (NULL);
      for (guint i = 0; i < 256; i++)
        {
          guchar byte = i;
          g_autofree char *base64 = g_base64_encode (&byte, 1);

          g_string_append_printf (bytes, "%s %u\n", base64, i);
        }
    }

  if (size == 0 || data[0] != '\n')
    g_string_append_len (file, bytes->str, bytes->len);
  g_string_append_len (file, (const char *) data, size);

  vocabulary = dlp_vocabulary_parse (file->str, file->len, "input", NULL);
  if (vocabulary)
    {
      g_autofree guint32 *ids = g_new (guint32, file->len);
      gsize n = dlp_bpe_encode (vocabulary, &scratch, (const guint8 *) file->str, file->len, ids);
      gsize len = 0;

      for (gsize i = 0; i < n; i++)
        len += vocabulary->lengths[ids[i]];
      g_assert_cmpuint (len, ==, file->len);
    }
  dlp_bpe_scratch_clear (&scratch);
  return 0;
}
