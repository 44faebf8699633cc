/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-bpe.h"
#include "dlp-json-tree.h"

typedef struct _DlpModel DlpModel;
typedef struct _DlpModelClass DlpModelClass;

/* Room that one thread needs to encode; all zero at first. */
typedef struct
{
  DlpBpeScratch bpe;
  guint32 *words; /* of whatever the model wants */
  gsize capacity;
} DlpModelScratch;

/* The algorithm that turns one piece into ids, and its vocabulary: "model" of a tokenizer.json.
 * Read-only once made; used by any thread. What a piece becomes depends on nothing but the piece,
 * so that it can be cached. */
struct _DlpModelClass
{
  /* @len > 0 bytes of UTF-8, or any bytes if the model is byte-level. @ids has room for @len: each
   * id stands for at least one byte. Returns how many ids there are; 0 where the model drops what
   * it does not know. No recursion; linear or n log n in @len. */
  gsize (*encode) (const DlpModel *self,
                   DlpModelScratch *scratch,
                   const guint8 *p,
                   gsize len,
                   guint32 *ids);
  /* The bytes of an entry as they stand in text: those that byte-level letters stand for, else the
   * entry as it is written. NULL if there is none. */
  const guint8 *(*get_token) (const DlpModel *self, guint32 id, gsize *len);
  /* The id of the entry written @content in the file; DLP_ID_NONE if there is none. */
  guint32 (*lookup) (const DlpModel *self, const char *content, gsize len);
  /* As dlp_model_find_cut(); NULL if a text is never cut. */
  gsize (*find_cut) (const DlpModel *self, const guint8 *p, gsize len, gsize from);
  /* Adds all that decides what comes out. */
  void (*hash) (const DlpModel *self, GChecksum *checksum);
  void (*free) (DlpModel *self);
};

struct _DlpModel
{
  const DlpModelClass *klass;
  DlpVocabulary *vocabulary; /* NULL if each byte is its own id */
  guint32 n_ids;             /* largest id + 1 */
  guint32 unknown_id;        /* DLP_ID_NONE if there is none */
  gboolean byte_level;       /* its entries are bytes, written with the letters of byte-level BPE */
  gboolean merges_bytes; /* a piece that is an entry is that entry; another one's bytes are merged
                          * by the vocabulary's pairs, whose ranks are their merges */
  gboolean can_cut;      /* dlp_model_find_cut() finds places */
};

/* @node is the value of "model". With @byte_level the text has gone through ByteLevel. */
DlpModel *dlp_model_new (DlpJsonNode node, gboolean byte_level, GError **error);

/* Of a rank file; takes the reference to @vocabulary. */
DlpModel *dlp_model_new_ranks (DlpVocabulary *vocabulary);

/* The id of a byte is its value and @offset. */
DlpModel *dlp_model_new_bytes (guint32 offset);

void dlp_model_free (DlpModel *self);
void dlp_model_scratch_clear (DlpModelScratch *self);

/* The first place at or behind @from > 0 where a piece may be cut in two that become, one after the
 * other, exactly what the whole does; @len if there is none. */
gsize dlp_model_find_cut (const DlpModel *self, const guint8 *p, gsize len, gsize from);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpModel, dlp_model_free)
