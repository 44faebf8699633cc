/* SPDX-License-Identifier: MIT */

#include "tokenizer.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES 40
#define SHOWN_IDS 6

typedef struct
{
  const TokenizerOptions *options;
  TokenizerEncoder encoders[2];
  const char *names[2];
  guint64 documents;
  guint64 tokens;
  gboolean differs;
} Compare;

/* What follows the character that @at is in. */
static gsize
to_border (const TokenizerDocument *document, gsize at)
{
  while (at > 0 && at < document->len && ((guint8) document->text[at] & 0xc0) == 0x80)
    at--;
  return at;
}

/* Where in the document the id @index begins. FALSE: only about there, since what the ids before it
 * stand for is not quite the text. */
static gboolean
find_place (TokenizerEncoder *encoder, const TokenizerDocument *document, gsize index, gsize *place)
{
  g_autoptr (GString) before = g_string_new (NULL);
  gsize n = 0;

  dlp_tokenizer_decode (encoder->tokenizer, encoder->ids, index, before, NULL);
  while (n < before->len && n < document->len && before->str[n] == document->text[n])
    n++;
  *place = n;
  return n == before->len;
}

static void
append_context (GString *out, const TokenizerDocument *document, gsize place)
{
  gsize from = to_border (document, place > SHOWN_BYTES ? place - SHOWN_BYTES : 0);
  gsize to = to_border (document, MIN (place + SHOWN_BYTES, document->len));

  to = MAX (to, place);
  g_string_append_printf (out, "  before   %s", from > 0 ? "…" : "");
  tokenizer_append_quoted (out, document->text + from, place - from);
  g_string_append (out, "\n  there    ");
  tokenizer_append_quoted (out, document->text + place, to - place);
  g_string_append_printf (out, "%s\n", to < document->len ? "…" : "");
}

static void
append_ids (GString *out, const TokenizerEncoder *encoder, const char *name, gsize index)
{
  gsize end = MIN (index + SHOWN_IDS, encoder->n);

  g_string_append_printf (out, "  %s:", name);
  for (gsize i = index; i < end; i++)
    {
      gsize len;
      const guint8 *token = dlp_tokenizer_get_token (encoder->tokenizer, encoder->ids[i], &len);

      g_string_append_printf (out, " %u ", encoder->ids[i]);
      tokenizer_append_quoted (out, token, len);
    }
  g_string_append_printf (out, "%s\n",
                          index == encoder->n ? " no more ids" :
                          end < encoder->n    ? " …" :
                                                "");
}

static void
print_difference (Compare *self, const TokenizerDocument *document, gsize index)
{
  g_autofree char *where = tokenizer_document_to_string (document);
  g_autoptr (GString) out = g_string_new (NULL);
  gsize place;
  gboolean is_exact = find_place (&self->encoders[0], document, index, &place);

  g_string_append_printf (out,
                          "different: %s: %sbyte %" G_GSIZE_FORMAT ", id %" G_GSIZE_FORMAT
                          " of %" G_GSIZE_FORMAT " and of %" G_GSIZE_FORMAT "\n",
                          where, is_exact ? "" : "about ", place, index, self->encoders[0].n,
                          self->encoders[1].n);
  append_context (out, document, place);
  for (guint i = 0; i < 2; i++)
    append_ids (out, &self->encoders[i], self->names[i], index);
  fwrite (out->str, 1, out->len, stdout);
}

static gboolean
on_document (const TokenizerDocument *document, gpointer data, GError **error)
{
  Compare *self = data;
  const TokenizerEncoder *a = &self->encoders[0], *b = &self->encoders[1];
  gsize index = 0;

  for (guint i = 0; i < 2; i++)
    if (!tokenizer_encoder_run (&self->encoders[i], self->options, document, error))
      {
        g_prefix_error (error, "%s: ", self->names[i]);
        return FALSE;
      }
  while (index < a->n && index < b->n && a->ids[index] == b->ids[index])
    index++;
  if (index < a->n || index < b->n)
    {
      print_difference (self, document, index);
      self->differs = TRUE;
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "different");
      return FALSE;
    }
  self->documents++;
  self->tokens += index;
  return TRUE;
}

static int
compare_files (Compare *self, GError **error)
{
  for (guint i = 0; self->options->files[i] != NULL; i++)
    if (!tokenizer_read_file (self->options, self->options->files[i], on_document, self, error))
      {
        if (!self->differs)
          return tokenizer_exit_code (*error);
        g_clear_error (error);
        return TOKENIZER_EXIT_FAULTS;
      }
  printf ("equal: %" G_GUINT64_FORMAT " ids of %" G_GUINT64_FORMAT " documents\n", self->tokens,
          self->documents);
  return TOKENIZER_EXIT_OK;
}

int
tokenizer_compare (const TokenizerOptions *options, GError **error)
{
  Compare self = { options, .names = { options->model, options->other } };
  int status = TOKENIZER_EXIT_USAGE;

  if (tokenizer_encoder_open (&self.encoders[0], options->model, options->pattern, error) &&
      tokenizer_encoder_open (&self.encoders[1], options->other, options->other_pattern, error))
    status = compare_files (&self, error);
  tokenizer_encoder_clear (&self.encoders[0]);
  tokenizer_encoder_clear (&self.encoders[1]);
  return status;
}
