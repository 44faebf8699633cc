/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-charsmap.h"
#include "dlp-normalizer-unicode.h"
#include "dlp-normalizer.h"
#include "dlp-pattern.h"

/* One step of a normalizer; those of nested Sequences are laid out in one row. */
typedef struct _DlpNormalizerStep DlpNormalizerStep;

/* Changes *@text, either to a part of itself or to what it writes to @out, which is empty. */
typedef gboolean (*DlpNormalizerRun) (const DlpNormalizerStep *self,
                                      DlpNormalizerScratch *scratch,
                                      DlpNormalizerText *out,
                                      const guint8 **text,
                                      gsize *len);

struct _DlpNormalizerStep
{
  DlpNormalizerRun run;
  const char *name; /* with what follows it says all that decides what comes out */
  guint flags;
  char *pattern;
  gsize pattern_len;
  char *content;
  gsize content_len;
  DlpCharsmap *charsmap;

  gconstpointer table;
  GDestroyNotify free_table; /* NULL if it is not owned */
  gpointer regex;
  gsize serial; /* of @regex, never used twice in a process */
};

/* A text that is copied only where it changes: @done is how far it was dealt with, and @out what
 * came of that once something has changed. */
typedef struct
{
  const guint8 *text;
  const guint8 *end;
  const guint8 *done;
  DlpNormalizerText *out;
} DlpEdit;

/* Room for @n more bytes; what was written is to be added to the length by the caller. */
static DLP_INLINE guint8 *
dlp_text_reserve (DlpNormalizerText *self, gsize n)
{
  if (G_UNLIKELY (self->size - self->len < n))
    {
      self->size = MAX (self->size * 2, self->len + n + 64);
      self->bytes = g_realloc (self->bytes, self->size);
    }
  return self->bytes + self->len;
}

static DLP_INLINE void
dlp_text_append (DlpNormalizerText *self, gconstpointer bytes, gsize n)
{
  if (n > 0)
    memcpy (dlp_text_reserve (self, n), bytes, n);
  self->len += n;
}

#define DLP_SHORT_CONTENT 8

void dlp_text_append_replaced (DlpNormalizerText *self,
                               const guint8 *p,
                               const guint8 *end,
                               guint8 byte,
                               const char *content,
                               gsize content_len);

static inline DlpEdit
dlp_edit_begin (const guint8 *text, gsize len, DlpNormalizerText *out)
{
  return (DlpEdit){ text, text + len, text, out };
}

/* What is before @p stays as it is, what is from @p to @next is to be replaced by what the caller
 * appends to the output. */
static DLP_INLINE void
dlp_edit_cut (DlpEdit *self, const guint8 *p, const guint8 *next)
{
  dlp_text_append (self->out, self->done, p - self->done);
  self->done = next;
}

static inline void
dlp_edit_end (DlpEdit *self, const guint8 **text, gsize *len)
{
  if (self->done == self->text)
    return;
  dlp_text_append (self->out, self->done, self->end - self->done);
  *text = dlp_text_reserve (self->out, 1) - self->out->len;
  *len = self->out->len;
}

/* The function of a step by the name of its type, NULL if it has no such. */
DlpNormalizerRun dlp_normalizer_find_form (const char *type, gconstpointer *table);
DlpNormalizerRun dlp_normalizer_find_simple (const char *type);

/* The parts of BertNormalizer besides NFD and Lowercase. */
gboolean dlp_normalizer_run_clean (const DlpNormalizerStep *self,
                                   DlpNormalizerScratch *scratch,
                                   DlpNormalizerText *out,
                                   const guint8 **text,
                                   gsize *len);
gboolean dlp_normalizer_run_chinese (const DlpNormalizerStep *self,
                                     DlpNormalizerScratch *scratch,
                                     DlpNormalizerText *out,
                                     const guint8 **text,
                                     gsize *len);
gboolean dlp_normalizer_run_nonspacing (const DlpNormalizerStep *self,
                                        DlpNormalizerScratch *scratch,
                                        DlpNormalizerText *out,
                                        const guint8 **text,
                                        gsize *len);

/* content in place of each pattern, which is a string, an empty string or a regular expression. */
gboolean dlp_normalizer_run_replace (const DlpNormalizerStep *self,
                                     DlpNormalizerScratch *scratch,
                                     DlpNormalizerText *out,
                                     const guint8 **text,
                                     gsize *len);
gboolean dlp_normalizer_run_between (const DlpNormalizerStep *self,
                                     DlpNormalizerScratch *scratch,
                                     DlpNormalizerText *out,
                                     const guint8 **text,
                                     gsize *len);
gboolean dlp_normalizer_compile (DlpNormalizerStep *self, const char *regex, GError **error);
gboolean dlp_normalizer_run_regex (const DlpNormalizerStep *self,
                                   DlpNormalizerScratch *scratch,
                                   DlpNormalizerText *out,
                                   const guint8 **text,
                                   gsize *len);

/* charsmap, as tokenizer.json means it and as SentencePiece does. */
gboolean dlp_normalizer_run_precompiled (const DlpNormalizerStep *self,
                                         DlpNormalizerScratch *scratch,
                                         DlpNormalizerText *out,
                                         const guint8 **text,
                                         gsize *len);

gconstpointer dlp_sentencepiece_table_new (const DlpCharsmap *charsmap, const char *const *symbols);
void dlp_sentencepiece_table_free (gpointer table);
gboolean dlp_normalizer_run_sentencepiece (const DlpNormalizerStep *self,
                                           DlpNormalizerScratch *scratch,
                                           DlpNormalizerText *out,
                                           const guint8 **text,
                                           gsize *len);

#define DLP_STRIP_LEFT 1u
#define DLP_STRIP_RIGHT 2u
