/* SPDX-License-Identifier: MIT */
#include "dlp-splitter-private.h"

#include <string.h>

typedef gboolean (*ParseFunc) (DlpSplitterParser *self, DlpJsonNode node, GError **error);

static const char *const cut_names[] = { "Removed", "Isolated", "MergedWithPrevious",
                                         "MergedWithNext", "Contiguous" };
static const char *const prepend_names[] = { "never", "first", "always" };

/* What comes behind a ByteLevel sees the letters. */
static void
ensure_mapped (DlpSplitterParser *self)
{
  if (self->byte_level && !self->mapped)
    {
      g_ptr_array_add (self->steps, dlp_step_new (DLP_STEP_MAP, DLP_CUT_ISOLATED));
      self->mapped = TRUE;
    }
}

static DlpStep *
add_step (DlpSplitterParser *self, DlpStepType type, DlpCut cut)
{
  DlpStep *step = dlp_step_new (type, cut);

  ensure_mapped (self);
  g_ptr_array_add (self->steps, step);
  return step;
}

static void
add_set (DlpSplitterParser *self, DlpCharSet *set, const char *name, DlpCut cut)
{
  DlpStep *step = add_step (self, DLP_STEP_SET, cut);

  step->set = set;
  step->text = g_strdup (name);
  step->text_len = strlen (name);
}

static gboolean
read_name (DlpJsonNode node,
           const char *what,
           const char *const *names,
           guint n,
           guint *value,
           GError **error)
{
  g_autoptr (GString) all = g_string_new (NULL);

  if (!dlp_json_check_type (node, DLP_JSON_STRING, what, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      *value = i;
      if (dlp_json_is_string (node, names[i]))
        return TRUE;
      g_string_append_printf (all, "%s%s", i ? ", " : "", names[i]);
    }
  return dlp_json_fail (node, error, "%s is \"%.40s\"; known are %s", what,
                        dlp_json_get_string (node, NULL), all->str);
}

static gboolean
read_cut (DlpJsonNode node, DlpCut *cut, GError **error)
{
  guint value = 0;

  if (!read_name (dlp_json_get_member (node, "behavior"), "\"behavior\"", cut_names,
                  G_N_ELEMENTS (cut_names), &value, error))
    return FALSE;
  *cut = value;
  return TRUE;
}

/* One character. */
static gboolean
read_character (DlpJsonNode node, const char *what, const char **text, gsize *len, GError **error)
{
  if (!dlp_json_check_type (node, DLP_JSON_STRING, what, error))
    return FALSE;
  *text = dlp_json_get_string (node, len);
  if (*len == 0 || (gsize) (g_utf8_next_char (*text) - *text) != *len)
    return dlp_json_fail (node, error, "%s is not one character", what);
  return TRUE;
}

static gboolean
is_kept_whole (DlpCut cut, gboolean invert)
{
  return cut == DLP_CUT_ISOLATED || (cut == DLP_CUT_REMOVED && invert);
}

static gboolean
add_regex (DlpSplitterParser *self, DlpJsonNode node, DlpCut cut, gboolean invert, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  gsize len;
  const char *regex = dlp_json_get_string (node, &len);
  DlpPattern *pattern = NULL;
  DlpStep *step;

  if (strlen (regex) < len)
    return dlp_json_fail (node, error, "a regular expression with a nul");
  if (is_kept_whole (cut, invert))
    pattern = dlp_pattern_new_onig (regex, &local_error);
  else
    pattern = dlp_pattern_new_onig_regex (regex, &local_error);
  if (pattern == NULL)
    return dlp_json_fail (node, error, "%s", local_error->message);

  step = add_step (self, pattern->code ? DLP_STEP_REGEX : DLP_STEP_SCAN, cut);
  step->invert = invert;
  step->pattern = pattern;
  step->scan = dlp_pattern_get_scanner (pattern->kind);
  return TRUE;
}

static gboolean
parse_split (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", "pattern", "behavior", "invert", NULL };
  static const char *const kinds[] = { "String", "Regex", NULL };
  DlpJsonNode pattern = dlp_json_get_member (node, "pattern");
  DlpJsonNode string = dlp_json_get_member (pattern, "String");
  DlpJsonNode regex = dlp_json_get_member (pattern, "Regex");
  gboolean is_regex = dlp_json_get_type (regex) != DLP_JSON_NONE, invert;
  const char *text;
  DlpCut cut;
  DlpStep *step;

  if (!dlp_json_check_members (node, known, error) ||
      !dlp_json_check_type (pattern, DLP_JSON_OBJECT, "\"pattern\"", error) ||
      !dlp_json_check_members (pattern, kinds, error) || !read_cut (node, &cut, error) ||
      !dlp_json_read_boolean (node, "invert", -1, &invert, error))
    return FALSE;
  if (dlp_json_get_n_children (pattern) != 1)
    return dlp_json_fail (pattern, error, "\"pattern\" has not one of String and Regex");
  if (!dlp_json_check_type (is_regex ? regex : string, DLP_JSON_STRING, "a pattern", error))
    return FALSE;
  if (is_regex)
    return add_regex (self, regex, cut, invert, error);

  step = add_step (self, DLP_STEP_STRING, cut);
  step->invert = invert;
  text = dlp_json_get_string (string, &step->text_len);
  step->text = g_memdup2 (text, step->text_len);
  return TRUE;
}

static gboolean
parse_byte_level (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", "add_prefix_space", "trim_offsets", "use_regex",
                                       NULL };
  gboolean prefix, use_regex, ignored;

  if (!dlp_json_check_members (node, known, error) ||
      !dlp_json_read_boolean (node, "add_prefix_space", -1, &prefix, error) ||
      !dlp_json_read_boolean (node, "trim_offsets", TRUE, &ignored, error) ||
      !dlp_json_read_boolean (node, "use_regex", TRUE, &use_regex, error))
    return FALSE;

  ensure_mapped (self);
  if (prefix)
    add_step (self, DLP_STEP_PREFIX, DLP_CUT_ISOLATED);
  if (use_regex)
    {
      DlpStep *step = add_step (self, DLP_STEP_SCAN, DLP_CUT_ISOLATED);

      step->pattern = dlp_pattern_new_kind (DLP_PATTERN_GPT2);
      step->scan = dlp_pattern_get_scanner (DLP_PATTERN_GPT2);
    }
  self->inserts |= prefix;
  self->byte_level = TRUE;
  self->mapped = FALSE;
  return TRUE;
}

