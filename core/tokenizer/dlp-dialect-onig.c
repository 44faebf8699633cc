/* SPDX-License-Identifier: MIT */
#include "dlp-dialect.h"
#include "dlp-onig-class.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

/* Rewrites a pattern in the dialect of a tokenizer.json (Oniguruma's own syntax) into one that
 * means the same to PCRE2, on our Unicode version. What would mean something else is refused. No
 * group captures and no case is left to be ignored in what comes out: a letter whose case does not
 * matter becomes a class. */

#define NO_ATOM (-1)

static const char *
find_end_of_number (const char *p)
{
  return p + strspn (p, "0123456789");
}

static void
append_code (DlpOnigRewriter *self, gunichar c)
{
  if (g_ascii_isalnum (c))
    g_string_append_c (self->out, c);
  else
    g_string_append_printf (self->out, "\\x{%x}", c);
}

/* Where case is ignored, two letters in a row match one character: "ss" a sharp s. Also across the
 * border of a group. */
static gboolean
makes_ligature (char first, char second)
{
  static const char *const pairs[] = { "ss", "st", "ff", "fi", "fl" };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (first == pairs[i][0] && second == pairs[i][1])
      return TRUE;
  return FALSE;
}

static gboolean
rewrite_folded (DlpOnigRewriter *self, gunichar c)
{
  char lower = g_ascii_tolower (c);

  if (c >= 0x80)
    return dlp_onig_refuse (self, "a character that is not ASCII where case is ignored");
  if (!g_ascii_isalpha (c))
    {
      append_code (self, c);
      self->folded = 0;
      return TRUE;
    }
  if (makes_ligature (self->folded, lower))
    return dlp_onig_refuse (self, "two letters that a ligature has, where case is ignored");

  g_string_append_printf (self->out, "[%c%c%s]", lower, g_ascii_toupper (c),
                          lower == 's' ? "\\x{17f}" :
                          lower == 'k' ? "\\x{212a}" :
                                         "");
  self->folded = lower;
  return TRUE;
}

static gboolean
rewrite_code (DlpOnigRewriter *self, gunichar c)
{
  self->atom = self->out->len;
  if (self->frames[self->depth].fold)
    return rewrite_folded (self, c);
  append_code (self, c);
  return TRUE;
}

static void
append_set (DlpOnigRewriter *self, const DlpCharSet *set)
{
  self->atom = self->out->len;
  self->folded = 0;
  dlp_char_set_append_class (set, self->exact, self->out);
}

static void
append_without_width (DlpOnigRewriter *self, const char *text)
{
  self->atom = NO_ATOM;
  self->folded = 0;
  g_string_append (self->out, text);
}

/* \b or \B */
static void
append_word_border (DlpOnigRewriter *self, gboolean is_border)
{
  g_autoptr (DlpCharSet) word = dlp_char_set_new ();
  g_autoptr (GString) class = g_string_new (NULL);
  g_autofree char *text = NULL;

  dlp_onig_add_word (word);
  dlp_char_set_append_class (word, self->exact, class);
  text = g_strdup_printf ("(?:(?<=%s)(?%c%s)|(?<!%s)(?%c%s))", class->str, is_border ? '!' : '=',
                          class->str, class->str, is_border ? '=' : '!', class->str);
  append_without_width (self, text);
}

/* Escapes that are no character and no set; self->p is at the letter. FALSE if it is another one.
 */
static gboolean
rewrite_special_escape (DlpOnigRewriter *self)
{
  switch (*self->p)
    {
    case 'A':
      append_without_width (self, "\\A");
      break;

    case 'z':
      append_without_width (self, "\\z");
      break;

    case 'Z':
      append_without_width (self, "\\Z");
      break;

    case 'b':
    case 'B':
      append_word_border (self, *self->p == 'b');
      break;

    case 'R':
      self->atom = self->out->len;
      self->folded = 0;
      g_string_append (self->out, "(?>\\x{d}\\x{a}|[\\x{a}-\\x{d}\\x{85}\\x{2028}\\x{2029}])");
      break;

    case 'N':
    case 'O':
      self->atom = self->out->len;
      self->folded = 0;
      g_string_append (self->out, *self->p == 'N' ? "[^\\x{a}]" : "(?s:.)");
      break;

    default:
      return FALSE;
    }
  self->p++;
  return TRUE;
}

static gboolean
rewrite_escape (DlpOnigRewriter *self)
{
  g_autoptr (DlpCharSet) set = dlp_char_set_new ();
  gboolean is_set;
  gunichar c;

  self->p++;
  if (rewrite_special_escape (self))
    return TRUE;
  if (!dlp_onig_parse_escape (self, set, &is_set, &c))
    return FALSE;
  if (!is_set)
    return rewrite_code (self, c);
  append_set (self, set);
  return TRUE;
}

