/* SPDX-License-Identifier: MIT */

/* A checkpoint in its forms, and what is refused of one whose checksum is right. Argument: the
 * folder tests/data/state. */

#include <math.h>
#include <string.h>
#include <time.h>

#include <dlpipe/dlpipe.h>

static const char *folder;

static DlpCheckpoint *
load (void)
{
  g_autofree char *path = g_build_filename (folder, "stored", NULL);
  g_autofree char *fell_back = NULL;
  g_autoptr (GError) error = NULL;
  DlpCheckpoint *checkpoint = dlp_checkpoint_new_from_folder (path, &fell_back, &error);

  g_assert_no_error (error);
  g_assert_null (fell_back);
  return checkpoint;
}

static void
assert_equal (DlpCheckpoint *a, DlpCheckpoint *b)
{
  g_autoptr (GBytes) x = dlp_checkpoint_to_bytes (a);
  g_autoptr (GBytes) y = dlp_checkpoint_to_bytes (b);

  g_assert_true (g_bytes_equal (x, y));
}

/* ---- forms ---- */

static void
test_forms (void)
{
  g_autoptr (DlpCheckpoint) stored = load ();
  g_autoptr (GVariant) value = dlp_checkpoint_to_variant (stored);
  g_autoptr (GBytes) bytes = dlp_checkpoint_to_bytes (stored);
  g_autofree char *json = dlp_checkpoint_to_json (stored);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) a = dlp_checkpoint_new_from_variant (value, &error);
  g_autoptr (DlpCheckpoint) b = dlp_checkpoint_new_from_bytes (bytes, &error);
  g_autoptr (DlpCheckpoint) c = dlp_checkpoint_new_from_json (json, &error);

  g_assert_no_error (error);
  assert_equal (stored, a);
  assert_equal (stored, b);
  assert_equal (stored, c);
  g_assert_true (g_str_has_suffix (dlp_checkpoint_get_path (stored), "stored/checkpoint-2"));
  g_assert_null (dlp_checkpoint_get_path (a));
  g_assert_true (g_str_has_prefix (dlp_checkpoint_get_graph (b), "file-source name=file-source0"));
}

static DlpCheckpoint *
with (const char *key, GVariant *value, GError **error)
{
  g_autoptr (DlpCheckpoint) stored = load ();
  g_autoptr (GVariant) state = dlp_checkpoint_to_variant (stored);
  GVariantDict dict;

  g_variant_dict_init (&dict, state);
  if (value != NULL)
    g_variant_dict_insert_value (&dict, key, value);
  else
    g_variant_dict_remove (&dict, key);
  return dlp_checkpoint_new_from_variant (g_variant_dict_end (&dict), error);
}

/* Values that JSON has not, in the state of an element. */
static void
test_json_values (void)
{
  g_autoptr (DlpCheckpoint) stored = load ();
  g_autoptr (GVariant) state = dlp_checkpoint_to_variant (stored);
  g_autoptr (GVariant) elements = g_variant_lookup_value (state, "elements", NULL);
  g_autoptr (GVariant) first = g_variant_get_child_value (elements, 0);
  g_autoptr (DlpCheckpoint) odd = NULL;
  g_autoptr (DlpCheckpoint) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *json = NULL;
  const char *values =
      "{'nothing': <@mi nothing>, 'just': <@mi 5>, 'nested': <@mmi just nothing>,"
      " 'bytes': <[byte 0xff, 0x00, 0x01]>, 'no-bytes': <@ay []>, 'text': <b'a\\\\tb'>,"
      " 'empty': <b''>, 'largest': <uint64 18446744073709551615>, 'least': <int64 "
      "-9223372036854775808>,"
      " 'small': <[byte 7]>, 'short': <int16 -5>, 'word': <uint16 65535>, 'tuple': <(1, 'two', "
      "true)>,"
      " 'unit': <()>, 'numbers': <{1: 'one', 2: 'two'}>, 'deep': <<<<'v'>>>>, 'tenth': <0.1>,"
      " 'huge': <1e300>, 'zero': <-0.0>, 'one': <1.0>, 'unicode': <'grün "
      "\\u2028'>,"
      " 'none': <@a{sv} {}>, 'list': <@aa{st} [{'a': 1}, {}]>}";
  g_autoptr (GVariant) parsed = g_variant_ref_sink (g_variant_new_parsed (values));
  GVariantBuilder builder;
  GVariantDict dict;

  g_variant_dict_init (&dict, parsed);
  g_variant_dict_insert (&dict, "tiny", "d", 5e-324);
  g_variant_dict_insert (&dict, "nan", "d", (double) NAN);
  g_variant_dict_insert (&dict, "infinite", "d", -(double) INFINITY);
  values = NULL;
  {
    GVariant *described = g_variant_dict_end (&dict);

    g_variant_dict_init (&dict, first);
    g_variant_dict_insert_value (&dict, "state", described);
  }
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  g_variant_builder_add_value (&builder, g_variant_dict_end (&dict));
  for (gsize i = 1; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);

      g_variant_builder_add_value (&builder, element);
    }
  odd = with ("elements", g_variant_builder_end (&builder), &error);
  g_assert_no_error (error);
  json = dlp_checkpoint_to_json (odd);
  again = dlp_checkpoint_new_from_json (json, &error);
  g_assert_no_error (error);
  assert_equal (odd, again);
}

