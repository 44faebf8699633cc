/* SPDX-License-Identifier: MIT */
#include "dlp-sentencepiece.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* The input is a SentencePiece model, and the text that it encodes if it loads. */

static void
encode (const DlpModel *model, const guint8 *p, gsize len)
{
  g_autofree guint32 *ids = g_new (guint32, len);
  g_autofree guint32 *cut_ids = g_new (guint32, len);
  DlpModelScratch scratch = { { NULL } };
  gsize n = model->klass->encode (model, &scratch, p, len, ids), m = 0;

  g_assert_cmpuint (n, <=, len);
  g_assert_cmpuint (n, >, 0);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpuint (ids[i], <, model->n_ids);
  for (gsize start = 0, end; start < len; start = end)
    {
      end = dlp_model_find_cut (model, p, len, start + 1);
      m += model->klass->encode (model, &scratch, p + start, end - start, cut_ids + m);
    }
  g_assert_cmpuint (m, ==, n);
  g_assert_cmpint (memcmp (ids, cut_ids, n * sizeof *ids), ==, 0);
  dlp_model_scratch_clear (&scratch);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpSentencePiece) file = dlp_sentencepiece_parse (data, size, "input", &error);
  g_autoptr (DlpModel) model = NULL;
  g_autofree char *text = NULL;

  g_assert_true ((file == NULL) == (error != NULL));
  if (file == NULL)
    return 0;
  model = dlp_model_new_sentencepiece (file, &error);
  g_assert_true ((model == NULL) == (error != NULL));
  if (model == NULL)
    return 0;
  text = g_utf8_make_valid ((const char *) data, size);
  if (*text != '\0')
    encode (model, (const guint8 *) text, strlen (text));
  return 0;
}
