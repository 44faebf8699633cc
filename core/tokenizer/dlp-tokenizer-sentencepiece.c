/* SPDX-License-Identifier: MIT */
#include "dlp-sentencepiece.h"
#include "dlp-tokenizer-private.h"

/* Control pieces never match text; they are the special tokens. */
static void
add_control_pieces (DlpTokenizer *self, const DlpSentencePiece *file)
{
  g_autoptr (GArray) items = g_array_new (FALSE, TRUE, sizeof (DlpAddedToken));

  for (guint32 id = 0; id < file->entries->len; id++)
    {
      const DlpSentencePieceEntry *entry =
          &g_array_index (file->entries, DlpSentencePieceEntry, id);
      DlpAddedToken token = { (char *) entry->p, entry->len, id };

      token.special = TRUE;
      if (entry->type == DLP_PIECE_CONTROL)
        g_array_append_val (items, token);
    }
  dlp_tokenizer_set_added (self, (DlpAddedToken *) (gpointer) items->data, items->len);
}

static DlpNormalizer *
make_normalizer (const DlpSentencePiece *model, GError **error)
{
  g_autoptr (GPtrArray) symbols = g_ptr_array_new_with_free_func (g_free);

  for (guint32 id = 0; id < model->entries->len; id++)
    {
      const DlpSentencePieceEntry *entry =
          &g_array_index (model->entries, DlpSentencePieceEntry, id);

      if (entry->type == DLP_PIECE_USER_DEFINED)
        g_ptr_array_add (symbols, g_strndup (entry->p, entry->len));
    }
  g_ptr_array_add (symbols, NULL);
  return dlp_sentencepiece_make_normalizer (model, &model->normalizer,
                                            (const char *const *) symbols->pdata, error);
}

/* A .model of SentencePiece: a text is normalized and then one piece, for its own algorithm. */
gboolean
dlp_tokenizer_read_sentencepiece (DlpTokenizer *self, DlpModelFile *file, GError **error)
{
  g_autoptr (DlpSentencePiece) model = NULL;
  gconstpointer data;
  gsize size;

  data = g_bytes_get_data (file->file, &size);
  model = dlp_sentencepiece_parse (data, size, file->where, error);
  if (model == NULL)
    return FALSE;
  self->kind = DLP_TOKENIZER_KIND_SENTENCEPIECE;
  self->steps = dlp_tokenizer_describe_sentencepiece (model);
  self->bos_id = model->bos_id;
  self->normalizer = make_normalizer (model, error);
  if (self->normalizer == NULL)
    return FALSE;
  self->splitter = dlp_splitter_new ((DlpJsonNode){ NULL, G_MAXUINT32 }, FALSE, error);
  if (self->splitter == NULL)
    return FALSE;
  self->model = dlp_model_new_sentencepiece (model, error);
  if (self->model == NULL)
    return FALSE;
  self->detokenizer = dlp_detokenizer_new_sentencepiece (model, error);
  if (self->detokenizer == NULL)
    return FALSE;
  add_control_pieces (self, model);
  return TRUE;
}
