/* SPDX-License-Identifier: MIT */
#include "dlp-detokenizer-step.h"

#include <string.h>

#define SPACE "\342\226\201" /* U+2581 */

/* What a piece is besides its content. */
#define IS_TEXT 256
#define IS_CONTROL 257
#define IS_UNKNOWN 258

typedef struct
{
  guint16 *kinds; /* by id: one of the above, or the byte that it stands for */
  char *unknown;
  gsize unknown_len;
  gboolean drops_prefix; /* one space, at the start */
  gboolean drops_spaces; /* any number of them, if they are a piece each */
} Pieces;

static guint16
get_kind (const DlpSentencePieceEntry *entry)
{
  int byte;

  switch (entry->type)
    {
    case DLP_PIECE_CONTROL:
      return IS_CONTROL;

    case DLP_PIECE_UNKNOWN:
      return IS_UNKNOWN;

    case DLP_PIECE_BYTE:
      byte = dlp_token_get_byte ((const guint8 *) entry->p, entry->len);
      return byte < 0 ? IS_TEXT : byte;

    case DLP_PIECE_NORMAL:
    case DLP_PIECE_USER_DEFINED:
    case DLP_PIECE_UNUSED:
    default:
      return IS_TEXT;
    }
}

gpointer
dlp_detokenizer_pieces_new (const DlpSentencePiece *file)
{
  Pieces *self = g_new0 (Pieces, 1);

  self->kinds = g_new (guint16, file->entries->len);
  for (guint i = 0; i < file->entries->len; i++)
    self->kinds[i] = get_kind (&g_array_index (file->entries, DlpSentencePieceEntry, i));
  self->unknown = g_memdup2 (file->unknown, file->unknown_len);
  self->unknown_len = file->unknown_len;
  self->drops_prefix =
      file->normalizer.add_dummy_prefix || file->normalizer.remove_extra_whitespaces;
  self->drops_spaces = file->normalizer.remove_extra_whitespaces;
  return self;
}

void
dlp_detokenizer_pieces_free (gpointer pieces)
{
  Pieces *self = pieces;

  g_free (self->kinds);
  g_free (self->unknown);
  g_free (self);
}

/* Where they are no UTF-8, U+FFFD stands for each of them. */
static void
flush_bytes (GString *out, GByteArray *bytes)
{
  for (guint i = 0; i < bytes->len;)
    {
      const guint8 *p = bytes->data + i;
      gboolean is_valid;
      gsize len = dlp_utf8_measure (p, bytes->data + bytes->len, &is_valid);

      if (is_valid)
        g_string_append_len (out, (const char *) p, len);
      else
        g_string_append (out, DLP_REPLACEMENT);
      i += is_valid ? len : 1;
    }
  g_byte_array_set_size (bytes, 0);
}

static void
append_text (GString *out, const guint8 *p, gsize len)
{
  const guint8 *end = p + len, *found;

  while ((found = memmem (p, end - p, SPACE, strlen (SPACE))) != NULL)
    {
      g_string_append_len (out, (const char *) p, found - p);
      g_string_append_c (out, ' ');
      p = found + strlen (SPACE);
    }
  g_string_append_len (out, (const char *) p, end - p);
}

/* Returns whether the text goes on to be at its start. */
static gboolean
append_first (const Pieces *self, GString *out, const guint8 *p, gsize len)
{
  gsize n = strlen (SPACE);
  gboolean has_space = self->drops_prefix && len >= n && memcmp (p, SPACE, n) == 0;

  if (has_space)
    {
      p += n;
      len -= n;
    }
  append_text (out, p, len);
  return has_space && self->drops_spaces && len == 0;
}

gboolean
dlp_detokenizer_run_sentencepiece (const DlpDetokenizerStep *self,
                                   const DlpTokenList *in,
                                   DlpTokenList *out,
                                   DlpNormalizerScratch *scratch)
{
  const Pieces *pieces = self->pieces;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  gboolean at_start = TRUE;

  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len;
      const guint8 *token = dlp_token_list_get (in, i, &len);
      guint16 kind = pieces->kinds[in->ids[i]];
      guint8 byte = (guint8) kind;

      if (kind < IS_TEXT)
        {
          g_byte_array_append (bytes, &byte, 1);
          at_start = FALSE;
          continue;
        }
      flush_bytes (out->text, bytes);
      if (kind == IS_UNKNOWN)
        {
          g_string_append_len (out->text, pieces->unknown, pieces->unknown_len);
          at_start = at_start && pieces->unknown_len == 0;
        }
      else if (kind == IS_TEXT && at_start)
        at_start = append_first (pieces, out->text, token, len);
      else if (kind == IS_TEXT)
        append_text (out->text, token, len);
    }
  flush_bytes (out->text, bytes);
  dlp_token_list_end (out);
  return TRUE;
}
