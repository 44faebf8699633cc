/* SPDX-License-Identifier: MIT */
#include "dlp-detokenizer-step.h"
#include "dlp-utf8.h"

#include <string.h>

/* Steps that look at one token at a time. */

static void
append (DlpTokenList *out, gconstpointer bytes, gsize len)
{
  g_string_append_len (out->text, bytes, len);
}

/* An empty @what is before each character and at the end. */
static void
append_replaced (GString *out,
                 const guint8 *p,
                 gsize len,
                 const char *what,
                 gsize what_len,
                 const char *with,
                 gsize with_len)
{
  const guint8 *end = p + len, *found;

  if (what_len == 0)
    for (; p < end; p += dlp_utf8_len (*p))
      {
        g_string_append_len (out, with, with_len);
        g_string_append_len (out, (const char *) p, dlp_utf8_len (*p));
      }
  else
    for (; (found = memmem (p, end - p, what, what_len)) != NULL; p = found + what_len)
      {
        g_string_append_len (out, (const char *) p, found - p);
        g_string_append_len (out, with, with_len);
      }
  g_string_append_len (out, (const char *) p, end - p);
  if (what_len == 0)
    g_string_append_len (out, with, with_len);
}

/* In the text from @from on; @with is not longer than @what. */
static void
shrink (GString *text, gsize from, const char *what, const char *with)
{
  gsize what_len = strlen (what), with_len = strlen (with);
  const char *p = text->str + from, *end = text->str + text->len, *found;
  char *to = text->str + from;

  while ((found = memmem (p, end - p, what, what_len)) != NULL)
    {
      memmove (to, p, found - p);
      to += found - p;
      memcpy (to, with, with_len);
      to += with_len;
      p = found + what_len;
    }
  memmove (to, p, end - p);
  g_string_truncate (text, to + (end - p) - text->str);
}

/* The blanks of English that were put before punctuation and endings. */
static void
clean_up (GString *text, gsize from)
{
  static const char *const rules[][2] = {
    { " .", "." },   { " ?", "?" },     { " !", "!" },     { " ,", "," },
    { " ' ", "'" },  { " n't", "n't" }, { " 'm", "'m" },   { " do not", " don't" },
    { " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rules) && memchr (text->str + from, ' ', text->len - from);
       i++)
    shrink (text, from, rules[i][0], rules[i][1]);
}

static gboolean
run_spaces (const DlpDetokenizerStep *self,
            const DlpTokenList *in,
            DlpTokenList *out,
            DlpNormalizerScratch *scratch)
{
  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len;
      const guint8 *token = dlp_token_list_get (in, i, &len);

      if (i > 0)
        append (out, " ", 1);
      append (out, token, len);
    }
  dlp_token_list_end (out);
  return TRUE;
}

static gboolean
run_fuse (const DlpDetokenizerStep *self,
          const DlpTokenList *in,
          DlpTokenList *out,
          DlpNormalizerScratch *scratch)
{
  append (out, in->text->str, in->text->len);
  dlp_token_list_end (out);
  return TRUE;
}

/* The prefix that was put before the text is in the first token. */
static gboolean
run_metaspace (const DlpDetokenizerStep *self,
               const DlpTokenList *in,
               DlpTokenList *out,
               DlpNormalizerScratch *scratch)
{
  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len;
      const guint8 *token = dlp_token_list_get (in, i, &len);

      append_replaced (out->text, token, len, self->text, self->len, " ", i > 0 || !self->flag);
      dlp_token_list_end (out);
    }
  return TRUE;
}

static gboolean
run_word_piece (const DlpDetokenizerStep *self,
                const DlpTokenList *in,
                DlpTokenList *out,
                DlpNormalizerScratch *scratch)
{
  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len, start = out->text->len;
      const guint8 *token = dlp_token_list_get (in, i, &len);
      gboolean continues = len >= self->len && memcmp (token, self->text, self->len) == 0;

      if (i > 0 && continues)
        {
          token += self->len;
          len -= self->len;
        }
      else if (i > 0)
        append (out, " ", 1);
      append (out, token, len);
      if (self->flag)
        clean_up (out->text, start);
      dlp_token_list_end (out);
    }
  return TRUE;
}

