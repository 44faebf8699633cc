/* SPDX-License-Identifier: MIT */
#include "dlp-onig-class.h"
#include "dlp-dialect.h"
#include "dlp-unicode.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

#define HEX "0123456789abcdefABCDEF"
#define OCTAL "01234567"
#define FIRST_GEORGIAN 0x10d0 /* the only letters without case that have another one */
#define LAST_GEORGIAN 0x10ff

/* Classes and escapes of Oniguruma's syntax. A class is computed, not rewritten: so nesting,
 * intersection and what ignored case does to it need no counterpart in PCRE2. */

gboolean
dlp_onig_refuse (DlpOnigRewriter *self, const char *reason)
{
  g_set_error (self->error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN,
               "pattern \"%s\": at byte %u: %s", self->regex, (guint) (self->p - self->regex),
               reason);
  return FALSE;
}

/* Outside of a class words have some numbers of Latin-1 that they have not inside of one. */
void
dlp_onig_add_word (DlpCharSet *set)
{
  static const gunichar more[][2] = { { 0xb2, 0xb3 }, { 0xb9, 0xb9 }, { 0xbc, 0xbe } };

  dlp_dialect_add_onig_property (set, "word", strlen ("word"));
  for (guint i = 0; i < G_N_ELEMENTS (more); i++)
    dlp_char_set_add_range (set, more[i][0], more[i][1]);
}

static gboolean
add_property (DlpOnigRewriter *self, DlpCharSet *set, const char *name, gsize len)
{
  if (!self->in_class && len == strlen ("word") && g_ascii_strncasecmp (name, "word", len) == 0)
    {
      dlp_onig_add_word (set);
      return TRUE;
    }
  return dlp_dialect_add_onig_property (set, name, len);
}

static gboolean
parse_property (DlpOnigRewriter *self, DlpCharSet *set)
{
  gboolean negated = *self->p == 'P';
  const char *name = self->p + 1;
  const char *close = *name == '{' ? strchr (name, '}') : NULL;

  if (close == NULL)
    return dlp_onig_refuse (self, "a property that is not of the form \\p{Name}");
  if (*++name == '^')
    {
      negated = !negated;
      name++;
    }
  if (!add_property (self, set, name, close - name))
    return dlp_onig_refuse (self, "an unknown property; known are the general categories, Han, "
                                  "Any, Assigned, ASCII and the names of POSIX brackets");
  if (negated)
    dlp_char_set_invert (set);
  self->p = close + 1;
  return TRUE;
}

/* \s \d \w \h and their complements */
static gboolean
parse_kind (DlpOnigRewriter *self, DlpCharSet *set)
{
  static const char *const names[] = { "space", "digit", "word", "xdigit" };
  const char *kinds = "sdwh";
  const char *name = names[strchr (kinds, g_ascii_tolower (*self->p)) - kinds];

  add_property (self, set, name, strlen (name));
  if (g_ascii_isupper (*self->p))
    dlp_char_set_invert (set);
  self->p++;
  return TRUE;
}

static gboolean
read_digits (DlpOnigRewriter *self, const char *digits, gsize len, guint base, gunichar *c)
{
  *c = 0;
  for (gsize i = 0; i < len; i++)
    {
      *c = *c * base + g_ascii_xdigit_value (digits[i]);
      if (*c > 0x10ffff)
        return dlp_onig_refuse (self, "a code that is no character");
    }
  if (!g_unichar_validate (*c))
    return dlp_onig_refuse (self, "a code that is no character");
  return TRUE;
}

/* \xH \xHH \x{H} \uHHHH \o{O} \0OO; self->p is at the letter. What is written without braces and
 * without u is a byte, which from 0x80 on is no character. */
static gboolean
parse_number (DlpOnigRewriter *self, gunichar *c)
{
  char kind = *self->p;
  gboolean is_hex = kind == 'x' || kind == 'u';
  const char *digits = self->p + (kind != '0');
  gboolean braces = *digits == '{' && (kind == 'x' || kind == 'o');
  gsize len = strspn (digits + braces, is_hex ? HEX : OCTAL);

  digits += braces;
  if (!braces)
    len = MIN (len, kind == 'u' ? 4 : kind == 'x' ? 2 : 3);
  if (len == 0 || len > 11 || (kind == 'u' && len < 4) || (kind == 'o' && !braces) ||
      (braces && digits[len] != '}'))
    return dlp_onig_refuse (self, "a malformed character code");
  if (!read_digits (self, digits, len, is_hex ? 16 : 8, c))
    return FALSE;
  if (*c >= 0x80 && !braces && kind != 'u')
    return dlp_onig_refuse (self, "a byte that is no character");
  self->p = digits + len + braces;
  return TRUE;
}

