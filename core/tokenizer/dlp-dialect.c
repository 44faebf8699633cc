/* SPDX-License-Identifier: MIT */
#include "dlp-dialect.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

#define MAX_DEPTH 64

/* Rewrites a pattern in the dialect that tiktoken takes (Rust's regex with fancy-regex) into one
 * that means the same to PCRE2, on our Unicode version. What would mean something else is refused.
 */
typedef struct
{
  const char *regex;
  const char *p;
  GString *out;
  gboolean fold[MAX_DEPTH]; /* (?i), by depth of groups */
  guint depth;
  gboolean exact;
  GError **error;
} Rewriter;

static gboolean
refuse (Rewriter *self, const char *reason)
{
  g_set_error (self->error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
               "pattern \"%s\": at byte %u: %s", self->regex, (guint) (self->p - self->regex),
               reason);
  return FALSE;
}

static gboolean
folds (const Rewriter *self)
{
  return self->fold[self->depth];
}

/* \p{Name} or \pL; self->p is at the p */
static gboolean
rewrite_property (Rewriter *self, gboolean in_class)
{
  gboolean negated = *self->p == 'P';
  const char *name = self->p + 1;
  gsize len = 1;

  if (folds (self))
    return refuse (self, "a property where case is ignored");
  if (*name == '{')
    {
      const char *close = strchr (++name, '}');

      if (close == NULL)
        return refuse (self, "a property without its closing brace");
      len = close - name;
    }

  if (!in_class)
    g_string_append (self->out, negated ? "[^" : "[");
  if (*name == '\0' ||
      !dlp_dialect_property (name, len, in_class && negated, self->exact, self->out))
    return refuse (self, "an unknown property; known are the general categories and Han");
  if (!in_class)
    g_string_append_c (self->out, ']');
  self->p = name + len + (name[-1] == '{');
  return TRUE;
}

/* \s \S \d \D; self->p is at the letter */
static gboolean
rewrite_kind (Rewriter *self, gboolean in_class)
{
  gboolean negated = g_ascii_isupper (*self->p);
  gboolean space = g_ascii_tolower (*self->p) == 's';

  if (negated && in_class && space)
    {
      g_string_append (self->out, "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{84}\\x{86}-\\x{9f}"
                                  "\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"
                                  "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"
                                  "\\x{3001}-\\x{10ffff}");
    }
  else
    {
      if (!in_class)
        g_string_append (self->out, negated ? "[^" : "[");
      if (space)
        g_string_append (self->out, dlp_dialect_space);
      else
        dlp_dialect_property ("Nd", 2, in_class && negated, self->exact, self->out);
      if (!in_class)
        g_string_append_c (self->out, ']');
    }
  self->p++;
  return TRUE;
}

/* \xHH \x{H} \uHHHH \u{H}; self->p is at the letter */
static gboolean
rewrite_code (Rewriter *self)
{
  const char *digits = self->p + 1;
  gsize len = *self->p == 'x' ? 2 : 4;
  gboolean braces = *digits == '{';
  guint32 c = 0;

  if (braces)
    len = strspn (++digits, "0123456789abcdefABCDEF");
  if (len == 0 || len > 6 || strspn (digits, "0123456789abcdefABCDEF") < len ||
      (braces && digits[len] != '}'))
    return refuse (self, "a malformed character code");
  for (gsize i = 0; i < len; i++)
    c = c << 4 | g_ascii_xdigit_value (digits[i]);
  if (!g_unichar_validate (c))
    return refuse (self, "a code that is no character");
  if (c >= 0x80 && folds (self))
    return refuse (self, "a character that is not ASCII where case is ignored");

  g_string_append_printf (self->out, "\\x{%x}", c);
  self->p = digits + len + braces;
  return TRUE;
}

