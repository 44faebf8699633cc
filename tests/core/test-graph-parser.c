/* SPDX-License-Identifier: MIT */
#include "dlp-graph-private.h"

#include <stdlib.h>
#include <string.h>

static DlpGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  DlpGraph *graph = dlp_graph_parse (text, &error);

  g_assert_no_error (error);
  g_assert_nonnull (graph);
  return graph;
}

/* A graph in one line: "factory:name(key=value,...) ...; from.pad>to.pad ...". */
static char *
describe (const DlpGraph *graph)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      DlpGraphNode *node = dlp_graph_get_node (graph, i);

      g_string_append_printf (out, "%s%s:%s", i > 0 ? " " : "", node->factory, node->name);
      for (guint j = 0; j < node->properties->len; j++)
        {
          DlpGraphProperty *property = dlp_graph_node_get_property (node, j);

          g_string_append_printf (out, "(%s=%s)", property->key, property->value);
        }
    }
  for (guint i = 0; i < graph->links->len; i++)
    {
      DlpGraphLink *link = dlp_graph_get_link (graph, i);

      g_string_append_printf (out, "%s%s.%s>%s.%s", i > 0 ? " " : "; ",
                              dlp_graph_get_node (graph, link->from.node)->name,
                              link->from.pad != NULL ? link->from.pad : "",
                              dlp_graph_get_node (graph, link->to.node)->name,
                              link->to.pad != NULL ? link->to.pad : "");
    }
  return g_string_free (out, FALSE);
}

/* Also that the canonical text means the same and is its own canonical text. */
static void
assert_round_trip (const DlpGraph *graph)
{
  g_autofree char *text = dlp_graph_to_text (graph);
  g_autofree char *again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpGraph) parsed = dlp_graph_parse (text, &error);

  if (parsed == NULL)
    g_error ("%s\nis the canonical text, but: %s", text, error->message);
  g_assert_true (dlp_graph_equal (graph, parsed));
  again = dlp_graph_to_text (parsed);
  g_assert_cmpstr (text, ==, again);
}

static void
assert_graph (const char *text, const char *expected)
{
  g_autoptr (DlpGraph) graph = parse (text);
  g_autofree char *description = describe (graph);

  g_assert_cmpstr (description, ==, expected);
  assert_round_trip (graph);
}

static void
test_chains (void)
{
  assert_graph ("a", "a:a0");
  assert_graph ("a ! b", "a:a0 b:b0; a0.>b0.");
  assert_graph ("  a!b\t!c\n!\r\nd  ", "a:a0 b:b0 c:c0 d:d0; a0.>b0. b0.>c0. c0.>d0.");
  assert_graph ("a b", "a:a0 b:b0");
  assert_graph ("a x=1 y=2 ! b x=3 x=4", "a:a0(x=1)(y=2) b:b0(x=3)(x=4); a0.>b0.");
  assert_graph ("a on_bad_record=skip", "a:a0(on-bad-record=skip)");
  assert_graph ("a k=v !b", "a:a0(k=v) b:b0; a0.>b0.");
}

static void
test_references (void)
{
  assert_graph ("mix name=m ! a  b ! m.web  c ! m.  d ! m.",
                "mix:m a:a0 b:b0 c:c0 d:d0; m.>a0. b0.>m.web c0.>m. d0.>m.");
  assert_graph ("b ! m.web  mix name=m ! a", "b:b0 mix:m a:a0; b0.>m.web m.>a0.");
  assert_graph ("s.train ! a  s. ! b  split name=s", "a:a0 b:b0 split:s; s.train>a0. s.>b0.");
  assert_graph ("tee name=t  mix name=m  t.0 ! m.in-0  t.1 ! m.in-1",
                "tee:t mix:m; t.0>m.in-0 t.1>m.in-1");
  assert_graph ("a ! m. ! b  mix name=m", "a:a0 b:b0 mix:m; a0.>m. m.>b0.");
  assert_graph ("a ! tee ! b  tee0. ! c", "a:a0 tee:tee0 b:b0 c:c0; a0.>tee0. tee0.>b0. tee0.>c0.");
}

