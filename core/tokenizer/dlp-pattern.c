/* SPDX-License-Identifier: MIT */
#include "dlp-pattern.h"

#include <string.h>

#define CASED "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UPPERS "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWERS "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define PREFIX "[^\\r\\n\\p{L}\\p{N}]?"

typedef struct
{
  DlpPatternKind kind;
  const char *text;
} Spelling;

/* The first spelling of a kind is the one that is kept. Those of one kind cut every text alike. */
static const Spelling spellings[] = {
  { DLP_PATTERN_GPT2,
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s" },
  { DLP_PATTERN_GPT2, "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
                      "\\s+(?!\\S)|\\s+" },
  { DLP_PATTERN_GPT2, "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
                      "\\s+(?!\\S)|\\s+" },
  { DLP_PATTERN_CL100K, "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+|"
                        " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s" },
  { DLP_PATTERN_CL100K_OLD, CASED "|" PREFIX "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
                                  "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" },
  { DLP_PATTERN_CL100K_OLD, "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}|"
                            " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+" },
  { DLP_PATTERN_O200K, PREFIX UPPERS "*" LOWERS "+" CASED "?|" PREFIX UPPERS "+" LOWERS "*" CASED
                                     "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|"
                                     "\\s+(?!\\S)|\\s+" },
};

const char dlp_pattern_names[] = "gpt2, r50k, p50k, cl100k, o200k";

static const struct
{
  const char *name;
  DlpPatternKind kind;
} names[] = {
  { "gpt2", DLP_PATTERN_GPT2 },        { "r50k", DLP_PATTERN_GPT2 },
  { "p50k", DLP_PATTERN_GPT2 },        { "cl100k", DLP_PATTERN_CL100K },
  { "o200k", DLP_PATTERN_O200K },      { "r50k_base", DLP_PATTERN_GPT2 },
  { "p50k_base", DLP_PATTERN_GPT2 },   { "cl100k_base", DLP_PATTERN_CL100K },
  { "o200k_base", DLP_PATTERN_O200K },
};

static DlpPattern *
new_known (DlpPatternKind kind)
{
  DlpPattern *self = g_new0 (DlpPattern, 1);

  self->kind = kind;
  for (guint i = 0; i < G_N_ELEMENTS (spellings) && self->text == NULL; i++)
    if (spellings[i].kind == kind)
      self->text = g_strdup (spellings[i].text);
  return self;
}

/* @name_or_regex is one of dlp_pattern_names or the text of a regular expression as tiktoken
 * takes it. */
DlpPattern *
dlp_pattern_new (const char *name_or_regex, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].name, name_or_regex) == 0)
      return new_known (names[i].kind);

  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    if (strcmp (spellings[i].text, name_or_regex) == 0)
      return new_known (spellings[i].kind);

  return dlp_pattern_new_regex (name_or_regex, error);
}

/* For PCRE2 even where a scanner exists. */
DlpPattern *
dlp_pattern_new_regex (const char *regex, GError **error)
{
  g_autoptr (DlpPattern) self = g_new0 (DlpPattern, 1);

  self->kind = DLP_PATTERN_REGEX;
  self->text = g_strdup (regex);
  self->code = dlp_regex_compile (regex, error);
  return self->code ? g_steal_pointer (&self) : NULL;
}

void
dlp_pattern_free (DlpPattern *self)
{
  if (self->code)
    dlp_regex_free (self->code);
  g_free (self->text);
  g_free (self);
}
