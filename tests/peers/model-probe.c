/* SPDX-License-Identifier: MIT */
#include "dlp-sentencepiece.h"

#include <dlpipe/dlp-macros.h>
#include <string.h>
#include <time.h>

/* For test_models.py: a model alone, many pieces at a time. */

DLP_API DlpModel *
model_probe_open (const char *data, gsize size, int byte_level, char *message, gsize room);
DLP_API double model_probe_encode (DlpModel *model,
                                   const guint8 *text,
                                   const guint64 *starts,
                                   gsize n,
                                   int cut,
                                   guint32 *ids,
                                   guint64 *counts);
DLP_API void model_probe_close (DlpModel *model);

static DlpModel *
open_sentencepiece (const char *data, gsize size, GError **error)
{
  g_autoptr (DlpSentencePiece) file =
      dlp_sentencepiece_parse ((const guint8 *) data, size, "file", error);

  return file ? dlp_model_new_sentencepiece (file, error) : NULL;
}

/* Of the text of a tokenizer.json, or of a SentencePiece model. NULL: @message says why. */
DlpModel *
model_probe_open (const char *data, gsize size, int byte_level, char *message, gsize room)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = NULL;
  DlpModel *model = NULL;

  if (dlp_sentencepiece_is_likely ((const guint8 *) data, size))
    model = open_sentencepiece (data, size, &error);
  else
    tree = dlp_json_tree_new (data, size, "file", &error);
  if (tree)
    model = dlp_model_new (dlp_json_get_member (dlp_json_tree_get_root (tree), "model"), byte_level,
                           &error);
  if (model == NULL)
    g_strlcpy (message, error->message, room);
  return model;
}

static gsize
encode_cut (DlpModel *model, DlpModelScratch *scratch, const guint8 *p, gsize len, guint32 *ids)
{
  gsize n = 0;

  for (gsize start = 0, end; start < len; start = end)
    {
      end = dlp_model_find_cut (model, p, len, start + 1);
      n += model->klass->encode (model, scratch, p + start, end - start, ids + n);
    }
  return n;
}

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Piece i is from starts[i] to starts[i + 1]. Returns the seconds it took. */
double
model_probe_encode (DlpModel *model,
                    const guint8 *text,
                    const guint64 *starts,
                    gsize n,
                    int cut,
                    guint32 *ids,
                    guint64 *counts)
{
  DlpModelScratch scratch = { 0 };
  double begin = cpu_seconds ();

  for (gsize i = 0; i < n; i++)
    {
      const guint8 *p = text + starts[i];
      gsize len = starts[i + 1] - starts[i];

      counts[i] = cut ? encode_cut (model, &scratch, p, len, ids) :
                        model->klass->encode (model, &scratch, p, len, ids);
      ids += counts[i];
    }
  begin = cpu_seconds () - begin;
  dlp_model_scratch_clear (&scratch);
  return begin;
}

void
model_probe_close (DlpModel *model)
{
  dlp_model_free (model);
}