/* self->p is at the backslash */
static gboolean
rewrite_escape (Rewriter *self, gboolean in_class)
{
  char c = *++self->p;

  switch (c)
    {
    case 'p':
    case 'P':
      return rewrite_property (self, in_class);

    case 's':
    case 'S':
    case 'd':
    case 'D':
      return rewrite_kind (self, in_class);

    case 'x':
    case 'u':
      return rewrite_code (self);

    case 'v':
      g_string_append (self->out, "\\x{b}");
      break;

    case 'A':
    case 'z':
      if (in_class)
        return refuse (self, "an anchor in a class");
      G_GNUC_FALLTHROUGH;
    case 'n':
    case 'r':
    case 't':
    case 'f':
    case 'a':
      g_string_append_printf (self->out, "\\%c", c);
      break;

    default:
      if (!g_ascii_ispunct (c) && c != ' ')
        return refuse (self,
                       "an escape that is not supported; supported are \\p \\P \\s \\S \\d "
                       "\\D \\x \\u \\n \\r \\t \\f \\a \\v \\A \\z and \\ before punctuation");
      g_string_append_printf (self->out, "\\x{%x}", c);
    }
  self->p++;
  return TRUE;
}

static gboolean
rewrite_posix (Rewriter *self)
{
  static const char *const sets[][2] = {
    { "[:alpha:]", "A-Za-z" },
    { "[:digit:]", "0-9" },
    { "[:alnum:]", "0-9A-Za-z" },
    { "[:upper:]", "A-Z" },
    { "[:lower:]", "a-z" },
    { "[:xdigit:]", "0-9A-Fa-f" },
    { "[:word:]", "0-9A-Z_a-z" },
    { "[:space:]", "\\x{9}-\\x{d}\\x{20}" },
    { "[:blank:]", "\\x{9}\\x{20}" },
    { "[:cntrl:]", "\\x{0}-\\x{1f}\\x{7f}" },
    { "[:print:]", "\\x{20}-\\x{7e}" },
    { "[:graph:]", "\\x{21}-\\x{7e}" },
    { "[:ascii:]", "\\x{0}-\\x{7f}" },
    { "[:punct:]", "\\x{21}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{60}\\x{7b}-\\x{7e}" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
    if (g_str_has_prefix (self->p, sets[i][0]))
      {
        g_string_append (self->out, sets[i][1]);
        self->p += strlen (sets[i][0]);
        return TRUE;
      }
  return refuse (self, "a class within a class");
}

static gboolean
rewrite_literal (Rewriter *self, gboolean in_class)
{
  const char *next = g_utf8_next_char (self->p);

  if ((guint8) *self->p >= 0x80 && folds (self))
    return refuse (self, "a character that is not ASCII where case is ignored");
  if (in_class && *self->p != '-' && (guint8) *self->p < 0x80)
    g_string_append_printf (self->out, "\\x{%x}", *self->p);
  else
    g_string_append_len (self->out, self->p, next - self->p);
  self->p = next;
  return TRUE;
}

/* The items of a class up to "]" or "&&". */
static gboolean
rewrite_items (Rewriter *self)
{
  const char *start = self->p;

  while (*self->p != ']' || self->p == start)
    {
      gboolean ok;

      if (*self->p == '\0')
        return refuse (self, "a class without its closing bracket");
      if (g_str_has_prefix (self->p, "&&"))
        return TRUE;
      if (g_str_has_prefix (self->p, "--") || g_str_has_prefix (self->p, "~~"))
        return refuse (self, "a difference of classes");

      if (*self->p == '\\')
        ok = rewrite_escape (self, TRUE);
      else if (*self->p == '[')
        ok = rewrite_posix (self);
      else
        ok = rewrite_literal (self, TRUE);
      if (!ok)
        return FALSE;
    }
  return TRUE;
}

/* [A&&[B]] and [A&&[^B]] become a look-ahead for B and [A]; self->p is at the "&&" */
static gboolean
rewrite_intersection (Rewriter *self, gsize at, gboolean negated)
{
  g_autofree char *left = g_strdup (self->out->str + at);

  if (negated || self->p[2] != '[')
    return refuse (self, "an intersection that is not of the form [..&&[..]]");
  g_string_truncate (self->out, at);
  g_string_append (self->out, "(?:(?=");
  self->p += 2;
  g_string_append_c (self->out, *self->p++);
  if (*self->p == '^')
    g_string_append_c (self->out, *self->p++);
  if (!rewrite_items (self))
    return FALSE;
  if (!g_str_has_prefix (self->p, "]]"))
    return refuse (self, "an intersection that is not of the form [..&&[..]]");
  g_string_append_printf (self->out, "])%s])", left);
  self->p += 2;
  return TRUE;
}

static gboolean
rewrite_class (Rewriter *self)
{
  gsize at = self->out->len;
  gboolean negated = self->p[1] == '^';

  g_string_append (self->out, negated ? "[^" : "[");
  self->p += 1 + negated;
  if (!rewrite_items (self))
    return FALSE;
  if (*self->p == '&')
    return rewrite_intersection (self, at, negated);
  g_string_append_c (self->out, *self->p++);
  return TRUE;
}

/* (?flags) or (?flags: ; self->p is behind the question mark */
static gboolean
rewrite_flags (Rewriter *self)
{
  gboolean fold = folds (self), on = TRUE;
  const char *p = self->p;

  for (; *p != ':' && *p != ')'; p++)
    {
      if (*p == '-')
        on = FALSE;
      else if (*p == 'i')
        fold = on;
      else if (*p != 's' && *p != 'm')
        return refuse (self, "a group that is not supported");
    }

  g_string_append (self->out, "(?");
  g_string_append_len (self->out, self->p, p + 1 - self->p);
  if (*p == ':')
    self->depth++;
  self->fold[self->depth] = fold;
  self->p = p + 1;
  return TRUE;
}

static gboolean
rewrite_group (Rewriter *self)
{
  static const char *const kinds[] = { "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>" };

  if (self->depth + 1 >= MAX_DEPTH)
    return refuse (self, "groups too deep; at most 63 levels");
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_prefix (self->p, kinds[i]))
      {
        g_string_append (self->out, kinds[i]);
        self->p += strlen (kinds[i]);
        self->fold[self->depth + 1] = folds (self);
        self->depth++;
        return TRUE;
      }

  if (self->p[1] == '*')
    return refuse (self, "a group that is not supported");
  if (self->p[1] == '?')
    {
      self->p += 2;
      return rewrite_flags (self);
    }
  g_string_append_c (self->out, *self->p++);
  self->fold[self->depth + 1] = folds (self);
  self->depth++;
  return TRUE;
}

static gboolean
rewrite_repeat (Rewriter *self)
{
  const char *p = self->p + 1;
  gsize digits = strspn (p, "0123456789");

  p += digits;
  if (*p == ',')
    p += 1 + strspn (p + 1, "0123456789");
  if (digits == 0 || *p != '}')
    return refuse (self, "a brace that is no repeat {n}, {n,} or {n,m}");
  g_string_append_len (self->out, self->p, p + 1 - self->p);
  self->p = p + 1;
  return TRUE;
}

static gboolean
rewrite_next (Rewriter *self)
{
  switch (*self->p)
    {
    case '\\':
      return rewrite_escape (self, FALSE);

    case '[':
      return rewrite_class (self);

    case '(':
      return rewrite_group (self);

    case '{':
      return rewrite_repeat (self);

    case ')':
      if (self->depth == 0)
        return refuse (self, "a closing parenthesis without its opening one");
      self->depth--;
      g_string_append_c (self->out, *self->p++);
      return TRUE;

    default:
      return rewrite_literal (self, FALSE);
    }
}

char *
dlp_dialect_rewrite (const char *regex, gboolean exact, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  Rewriter self = { regex, regex, out, { FALSE }, 0, exact, error };

  if (!g_utf8_validate (regex, -1, NULL))
    {
      g_set_error_literal (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
                           "the pattern is not UTF-8");
      return NULL;
    }
  while (*self.p)
    if (!rewrite_next (&self))
      return NULL;
  return g_strdup (out->str);
}
