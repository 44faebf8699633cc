/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer.h"
#include "dlp-splitter.h"
#include "dlp-model.h"
typedef struct
{
  DlpModel parent;
  DlpVocabulary *v;
} R;
static gsize
enc (const DlpModel *m, DlpModelScratch *s, const guint8 *p, gsize len, guint32 *ids)
{
  const DlpVocabulary *v = ((R *) m)->v;
  ids[0] = dlp_vocabulary_lookup (v, p, len);
  if (ids[0] != DLP_ID_NONE)
    return 1;
  return dlp_bpe_encode (v, &s->bpe, p, len, ids);
}
static const guint8 *
tok (const DlpModel *m, guint32 id, gsize *len)
{
  const DlpVocabulary *v = ((R *) m)->v;
  *len = 0;
  if (id >= v->n_ids || !v->lengths[id])
    return NULL;
  *len = v->lengths[id];
  return v->bytes + v->starts[id];
}
static guint32
look (const DlpModel *m, const char *c, gsize len)
{
  return dlp_vocabulary_lookup (((R *) m)->v, (const guint8 *) c, len);
}
static void
h32 (GChecksum *c, guint32 x)
{
  x = GUINT32_TO_LE (x);
  g_checksum_update (c, (guchar *) &x, 4);
}
static void
hash (const DlpModel *m, GChecksum *c)
{
  const DlpVocabulary *v = ((R *) m)->v;
  h32 (c, v->n_ids);
  for (guint i = 0; i < v->n_ids; i++)
    {
      h32 (c, v->lengths[i]);
      g_checksum_update (c, v->bytes + v->starts[i], v->lengths[i]);
    }
}
static void
fre (DlpModel *m)
{
  dlp_vocabulary_unref (((R *) m)->v);
  g_free (m);
}
static const DlpModelClass kl = { enc, tok, look, hash, fre };
DlpModel *
dlp_model_new_ranks (DlpVocabulary *v)
{
  R *r = g_new0 (R, 1);
  r->parent.klass = &kl;
  r->parent.n_ids = v->n_ids;
  r->parent.unknown_id = DLP_ID_NONE;
  r->parent.byte_level = TRUE;
  r->v = v;
  return &r->parent;
}
DlpModel *
dlp_model_new (DlpJsonNode n, gboolean b, GError **e)
{
  g_error ("x");
}
void
dlp_model_free (DlpModel *m)
{
  m->klass->free (m);
}
void
dlp_model_scratch_clear (DlpModelScratch *s)
{
  dlp_bpe_scratch_clear (&s->bpe);
  g_free (s->words);
}
gsize
dlp_model_find_cut (const DlpModel *s, const guint8 *p, gsize len, gsize from)
{
  return len;
}
DlpNormalizer *
dlp_normalizer_new (DlpJsonNode n, GError **e)
{
  g_error ("x");
}
void
dlp_normalizer_free (DlpNormalizer *s)
{
}
void
dlp_normalizer_run (const DlpNormalizer *s, DlpNormalizerScratch *c, const guint8 **t, gsize *l)
{
}
gboolean
dlp_normalizer_is_byte_level (const DlpNormalizer *s)
{
  return FALSE;
}
void
dlp_normalizer_hash (const DlpNormalizer *s, GChecksum *c)
{
}
void
dlp_normalizer_scratch_clear (DlpNormalizerScratch *s)
{
}
DlpSplitter *
dlp_splitter_new (DlpJsonNode n, gboolean b, GError **e)
{
  g_error ("x");
}
void
dlp_splitter_free (DlpSplitter *s)
{
}
gboolean
dlp_splitter_run (const DlpSplitter *s, const guint8 *t, gsize l, gboolean f, DlpPieces *p)
{
  return TRUE;
}
gboolean
dlp_splitter_is_byte_level (const DlpSplitter *s)
{
  return FALSE;
}
const DlpPattern *
dlp_splitter_get_pattern (const DlpSplitter *s)
{
  return NULL;
}
void
dlp_splitter_hash (const DlpSplitter *s, GChecksum *c)
{
}
void
dlp_pieces_clear (DlpPieces *s)
{
}
