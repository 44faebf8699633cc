/* SPDX-License-Identifier: MIT */

/* What is said of the documents as a whole. */

#include "dlp-tokenizer-element-private.h"

/* Fewer documents say little about a source. */
#define ENOUGH_DOCUMENTS 10000
#define MIN_BYTES_PER_TOKEN 1.5
#define MAX_UNKNOWN_SHARE 0.01

const char *const dlp_tokenizer_counters[] = {
  "documents",       "empty-documents", "tokens",        "special-token-texts", "dropped-documents",
  "unmatched-bytes", "split-documents", "cut-documents", "cut-tokens",          NULL
};

const char *const dlp_tokenizer_source_counters[] = { "documents",   "bytes",           "tokens",
                                                      "unknown-ids", "single-byte-ids", NULL };

/* ---- at the end ---- */

static void warn (DlpTokenizerElement *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
warn (DlpTokenizerElement *self, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  dlp_element_warn (DLP_ELEMENT (self), NULL, -1, message);
}

static guint64
get_count (DlpTokenizerElement *self, guint counter)
{
  return dlp_transform_get_counter (DLP_TRANSFORM (self), counter);
}

static void
warn_of_specials (DlpTokenizerElement *self)
{
  guint64 specials = get_count (self, COUNT_SPECIALS);
  guint64 dropped = get_count (self, COUNT_DROPPED);

  if (self->special_tokens == DLP_SPECIAL_TOKENS_SKIP_RECORD && dropped > 0)
    warn (self,
          "%" G_GUINT64_FORMAT " documents were left out: they had the text of special tokens "
          "(special-tokens=skip-record)",
          dropped);
  else if (self->special_tokens == DLP_SPECIAL_TOKENS_TEXT && specials > 0)
    warn (self,
          "documents had the text of special tokens %" G_GUINT64_FORMAT
          " times; it was taken as ordinary text (special-tokens=text)",
          specials);
}

void
dlp_tokenizer_element_warn_at_end (DlpTokenizerElement *self)
{
  guint64 unmatched = get_count (self, COUNT_UNMATCHED);
  guint64 cut = get_count (self, COUNT_CUT);

  warn_of_specials (self);
  if (unmatched > 0)
    warn (self,
          "%" G_GUINT64_FORMAT " bytes of text were left out: the pattern matches them nowhere",
          unmatched);
  if (cut > 0)
    warn (self,
          "%" G_GUINT64_FORMAT " documents were cut off at %" G_GUINT64_FORMAT
          " tokens, %" G_GUINT64_FORMAT " tokens in all (overflow=cut)",
          cut, self->max_tokens, get_count (self, COUNT_CUT_TOKENS));
}

/* ---- by source ---- */

/* (transfer full) */
static char *
name_source (DlpTokenizerElement *self, const DlpCoordinate *first)
{
  g_autofree char *file = dlp_element_dup_input_name (DLP_ELEMENT (self), first);

  return file != NULL ? g_strdup_printf ("source %u (%s and on)", first->source, file) :
                        g_strdup_printf ("source %u", first->source);
}

static void
judge_source (DlpTokenizerElement *self, const DlpCoordinate *first, const guint64 *n)
{
  guint64 tokens = MAX (n[SOURCE_TOKENS], 1);
  double ratio = (double) n[SOURCE_BYTES] / tokens;
  double unknown = (double) n[SOURCE_UNKNOWN] / tokens;
  gint64 key = (gint64) first->stage << 32 | first->source;
  g_autofree char *name = NULL;

  if (n[SOURCE_DOCUMENTS] < ENOUGH_DOCUMENTS || g_hash_table_contains (self->warned, &key) ||
      (unknown <= MAX_UNKNOWN_SHARE && ratio >= MIN_BYTES_PER_TOKEN))
    return;
  name = name_source (self, first);
  if (unknown > MAX_UNKNOWN_SHARE)
    warn (self,
          "%s: %.1f %% of the tokens of its first %" G_GUINT64_FORMAT
          " documents stand for what the vocabulary of %s cannot express",
          name, unknown * 100, n[SOURCE_DOCUMENTS], dlp_tokenizer_get_name (self->tokenizer));
  else
    warn (self,
          "%s: %.2f bytes a token in its first %" G_GUINT64_FORMAT
          " documents; the vocabulary of %s hardly fits this text",
          name, ratio, n[SOURCE_DOCUMENTS], dlp_tokenizer_get_name (self->tokenizer));
  g_hash_table_add (self->warned, g_memdup2 (&key, sizeof key));
}

void
dlp_tokenizer_element_look_at_sources (DlpTokenizerElement *self)
{
  guint64 documents = get_count (self, COUNT_DOCUMENTS);
  guint64 n[DLP_TRANSFORM_MAX_SOURCE_COUNTERS];
  DlpCoordinate first;

  /* Of bytes each token is one. */
  if (documents < MAX (self->next_look, ENOUGH_DOCUMENTS) ||
      dlp_tokenizer_get_kind (self->tokenizer) == DLP_TOKENIZER_KIND_BYTES)
    return;
  self->next_look = documents + ENOUGH_DOCUMENTS;
  if (self->warned == NULL)
    self->warned = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint i = 0; dlp_transform_get_source (DLP_TRANSFORM (self), i, &first, n); i++)
    judge_source (self, &first, n);
}

static void
insert_ratio (GVariantDict *dict, guint64 bytes, guint64 tokens)
{
  if (tokens > 0)
    g_variant_dict_insert (dict, "bytes-per-token", "d", (double) bytes / tokens);
}

/* (floating): of one source, with the ratio. *@bytes, *@tokens: added to. */
static GVariant *
report_source (GVariant *counted, guint64 *bytes, guint64 *tokens)
{
  guint64 n, of_bytes = 0, of_tokens = 0;
  const char *key;
  GVariantIter iter;
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_iter_init (&iter, counted);
  while (g_variant_iter_next (&iter, "{&st}", &key, &n))
    g_variant_dict_insert (&dict, key, "t", n);
  g_variant_lookup (counted, dlp_tokenizer_source_counters[SOURCE_BYTES], "t", &of_bytes);
  g_variant_lookup (counted, dlp_tokenizer_source_counters[SOURCE_TOKENS], "t", &of_tokens);
  insert_ratio (&dict, of_bytes, of_tokens);
  *bytes += of_bytes;
  *tokens += of_tokens;
  return g_variant_dict_end (&dict);
}

GVariant *
dlp_tokenizer_element_report (DlpElement *element, GVariant *described)
{
  g_autoptr (GVariant) counted =
      g_variant_lookup_value (described, "by-source", G_VARIANT_TYPE ("aa{st}"));
  guint64 bytes = 0, tokens = 0;
  GVariantBuilder sources;
  GVariantDict dict;

  g_variant_dict_init (&dict, described);
  if (counted == NULL)
    return g_variant_dict_end (&dict);
  g_variant_builder_init (&sources, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (counted); i++)
    {
      g_autoptr (GVariant) source = g_variant_get_child_value (counted, i);

      g_variant_builder_add_value (&sources, report_source (source, &bytes, &tokens));
    }
  g_variant_dict_insert_value (&dict, "by-source", g_variant_builder_end (&sources));
  insert_ratio (&dict, bytes, tokens);
  return g_variant_dict_end (&dict);
}