static void
test_json_refused (void)
{
  g_autoptr (DlpCheckpoint) stored = load ();
  g_autofree char *json = dlp_checkpoint_to_json (stored);
  const struct
  {
    const char *was, *is, *message;
  } cases[] = {
    { "\"drawn\"", "\"drown\"", "*its checksum is*" },
    { "\"t\": 26524", "\"t\": 26525", "*its checksum is*" },
    { "\"t\": 26524", "\"t\": -1", "malformed: -1 is no value of type t" },
    { "\"t\": 26524", "\"u\": 4294967296", "malformed: 4294967296 is no value of type u" },
    { "\"t\": 26524", "\"t\": \"x\"", "malformed: 'x' is no value of type t" },
    { "\"t\": 26524", "\"*\": 1", "malformed:*is no value of type v" },
    { "\"t\": 26524", "\"t\": 26524, \"u\": 1", "malformed:*is no value of type v" },
    { "\"dlpipe-state\": 1", "\"dlpipe-state\": 2", "*“dlpipe-state” is 2, this dlpipe reads 1" },
    { "\"dlpipe-state\"", "\"something\"", "not a state:*" },
    { "\"checksum\"", "\"check\"", "malformed: member “checksum” is missing*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *at = strstr (json, cases[i].was);
      g_autofree char *changed = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_nonnull (at);
      changed = g_strdup_printf ("%.*s%s%s", (int) (at - json), json, cases[i].is,
                                 at + strlen (cases[i].was));
      g_assert_null (dlp_checkpoint_new_from_json (changed, &error));
      g_assert_nonnull (error);
      g_assert_true (error->domain == DLP_STATE_ERROR);
      if (!g_pattern_match_simple (cases[i].message, error->message))
        g_error ("%s\nis not\n%s", error->message, cases[i].message);
    }
}

/* ---- what is refused ---- */

static void
expect (DlpCheckpoint *checkpoint, GError **place, int code, const char *message)
{
  g_autoptr (GError) error = *place;

  g_assert_null (checkpoint);
  g_assert_error (error, DLP_STATE_ERROR, code);
  if (!g_pattern_match_simple (message, error->message))
    g_error ("%s\nis not\n%s", error->message, message);
}

static void
refuse (const char *key, const char *value, int code, const char *message)
{
  GError *error = NULL;
  GVariant *parsed = value != NULL ? g_variant_new_parsed (value) : NULL;

  expect (with (key, parsed, &error), &error, code, message);
}

static void
test_refused (void)
{
  refuse ("format", "uint32 2", DLP_STATE_ERROR_VERSION, "state format 2; this dlpipe reads 1");
  refuse ("format", "uint64 1", DLP_STATE_ERROR_CORRUPT, "key “format” is missing, or not*");
  refuse ("graph", NULL, DLP_STATE_ERROR_CORRUPT, "key “graph” is missing");
  refuse ("graph", "[byte 1, 2]", DLP_STATE_ERROR_CORRUPT, "key “graph” is not a text*");
  refuse ("graph", "[byte 1, 0, 2, 0]", DLP_STATE_ERROR_CORRUPT, "key “graph” is not a text*");
  refuse ("graph", "'x'", DLP_STATE_ERROR_CORRUPT, "key “graph” has type s, not ay");
  refuse ("seed", "5", DLP_STATE_ERROR_CORRUPT, "key “seed” has type i, not t");
  refuse ("run-id", "'../x'", DLP_STATE_ERROR_CORRUPT, "key “run-id” is “../x”, not hexadecimal");
  refuse ("elapsed", "-1.0", DLP_STATE_ERROR_CORRUPT, "key “elapsed” is -1 seconds*");
  refuse ("finished-early", "true", DLP_STATE_ERROR_CORRUPT, "key “finished-early” is true of*");
  refuse ("stray", "true", DLP_STATE_ERROR_CORRUPT, "unknown key “stray”; known are: format, *");
  refuse ("elements", "@aa{sv} []", DLP_STATE_ERROR_CORRUPT, "key “elements” is empty");
  refuse ("elements", "[{'name': <'x'>}]", DLP_STATE_ERROR_CORRUPT,
          "state of element 0 (x): key “factory” is missing");
}

/* The stored state with one key of one element changed. */
static void
refuse_element (const char *name, const char *key, const char *value, const char *message)
{
  g_autoptr (DlpCheckpoint) stored = load ();
  g_autoptr (GVariant) state = dlp_checkpoint_to_variant (stored);
  g_autoptr (GVariant) elements = g_variant_lookup_value (state, "elements", NULL);
  GVariantBuilder builder;
  GError *error = NULL;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      const char *known;
      GVariantDict dict;

      g_variant_lookup (element, "name", "&s", &known);
      g_variant_dict_init (&dict, element);
      if (strcmp (known, name) == 0 && value != NULL)
        g_variant_dict_insert_value (&dict, key, g_variant_new_parsed (value));
      else if (strcmp (known, name) == 0)
        g_variant_dict_remove (&dict, key);
      g_variant_builder_add_value (&builder, g_variant_dict_end (&dict));
    }
  expect (with ("elements", g_variant_builder_end (&builder), &error), &error,
          DLP_STATE_ERROR_CORRUPT, message);
}