static gboolean
parse_simple_escape (DlpOnigRewriter *self, gunichar *c)
{
  static const char letters[] = "tnrfvae";
  static const char meanings[] = "\t\n\r\f\v\a\x1b";
  const char *letter = strchr (letters, *self->p);

  if (*self->p != '\0' && letter)
    *c = meanings[letter - letters];
  else if (g_ascii_ispunct (*self->p) || *self->p == ' ' || (guchar) *self->p >= 0x80)
    *c = g_utf8_get_char (self->p);
  else
    return dlp_onig_refuse (self, "an escape that is not supported; supported are \\p \\P \\s \\S "
                                  "\\d \\D \\w \\W \\h \\H \\b \\B \\R \\N \\O \\A \\z \\Z \\x "
                                  "\\u \\o \\0 \\t \\n \\r \\f \\v \\a \\e and \\ before "
                                  "punctuation");
  self->p = g_utf8_next_char (self->p);
  return TRUE;
}

/* self->p is behind the backslash; gives a set of characters or one character. */
gboolean
dlp_onig_parse_escape (DlpOnigRewriter *self, DlpCharSet *set, gboolean *is_set, gunichar *c)
{
  *is_set = TRUE;
  switch (*self->p)
    {
    case 'p':
    case 'P':
      return parse_property (self, set);

    case 's':
    case 'S':
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 'h':
    case 'H':
      return parse_kind (self, set);

    case 'x':
    case 'u':
    case 'o':
    case '0':
      *is_set = FALSE;
      return parse_number (self, c);

    default:
      *is_set = FALSE;
      return parse_simple_escape (self, c);
    }
}

/* [:name:] or [:^name:]; *@found is FALSE if that is not what stands at self->p */
static gboolean
parse_posix (DlpOnigRewriter *self, DlpCharSet *set, gboolean *found)
{
  static const char *const names[] = { "alnum", "alpha", "ascii", "blank", "cntrl",
                                       "digit", "graph", "lower", "print", "punct",
                                       "space", "upper", "word",  "xdigit" };
  gboolean negated = self->p[1] == ':' && self->p[2] == '^';
  const char *name = self->p + strlen ("[:") + negated;
  const char *end;

  *found = FALSE;
  if (!g_str_has_prefix (self->p, "[:"))
    return TRUE;
  end = name + strspn (name, "abcdefghijklmnopqrstuvwxyz");
  *found = g_str_has_prefix (end, ":]");
  if (!*found)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strlen (names[i]) == (gsize) (end - name) && memcmp (names[i], name, end - name) == 0)
      {
        const char *property = strcmp (names[i], "punct") == 0 ? "posixpunct" : names[i];

        if (!add_property (self, set, property, strlen (property)))
          break;
        if (negated)
          dlp_char_set_invert (set);
        self->p = end + strlen (":]");
        return TRUE;
      }
  return dlp_onig_refuse (self, "an unknown POSIX bracket, or one whose members are not known");
}

/* One character, or a set; self->p is not at a "]" that closes. */
static gboolean
parse_item (DlpOnigRewriter *self, DlpCharSet *set, gboolean *is_set, gunichar *c)
{
  if (*self->p == '\0')
    return dlp_onig_refuse (self, "a class without its closing bracket");
  *is_set = FALSE;
  if (*self->p != '\\')
    {
      *c = g_utf8_get_char (self->p);
      self->p = g_utf8_next_char (self->p);
      return TRUE;
    }
  self->p++;
  if (*self->p == 'b')
    {
      *c = '\b';
      self->p++;
      return TRUE;
    }
  return dlp_onig_parse_escape (self, set, is_set, c);
}

static gboolean
is_range_sign (const char *p)
{
  return *p == '-' && p[1] != ']' && !g_str_has_prefix (p + 1, "&&");
}