static void
test_names (void)
{
  assert_graph ("a a b a", "a:a0 a:a1 b:b0 a:a2");
  assert_graph ("a  a name=a0  a name=a1  a", "a:a2 a:a0 a:a1 a:a3");
  assert_graph ("a name=x  a  b name=a1  a", "a:x a:a0 b:a1 a:a2");
  assert_graph ("md5 md5", "md5:md5-0 md5:md5-1");
  assert_graph ("a name=\"m\" ! m2.  b name=m2", "a:m b:m2; m.>m2.");
}

static void
test_comments (void)
{
  assert_graph ("# first\na # ! nothing\n  x=1 # y=2\n! b # x=1\n", "a:a0(x=1) b:b0; a0.>b0.");
}

/* A '#' inside a word begins no comment. */
static void
test_hash_in_values (void)
{
  assert_graph ("a x=#1 y=2#3 z='# 4' ! b #x", "a:a0(x=#1)(y=2#3)(z=# 4) b:b0; a0.>b0.");
}

static void
test_continuation (void)
{
  assert_graph ("a \\\n  x=1 \\\r\n ! \\\n b", "a:a0(x=1) b:b0; a0.>b0.");
  assert_graph ("a x=1\\\n2 y=\"3\\\n4\" z='5\\\n6'", "a:a0(x=12)(y=34)(z=5\\\n6)");
}