/* The same with the plugin of one element. */
static DlpCheckpoint *
with_plugin (const char *plugin, const char *version, GError **error)
{
  g_autoptr (DlpCheckpoint) stored = load ();
  g_autoptr (GVariant) state = dlp_checkpoint_to_variant (stored);
  g_autoptr (GVariant) elements = g_variant_lookup_value (state, "elements", NULL);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      GVariantDict dict;

      g_variant_dict_init (&dict, element);
      if (i == 0)
        {
          g_variant_dict_insert (&dict, "plugin", "s", plugin);
          g_variant_dict_insert (&dict, "plugin-version", "s", version);
        }
      g_variant_builder_add_value (&builder, g_variant_dict_end (&dict));
    }
  return with ("elements", g_variant_builder_end (&builder), error);
}

static void
test_plugin (void)
{
  g_autofree char *longest = g_strnfill (128, 'x');
  g_autofree char *too_long = g_strnfill (129, 'x');
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) some = with_plugin (longest, longest, &error);
  g_autoptr (DlpCheckpoint) none = with_plugin ("x", "", &error);
  g_autofree char *json = NULL;
  GError *refused = NULL;

  g_assert_no_error (error);
  g_assert_nonnull (none);
  json = dlp_checkpoint_to_json (some);
  g_assert_nonnull (strstr (json, "\"plugin-version\""));
  expect (with_plugin (too_long, "1", &refused), &refused, DLP_STATE_ERROR_CORRUPT,
          "state of file-source0: key “plugin” is “x*x”; allowed are *, 128 in all");
  refused = NULL;
  expect (with_plugin ("A\n", "1", &refused), &refused, DLP_STATE_ERROR_CORRUPT,
          "state of file-source0: key “plugin” is *");
  refused = NULL;
  expect (with_plugin ("x", too_long, &refused), &refused, DLP_STATE_ERROR_CORRUPT,
          "state of file-source0: key “plugin-version” has 129 bytes; allowed are 128");
}