/* An item, or a range of two. */
static gboolean
parse_range (DlpOnigRewriter *self, DlpCharSet *set)
{
  g_autoptr (DlpCharSet) item = dlp_char_set_new ();
  gunichar first = 0, last = 0;
  gboolean is_set;

  if (!parse_item (self, item, &is_set, &first))
    return FALSE;
  if (is_set)
    {
      dlp_char_set_add_set (set, item);
      return is_range_sign (self->p) ? dlp_onig_refuse (self, "a range that begins with a set") :
                                       TRUE;
    }
  last = first;
  if (is_range_sign (self->p))
    {
      self->p++;
      if (*self->p == '[')
        return dlp_onig_refuse (self, "a range that ends with a set");
      if (!parse_item (self, item, &is_set, &last))
        return FALSE;
      if (is_set)
        return dlp_onig_refuse (self, "a range that ends with a set");
      if (last < first)
        return dlp_onig_refuse (self, "a range whose end lies before its begin");
    }
  dlp_char_set_add_range (set, first, last);
  return TRUE;
}

static gboolean parse_members (DlpOnigRewriter *self, guint depth, DlpCharSet *set);

/* A class inside of a class. */
static gboolean
parse_nested (DlpOnigRewriter *self, guint depth, DlpCharSet *set)
{
  g_autoptr (DlpCharSet) nested = dlp_char_set_new ();
  gboolean found, negated;

  if (!parse_posix (self, nested, &found))
    return FALSE;
  if (!found)
    {
      if (depth + 1 >= DLP_ONIG_MAX_DEPTH)
        return dlp_onig_refuse (self, "classes too deep; at most 63 levels");
      negated = self->p[1] == '^';
      self->p += 1 + negated;
      if (!parse_members (self, depth + 1, nested))
        return FALSE;
      if (negated)
        dlp_char_set_invert (nested);
    }
  dlp_char_set_add_set (set, nested);
  return TRUE;
}

/* What stands between two "&&", or the brackets. */
static gboolean
parse_operand (DlpOnigRewriter *self, guint depth, gboolean is_first, DlpCharSet *set)
{
  const char *start = self->p;

  while (!(*self->p == ']' && !(is_first && self->p == start)) && !g_str_has_prefix (self->p, "&&"))
    {
      gboolean ok = *self->p == '[' ? parse_nested (self, depth, set) : parse_range (self, set);

      if (!ok)
        return FALSE;
    }
  return TRUE;
}

/* self->p is behind the opening bracket; afterwards behind the closing one. "&&" binds less than
 * anything else. */
static gboolean
parse_members (DlpOnigRewriter *self, guint depth, DlpCharSet *set)
{
  if (!parse_operand (self, depth, TRUE, set))
    return FALSE;
  while (*self->p == '&')
    {
      g_autoptr (DlpCharSet) operand = dlp_char_set_new ();

      self->p += strlen ("&&");
      if (!parse_operand (self, depth, FALSE, operand))
        return FALSE;
      dlp_char_set_intersect (set, operand);
    }
  self->p++;
  return TRUE;
}

/* Whether @c may have another case. */
static gboolean
may_have_case (gunichar c)
{
  static const char cased[] = "Lu Ll Lt Mn Nl So";

  if (c >= FIRST_GEORGIAN && c <= LAST_GEORGIAN)
    return TRUE;
  return strstr (cased, dlp_category_names[dlp_unicode_category (c)][0]) != NULL;
}

/* Adds the other cases of what is in @set. */
static gboolean
fold_set (DlpOnigRewriter *self, DlpCharSet *set)
{
  for (gunichar c = 0x80; c < DLP_N_POINTS; c++)
    if (dlp_char_set_contains (set, c) && (c < 0xd800 || c > 0xdfff) && may_have_case (c))
      return dlp_onig_refuse (self, "a class with letters that are not ASCII where case is "
                                    "ignored");
  for (gunichar c = 'a'; c <= 'z'; c++)
    if (dlp_char_set_contains (set, c) || dlp_char_set_contains (set, g_ascii_toupper (c)))
      {
        dlp_char_set_add (set, c);
        dlp_char_set_add (set, g_ascii_toupper (c));
      }
  if (dlp_char_set_contains (set, 's'))
    dlp_char_set_add (set, 0x17f);
  if (dlp_char_set_contains (set, 'k'))
    dlp_char_set_add (set, 0x212a);
  return TRUE;
}

/* self->p is at the bracket. Case is ignored in the whole class, before it is negated. */
gboolean
dlp_onig_parse_class (DlpOnigRewriter *self, gboolean fold, DlpCharSet *set)
{
  gboolean negated = self->p[1] == '^';

  self->p += 1 + negated;
  self->in_class = TRUE;
  if (!parse_members (self, 0, set) || (fold && !fold_set (self, set)))
    return FALSE;
  self->in_class = FALSE;
  if (negated)
    dlp_char_set_invert (set);
  return TRUE;
}
