/* SPDX-License-Identifier: MIT */
#include "dlp-pattern.h"
#include "dlp-unicode.h"
#include "dlpipe/dlp-tokenizer.h"
#include "test-step.h"

#include <string.h>

/* Cuts @text by @regex, "|" between the pieces and "~" for a gap. */
static char *
cut (const char *regex, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPattern) pattern = dlp_pattern_new_regex (regex, &error);
  GString *out = g_string_new (NULL);
  gsize start = 0, stop = 0, last = 0, len = strlen (text);
  DlpMatcher *matcher;

  g_assert_no_error (error);
  matcher = dlp_matcher_new (pattern);
  for (; dlp_matcher_next (matcher, (const guint8 *) text, len, &start, &stop) == 1; last = stop)
    {
      if (start > last)
        g_string_append_c (out, '~');
      g_string_append_len (out, text + start, stop - start);
      g_string_append_c (out, '|');
    }
  if (last < len)
    g_string_append_c (out, '~');
  dlp_matcher_free (matcher);
  return g_string_free (out, FALSE);
}

static void
test_dialect (void)
{
  static const struct
  {
    const char *regex;
    const char *text;
    const char *wanted;
  } cases[] = {
    { "\\p{N}{1,3}+|\\D+", "1234567ab", "123|456|7|ab|" },
    { "a$|.", "a\n", "a|~" },          /* $ is the end of the text alone */
    { "(?m:a$)|b", "a\nab", "a|~b|" }, /* unless it is said that it is of a line */
    { "(?s).+", "a\nb", "a\nb|" },
    { ".+", "a\nb\rc", "a|~b\rc|" },
    { "\\s+|\\S+", "a\u180e b", "a\u180e| |b|" }, /* no space since Unicode 6.3 */
    { "[\\s]+|[\\S]+", "a\u180e\u2028b", "a\u180e|\u2028|b|" },
    { "[[:alpha:]]+", "ab\u00e9c", "ab|~c|" }, /* ASCII */
    { "[[:punct:]x]+", "$+x<a", "$+x<|~" },
    { "(?i:'s|'re)|[^']+", "it'S'\u017f'RE", "it|'S|'\u017f|'RE|" },
    { "(?i)k", "K\u212ak", "K|\u212a|k|" },
    { "((?i)k)k|.", "Kkk", "Kk|k|" }, /* ends with its group */
    { "(?i:a(?-i:b))|.", "ABAb", "A|B|Ab|" },
    { "\\x41+|\\x{e9}|\\u00e8", "AA\u00e9\u00e8", "AA|\u00e9|\u00e8|" },
    { "\\v|[\\v]", "\n\x0b", "~\x0b|" },
    { "[\\p{L}&&[^\\p{Han}]]+|[\\p{Han}]+", "ab\u4e2d\u6587c", "ab|\u4e2d\u6587|c|" },
    { "[\\p{L}&&[\\p{Script=Han}a]]+", "ab\u4e2d", "a|~\u4e2d|" },
    { "\\P{L}+|\\pL+", "ab12", "ab|12|" },
    { "[\\P{L}a]+|[b-z]+", "ab12", "a|b|12|" },
    { "[]a]+", "a]b", "a]|~" },
    { "[^]a]+", "a]b", "~b|" },
    { "[a\\-z]+", "a-zb", "a-z|~" },
    { "a{2}|a{3,}|[{}]", "aa{", "aa|{|" },
    { "\\p{Uppercase_Letter}+|\\p{Letter}+", "ABc", "AB|c|" },
    { "\\p{L}+", "\U00010d4a\u1c89", "\U00010d4a\u1c89|" }, /* new in Unicode 16 */
    { "x", "abc", "~" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *got = cut (cases[i].regex, cases[i].text);

      if (strcmp (got, cases[i].wanted) != 0)
        g_error ("\"%s\" cuts \"%s\" into \"%s\", wanted \"%s\"", cases[i].regex, cases[i].text,
                 got, cases[i].wanted);
    }
}

/* As a tokenizer.json has it: each match in brackets. */
static char *
mark_onig (const char *regex, const char *text)
{
  g_autoptr (GError) error = NULL;
  GString *out = g_string_new (NULL);
  gpointer code = dlp_regex_compile_onig (regex, &error);
  gsize last = 0, len = strlen (text);
  DlpMatch match = { 0 };
  DlpMatcher *matcher;

  g_assert_no_error (error);
  matcher = dlp_matcher_new_for_code (code);
  for (; dlp_matcher_find (matcher, (const guint8 *) text, len, &match) == 1; last = match.stop)
    {
      g_string_append_len (out, text + last, match.start - last);
      g_string_append_printf (out, "[%.*s]", (int) (match.stop - match.start), text + match.start);
    }
  g_string_append (out, text + last);
  dlp_matcher_free (matcher);
  dlp_regex_free (code);
  return g_string_free (out, FALSE);
}

static void
test_onig (void)
{
  static const struct
  {
    const char *regex;
    const char *text;
    const char *wanted;
  } cases[] = {
    { "a{1,2}+", "aaaaab", "[aaaaa]b" }, /* a repeat of the repeat */
    { "xa{2}?b", "xb xab xaab", "[xb] xab [xaab]" },
    { "a?+a", "aab", "[aa]b" },
    { "a{,2}b", "aaab", "a[aab]" },
    { "a{x}|{", "a{x}{", "[a{x}][{]" },
    { "^b|a$", "ab\nb\na", "ab\n[b]\n[a]" }, /* of lines */
    { "a\\Z", "a\n", "[a]\n" },
    { "x*", "axxb", "[]a[xx]b[]" }, /* matches may be empty */
    { "(?=(\\d{3})+(?!\\d))", "1234567", "1[]234[]567" },
    { "(?m).+", "a\nb", "[a\nb]" },
    { ".+", "a\nb\rc", "[a]\n[b\rc]" },
    { "a(?i)b|c", "aB C ac", "[aB] C [ac]" }, /* a(?i:b|c) */
    { "(?i:s)|(?i:k)", "S\u017fK\u212a", "[S][\u017f][K][\u212a]" },
    { "(?i:[^s])", "sS\u017fa", "sS\u017f[a]" },
    { "(?i:\\p{Lu})", "aA", "a[A]" },
    { "\\h+", "afgh", "[af]gh" },
    { "\\w", "\u00b2\u203f\u24b6", "[\u00b2][\u203f][\u24b6]" },
    { "[\\w]", "\u00b2\u203f\u24b6", "\u00b2[\u203f][\u24b6]" },
    { "\\b\\w|\\w\\B", "ab c", "[a]b [c]" },
    { "[[:punct:]]+", "a$+!x", "a[$+!]x" },
    { "\\p{Punct}+|\\p{^ word}", "a$!", "a[$][!]" },
    { "[[a-d]&&[b-e]&&[^c]]+", "abcde", "a[b]c[d]e" },
    { "[^a-c&&b]+", "abcd", "[a]b[cd]" },
    { "[a[bc]]+", "abcd", "[abc]d" },
    { "[]a]+|[0-9-a]", "]a-", "[]a][-]" },
    { "[+--]+", "+,-.", "[+,-]." },
    { "[\\x{41}-\\x43\\b]+", "ABCD", "[ABC]D" },
    { "\\R", "a\r\n\n", "a[\r\n][\n]" },
    { "\\O\\N", "\na", "[\na]" },
    { "\\012|\\0|\\e|\\x4|\\u00e9|\\o{101}",
      "\n\x1b\x04\u00e9"
      "A",
      "[\n][\x1b][\x04][\u00e9][A]" },
    { "(?<n>a)(?#no)b", "ab", "[ab]" },
    { "(?<=a|bc)d", "adbcdd", "a[d]bc[d]d" },
    { "[a&&b]|x", "abx", "ab[x]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *got = mark_onig (cases[i].regex, cases[i].text);

      if (strcmp (got, cases[i].wanted) != 0)
        g_error ("\"%s\" cuts \"%s\" into \"%s\", wanted \"%s\"", cases[i].regex, cases[i].text,
                 got, cases[i].wanted);
    }
}

static void
test_onig_refused (void)
{
  static const struct
  {
    const char *regex;
    const char *wanted;
  } cases[] = {
    { "ab\\X", "at byte 3: an escape that is not supported" },
    { "(a)\\1", "an escape" },
    { "a\\Kb", "an escape" },
    { "\\q", "an escape" },
    { "\\", "an escape" },
    { "\\xe9", "a byte that is no character" },
    { "\\x{110000}", "no character" },
    { "\\u00e", "malformed" },
    { "\\p{Greek}", "an unknown property" },
    { "\\pL", "not of the form" },
    { "[[:alpha:]]", "POSIX" },
    { "(?i:ss)", "ligature" },
    { "(?i:f(?:i))", "ligature" },
    { "(?i:\u00e9)", "where case is ignored" },
    { "(?i:[\\p{L}])", "where case is ignored" },
    { "(?s:a)", "a group that is not supported" },
    { "(?~a)", "a group" },
    { "(*FAIL)", "a callout" },
    { "*a", "a repeat of nothing" },
    { "a|*b", "a repeat of nothing" },
    { "^*", "no width" },
    { "(?=a)+", "no width" },
    { "a{2,1}", "the greater one" },
    { "a{70000}", "65535" },
    { "[\\w-a]", "begins with a set" },
    { "[a-\\d]", "ends with a set" },
    { "[z-a]", "before its begin" },
    { "[]", "closing bracket" },
    { "[a", "closing bracket" },
    { "(a", "closing parenthesis" },
    { "a)", "without its opening" },
    { "(?#a", "comment" },
    { "(?<1>a)", "name" },
    { "\xff", "not UTF-8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (dlp_regex_compile_onig (cases[i].regex, &error));
      g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN);
      if (strstr (error->message, cases[i].wanted) == NULL)
        g_error ("\"%s\" does not say \"%s\"", error->message, cases[i].wanted);
    }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *regex;
    const char *wanted;
  } cases[] = {
    { "\\w+", "at byte 1: an escape that is not supported" },
    { "a\\b", "an escape" },
    { "\\h", "an escape" },
    { "(a)\\1", "an escape" },
    { "\\", "an escape" },
    { "a*", "can match nothing" },
    { "a|", "can match nothing" },
    { "\\p{Greek}", "an unknown property" },
    { "\\p{L", "closing brace" },
    { "\\p", "property" },
    { "(?i:\\p{Lu})", "where case is ignored" },
    { "(?i:\u00e9)", "where case is ignored" },
    { "(?i:[\u00e9])", "where case is ignored" },
    { "(?i:\\x{e9})", "where case is ignored" },
    { "[a--b]", "a difference of classes" },
    { "[a[bc]]", "a class within a class" },
    { "[^a&&[b]]", "intersection" },
    { "[a&&b]", "intersection" },
    { "[a", "closing bracket" },
    { "a{,3}", "no repeat" },
    { "a{x}", "no repeat" },
    { "(?x: a )", "a group that is not supported" },
    { "(?R)", "a group" },
    { "(?#no)", "a group" },
    { "(*ACCEPT)a", "a group" },
    { "a)", "closing parenthesis" },
    { "(a", "pattern \"(a\"" },
    { "\\x{d800}", "no character" },
    { "\\x{}", "malformed" },
    { "\\x4", "malformed" },
    { "\xff", "not UTF-8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (dlp_pattern_new (cases[i].regex, &error));
      g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_PATTERN);
      if (strstr (error->message, cases[i].wanted) == NULL)
        g_error ("\"%s\" does not say \"%s\"", error->message, cases[i].wanted);
    }
}

/* Each class that the scanners know, character by character, as the engine has it after rewriting.
 */
static void
test_properties (void)
{
  static const struct
  {
    const char *regex;
    guint set;
  } properties[] = {
    { "\\p{L}", DLP_SET_LETTER },      { "[\\p{Lu}\\p{Lt}]", DLP_SET (UPPER) },
    { "\\p{Ll}", DLP_SET (LOWER) },    { "[\\p{Lm}\\p{Lo}]", DLP_SET (CASELESS) },
    { "\\p{M}", DLP_SET (MARK) },      { "\\p{N}", DLP_SET (NUMBER) },
    { "\\s", DLP_SET (SPACE) },        { "[^\\S]", DLP_SET (SPACE) },
    { "[^\\P{N}]", DLP_SET (NUMBER) },
  };
  /* Some of each page are enough for memcheck. */
  const guint step = test_get_step () > 1 ? 61 : 1;

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpPattern) pattern = dlp_pattern_new_regex (properties[i].regex, &error);
      DlpMatcher *matcher;

      g_assert_no_error (error);
      matcher = dlp_matcher_new (pattern);
      for (gunichar c = 0; c < 0x110000; c += step)
        {
          gsize start = 0, stop = 0, len;
          char text[6];

          if (c >= 0xd800 && c <= 0xdfff)
            continue;
          len = g_unichar_to_utf8 (c, text);
          if ((dlp_matcher_next (matcher, (guint8 *) text, len, &start, &stop) == 1) !=
              DLP_IN (properties[i].set, dlp_unicode_class (c)))
            g_error ("%s: U+%04X", properties[i].regex, c);
        }
      dlp_matcher_free (matcher);
    }
}

