/* SPDX-License-Identifier: MIT */

/* What dlpipe-inspect prints: golden texts (DLPIPE_UPDATE_GOLDEN=1 writes them), JSON, exit codes.
 */

#include <string.h>

#include <dlpipe/dlp-json.h>

#include "registry-rig.h"

#define WIDTH 80

static void
assert_golden (LaunchRig *rig, const char *name)
{
  g_autofree char *file = g_strconcat (name, ".txt", NULL);
  g_autofree char *path = g_build_filename (g_getenv ("DLPIPE_GOLDEN"), file, NULL);
  g_autoptr (GString) text = g_string_new (rig->out);
  g_autofree char *wanted = NULL;
  g_autoptr (GError) error = NULL;

  g_string_replace (text, rig->dir, "DIR", 0);
  if (g_getenv ("DLPIPE_UPDATE_GOLDEN") != NULL)
    g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  g_file_get_contents (path, &wanted, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text->str, ==, wanted);
}

static LaunchRig *
new_rig (void)
{
  LaunchRig *rig = registry_rig_new ();

  registry_rig_add (rig, NULL, "good");
  registry_rig_add (rig, NULL, "codec");
  return rig;
}

static void
test_golden (void)
{
  static const char *const names[] = { "good-element", "plugin:good", "codec:toy", "scheme:toy" };
  g_autoptr (LaunchRig) rig = new_rig ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *golden = g_strdelimit (g_strdup (names[i]), ":", '-');

      launch_rig_expect (rig, 0, names[i], NULL);
      g_assert_cmpstr (rig->err, ==, "");
      assert_golden (rig, golden);
    }
}

static void
test_golden_json (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  GString *text;
  char *version;

  launch_rig_expect (rig, 0, "--json", "good-element", NULL);
  text = g_string_new (rig->out);
  version = strstr (text->str, "\"version\": \"");
  g_assert_nonnull (version);
  g_string_erase (text, version - text->str, strcspn (version, ",") + 2);
  g_free (rig->out);
  rig->out = g_string_free (text, FALSE);
  assert_golden (rig, "good-element.json");
}

static void
test_list (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  registry_rig_add (rig, NULL, "error-init");
  launch_rig_expect (rig, 0, NULL);
  g_assert_nonnull (strstr (rig->out,
                            "\ngood 1.2.3\n  good-element          Does nothing, and does "
                            "it well\n"));
  g_assert_nonnull (strstr (rig->out, "\n  toy                   codec: A codec and a scheme"));
  g_assert_nonnull (strstr (rig->out, "\n  toy                   URI scheme: A codec and a"));
  g_assert_nonnull (strstr (rig->out, "\n3 plugins: "));
  g_assert_nonnull (strstr (rig->out, "\nNot used\n"));
  g_assert_null (strchr (rig->out, '\033'));
}

static void
test_json (void)
{
  static const char *const lists[] = { "plugins", "elements", "codecs", "schemes", "problems" };
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (GVariant) all = registry_rig_list (rig, NULL);
  g_autoptr (GVariant) codec = registry_rig_find (all, "codecs", "toy");
  g_autoptr (GVariant) magics = NULL;
  g_autoptr (GVariant) one = NULL;
  g_autoptr (GVariant) nothing = NULL;
  gint64 schema;
  const char *text;

  g_assert_true (g_variant_lookup (all, "schema", "x", &schema));
  g_assert_cmpint (schema, ==, 1);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_autoptr (GVariant) list = g_variant_lookup_value (all, lists[i], G_VARIANT_TYPE ("av"));

      g_assert_nonnull (list);
    }
  magics = g_variant_lookup_value (codec, "magic", G_VARIANT_TYPE ("av"));
  g_variant_get_child (magics, 0, "v", &one);
  text = g_variant_get_string (one, NULL);
  g_assert_cmpstr (text, ==, "5? ?f ?9 21");

  g_clear_pointer (&all, g_variant_unref);
  all = registry_rig_list (rig, "plugin:codec");
  nothing = registry_rig_find (all, "plugins", "codec");
  g_assert_nonnull (nothing);
  g_clear_pointer (&nothing, g_variant_unref);
  nothing = registry_rig_find (all, "elements", "good-element");
  g_assert_null (nothing);
}

static void
test_exit_codes (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  registry_rig_add (rig, NULL, "error-init");
  launch_rig_expect (rig, 0, "--exists", "good-element", NULL);
  g_assert_cmpstr (rig->out, ==, "");
  launch_rig_expect (rig, 0, "--exists", "codec", NULL);
  launch_rig_expect (rig, 1, "--exists", "good-elemnt", NULL);
  g_assert_cmpstr (rig->err, ==, "");
  launch_rig_expect (rig, 1, "good-elemnt", NULL);
  g_assert_nonnull (strstr (rig->err, "did you mean “good-element”?"));
  launch_rig_expect (rig, 1, "plugin:good-element", NULL);
  launch_rig_expect (rig, 1, "error-init", NULL);
  g_assert_nonnull (strstr (rig->err, "the device is not there; correct or remove it"));
  launch_rig_expect (rig, 1, "", NULL);
  launch_rig_expect (rig, 2, "--exists", NULL);
  launch_rig_expect (rig, 2, "--exists", "--json", "good", NULL);
  launch_rig_expect (rig, 2, "good", "good-element", NULL);
  launch_rig_expect (rig, 2, "--nonsense", NULL);
  launch_rig_expect (rig, 0, "--help", NULL);
  launch_rig_expect (rig, 0, "--version", NULL);
  g_assert_true (g_str_has_prefix (rig->out, "dlpipe-inspect "));
}