/* "add_prefix_space" is how older files say "prepend_scheme". */
static gboolean
read_prepend (DlpJsonNode node, DlpPrepend *prepend, GError **error)
{
  DlpJsonNode scheme = dlp_json_get_member (node, "prepend_scheme");
  gboolean has_scheme = dlp_json_get_type (scheme) != DLP_JSON_NONE, prefix;
  guint value = DLP_PREPEND_ALWAYS;

  if (!dlp_json_read_boolean (node, "add_prefix_space", TRUE, &prefix, error))
    return FALSE;
  if (has_scheme && !read_name (scheme, "\"prepend_scheme\"", prepend_names,
                                G_N_ELEMENTS (prepend_names), &value, error))
    return FALSE;
  if (!prefix && has_scheme && value != DLP_PREPEND_NEVER)
    return dlp_json_fail (scheme, error,
                          "\"prepend_scheme\" is \"%s\" and \"add_prefix_space\" is false: these "
                          "contradict each other",
                          prepend_names[value]);
  *prepend = prefix ? value : DLP_PREPEND_NEVER;
  return TRUE;
}

static gboolean
parse_metaspace (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = {
    "type", "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep", NULL
  };
  const char *text = NULL;
  gboolean split;
  gsize len = 0;
  DlpPrepend prepend = DLP_PREPEND_NEVER;
  DlpStep *step;

  if (!dlp_json_check_members (node, known, error) ||
      !read_character (dlp_json_get_member (node, "replacement"), "\"replacement\"", &text, &len,
                       error) ||
      !read_prepend (node, &prepend, error) ||
      !dlp_json_read_boolean (node, "split", TRUE, &split, error))
    return FALSE;
  if (self->byte_level)
    return dlp_json_fail (node, error,
                          "Metaspace behind ByteLevel: what it adds could not be told from the "
                          "letters that stand for bytes; remove one of them");
  if (self->inserts && prepend == DLP_PREPEND_FIRST)
    return dlp_json_fail (node, error,
                          "\"prepend_scheme\" is \"first\" behind another step that adds "
                          "characters: that is not supported");

  step = add_step (self, DLP_STEP_REPLACE, DLP_CUT_ISOLATED);
  step->prepend = prepend;
  step->text = g_strndup (text, len);
  step->text_len = len;
  self->inserts = TRUE;
  if (split)
    {
      step = add_step (self, DLP_STEP_STRING, DLP_CUT_MERGED_WITH_NEXT);
      step->text = g_strndup (text, len);
      step->text_len = len;
    }
  return TRUE;
}