static gboolean
run_strip (const DlpDetokenizerStep *self,
           const DlpTokenList *in,
           DlpTokenList *out,
           DlpNormalizerScratch *scratch)
{
  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len;
      const guint8 *token = dlp_token_list_get (in, i, &len);

      for (guint64 n = self->counts[0];
           n > 0 && len >= self->len && memcmp (token, self->text, self->len) == 0; n--)
        {
          token += self->len;
          len -= self->len;
        }
      for (guint64 n = self->counts[1];
           n > 0 && len >= self->len &&
           memcmp (token + len - self->len, self->text, self->len) == 0;
           n--)
        len -= self->len;
      append (out, token, len);
      dlp_token_list_end (out);
    }
  return TRUE;
}

static gboolean
run_replace (const DlpDetokenizerStep *self,
             const DlpTokenList *in,
             DlpTokenList *out,
             DlpNormalizerScratch *scratch)
{
  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len;
      const guint8 *token = dlp_token_list_get (in, i, &len);

      if (!dlp_normalizer_run (self->replace, scratch, &token, &len))
        return FALSE;
      append (out, token, len);
      dlp_token_list_end (out);
    }
  return TRUE;
}

static gboolean
run_bpe (const DlpDetokenizerStep *self,
         const DlpTokenList *in,
         DlpTokenList *out,
         DlpNormalizerScratch *scratch)
{
  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len;
      const guint8 *token = dlp_token_list_get (in, i, &len);

      append_replaced (out->text, token, len, self->text, self->len, " ", i + 1 < in->ends->len);
      dlp_token_list_end (out);
    }
  return TRUE;
}

/* One token of what is left of a run of equal ones. */
static void
append_ctc (const DlpDetokenizerStep *self, DlpTokenList *out, const guint8 *token, gsize len)
{
  gsize start = out->text->len;
  g_autofree char *cleaned = NULL;

  append_replaced (out->text, token, len, self->text, self->len, "", 0);
  if (self->flag)
    {
      clean_up (out->text, start);
      len = out->text->len - start;
      cleaned = g_memdup2 (out->text->str + start, len + 1); /* with its nul */
      g_string_truncate (out->text, start);
      append_replaced (out->text, (const guint8 *) cleaned, len, self->delimiter,
                       self->delimiter_len, " ", 1);
    }
  if (out->text->len > start)
    dlp_token_list_end (out);
}

static gboolean
run_ctc (const DlpDetokenizerStep *self,
         const DlpTokenList *in,
         DlpTokenList *out,
         DlpNormalizerScratch *scratch)
{
  const guint8 *before = NULL;
  gsize before_len = 0;

  for (guint i = 0; i < in->ends->len; i++)
    {
      gsize len;
      const guint8 *token = dlp_token_list_get (in, i, &len);

      if (i == 0 || len != before_len || memcmp (token, before, len) != 0)
        append_ctc (self, out, token, len);
      before = token;
      before_len = len;
    }
  return TRUE;
}

static const struct
{
  const char *name;
  DlpDetokenizerRun run;
} steps[] = {
  { "spaces", run_spaces },
  { "Fuse", run_fuse },
  { "Metaspace", run_metaspace },
  { "WordPiece", run_word_piece },
  { "Strip", run_strip },
  { "Replace", run_replace },
  { "BPEDecoder", run_bpe },
  { "CTC", run_ctc },
  { "ByteLevel", dlp_detokenizer_run_byte_level },
  { "ByteFallback", dlp_detokenizer_run_byte_fallback },
  { "SentencePiece", dlp_detokenizer_run_sentencepiece },
};

DlpDetokenizerRun
dlp_detokenizer_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    if (strcmp (steps[i].name, name) == 0)
      return steps[i].run;
  return NULL;
}
