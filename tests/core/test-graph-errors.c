/* SPDX-License-Identifier: MIT */
#include "dlp-graph-parser-private.h"

#include <string.h>

/* Each wrong graph with the whole message that a user sees. */
static const struct
{
  const char *text;
  const char *message;
} cases[] = {
  { "", "the graph is empty\n"
        "  such as: file-source location=a.jsonl ! jsonl-reader ! null-sink" },
  { "  # only a comment\n", "the graph is empty\n"
                            "  such as: file-source location=a.jsonl ! jsonl-reader ! null-sink" },
  { "! a", "line 1, column 1: there is no element before this '!'\n"
           "  ! a\n"
           "  ^" },
  { "a !", "line 1, column 3: there is no element after this '!'\n"
           "  a !\n"
           "    ^" },
  { "a ! # the end", "line 1, column 3: there is no element after this '!'\n"
                     "  a ! # the end\n"
                     "    ^" },
  { "a ! ! b", "line 1, column 5: there is no element between this '!' and the one before\n"
               "  a ! ! b\n"
               "      ^" },
  { "a !! b", "line 1, column 4: there is no element between this '!' and the one before\n"
              "  a !! b\n"
              "     ^" },
  { "size=10 ! a", "line 1, column 1: there is no element before this property\n"
                   "  size=10 ! a\n"
                   "  ^~~~~~~" },
  { "a ! size=10", "line 1, column 5: an element is expected after '!', not a property\n"
                   "  a ! size=10\n"
                   "      ^~~~~~~" },
  { "a ! =10 b", "line 1, column 5: there is no property before '='\n"
                 "  a ! =10 b\n"
                 "      ^~~\n"
                 "  write NAME=VALUE without spaces" },
  { "a size = 10", "line 1, column 8: there is no property before '='\n"
                   "  a size = 10\n"
                   "         ^\n"
                   "  write NAME=VALUE without spaces" },
  { "a size= 10", "line 1, column 3: there is no value after '='\n"
                  "  a size= 10\n"
                  "    ^~~~~\n"
                  "  write it without spaces; an empty value is \"\"" },
  { "a size =10", "line 1, column 8: there is no property before '='\n"
                  "  a size =10\n"
                  "         ^~~\n"
                  "  write NAME=VALUE without spaces" },
  { "a size 10", "line 1, column 8: the name of an element cannot begin with '1'\n"
                 "  a size 10\n"
                 "         ^\n"
                 "  a property is written NAME=VALUE: size=10" },
  { "file-source location data/x.jsonl ! b",
    "line 1, column 26: there can be no '/' in the name of an element\n"
    "  file-source location data/x.jsonl ! b\n"
    "                           ^\n"
    "  a property is written NAME=VALUE: location=data/x.jsonl" },
  { "file-source location data.jsonl ! b",
    "line 1, column 22: no element is named \"data\"\n"
    "  file-source location data.jsonl ! b\n"
    "                       ^~~~\n"
    "  a property is written NAME=VALUE: location=data.jsonl" },
  { "file-source data/*.jsonl ! b",
    "line 1, column 17: there can be no '/' in the name of an element\n"
    "  file-source data/*.jsonl ! b\n"
    "                  ^\n"
    "  a property is written NAME=VALUE" },
  { "data/*.jsonl ! b", "line 1, column 5: there can be no '/' in the name of an element\n"
                        "  data/*.jsonl ! b\n"
                        "      ^\n"
                        "  a graph begins with an element: file-source location=a.jsonl ! ..." },
  { "a location=\"data ! b", "line 1, column 12: this quote is never closed\n"
                             "  a location=\"data ! b\n"
                             "             ^\n"
                             "  for a quote that is part of a value write \\\"" },
  { "a location=it's ! b", "line 1, column 14: this quote is never closed\n"
                           "  a location=it's ! b\n"
                           "               ^\n"
                           "  for a quote that is part of a value write \\'" },
  { "a k=v\\", "line 1, column 6: there is nothing after this backslash\n"
               "  a k=v\\\n"
               "       ^\n"
               "  for a backslash that is part of a value write \\\\" },
  { "a \"location=x y\" ! b", "line 1, column 3: the name of an element cannot begin with '\"'\n"
                              "  a \"location=x y\" ! b\n"
                              "    ^\n"
                              "  quote the value only: location=\"a file\"" },
  { "a lo/cation=x", "line 1, column 5: there can be no '/' in the name of a property\n"
                     "  a lo/cation=x\n"
                     "      ^" },
  { "a 1k=x", "line 1, column 3: the name of a property cannot begin with '1'\n"
              "  a 1k=x\n"
              "    ^" },
  { "a http.=x", "line 1, column 3: there is no property between '.' and '='\n"
                 "  a http.=x\n"
                 "    ^~~~~\n"
                 "  what is set of a scheme is written SCHEME.PROPERTY=VALUE" },
  { "a .timeout=x", "line 1, column 3: the name of a property cannot begin with '.'\n"
                    "  a .timeout=x\n"
                    "    ^" },
  { "a http.a.b=x", "line 1, column 9: there can be no '.' in the name of a property\n"
                    "  a http.a.b=x\n"
                    "          ^" },
  { "a ht/p.a=x", "line 1, column 5: there can be no '/' in the name of a scheme\n"
                  "  a ht/p.a=x\n"
                  "      ^" },
  { "a key,=x", "line 1, column 6: there can be no ',' in the name of a property\n"
                "  a key,=x\n"
                "       ^" },
  { "a k=v! b", "line 1, column 6: this '!' is inside a value\n"
                "  a k=v! b\n"
                "       ^\n"
                "  to link, write a space before it; as part of the value, quote it" },
  { "a k='v'! b", "line 1, column 8: this '!' is inside a value\n"
                  "  a k='v'! b\n"
                  "         ^\n"
                  "  to link, write a space before it; as part of the value, quote it" },
  { "tokenizer model=gpt2!null-sink",
    "line 1, column 21: this '!' is inside a value\n"
    "  tokenizer model=gpt2!null-sink\n"
    "                      ^\n"
    "  to link, write a space before it; as part of the value, quote it" },
  { "a k=!x", "line 1, column 5: this '!' is inside a value\n"
              "  a k=!x\n"
              "      ^\n"
              "  to link, write a space before it; as part of the value, quote it" },
  { "a name=m ! b name=m", "line 1, column 14: two elements are named \"m\"\n"
                           "  a name=m ! b name=m\n"
                           "               ^~~~~~\n"
                           "  the other is at line 1, column 1" },
  { "a name=m name=n", "line 1, column 10: this element has the name \"m\" already\n"
                       "  a name=m name=n\n"
                       "           ^~~~~~" },
  { "a name=1m", "line 1, column 8: this is not a name\n"
                 "  a name=1m\n"
                 "         ^~\n"
                 "  a name has a letter, then letters, digits, '-' and '_'" },
  { "a name=\"m n\"", "line 1, column 8: this is not a name\n"
                      "  a name=\"m n\"\n"
                      "         ^~~~~\n"
                      "  a name has a letter, then letters, digits, '-' and '_'" },
  { "a name=''", "line 1, column 8: this is not a name\n"
                 "  a name=''\n"
                 "         ^~\n"
                 "  a name has a letter, then letters, digits, '-' and '_'" },
  { "a name=web ! c  b ! wen.", "line 1, column 21: no element is named \"wen\"\n"
                                "  a name=web ! c  b ! wen.\n"
                                "                      ^~~\n"
                                "  did you mean \"web\"?" },
  { "a name=left  b name=right  c ! middle.x", "line 1, column 32: no element is named \"middle\"\n"
                                               "  a name=left  b name=right  c ! middle.x\n"
                                               "                                 ^~~~~~\n"
                                               "  the elements are: left, right, c0" },
  { "a ! zz.", "line 1, column 5: no element is named \"zz\"\n"
               "  a ! zz.\n"
               "      ^~\n"
               "  the elements are: a0" },
  { "a name=m  m. size=1 ! b", "line 1, column 14: a reference takes no properties\n"
                               "  a name=m  m. size=1 ! b\n"
                               "               ^~~~~~\n"
                               "  write it where the element is" },
  { "a name=m ! b  m.", "line 1, column 15: this reference is not linked to anything\n"
                        "  a name=m ! b  m.\n"
                        "                ^~\n"
                        "  write \"... ! NAME.\" or \"NAME. ! ...\"" },
  { "a name=m ! b  m.x", "line 1, column 15: this reference is not linked to anything\n"
                         "  a name=m ! b  m.x\n"
                         "                ^~~\n"
                         "  write \"... ! NAME.\" or \"NAME. ! ...\"" },
  { "a ! .web", "line 1, column 5: there is no name before '.'\n"
                "  a ! .web\n"
                "      ^~~~\n"
                "  a reference is written NAME. or NAME.PAD" },
  { "a ! m.we/b", "line 1, column 9: there can be no '/' in the name of a pad\n"
                  "  a ! m.we/b\n"
                  "          ^" },
  { "a ! m.x.y", "line 1, column 8: there can be no '.' in the name of a pad\n"
                 "  a ! m.x.y\n"
                 "         ^" },
  { "a ! m.x! b  c name=m ! d",
    "line 1, column 5: this is an input pad: nothing can be linked from it\n"
    "  a ! m.x! b  c name=m ! d\n"
    "      ^~~\n"
    "  to go on from it, begin a new chain: NAME. ! ..." },
  { "tee name=t ! t.", "line 1, column 1: \"t\" is linked to itself\n"
                       "  tee name=t ! t.\n"
                       "  ^~~~~~~~~~~~~~~" },
  { "tee name=t t.x ! t.y", "line 1, column 12: \"t\" is linked to itself\n"
                            "  tee name=t t.x ! t.y\n"
                            "             ^~~~~~~~~" },
  { "a ! t name=m  mm.x ! b", "line 1, column 15: no element is named \"mm\"\n"
                              "  a ! t name=m  mm.x ! b\n"
                              "                ^~\n"
                              "  did you mean \"m\"?" },
  { "a ! b ! a0.", "line 1, column 5: elements are linked in a circle: a0 ! b0 ! a0\n"
                   "  a ! b ! a0.\n"
                   "      ^~~~~~~" },
  { "mix name=m ! tee name=t ! limit ! m.  t. ! null-sink  src ! m.",
    "line 1, column 27: elements are linked in a circle: m ! t ! limit0 ! m\n"
    "  mix name=m ! tee name=t ! limit ! m.  t. ! null-sink  src ! m.\n"
    "                            ^~~~~~~~~~" },
  { "tee name=t  t.x ! a  t.x ! b",
    "line 1, column 22: the output pad \"x\" of \"t\" is linked twice\n"
    "  tee name=t  t.x ! a  t.x ! b\n"
    "                       ^~~\n"
    "  the first link is at line 1, column 13; a pad takes one" },
  { "mix name=m ! s  a ! m.web  b ! m.web",
    "line 1, column 32: the input pad \"web\" of \"m\" is linked twice\n"
    "  mix name=m ! s  a ! m.web  b ! m.web\n"
    "                                 ^~~~~\n"
    "  the first link is at line 1, column 21; a pad takes one" },
  { "file-source\n"
    "  location=a.jsonl\n"
    "  ! jsonl-reader field='text\n"
    "  ! null-sink",
    "line 3, column 24: this quote is never closed\n"
    "    ! jsonl-reader field='text\n"
    "                         ^\n"
    "  for a quote that is part of a value write \\'" },
  { "a ! b\n"
    "\tc\tk=v ! d/e ! f",
    "line 2, column 11: there can be no '/' in the name of an element\n"
    "   c k=v ! d/e ! f\n"
    "            ^" },
  { "source k=\xe6\x97\xa5\xe6\x9c\xac ! s/x",
    "line 1, column 16: there can be no '/' in the name of an element\n"
    "  source k=\xe6\x97\xa5\xe6\x9c\xac ! s/x\n"
    "                   ^" },
  { "source k=\xff\xfe\x1b[31m ! s/x",
    "line 1, column 21: there can be no '/' in the name of an element\n"
    "  source k=\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd[31m ! s/x\n"
    "                      ^" },
  { "s\xc3\xa4ge ! b",
    "line 1, column 2: the name of an element has letters, digits, '-' and '_' only\n"
    "  s\xc3\xa4ge ! b\n"
    "   ^\n"
    "  a graph begins with an element: file-source location=a.jsonl ! ..." },
  { "a \xe2\x80\x9cx\xe2\x80\x9d",
    "line 1, column 3: the name of an element has letters, digits, '-' and '_' only\n"
    "  a \xe2\x80\x9cx\xe2\x80\x9d\n"
    "    ^\n"
    "  a property is written NAME=VALUE" },
  { "a "
    "x="
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
    "45678901234567890123456789 ! b/c ! d "
    "y="
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
    "45678901234567890123456789",
    "line 1, column 129: there can be no '/' in the name of an element\n"
    "  ...456789012345678901234567890123456789 ! b/c ! d "
    "y=012345678901234567890123456789012345678901234...\n"
    "                                             ^" },
  { "a "
    "x="
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
    "45678901234567890123456789 ! b/c",
    "line 1, column 129: there can be no '/' in the name of an element\n"
    "  ...2345678901234567890123456789012345678901234567890123456789012345678901234567890123456789 "
    "! b/c\n"
    "                                                                                              "
    "   ^" },
  { "a/b "
    "x="
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123"
    "45678901234567890123456789",
    "line 1, column 2: there can be no '/' in the name of an element\n"
    "  a/b "
    "x=0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567..."
    "\n"
    "   ^\n"
    "  a graph begins with an element: file-source location=a.jsonl ! ..." },
  { "abbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "line 1, column 1: the name of an element is longer than 255 bytes\n"
    "  "
    "abbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "...\n"
    "  "
    "^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
    "~" },
};