static void
test_quoting (void)
{
  static const char *const values[][2] = {
    { "plain", "plain" },
    { "\"two words\"", "two words" },
    { "'two words'", "two words" },
    { "two\\ words", "two words" },
    { "\"\"", "" },
    { "''", "" },
    { "a\"b c\"d'e f'g", "ab cde fg" },
    { "\"it's\"", "it's" },
    { "'say \"x\"'", "say \"x\"" },
    { "\"a\\\"b\\\\c\\nd\"", "a\"b\\cnd" },
    { "'a\\nb'", "a\\nb" },
    { "\\\"a\\'b\\\\", "\"a'b\\" },
    { "a=b=c", "a=b=c" },
    { "\"a!b\"", "a!b" },
    { "'!'a", "!a" },
    { "a\\!", "a!" },
    { "\"a!\"", "a!" },
    { "\" ! b \"", " ! b " },
    { "\"line\nline\"", "line\nline" },
    { "m.web", "m.web" },
    { "\xff\xfe/\x80", "\xff\xfe/\x80" },
    { "\"\xff \x01\"", "\xff \x01" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autofree char *text = g_strdup_printf ("a k=%s l=x ! b", values[i][0]);
      g_autoptr (DlpGraph) graph = parse (text);
      DlpGraphNode *node = dlp_graph_get_node (graph, 0);

      g_assert_cmpuint (node->properties->len, ==, 2);
      g_assert_cmpstr (dlp_graph_node_get_property (node, 0)->value, ==, values[i][1]);
      g_assert_cmpuint (graph->links->len, ==, 1);
      assert_round_trip (graph);
    }
}

static void
assert_place (const DlpGraph *graph, gsize start, gsize end, const char *expected)
{
  g_autofree char *piece = g_strndup (graph->text + start, end - start);

  g_assert_cmpstr (piece, ==, expected);
}

static void
test_places (void)
{
  g_autoptr (DlpGraph) graph = parse (" source  k='a b' \n! m.web\n mix name=m ");
  DlpGraphNode *source = dlp_graph_get_node (graph, 0);
  DlpGraphProperty *property = dlp_graph_node_get_property (source, 0);
  DlpGraphLink *link = dlp_graph_get_link (graph, 0);

  assert_place (graph, source->start, source->end, "source");
  assert_place (graph, property->start, property->end, "k='a b'");
  assert_place (graph, property->value_start, property->end, "'a b'");
  assert_place (graph, link->start, link->end, "!");
  assert_place (graph, link->from.start, link->from.end, "source");
  assert_place (graph, link->to.start, link->to.end, "m.web");
  assert_place (graph, dlp_graph_get_node (graph, 1)->start, dlp_graph_get_node (graph, 1)->end,
                "mix");
}

static void
assert_text (const char *text, const char *expected)
{
  g_autoptr (DlpGraph) graph = parse (text);
  g_autofree char *canonical = dlp_graph_to_text (graph);

  g_assert_cmpstr (canonical, ==, expected);
}

/* What is stored in checkpoints must not change by accident. */
static void
test_canonical_text (void)
{
  assert_text (
      "source  location='a b'  # c\n location=\"c\" !reader ! m.web   mix name='m' ! sink k=''",
      "source location=\"a b\" location=c ! reader ! m.web\n"
      "mix name=m ! sink k=\"\"");
  assert_text ("tee name=t ! a  t. ! b", "tee name=t ! a\nt. ! b");
  assert_text ("mix name=m ! tee name=t  a ! m.x  b ! m.  t.y ! c",
               "mix name=m ! tee name=t\na ! m.x\nb ! m.\nt.y ! c");
  assert_text ("a http.first_wait=1s ! b", "a http.first-wait=1s ! b");
  assert_text ("a k=\\\"\\\\ l='x!' m=\xc3\xa4", "a k=\"\\\"\\\\\" l=\"x!\" m=\xc3\xa4");
}

static void
test_settings (void)
{
  g_autoptr (DlpGraph) graph = parse ("a x=1 y=2 x=3 z=4 ! b");
  g_autoptr (GError) error = NULL;
  g_autofree char *description = NULL;
  DlpGraphProperty *property;

  g_assert_true (dlp_graph_set_property (graph, "a0", "x", "new 'value'", &error));
  g_assert_no_error (error);
  g_assert_true (dlp_graph_apply_setting (graph, "b0.on_bad_record=a=b.c", &error));
  g_assert_no_error (error);
  g_assert_true (dlp_graph_apply_setting (graph, "b0.empty=", &error));
  g_assert_no_error (error);
  g_assert_true (dlp_graph_apply_setting (graph, "b0.http.first_wait=5s", &error));
  g_assert_no_error (error);
  g_assert_false (dlp_graph_apply_setting (graph, "b0.http.=5s", NULL));
  g_assert_false (dlp_graph_apply_setting (graph, "b0.http.a.b=5s", NULL));

  description = describe (graph);
  g_assert_cmpstr (description, ==,
                   "a:a0(x=new 'value')(y=2)(z=4) b:b0(on-bad-record=a=b.c)(empty=)"
                   "(http.first-wait=5s); a0.>b0.");
  property = dlp_graph_node_get_property (dlp_graph_find_node (graph, "a0"), 0);
  g_assert_true (property->start == DLP_GRAPH_NO_PLACE);
  assert_round_trip (graph);
}

static void
test_equal (void)
{
  static const char *const different[] = {
    "a x=1 ! b",
    "a x=2 ! b",
    "a y=1 ! b",
    "a x=1 x=1 ! b",
    "a x=1  b",
    "c x=1 ! b",
    "a x=1 name=a0 ! b",
    "a x=1 name=z ! b",
    "b  a x=1 ! b0.",
    "a x=1  b  a0. ! b0.p",
    "a x=1  b  a0.p ! b0.",
    "a x=1  b  b0. ! a0.",
  };

  for (guint i = 0; i < G_N_ELEMENTS (different); i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (different); j++)
        {
          g_autoptr (DlpGraph) a = parse (different[i]);
          g_autoptr (DlpGraph) b = parse (different[j]);

          g_assert_cmpint (dlp_graph_equal (a, b), ==, i == j);
        }
    }
}

static char *
random_value (void)
{
  static const char bytes[] = "abc \t\n!#='\"\\.\xff\x80\xc3\xa4\x01";
  gsize length = g_test_rand_int_range (0, 12);
  char *value = g_malloc0 (length + 1);

  for (gsize i = 0; i < length; i++)
    value[i] = bytes[g_test_rand_int_range (0, sizeof bytes - 1)];
  return value;
}

