/* SPDX-License-Identifier: MIT */

#include "tokenizer.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  const TokenizerOptions *options;
  DlpTokenizer *tokenizer;
  GArray *ids; /* guint32: of the document that is being read */
  GString *out;
} Decode;

static gboolean fail (const char *file, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail (const char *file, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s", tokenizer_show_file (file),
               what);
  return FALSE;
}

static gboolean
flush (Decode *self, GError **error)
{
  gboolean ok = dlp_tokenizer_decode (self->tokenizer, (const guint32 *) (gpointer) self->ids->data,
                                      self->ids->len, self->out, error);

  if (ok && self->options->lines)
    g_string_append_c (self->out, '\n');
  ok = tokenizer_write (self->out->str, self->out->len, ok ? error : NULL) && ok;
  g_string_truncate (self->out, 0);
  g_array_set_size (self->ids, 0);
  return ok;
}

static gboolean
add_id (Decode *self, guint64 id)
{
  guint32 value = (guint32) id;
  gsize len;

  if (id > G_MAXUINT32 || dlp_tokenizer_get_token (self->tokenizer, value, &len) == NULL)
    return FALSE;
  g_array_append_val (self->ids, value);
  return TRUE;
}

/* ---- text ---- */

static gboolean
is_between (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == '[' || c == ']';
}

static gboolean
bad_word (Decode *self, const TokenizerDocument *line, const char *word, gsize len, GError **error)
{
  g_autoptr (GString) shown = g_string_new (NULL);
  gboolean is_number = strspn (word, "0123456789") >= len;

  if (is_number)
    g_string_append_len (shown, word, (gssize) MIN (len, 24));
  else
    tokenizer_append_quoted (shown, word, MIN (len, 24));
  return fail (line->file, error,
               "line %" G_GUINT64_FORMAT ", byte %" G_GSIZE_FORMAT ": %s is %s of %s; %s 0 to %u",
               line->number, (gsize) (word - line->text), shown->str,
               is_number ? "no id" : "not a number, and so no id",
               dlp_tokenizer_get_name (self->tokenizer),
               is_number ? "its ids are within" : "allowed are numbers from",
               dlp_tokenizer_get_vocab_size (self->tokenizer) - 1);
}

static gboolean
on_line (const TokenizerDocument *line, gpointer data, GError **error)
{
  Decode *self = data;
  const char *p = line->text, *end = p + line->len;

  while (p < end)
    {
      const char *word = p;
      guint64 id = 0;

      if (is_between (*p))
        {
          p++;
          continue;
        }
      while (p < end && !is_between (*p))
        p++;
      for (const char *q = word; q < p && id != G_MAXUINT64; q++)
        id = g_ascii_isdigit (*q) && id <= G_MAXUINT32 ? id * 10 + (guint64) (*q - '0') :
                                                         G_MAXUINT64;
      if (!add_id (self, id))
        return bad_word (self, line, word, (gsize) (p - word), error);
    }
  return !self->options->lines || flush (self, error);
}

/* ---- binary ---- */

static gboolean
read_binary (Decode *self, const char *file, GError **error)
{
  g_autoptr (GString) content = g_string_new (NULL);
  gsize width = self->options->width == 2 ? 2 : 4;

  if (!tokenizer_read_all (file, content, error))
    return FALSE;
  if (content->len % width != 0)
    return fail (file, error,
                 "%" G_GSIZE_FORMAT " bytes are not a whole number of ids of %" G_GSIZE_FORMAT
                 " bytes; see --width",
                 content->len, width);
  for (gsize at = 0; at < content->len; at += width)
    {
      guint16 narrow;
      guint32 id;

      memcpy (&narrow, content->str + at, sizeof narrow);
      if (width == 4)
        memcpy (&id, content->str + at, sizeof id);
      id = width == 4 ? GUINT32_FROM_LE (id) : GUINT16_FROM_LE (narrow);
      if (!add_id (self, id))
        return fail (file, error,
                     "byte %" G_GSIZE_FORMAT ": %u is no id of %s; its ids are within 0 to %u", at,
                     id, dlp_tokenizer_get_name (self->tokenizer),
                     dlp_tokenizer_get_vocab_size (self->tokenizer) - 1);
    }
  return TRUE;
}

static gboolean
decode_files (Decode *self, GError **error)
{
  TokenizerOptions lines = { .lines = TRUE };

  for (guint i = 0; self->options->files[i] != NULL; i++)
    if (!(self->options->binary ?
              read_binary (self, self->options->files[i], error) :
              tokenizer_read_file (&lines, self->options->files[i], on_line, self, error)))
      return FALSE;
  return self->ids->len == 0 || flush (self, error);
}

int
tokenizer_decode (const TokenizerOptions *options, GError **error)
{
  g_autoptr (DlpTokenizer) tokenizer = dlp_tokenizer_new (options->model, options->pattern, error);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GString) out = g_string_new (NULL);
  Decode self = { options, tokenizer, ids, out };

  if (tokenizer == NULL)
    return TOKENIZER_EXIT_USAGE;
  return decode_files (&self, error) ? TOKENIZER_EXIT_OK : tokenizer_exit_code (*error);
}