static void
test_message (gconstpointer user_data)
{
  guint index = GPOINTER_TO_UINT (user_data);
  g_autoptr (GError) error = NULL;
  DlpGraph *graph = dlp_graph_parse (cases[index].text, &error);

  g_assert_null (graph);
  g_assert_nonnull (error);
  g_assert_true (error->domain == DLP_GRAPH_ERROR);
  g_assert_cmpstr (error->message, ==, cases[index].message);
}

static void
assert_code (const char *text, DlpGraphError code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_graph_parse (text, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, (int) code);
}

static void
test_codes (void)
{
  assert_code ("a ! !", DLP_GRAPH_ERROR_SYNTAX);
  assert_code ("a name=m ! b name=m", DLP_GRAPH_ERROR_SYNTAX);
  assert_code ("a ! m.", DLP_GRAPH_ERROR_UNKNOWN_ELEMENT);
  assert_code ("a name=m ! b ! m.", DLP_GRAPH_ERROR_LINK);
  assert_code ("a name=m  m.x ! b  m.x ! c", DLP_GRAPH_ERROR_LINK);
}

/* n repetitions of a text. */
static char *
repeat (const char *text, gsize n)
{
  GString *out = g_string_sized_new (strlen (text) * n + 1);

  for (gsize i = 0; i < n; i++)
    g_string_append (out, text);
  return g_string_free (out, FALSE);
}