static gboolean
check_only_type (DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", NULL };

  return dlp_json_check_members (node, known, error);
}

/* \w+|[^\w\s]+ */
static gboolean
parse_whitespace (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  if (!check_only_type (node, error))
    return FALSE;
  add_set (self, dlp_splitter_spaces (), "spaces", DLP_CUT_REMOVED);
  add_set (self, dlp_splitter_words (), "words", DLP_CUT_CONTIGUOUS);
  return TRUE;
}

static gboolean
parse_whitespace_split (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  if (!check_only_type (node, error))
    return FALSE;
  add_set (self, dlp_splitter_spaces (), "spaces", DLP_CUT_REMOVED);
  return TRUE;
}

static gboolean
parse_bert (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  if (!check_only_type (node, error))
    return FALSE;
  add_set (self, dlp_splitter_spaces (), "spaces", DLP_CUT_REMOVED);
  add_set (self, dlp_splitter_punctuation (), "punctuation", DLP_CUT_ISOLATED);
  return TRUE;
}

static gboolean
parse_delimiter (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", "delimiter", NULL };
  const char *text = NULL;
  gsize len = 0;
  DlpStep *step;

  if (!dlp_json_check_members (node, known, error) ||
      !read_character (dlp_json_get_member (node, "delimiter"), "\"delimiter\"", &text, &len,
                       error))
    return FALSE;
  step = add_step (self, DLP_STEP_STRING, DLP_CUT_REMOVED);
  step->text = g_strndup (text, len);
  step->text_len = len;
  return TRUE;
}

static gboolean
parse_punctuation (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", "behavior", NULL };
  DlpCut cut = DLP_CUT_ISOLATED;

  if (!dlp_json_check_members (node, known, error))
    return FALSE;
  if (dlp_json_get_type (dlp_json_get_member (node, "behavior")) != DLP_JSON_NONE &&
      !read_cut (node, &cut, error))
    return FALSE;
  add_set (self, dlp_splitter_punctuation (), "punctuation", cut);
  return TRUE;
}

static gboolean
parse_digits (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", "individual_digits", NULL };
  gboolean individual;

  if (!dlp_json_check_members (node, known, error) ||
      !dlp_json_read_boolean (node, "individual_digits", -1, &individual, error))
    return FALSE;
  add_set (self, dlp_splitter_numbers (), "numbers",
           individual ? DLP_CUT_ISOLATED : DLP_CUT_CONTIGUOUS);
  return TRUE;
}

static gboolean
parse_scripts (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  if (!check_only_type (node, error))
    return FALSE;
  add_step (self, DLP_STEP_SCRIPTS, DLP_CUT_ISOLATED);
  return TRUE;
}

static gboolean
parse_length (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", "length", NULL };
  DlpJsonNode length = dlp_json_get_member (node, "length");
  guint64 value = 5;

  if (!dlp_json_check_members (node, known, error))
    return FALSE;
  if (dlp_json_get_type (length) != DLP_JSON_NONE &&
      !dlp_json_read_uint (length, G_MAXUINT64, &value, error))
    return FALSE;
  if (value == 0)
    return dlp_json_fail (length, error, "\"length\" is 0; at least 1 character makes a piece");
  add_step (self, DLP_STEP_LENGTH, DLP_CUT_ISOLATED)->length = value;
  return TRUE;
}

