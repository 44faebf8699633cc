/* SPDX-License-Identifier: MIT */
#include "dlp-pattern.h"

#include <string.h>

#define CASED "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UPPERS "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWERS "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define PREFIX "[^\\r\\n\\p{L}\\p{N}]?"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define NOT_HAN(members) "[" members "&&[^\\p{Han}]]"
#define UPPERS_NOT_HAN NOT_HAN ("\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}")
#define LOWERS_NOT_HAN NOT_HAN ("\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}")

typedef enum
{
  TIKTOKEN = 1,
  ONIG = 2,
  BOTH = 3,
  CHAIN = 4, /* not one regular expression: what is kept is a name for several stages */
} Dialect;

typedef struct
{
  DlpPatternKind kind;
  Dialect dialect; /* those in which it means that */
  const char *text;
} Spelling;

/* The first spelling of a kind is the one that is kept. Those of one kind cut every text alike. */
static const Spelling spellings[] = {
  { DLP_PATTERN_GPT2, TIKTOKEN,
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s" },
  { DLP_PATTERN_GPT2, BOTH,
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" },
  { DLP_PATTERN_GPT2, BOTH,
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" },
  { DLP_PATTERN_CL100K, TIKTOKEN,
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+|"
    " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s" },
  { DLP_PATTERN_CL100K_OLD, BOTH,
    CASED "|" PREFIX "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES },
  { DLP_PATTERN_CL100K_OLD, BOTH,
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+" },
  { DLP_PATTERN_O200K, BOTH,
    PREFIX UPPERS "*" LOWERS "+" CASED "?|" PREFIX UPPERS "+" LOWERS "*" CASED
                  "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES },
  { DLP_PATTERN_QWEN2, BOTH,
    CASED "|" PREFIX "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES },
  { DLP_PATTERN_QWEN35, BOTH,
    CASED "|" PREFIX "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACES },
  { DLP_PATTERN_TEKKEN, BOTH,
    PREFIX UPPERS "*" LOWERS "+|" PREFIX UPPERS "+" LOWERS
                  "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES },
  { DLP_PATTERN_KIMI_K2, BOTH,
    "[\\p{Han}]+|" PREFIX UPPERS_NOT_HAN "*" LOWERS_NOT_HAN "+" CASED "?|" PREFIX UPPERS_NOT_HAN
    "+" LOWERS_NOT_HAN "*" CASED "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES },
  { DLP_PATTERN_DEEPSEEK, CHAIN, "deepseek" },
  { DLP_PATTERN_DIGITS, CHAIN, "digits" },
};

#define DEEPSEEK_NUMBERS "\\p{N}{1,3}"
#define DEEPSEEK_CJK "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
#define DEEPSEEK_WORDS(newlines)                                                                   \
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^" newlines                              \
  "\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[" newlines "]*|\\s*[" newlines            \
  "]+|\\s+(?!\\S)|\\s+"

/* Regular expressions of stages whose matches are all isolated, and what is between them is kept.
 */
static const struct
{
  DlpPatternKind kind;
  const char *regexes[3];
} chains[] = {
  { DLP_PATTERN_DEEPSEEK, { DEEPSEEK_NUMBERS, DEEPSEEK_CJK, DEEPSEEK_WORDS ("\r\n") } },
  { DLP_PATTERN_DEEPSEEK, { DEEPSEEK_NUMBERS, DEEPSEEK_CJK, DEEPSEEK_WORDS ("\\r\\n") } },
};

const char dlp_pattern_names[] = "gpt2, r50k, p50k, cl100k, o200k, qwen2, "
                                 "qwen3.5, tekken, kimi-k2, deepseek, digits";

static const struct
{
  const char *name;
  DlpPatternKind kind;
} names[] = {
  { "gpt2", DLP_PATTERN_GPT2 },        { "r50k", DLP_PATTERN_GPT2 },
  { "p50k", DLP_PATTERN_GPT2 },        { "cl100k", DLP_PATTERN_CL100K },
  { "o200k", DLP_PATTERN_O200K },      { "r50k_base", DLP_PATTERN_GPT2 },
  { "p50k_base", DLP_PATTERN_GPT2 },   { "cl100k_base", DLP_PATTERN_CL100K },
  { "o200k_base", DLP_PATTERN_O200K }, { "qwen2", DLP_PATTERN_QWEN2 },
  { "qwen3.5", DLP_PATTERN_QWEN35 },   { "tekken", DLP_PATTERN_TEKKEN },
  { "kimi-k2", DLP_PATTERN_KIMI_K2 },  { "deepseek", DLP_PATTERN_DEEPSEEK },
  { "digits", DLP_PATTERN_DIGITS },
};

/* @kind is not DLP_PATTERN_REGEX. */
DlpPattern *
dlp_pattern_new_kind (DlpPatternKind kind)
{
  DlpPattern *self = g_new0 (DlpPattern, 1);

  self->kind = kind;
  for (guint i = 0; i < G_N_ELEMENTS (spellings) && self->text == NULL; i++)
    if (spellings[i].kind == kind)
      self->text = g_strdup (spellings[i].text);
  return self;
}

static DlpPattern *
new_by_spelling (const char *regex, Dialect dialect)
{
  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    if ((spellings[i].dialect & dialect) && strcmp (spellings[i].text, regex) == 0)
      return dlp_pattern_new_kind (spellings[i].kind);
  return NULL;
}

static DlpPattern *
new_compiled (const char *regex, gpointer code)
{
  DlpPattern *self;

  if (code == NULL)
    return NULL;
  self = g_new0 (DlpPattern, 1);
  self->kind = DLP_PATTERN_REGEX;
  self->text = g_strdup (regex);
  self->code = code;
  return self;
}

/* @name_or_regex is one of dlp_pattern_names or the text of a regular expression as tiktoken
 * takes it. */
DlpPattern *
dlp_pattern_new (const char *name_or_regex, GError **error)
{
  DlpPattern *known;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].name, name_or_regex) == 0)
      return dlp_pattern_new_kind (names[i].kind);

  known = new_by_spelling (name_or_regex, TIKTOKEN);
  return known ? known : dlp_pattern_new_regex (name_or_regex, error);
}

/* For PCRE2 even where a scanner exists. */
DlpPattern *
dlp_pattern_new_regex (const char *regex, GError **error)
{
  return new_compiled (regex, dlp_regex_compile (regex, error));
}

/* @regex is as a tokenizer.json has it. */
DlpPattern *
dlp_pattern_new_onig (const char *regex, GError **error)
{
  DlpPattern *known = new_by_spelling (regex, ONIG);

  return known ? known : dlp_pattern_new_onig_regex (regex, error);
}

DlpPattern *
dlp_pattern_new_onig_regex (const char *regex, GError **error)
{
  return new_compiled (regex, dlp_regex_compile_onig (regex, error));
}

/* Whether @n stages with these regular expressions are @kind. */
gboolean
dlp_pattern_is_chain (DlpPatternKind kind, const char *const *regexes, guint n)
{
  if (n != G_N_ELEMENTS (chains[0].regexes))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++)
    {
      guint same = 0;

      while (same < n && strcmp (regexes[same], chains[i].regexes[same]) == 0)
        same++;
      if (same == n && chains[i].kind == kind)
        return TRUE;
    }
  return FALSE;
}

void
dlp_pattern_free (DlpPattern *self)
{
  if (self->code)
    dlp_regex_free (self->code);
  g_free (self->text);
  g_free (self);
}