static void
assert_refused (const char *piece, gsize n, const char *message)
{
  g_autofree char *text = repeat (piece, n);
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_graph_parse (text, &error));
  g_assert_nonnull (error);
  if (strstr (error->message, message) == NULL)
    g_error ("\"%s\" is not in: %s", message, error->message);
}

static void
test_limits (void)
{
  g_autofree char *elements = repeat ("a ", DLP_GRAPH_MAX_NODES);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpGraph) graph = dlp_graph_parse (elements, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (graph->nodes->len, ==, DLP_GRAPH_MAX_NODES);

  assert_refused ("a ", DLP_GRAPH_MAX_NODES + 1, "at most 65536 elements");
  assert_refused ("m. ! n. ", DLP_GRAPH_MAX_LINKS + 1, "at most 262144 links");
  assert_refused ("#", DLP_GRAPH_MAX_TEXT + 1, "longer than 16777216 bytes");
  assert_refused ("#", DLP_GRAPH_MAX_TEXT, "the graph is empty");
}

static void
test_property_limit (void)
{
  g_autofree char *properties = repeat (" k=v", DLP_GRAPH_MAX_PROPERTIES + 1);
  g_autofree char *text = g_strconcat ("a", properties, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_graph_parse (text, &error));
  g_assert_nonnull (strstr (error->message, "at most 1048576 properties"));
}