static void
add_random_node (DlpGraph *graph, GHashTable *names)
{
  static const char *const factories[] = { "a", "b", "tee", "md5", "a1" };
  guint index = graph->nodes->len;
  const char *factory = factories[g_test_rand_int_range (0, G_N_ELEMENTS (factories))];
  DlpGraphNode *node = dlp_graph_add_node (graph, g_strdup (factory), 0, 0);

  if (g_test_rand_int_range (0, 3) == 0)
    {
      g_autofree char *name = g_strdup_printf ("%s%d", factory, g_test_rand_int_range (0, 8));

      if (!g_hash_table_contains (names, name))
        {
          node->name = g_steal_pointer (&name);
          node->named = TRUE;
          g_hash_table_insert (names, node->name, GUINT_TO_POINTER (index + 1));
        }
    }
  for (int i = g_test_rand_int_range (0, 4); i > 0; i--)
    dlp_graph_node_add_property (node, i % 2 == 0 ? "key" : "other-key", random_value ());
}

static char *
random_pad (guint number)
{
  return g_test_rand_bit () ? g_strdup_printf ("p%u", number) : NULL;
}

/* Links go from the lower to the higher place in a random order of the nodes: no cycle. */
static void
add_random_link (DlpGraph *graph, const guint *order)
{
  gint32 to = g_test_rand_int_range (1, graph->nodes->len);
  gint32 from = g_test_rand_bit () ? to - 1 : g_test_rand_int_range (0, to);
  guint number = graph->links->len;
  DlpGraphLink *link = dlp_graph_add_link (graph);

  link->from.node = order[from];
  link->to.node = order[to];
  link->from.pad = random_pad (number);
  link->to.pad = random_pad (number);
}

static DlpGraph *
make_random_graph (void)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_nodes = g_test_rand_int_range (1, 12);
  DlpGraph *graph = dlp_graph_new ("");
  guint order[12];

  for (guint i = 0; i < n_nodes; i++)
    {
      guint place = g_test_rand_bit () ? i : (guint) g_test_rand_int_range (0, i + 1);

      add_random_node (graph, names);
      order[i] = order[place];
      order[place] = i;
    }
  for (int i = n_nodes > 1 ? g_test_rand_int_range (0, 15) : 0; i > 0; i--)
    add_random_link (graph, order);
  g_assert_true (dlp_graph_resolve (graph, names, NULL));
  return graph;
}

static void
test_random_round_trip (void)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  guint rounds = 5000 * (scale != NULL ? g_ascii_strtod (scale, NULL) : 1);

  for (guint i = 0; i < MAX (rounds, 1); i++)
    {
      g_autoptr (DlpGraph) graph = make_random_graph ();

      assert_round_trip (graph);
    }
}

/* Several thousand sources into one mix: no quadratic time, no recursion. */
static void
test_large (void)
{
  g_autoptr (GString) text = g_string_new ("mix name=m ! null-sink\n");
  g_autoptr (DlpGraph) graph = NULL;

  for (guint i = 0; i < 20000; i++)
    g_string_append_printf (text, "file-source location=\"f %u\" ! jsonl-reader ! m.s%u\n", i, i);
  graph = parse (text->str);
  g_assert_cmpuint (graph->nodes->len, ==, 40002);
  g_assert_cmpuint (graph->links->len, ==, 40001);
  g_assert_cmpstr (dlp_graph_get_node (graph, 40001)->name, ==, "jsonl-reader19999");
  assert_round_trip (graph);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/graph/parser/chains", test_chains);
  g_test_add_func ("/graph/parser/references", test_references);
  g_test_add_func ("/graph/parser/names", test_names);
  g_test_add_func ("/graph/parser/comments", test_comments);
  g_test_add_func ("/graph/parser/hash-in-values", test_hash_in_values);
  g_test_add_func ("/graph/parser/continuation", test_continuation);
  g_test_add_func ("/graph/parser/quoting", test_quoting);
  g_test_add_func ("/graph/parser/places", test_places);
  g_test_add_func ("/graph/parser/canonical-text", test_canonical_text);
  g_test_add_func ("/graph/parser/settings", test_settings);
  g_test_add_func ("/graph/parser/equal", test_equal);
  g_test_add_func ("/graph/parser/random-round-trip", test_random_round_trip);
  g_test_add_func ("/graph/parser/large", test_large);
  return g_test_run ();
}