static void
assert_printable (const char *text)
{
  g_assert_true (g_utf8_validate (text, -1, NULL));
  for (; *text != '\0'; text = g_utf8_next_char (text))
    if (*text != '\n' && g_unichar_iscntrl (g_utf8_get_char (text)))
      g_error ("a control character: %s", text);
}

/* What a plugin says of itself does nothing to a terminal. */
static void
test_escapes (void)
{
  static const char *const names[] = { "escapes-element", "plugin:escapes", NULL };
  g_autoptr (LaunchRig) rig = registry_rig_new ();

  registry_rig_add (rig, NULL, "escapes");
  registry_rig_add (rig, NULL, "error-escapes");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      launch_rig_expect (rig, 0, names[i], NULL);
      assert_printable (rig->out);
      g_assert_nonnull (strstr (rig->out, "\\x1b[31m"));
    }
  launch_rig_expect (rig, 1, "error-escapes", NULL);
  assert_printable (rig->err);
  g_assert_nonnull (strstr (rig->err, "\\x1b[31mred"));
  launch_rig_expect (rig, 1, "\033[31m", NULL);
  assert_printable (rig->err);

  /* A program is told what it is. */
  launch_rig_expect (rig, 0, "--json", "escapes-element", NULL);
  g_assert_nonnull (strstr (rig->out, "\\u001b[31m"));
}

/* (transfer full): what there is with the plugins of the tree. */
static GVariant *
list_own (LaunchRig *rig)
{
  g_autofree char *own = g_build_filename (launch_rig_get_data (), "..", "..", "plugins", NULL);

  g_setenv ("DLPIPE_PLUGIN_PATH", own, TRUE);
  return registry_rig_list (rig, NULL);
}

static void
check_pads (GVariant *element)
{
  g_autoptr (GVariant) pads = g_variant_lookup_value (element, "pads", G_VARIANT_TYPE ("av"));
  const char *name;

  g_assert_true (g_variant_lookup (element, "name", "&s", &name));
  g_assert_nonnull (pads);
  g_assert_cmpuint (g_variant_n_children (pads), >, 0);
  for (gsize i = 0; i < g_variant_n_children (pads); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (pads, i);
      g_autoptr (GVariant) pad = g_variant_get_variant (boxed);
      g_autoptr (GVariant) carries = g_variant_lookup_value (pad, "carries", G_VARIANT_TYPE ("av"));
      const char *pad_name;

      g_assert_true (g_variant_lookup (pad, "name", "&s", &pad_name));
      if (carries == NULL || g_variant_n_children (carries) == 0)
        g_error ("%s: it is not said what the pad “%s” carries", name, pad_name);
    }
}

/* Every pad of an element of ours has a template. */
static void
test_pads (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autoptr (GVariant) all = list_own (rig);
  g_autoptr (GVariant) elements = g_variant_lookup_value (all, "elements", G_VARIANT_TYPE ("av"));

  g_assert_cmpuint (g_variant_n_children (elements), >, 10);
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) element = g_variant_get_variant (boxed);

      check_pads (element);
    }
  launch_rig_expect (rig, 0, "split", NULL);
  g_assert_nonnull (strstr (rig->out, "\n  SIDE        output  records; one for each link\n"));
  launch_rig_expect (rig, 0, "filter", NULL);
  g_assert_nonnull (strstr (rig->out, "\n  rejected    output  records; optional\n"));
}

/* All that is ours, in lines that fit; names of files are as long as they are. */
static void
test_width (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autoptr (GVariant) all = NULL;
  g_autoptr (GVariant) elements = NULL;

  all = list_own (rig);
  elements = g_variant_lookup_value (all, "elements", G_VARIANT_TYPE ("av"));
  g_assert_cmpuint (g_variant_n_children (elements), >, 10);
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) element = g_variant_get_variant (boxed);
      g_auto (GStrv) lines = NULL;
      const char *name, *text;

      g_assert_true (g_variant_lookup (element, "name", "&s", &name));
      g_assert_true (g_variant_lookup (element, "description", "&s", &text));
      g_assert_cmpstr (text, !=, "");
      g_assert_true (g_variant_lookup (element, "example", "&s", &text));
      g_assert_nonnull (strstr (text, name));
      launch_rig_expect (rig, 0, name, NULL);
      lines = g_strsplit (rig->out, "\n", -1);
      for (guint k = 0; lines[k] != NULL; k++)
        if (!g_str_has_prefix (lines[k], "  file ") && g_utf8_strlen (lines[k], -1) > WIDTH)
          g_error ("%s: %s", name, lines[k]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);

  g_test_add_func ("/inspect/golden", test_golden);
  g_test_add_func ("/inspect/golden-json", test_golden_json);
  g_test_add_func ("/inspect/list", test_list);
  g_test_add_func ("/inspect/json", test_json);
  g_test_add_func ("/inspect/exit-codes", test_exit_codes);
  g_test_add_func ("/inspect/escapes", test_escapes);
  g_test_add_func ("/inspect/pads", test_pads);
  g_test_add_func ("/inspect/width", test_width);
  return g_test_run ();
}
