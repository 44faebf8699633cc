/* SPDX-License-Identifier: MIT */
#include "dlp-model.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* The input is the "model" of a tokenizer.json and, behind a nul, a text. What loads must encode
 * it: into ids that there are, no more than it has bytes, and the same where it is cut. */

static gsize
encode_cut (const DlpModel *model, const guint8 *p, gsize len, guint32 *ids)
{
  DlpModelScratch scratch = { { NULL } };
  gsize n = 0;

  for (gsize start = 0, end; start < len; start = end)
    {
      end = dlp_model_find_cut (model, p, len, start + 1);
      g_assert_true (end > start && end <= len);
      n += model->klass->encode (model, &scratch, p + start, end - start, ids + n);
    }
  dlp_model_scratch_clear (&scratch);
  return n;
}

static void
encode (const DlpModel *model, const guint8 *p, gsize len)
{
  g_autofree guint32 *ids = g_new (guint32, len);
  g_autofree guint32 *cut_ids = g_new (guint32, len);
  DlpModelScratch scratch = { { NULL } };
  gsize n = model->klass->encode (model, &scratch, p, len, ids);

  g_assert_cmpuint (n, <=, len);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpuint (ids[i], <, model->n_ids);
  g_assert_cmpuint (encode_cut (model, p, len, cut_ids), ==, n);
  g_assert_cmpint (memcmp (ids, cut_ids, n * sizeof *ids), ==, 0);
  dlp_model_scratch_clear (&scratch);
}

static void
run (const guint8 *data, gsize size, const guint8 *text, gsize len, gboolean byte_level)
{
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new ((const char *) data, size, "input", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpModel) model = NULL;
  g_autofree char *valid = NULL;

  if (tree == NULL)
    return;
  model = dlp_model_new (dlp_json_tree_get_root (tree), byte_level, &error);
  g_assert_true ((model == NULL) == (error != NULL));
  if (model == NULL)
    return;

  valid = g_utf8_make_valid ((const char *) text, len);
  if (byte_level && len > 0)
    encode (model, text, len);
  else if (*valid != '\0')
    encode (model, (const guint8 *) valid, strlen (valid));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const guint8 *nul = size > 0 ? memchr (data, 0, size) : NULL;
  gsize json = nul ? (gsize) (nul - data) : size;
  const guint8 *text = nul ? nul + 1 : data;
  gsize len = nul ? size - json - 1 : size;

  run (data, json, text, len, FALSE);
  run (data, json, text, len, TRUE);
  return 0;
}