static void
test_known (void)
{
  static const char old[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
                            "\\s+(?!\\S)|\\s+";
  g_autoptr (DlpPattern) by_name = dlp_pattern_new ("gpt2", NULL);
  g_autoptr (DlpPattern) by_text = dlp_pattern_new (old, NULL);
  g_autoptr (DlpPattern) almost = dlp_pattern_new ("'s| ?\\p{L}+", NULL);

  g_assert_cmpint (by_name->kind, ==, DLP_PATTERN_GPT2);
  g_assert_cmpint (by_text->kind, ==, DLP_PATTERN_GPT2);
  g_assert_cmpstr (by_name->text, ==, by_text->text);
  g_assert_cmpint (almost->kind, ==, DLP_PATTERN_REGEX);
}

/* Bytes that are no UTF-8 match nothing and are never read past. */
static void
test_invalid (void)
{
  g_autofree char *text = g_strdup ("ab\xff\xe4\xb8"
                                    "c\xf0\x9f");
  g_autofree char *exact = g_memdup2 (text, strlen (text));
  g_autoptr (DlpPattern) pattern = dlp_pattern_new_regex ("\\p{L}+", NULL);
  DlpMatcher *matcher = dlp_matcher_new (pattern);
  gsize start = 0, stop = 0;

  g_assert_cmpint (dlp_matcher_next (matcher, (guint8 *) exact, strlen (text), &start, &stop), ==,
                   1);
  g_assert_cmpuint (stop, ==, 2);
  g_assert_cmpint (dlp_matcher_next (matcher, (guint8 *) exact, strlen (text), &start, &stop), ==,
                   1);
  g_assert_cmpuint (start, ==, 5);
  g_assert_cmpuint (stop, ==, 6);
  g_assert_cmpint (dlp_matcher_next (matcher, (guint8 *) exact, strlen (text), &start, &stop), ==,
                   0);
  dlp_matcher_free (matcher);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/pattern/dialect", test_dialect);
  g_test_add_func ("/tokenizer/pattern/refused", test_refused);
  g_test_add_func ("/tokenizer/pattern/onig", test_onig);
  g_test_add_func ("/tokenizer/pattern/onig-refused", test_onig_refused);
  g_test_add_func ("/tokenizer/pattern/properties", test_properties);
  g_test_add_func ("/tokenizer/pattern/known", test_known);
  g_test_add_func ("/tokenizer/pattern/invalid", test_invalid);
  return g_test_run ();
}