static void
test_element_refused (void)
{
  refuse_element ("shuffle0", "name", "'shuffle9'",
                  "state of tokenizer0: key “links”: “shuffle0.out” is no pad of an element*");
  refuse_element ("tokenizer0", "name", "'shuffle0'",
                  "key “elements”: there are two of the name “shuffle0”");
  refuse_element ("shuffle0", "stray", "1", "state of element 2 (shuffle0): unknown key “stray”*");
  refuse_element ("shuffle0", "state", "5", "*(shuffle0): key “state” has type i, not a{sv}");
  refuse_element ("shuffle0", "oldest", "uint32 2",
                  "state of shuffle0: key “oldest” is 2, above key “version”, 1");
  refuse_element ("shuffle0", "inputs", "@ax []",
                  "state of shuffle0: key “inputs” has 0 numbers, key “links” 1");
  refuse_element ("shuffle0", "links", "['nobody.out']",
                  "state of shuffle0: key “links”: “nobody.out” is no pad of an element before it");
  refuse_element ("shuffle0", "progress", "[uint64 1]",
                  "state of shuffle0: key “progress” has 1 numbers, not 4");
  refuse_element ("shuffle0", "plugin", "'shuffle'",
                  "state of shuffle0: key “plugin-version” is missing, “plugin” is there");
  refuse_element ("shuffle0", "plugin-version", "'1.0'",
                  "state of shuffle0: key “plugin” is missing, “plugin-version” is there");
  refuse_element ("shuffle0", "plugin", "5", "*(shuffle0): key “plugin” has type i, not s");
  refuse_element ("tokenizer0", "inputs", "[int64 26523]",
                  "state of tokenizer0: key “inputs”: it is to go on at record 26523 of "
                  "shuffle0.out, which goes on at 26524 itself");
  refuse_element ("shuffle0", "needed", "false",
                  "state of tokenizer0: key “inputs”: it is to go on at record 26780 of "
                  "shuffle0.out, of which the state has nothing");
  refuse_element ("shuffle0", "emitted", NULL, "state of tokenizer0: key “inputs”: *has nothing");
}

/* A tuple of many members: its types are gone through once. */
static void
test_json_large (void)
{
  const guint n = 100000;
  g_autofree char *types = g_strnfill (n, 'y');
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  clock_t began;

  g_string_append_printf (
      text, "{\"dlpipe-state\": 1, \"checksum\": \"\", \"state\": {\"a\": {\"(%s)\": [", types);
  for (guint i = 0; i < n; i++)
    g_string_append (text, i > 0 ? ",1" : "1");
  g_string_append (text, "]}}}");
  began = clock ();
  g_assert_null (dlp_checkpoint_new_from_json (text->str, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
  g_assert_nonnull (strstr (error->message, "its checksum is "));
  g_assert_cmpfloat ((double) (clock () - began) / CLOCKS_PER_SEC, <, 5);
}

/* ---- folders ---- */

static void
test_inputs (void)
{
  g_autoptr (DlpCheckpoint) stored = load ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) files = dlp_checkpoint_list_inputs (stored, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (files->len, ==, 2);
  g_assert_cmpstr (dlp_file_get_uri (files->pdata[0]), ==, "part-0.jsonl");
  g_assert_cmpint (dlp_file_get_size (files->pdata[1]), ==, 7088895);
  g_assert_cmpstr (dlp_file_get_identity (files->pdata[0]), ==, "mtime=1796009775.238297839");
}

static void
test_describe (void)
{
  g_autofree char *path = g_build_filename (folder, "stored", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) described = dlp_checkpoint_describe_folder (path, &error);
  g_autoptr (GVariant) none = dlp_checkpoint_describe_folder (folder, NULL);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  text = g_variant_print (described, FALSE);
  g_assert_cmpstr (text, ==, "{'damaged': <@at []>, 'generations': <[uint64 2]>}");
  g_clear_pointer (&text, g_free);
  text = g_variant_print (none, FALSE);
  g_assert_cmpstr (text, ==, "{'damaged': <@at []>, 'generations': <@at []>}");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, ==, 2);
  folder = argv[1];
  g_test_add_func ("/checkpoint/forms", test_forms);
  g_test_add_func ("/checkpoint/json-values", test_json_values);
  g_test_add_func ("/checkpoint/json-refused", test_json_refused);
  g_test_add_func ("/checkpoint/json-large", test_json_large);
  g_test_add_func ("/checkpoint/refused", test_refused);
  g_test_add_func ("/checkpoint/element-refused", test_element_refused);
  g_test_add_func ("/checkpoint/plugin", test_plugin);
  g_test_add_func ("/checkpoint/inputs", test_inputs);
  g_test_add_func ("/checkpoint/describe", test_describe);
  return g_test_run ();
}
