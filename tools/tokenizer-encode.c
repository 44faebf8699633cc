/* SPDX-License-Identifier: MIT */

#include "tokenizer.h"

#include <stdio.h>

#define FULL (256 * 1024)

typedef struct
{
  guint64 documents;
  guint64 bytes;
  guint64 tokens;
  guint64 unknown;
  guint64 single_bytes;
  guint64 special_texts;
} Counts;

typedef struct
{
  const TokenizerOptions *options;
  TokenizerEncoder encoder;
  Counts counts;
  GString *out;
} Encode;

/* What is more than @limit. Nobody is to wait for the rest of a file whose ids go nowhere. */
static gboolean
write_out (Encode *self, gsize limit, GError **error)
{
  gsize len = self->out->len;

  if (len <= limit)
    return TRUE;
  if (!tokenizer_write (self->out->str, len, error))
    return FALSE;
  g_string_truncate (self->out, 0);
  return TRUE;
}

static void
print_binary (Encode *self)
{
  for (gsize i = 0; i < self->encoder.n; i++)
    {
      guint32 id = GUINT32_TO_LE (self->encoder.ids[i]);

      g_string_append_len (self->out, (const char *) &id, sizeof id);
    }
}

/* A line for each id, an empty one between documents. */
static void
print_pieces (Encode *self)
{
  if (self->counts.documents > 1)
    g_string_append_c (self->out, '\n');
  for (gsize i = 0; i < self->encoder.n; i++)
    {
      gsize len;
      const guint8 *token =
          dlp_tokenizer_get_token (self->encoder.tokenizer, self->encoder.ids[i], &len);

      tokenizer_append_uint (self->out, self->encoder.ids[i]);
      g_string_append_c (self->out, '\t');
      tokenizer_append_quoted (self->out, token, len);
      g_string_append_c (self->out, '\n');
    }
}

static void
print_ids (Encode *self)
{
  for (gsize i = 0; i < self->encoder.n; i++)
    {
      if (i > 0)
        g_string_append_c (self->out, ' ');
      tokenizer_append_uint (self->out, self->encoder.ids[i]);
    }
  g_string_append_c (self->out, '\n');
}

static void
count (Encode *self, const TokenizerDocument *document)
{
  guint64 unknown, single_bytes;

  self->counts.documents++;
  self->counts.bytes += document->len;
  self->counts.tokens += self->encoder.n;
  if (!self->options->stats)
    return;
  dlp_tokenizer_count_ids (self->encoder.tokenizer, self->encoder.ids, self->encoder.n, &unknown,
                           &single_bytes);
  self->counts.unknown += unknown;
  self->counts.single_bytes += single_bytes;
  self->counts.special_texts +=
      dlp_tokenizer_count_specials (self->encoder.tokenizer, document->text, document->len);
}

static gboolean
on_document (const TokenizerDocument *document, gpointer data, GError **error)
{
  Encode *self = data;

  if (!tokenizer_encoder_run (&self->encoder, self->options, document, error))
    return FALSE;
  count (self, document);
  if (self->options->count)
    return TRUE;
  if (self->options->binary)
    print_binary (self);
  else if (self->options->pieces)
    print_pieces (self);
  else
    print_ids (self);
  return write_out (self, FULL, error);
}

static double
divide (double a, double b)
{
  return b > 0 ? a / b : 0;
}

/* On standard error: the output is that of the ids. */
static void
print_stats (const Encode *self)
{
  const Counts *counts = &self->counts;
  double tokens = (double) counts->tokens;
  guint64 pieces, misses;

  dlp_tokenizer_context_get_stats (self->encoder.context, &pieces, &misses);
  g_printerr ("documents            %" G_GUINT64_FORMAT "\n"
              "bytes                %" G_GUINT64_FORMAT "\n"
              "tokens               %" G_GUINT64_FORMAT "\n"
              "bytes per token      %.3f\n"
              "unknown ids          %" G_GUINT64_FORMAT " (%.2f %%)\n"
              "single-byte ids      %" G_GUINT64_FORMAT " (%.2f %%)\n"
              "special-token texts  %" G_GUINT64_FORMAT "%s\n"
              "pieces               %" G_GUINT64_FORMAT " (%.2f %% from the cache)\n"
              "MB/s                 %.1f (encoding alone, one thread)\n",
              counts->documents, counts->bytes, counts->tokens,
              divide ((double) counts->bytes, tokens), counts->unknown,
              100 * divide ((double) counts->unknown, tokens), counts->single_bytes,
              100 * divide ((double) counts->single_bytes, tokens), counts->special_texts,
              counts->special_texts == 0                          ? "" :
              self->options->specials == TOKENIZER_SPECIALS_ALLOW ? " (their own ids)" :
                                                                    " (ordinary ids)",
              pieces, 100 * divide ((double) (pieces - misses), (double) pieces),
              divide ((double) counts->bytes, (double) self->encoder.time));
}

/* Like wc: a line a file, and the sum of several. */
static void
print_count (Encode *self, guint64 tokens, const char *name)
{
  g_string_append_printf (self->out, "%" G_GUINT64_FORMAT "%s%s\n", tokens, name != NULL ? " " : "",
                          name != NULL ? name : "");
}

static gboolean
encode_files (Encode *self, GError **error)
{
  char **files = self->options->files;

  for (guint i = 0; files[i] != NULL; i++)
    {
      guint64 before = self->counts.tokens;

      if (!tokenizer_read_file (self->options, files[i], on_document, self, error))
        return FALSE;
      if (self->options->count)
        print_count (self, self->counts.tokens - before,
                     g_strcmp0 (files[i], "-") == 0 ? NULL : files[i]);
    }
  if (self->options->count && files[1] != NULL)
    print_count (self, self->counts.tokens, "total");
  return TRUE;
}

int
tokenizer_encode (const TokenizerOptions *options, GError **error)
{
  Encode self = { options };
  guint64 dropped;
  gboolean ok;

  if (!tokenizer_encoder_open (&self.encoder, options->model, options->pattern, error))
    return TOKENIZER_EXIT_USAGE;
  self.out = g_string_new (NULL);
  ok = encode_files (&self, error);
  /* What was before a bad document too. */
  ok = write_out (&self, 0, ok ? error : NULL) && ok;
  dropped = dlp_tokenizer_context_get_dropped (self.encoder.context);
  if (dropped > 0)
    g_printerr ("dlpipe-tokenizer: warning: %" G_GUINT64_FORMAT
                " bytes belong to no match of the pattern, and to no id\n",
                dropped);
  if (ok && options->stats)
    print_stats (&self);
  g_string_free (self.out, TRUE);
  tokenizer_encoder_clear (&self.encoder);
  return ok ? TOKENIZER_EXIT_OK : tokenizer_exit_code (*error);
}