static gboolean
rewrite_class (DlpOnigRewriter *self)
{
  g_autoptr (DlpCharSet) set = dlp_char_set_new ();

  if (!dlp_onig_parse_class (self, self->frames[self->depth].fold, set))
    return FALSE;
  append_set (self, set);
  return TRUE;
}

static gboolean
open_group (DlpOnigRewriter *self, const char *text, gboolean has_width)
{
  const DlpOnigFrame *outer = &self->frames[self->depth];
  DlpOnigFrame *frame = &self->frames[self->depth + 1];

  if (self->depth + 2 >= DLP_ONIG_MAX_DEPTH)
    return dlp_onig_refuse (self, "groups too deep; at most 62 levels");
  *frame = *outer;
  frame->start = has_width ? (gssize) self->out->len : NO_ATOM;
  frame->implied = FALSE;
  self->depth++;
  self->atom = NO_ATOM;
  g_string_append (self->out, text);
  return TRUE;
}

/* (?flags: or (?flags) ; the latter holds up to the end of the group around it, alternatives
 * included. self->p is behind the question mark. */
static gboolean
rewrite_flags (DlpOnigRewriter *self)
{
  DlpOnigFrame wanted = self->frames[self->depth];
  gboolean on = TRUE;
  const char *p = self->p;

  for (; *p != ':' && *p != ')'; p++)
    switch (*p)
      {
      case '-':
        on = FALSE;
        break;

      case 'i':
        wanted.fold = on;
        break;

      case 'm':
        wanted.dot_all = on;
        break;

      default:
        if (*p == 'x' && !on)
          break;
        return dlp_onig_refuse (self, "a group that is not supported; supported are (?:, (?=, "
                                      "(?!, (?<=, (?<!, (?>, (?<name>, (?# and the flags i and m");
      }

  self->p = p + 1;
  if (!open_group (self, "(?:", TRUE))
    return FALSE;
  self->frames[self->depth].fold = wanted.fold;
  self->frames[self->depth].dot_all = wanted.dot_all;
  self->frames[self->depth].implied = *p == ')';
  return TRUE;
}

static gboolean
skip_comment (DlpOnigRewriter *self)
{
  const char *p = self->p;

  for (p += strlen ("(?#"); *p != ')'; p++)
    {
      if (*p == '\\' && p[1] != '\0')
        p++;
      if (*p == '\0')
        return dlp_onig_refuse (self, "a comment without its closing parenthesis");
    }
  self->p = p + 1;
  return TRUE;
}

/* Nothing that is supported refers to a group by its name. */
static gboolean
open_named (DlpOnigRewriter *self)
{
  const char *name = self->p + strlen ("(?<");
  const char *p = name;

  while (g_ascii_isalnum (*p) || *p == '_')
    p++;
  if (p == name || g_ascii_isdigit (*name) || *p != '>')
    return dlp_onig_refuse (self, "a group whose name is not of letters, digits and \"_\"");
  self->p = p + 1;
  return open_group (self, "(?:", TRUE);
}