/* As deep as a graph can be: nothing recurses. */
static void
test_long_cycle (void)
{
  g_autofree char *chain = repeat (" ! a", 50000);
  g_autofree char *text = g_strconcat ("b name=m", chain, " ! m.", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_graph_parse (text, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK);
  g_assert_nonnull (strstr (error->message, "in a circle: m ! a0 ! a1 ! a2 ! a3 ! a4 ! a5 ! a6 ! "
                                            "a7 ! a8 ! a9 ! a10 ! ... ! m\n"));
}

static void
test_format_without_place (void)
{
  g_autofree char *message = dlp_graph_format_error (NULL, 0, 0, "what", "hint");
  g_autofree char *other = dlp_graph_format_error ("text", DLP_GRAPH_NO_PLACE, 0, "what", NULL);

  g_assert_cmpstr (message, ==, "what\n  hint");
  g_assert_cmpstr (other, ==, "what");
}

/* A terminal gets neither control characters nor bytes that are not UTF-8, wherever they are. */
static void
test_format_is_clean (void)
{
  g_autofree char *message = dlp_graph_format_error ("a\x1b[2J\xff\xe2\x80\xae"
                                                     "b",
                                                     1, 4, "\x1b\xffm\n", "\x9bh");

  g_assert_true (g_utf8_validate (message, -1, NULL));
  g_assert_cmpstr (message, ==,
                   "line 1, column 2: \xef\xbf\xbd\xef\xbf\xbdm \n"
                   "  a\xef\xbf\xbd[2J\xef\xbf\xbd\xef\xbf\xbd"
                   "b\n"
                   "   ^~~\n"
                   "  \xef\xbf\xbdh");
}

/* A wide character takes two columns, a combining one none. */
static void
test_format_widths (void)
{
  g_autofree char *message = dlp_graph_format_error ("\xe6\x97\xa5"
                                                     "e\xcc\x81 \xe6\x9c\xac"
                                                     "x",
                                                     7, 10, "m", NULL);

  g_assert_cmpstr (message, ==,
                   "line 1, column 5: m\n"
                   "  \xe6\x97\xa5"
                   "e\xcc\x81 \xe6\x9c\xac"
                   "x\n"
                   "      ^~");
}

/* Any place in any bytes: the marked part is inside the line shown, which is at most 100 wide. */
static void
test_format_random (void)
{
  static const char pieces[] = "aaaa \t\n!=\"\xc3\xa4\xe6\x97\xa5\xff\x80\x01";

  for (guint round = 0; round < 3000; round++)
    {
      gsize length = g_test_rand_int_range (0, 400);
      g_autofree char *text = g_malloc0 (length + 1);
      gsize start = g_test_rand_int_range (0, length + 2);
      g_autofree char *message = NULL;
      g_auto (GStrv) lines = NULL;

      for (gsize i = 0; i < length; i++)
        text[i] = pieces[g_test_rand_int_range (0, sizeof pieces - 1)];
      message =
          dlp_graph_format_error (text, start, start + g_test_rand_int_range (0, 50), "m", "h");

      g_assert_true (g_utf8_validate (message, -1, NULL));
      lines = g_strsplit (message, "\n", -1);
      g_assert_cmpuint (g_strv_length (lines), ==, 4);
      g_assert_cmpuint (g_utf8_strlen (lines[1], -1), <=, 102);
      g_assert_cmpuint (strlen (lines[2]), <=, 103);
      g_assert_nonnull (strchr (lines[2], '^'));
    }
}

static void
assert_setting_fails (DlpGraph *graph, const char *setting, DlpGraphError code, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_graph_apply_setting (graph, setting, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, (int) code);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_settings (void)
{
  g_autoptr (DlpGraph) graph = dlp_graph_parse ("source name=web ! shuffle", NULL);

  assert_setting_fails (graph, "shufle0.size=1", DLP_GRAPH_ERROR_UNKNOWN_ELEMENT,
                        "cannot set \"size\": no element is named \"shufle0\"\n"
                        "  did you mean \"shuffle0\"?");
  assert_setting_fails (graph, "size=1", DLP_GRAPH_ERROR_SYNTAX,
                        "cannot set \"size=1\"\n"
                        "  write NAME.PROPERTY=VALUE, such as shuffle0.size=10k");
  assert_setting_fails (graph, "web.size", DLP_GRAPH_ERROR_SYNTAX,
                        "cannot set \"web.size\"\n"
                        "  write NAME.PROPERTY=VALUE, such as shuffle0.size=10k");
  assert_setting_fails (graph, "web.name=x", DLP_GRAPH_ERROR_UNKNOWN_PROPERTY,
                        "cannot set \"name\" of \"web\": a name is given in the graph only");
  assert_setting_fails (graph, "web.a b=x", DLP_GRAPH_ERROR_SYNTAX,
                        "cannot set \"a b\" of \"web\": not the name of a property");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strdup_printf ("/graph/errors/message/%02u", i);

      g_test_add_data_func (name, GUINT_TO_POINTER (i), test_message);
    }
  g_test_add_func ("/graph/errors/codes", test_codes);
  g_test_add_func ("/graph/errors/limits", test_limits);
  g_test_add_func ("/graph/errors/property-limit", test_property_limit);
  g_test_add_func ("/graph/errors/long-cycle", test_long_cycle);
  g_test_add_func ("/graph/errors/settings", test_settings);
  g_test_add_func ("/graph/format/without-place", test_format_without_place);
  g_test_add_func ("/graph/format/is-clean", test_format_is_clean);
  g_test_add_func ("/graph/format/widths", test_format_widths);
  g_test_add_func ("/graph/format/random", test_format_random);
  return g_test_run ();
}