static gboolean
parse_sequence (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  static const char *const known[] = { "type", "pretokenizers", NULL };
  DlpJsonNode list = dlp_json_get_member (node, "pretokenizers"), at;
  guint n = dlp_json_get_n_children (list);

  if (!dlp_json_check_members (node, known, error) ||
      !dlp_json_check_type (list, DLP_JSON_ARRAY, "\"pretokenizers\"", error))
    return FALSE;
  at = dlp_json_get_first (list);
  for (guint i = 0; i < n; i++)
    {
      if (!dlp_splitter_parse (self, at, error))
        return FALSE;
      if (i + 1 < n)
        at = dlp_json_get_next (at);
    }
  return TRUE;
}

static const struct
{
  const char *name;
  ParseFunc parse;
} types[] = {
  { "BertPreTokenizer", parse_bert },
  { "ByteLevel", parse_byte_level },
  { "CharDelimiterSplit", parse_delimiter },
  { "Digits", parse_digits },
  { "FixedLength", parse_length },
  { "Metaspace", parse_metaspace },
  { "Punctuation", parse_punctuation },
  { "Sequence", parse_sequence },
  { "Split", parse_split },
  { "UnicodeScripts", parse_scripts },
  { "Whitespace", parse_whitespace },
  { "WhitespaceSplit", parse_whitespace_split },
};

gboolean
dlp_splitter_parse (DlpSplitterParser *self, DlpJsonNode node, GError **error)
{
  DlpJsonNode type = dlp_json_get_member (node, "type");
  const char *names[G_N_ELEMENTS (types)];
  guint which = 0;

  if (!dlp_json_check_type (node, DLP_JSON_OBJECT, "a pre-tokenizer", error))
    return FALSE;
  if (dlp_json_get_type (type) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "a pre-tokenizer without \"type\"");
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    names[i] = types[i].name;
  if (!read_name (type, "the type of a pre-tokenizer", names, G_N_ELEMENTS (names), &which, error))
    return FALSE;
  return types[which].parse (self, node, error);
}

static DlpStep *
get_step (GPtrArray *steps, guint i)
{
  return g_ptr_array_index (steps, i);
}

static gboolean
is_digits (GPtrArray *steps)
{
  return steps->len == 2 && get_step (steps, 0)->type == DLP_STEP_SET &&
         strcmp (get_step (steps, 0)->text, "numbers") == 0 &&
         get_step (steps, 0)->cut == DLP_CUT_ISOLATED &&
         get_step (steps, 1)->type == DLP_STEP_SCAN &&
         get_step (steps, 1)->pattern->kind == DLP_PATTERN_GPT2;
}

static gboolean
is_deepseek (GPtrArray *steps)
{
  const char *regexes[3];

  if (steps->len != G_N_ELEMENTS (regexes))
    return FALSE;
  for (guint i = 0; i < steps->len; i++)
    {
      if (get_step (steps, i)->type != DLP_STEP_REGEX ||
          get_step (steps, i)->cut != DLP_CUT_ISOLATED)
        return FALSE;
      regexes[i] = get_step (steps, i)->pattern->text;
    }
  return dlp_pattern_is_chain (DLP_PATTERN_DEEPSEEK, regexes, steps->len);
}

/* Puts a scanner in the place of several steps that it does in one. */
void
dlp_splitter_simplify (GPtrArray *steps)
{
  DlpPatternKind kind = DLP_PATTERN_REGEX;
  DlpStep *step;

  if (is_digits (steps))
    kind = DLP_PATTERN_DIGITS;
  else if (is_deepseek (steps))
    kind = DLP_PATTERN_DEEPSEEK;
  else
    return;
  step = dlp_step_new (DLP_STEP_SCAN, DLP_CUT_ISOLATED);
  step->pattern = dlp_pattern_new_kind (kind);
  step->scan = dlp_pattern_get_scanner (kind);
  g_ptr_array_set_size (steps, 0);
  g_ptr_array_add (steps, step);
}