static gboolean
rewrite_group (DlpOnigRewriter *self)
{
  static const struct
  {
    const char *text;
    gboolean has_width;
  } kinds[] = {
    { "(?:", TRUE },  { "(?>", TRUE },   { "(?=", FALSE },
    { "(?!", FALSE }, { "(?<=", FALSE }, { "(?<!", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_prefix (self->p, kinds[i].text))
      {
        self->p += strlen (kinds[i].text);
        return open_group (self, kinds[i].text, kinds[i].has_width);
      }

  if (g_str_has_prefix (self->p, "(?#"))
    return skip_comment (self);
  if (g_str_has_prefix (self->p, "(?<"))
    return open_named (self);
  if (self->p[1] == '*')
    return dlp_onig_refuse (self, "a callout");
  if (self->p[1] == '?')
    {
      self->p += 2;
      return rewrite_flags (self);
    }
  self->p++;
  return open_group (self, "(?:", TRUE);
}

static void
close_implied (DlpOnigRewriter *self)
{
  for (; self->frames[self->depth].implied; self->depth--)
    g_string_append_c (self->out, ')');
}

static gboolean
close_group (DlpOnigRewriter *self)
{
  close_implied (self);
  if (self->depth == 0)
    return dlp_onig_refuse (self, "a closing parenthesis without its opening one");
  g_string_append_c (self->out, ')');
  self->atom = self->frames[self->depth].start;
  self->depth--;
  self->p++;
  return TRUE;
}

/* The end of {n}, {n,}, {,n} or {n,m} at @p, or NULL: then the brace is a brace. */
static const char *
find_end_of_interval (const char *p, gboolean *is_fixed)
{
  const char *low = p + 1;
  const char *end = find_end_of_number (low);
  gboolean has_low = end > low;

  *is_fixed = *end != ',';
  if (!*is_fixed)
    {
      const char *high = end + 1;

      end = find_end_of_number (high);
      if (!has_low && end == high)
        return NULL;
    }
  else if (!has_low)
    return NULL;
  return *end == '}' ? end + 1 : NULL;
}

static gboolean
check_interval (DlpOnigRewriter *self)
{
  const char *comma = find_end_of_number (self->p + 1);
  guint64 low = g_ascii_strtoull (self->p + 1, NULL, 10);
  guint64 high = *comma == ',' && comma[1] != '}' ? g_ascii_strtoull (comma + 1, NULL, 10) : low;

  if (low > high)
    return dlp_onig_refuse (self, "a repeat whose first number is the greater one");
  if (high > 65535)
    return dlp_onig_refuse (self, "a repeat of more than 65535 times");
  return TRUE;
}

/* The atom before self->p as the operand of one more repeat. */
static gboolean
wrap_atom (DlpOnigRewriter *self, gboolean is_repeat)
{
  if (self->atom == NO_ATOM)
    return dlp_onig_refuse (self, "a repeat of nothing, or of what has no width");
  if (is_repeat)
    {
      g_string_insert (self->out, self->atom, "(?:");
      g_string_append_c (self->out, ')');
    }
  self->folded = 0;
  return TRUE;
}

/* One repeat with what makes it lazy or possessive. Of intervals none is possessive, and {n} is not
 * lazy either: there the sign is a repeat of the repeat. */
static gboolean
rewrite_repeat (DlpOnigRewriter *self, const char *end, gboolean is_interval, gboolean is_fixed)
{
  if (is_interval && !check_interval (self))
    return FALSE;
  if (is_interval && self->p[1] == ',')
    g_string_append (self->out, "{0");
  else
    g_string_append_c (self->out, *self->p);
  g_string_append_len (self->out, self->p + 1, end - self->p - 1);

  if (*end == '?' && !is_fixed)
    g_string_append_c (self->out, *end++);
  else if (*end == '+' && !is_interval)
    g_string_append_c (self->out, *end++);
  self->p = end;
  return TRUE;
}

static gboolean
rewrite_repeats (DlpOnigRewriter *self)
{
  for (gboolean is_repeat = FALSE;; is_repeat = TRUE)
    {
      gboolean is_interval = *self->p == '{', is_fixed = FALSE;
      const char *end = self->p + 1;

      if (is_interval)
        end = find_end_of_interval (self->p, &is_fixed);
      else if (*self->p == '\0' || strchr ("*+?", *self->p) == NULL)
        return TRUE;
      if (end == NULL)
        return TRUE;
      if (!wrap_atom (self, is_repeat) || !rewrite_repeat (self, end, is_interval, is_fixed))
        return FALSE;
    }
}

static gboolean
rewrite_character (DlpOnigRewriter *self)
{
  gunichar c = g_utf8_get_char (self->p);

  if (!rewrite_code (self, c))
    return FALSE;
  self->p = g_utf8_next_char (self->p);
  return TRUE;
}

static gboolean
rewrite_next (DlpOnigRewriter *self)
{
  switch (*self->p)
    {
    case '\\':
      return rewrite_escape (self);

    case '[':
      return rewrite_class (self);

    case '(':
      return rewrite_group (self);

    case ')':
      return close_group (self);

    case '^':
    case '$':
      append_without_width (self, *self->p == '^' ? "(?m:^)" : "(?m:$)");
      self->p++;
      return TRUE;

    case '|':
      append_without_width (self, "|");
      self->p++;
      return TRUE;

    case '.':
      self->atom = self->out->len;
      self->folded = 0;
      g_string_append (self->out, self->frames[self->depth].dot_all ? "(?s:.)" : "[^\\x{a}]");
      self->p++;
      return TRUE;

    default:
      return rewrite_character (self);
    }
}

char *
dlp_dialect_rewrite_onig (const char *regex, gboolean exact, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  DlpOnigRewriter self = { .regex = regex, .p = regex, .out = out, .exact = exact, .error = error };

  if (!g_utf8_validate (regex, -1, NULL))
    {
      g_set_error_literal (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
                           "the pattern is not UTF-8");
      return NULL;
    }

  self.atom = NO_ATOM;
  /* A brace that is no repeat is a character: that is decided behind each atom. */
  while (*self.p)
    if (!rewrite_repeats (&self) || (*self.p && !rewrite_next (&self)))
      return NULL;
  close_implied (&self);
  if (self.depth > 0)
    {
      dlp_onig_refuse (&self, "a group without its closing parenthesis");
      return NULL;
    }
  return g_strdup (out->str);
}
