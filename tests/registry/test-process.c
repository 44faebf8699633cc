/* SPDX-License-Identifier: MIT */

/* The process that uses plugins: which of them it has opened, and what it may see. Each case is a
 * process of its own, since the registry is one a process. */

#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include <dlpipe/dlpipe.h>

static const char *fixtures;

/* Whether the plugin is part of this process. */
static gboolean
is_open (const char *plugin)
{
  g_autofree char *maps = NULL;
  g_autofree char *name = g_strdup_printf ("/dlp-%s.so", plugin);

  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  return strstr (maps, name) != NULL;
}

static gboolean
is_any_open (void)
{
  g_autofree char *maps = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  return strstr (maps, "/dlp-") != NULL;
}

static void
use_plugins (char *folder, const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *name = g_strdup_printf ("dlp-%s.so", names[i]);
      g_autofree char *from = g_build_filename (fixtures, name, NULL);
      g_autofree char *to = g_build_filename (folder, name, NULL);

      g_assert_cmpint (symlink (from, to), ==, 0);
    }
}

/* (transfer full): a folder with some plugins, on the search path. */
static char *
set_up (const char *first, ...)
{
  char *folder = g_dir_make_tmp ("dlpipe-registry-XXXXXX", NULL);
  g_autofree char *cache = g_build_filename (folder, "registry.cache", NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  va_list args;

  va_start (args, first);
  for (const char *name = first; name != NULL; name = va_arg (args, const char *))
    g_ptr_array_add (names, (gpointer) name);
  va_end (args);
  g_ptr_array_add (names, NULL);
  use_plugins (folder, (const char *const *) names->pdata);
  g_setenv ("DLPIPE_PLUGIN_PATH", folder, TRUE);
  g_setenv ("DLPIPE_REGISTRY", cache, TRUE);
  g_setenv ("DLPIPE_PLUGIN_SCANNER", g_getenv ("DLPIPE_SCANNER"), TRUE);
  return folder;
}

static void
tear_down (char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_remove (path);
    }
  g_rmdir (folder);
  g_free (folder);
}

static void
run_again (void)
{
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed ();
}

static void
list_all (void)
{
  g_auto (GStrv) elements = dlp_registry_list_elements ();
  g_auto (GStrv) plugins = dlp_registry_list_plugins ();
  g_auto (GStrv) codecs = dlp_registry_list_codecs ();
  g_auto (GStrv) schemes = dlp_registry_list_schemes ();
  g_autoptr (GVariant) problems = dlp_registry_list_problems ();
  g_autoptr (GVariant) element = dlp_registry_describe_element ("good-element");
  g_autoptr (GVariant) plugin = dlp_registry_describe_plugin ("good");
  g_autoptr (GVariant) codec = dlp_registry_describe_codec ("toy");
  g_autoptr (GVariant) scheme = dlp_registry_describe_scheme ("toy");
  g_autoptr (GVariant) core = dlp_registry_describe_scheme ("file");

  g_assert_true (g_strv_contains ((const char *const *) elements, "good-element"));
  g_assert_true (g_strv_contains ((const char *const *) elements, "prints-element"));
  g_assert_true (g_strv_contains ((const char *const *) codecs, "toy"));
  g_assert_true (g_strv_contains ((const char *const *) schemes, "toy"));
  g_assert_true (g_strv_contains ((const char *const *) schemes, "file"));
  g_assert_true (g_strv_contains ((const char *const *) plugins, "codec"));
  g_assert_nonnull (element);
  g_assert_nonnull (plugin);
  g_assert_nonnull (codec);
  g_assert_nonnull (scheme);
  g_assert_nonnull (core);
  g_assert_cmpuint (g_variant_n_children (problems), ==, 0);
  g_assert_true (dlp_registry_has_element ("good-element"));
  g_assert_false (dlp_registry_has_element ("bad-element"));
  g_assert_null (dlp_registry_describe_element ("bad-element"));
}

/* Listing opens none; making an element opens its own. */
static void
test_elements (void)
{
  g_autoptr (DlpElement) element = NULL;
  g_autoptr (DlpElement) none = NULL;
  g_autoptr (GError) error = NULL;
  char *folder;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  folder = set_up ("good", "prints", "codec", NULL);
  list_all ();
  g_assert_false (is_any_open ());
  none = dlp_element_make ("god-element", NULL, &error);
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT);
  g_assert_nonnull (strstr (error->message, "did you mean “good-element”?"));
  g_assert_false (is_any_open ());
  g_clear_error (&error);

  element = dlp_element_make ("good-element", "it", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dlp_element_get_factory (element), ==, "good-element");
  g_assert_true (is_open ("good"));
  g_assert_false (is_open ("prints"));
  g_assert_false (is_open ("codec"));
  tear_down (folder);
}

/* By the first bytes of a stream that may be its own. */
static void
test_codec (void)
{
  g_autoptr (DlpDecoder) decoder = NULL;
  const char *name = "";
  char *folder;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  folder = set_up ("good", "codec", NULL);
  g_assert_null (dlp_codec_open ((const guint8 *) "{\"text\":\"plain\"}", 16, &name));
  g_assert_null (name);
  g_assert_null (dlp_codec_open ((const guint8 *) "T", 1, &name));
  g_assert_false (is_any_open ());
  /* Cut off, it may be. */
  g_assert_null (dlp_codec_open ((const guint8 *) "TO", 2, &name));
  g_assert_true (is_open ("codec"));
  decoder = dlp_codec_open ((const guint8 *) "_oy! and more", 13, &name);
  g_assert_nonnull (decoder);
  g_assert_cmpstr (name, ==, "toy");
  g_assert_false (is_open ("good"));
  tear_down (folder);
}

static void
test_scheme (void)
{
  g_autoptr (DlpFile) file = NULL;
  g_autoptr (GError) error = NULL;
  DlpScheme *scheme;
  char *folder;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  folder = set_up ("good", "codec", NULL);
  g_assert_nonnull (dlp_scheme_for_uri ("/etc/passwd", NULL));
  g_assert_null (dlp_scheme_for_uri ("toi://x", &error));
  g_assert_nonnull (strstr (error->message, "known: file, toy"));
  g_assert_false (is_any_open ());
  g_clear_error (&error);
  scheme = dlp_scheme_for_uri ("TOY://x", &error);
  g_assert_no_error (error);
  g_assert_true (is_open ("codec"));
  file = dlp_scheme_identify (scheme, "toy://x", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dlp_file_get_uri (file), ==, "toy://x");
  tear_down (folder);
}

static gpointer
open_toy (gpointer data)
{
  const char *name = NULL;
  DlpDecoder *decoder = dlp_codec_open ((const guint8 *) "TOY!", 4, &name);
  DlpElement *element = dlp_element_make ("good-element", NULL, NULL);
  gboolean ok = decoder != NULL && element != NULL && g_strcmp0 (name, "toy") == 0;

  g_clear_object (&decoder);
  g_clear_object (&element);
  return GINT_TO_POINTER (ok);
}

/* Whichever thread is the first, none misses what another has just opened. */
static void
test_threads (void)
{
  GThread *threads[8];
  char *folder;

  if (!g_test_subprocess ())
    {
      for (guint i = 0; i < 10; i++)
        run_again ();
      return;
    }
  folder = set_up ("good", "codec", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, open_toy, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_true (GPOINTER_TO_INT (g_thread_join (threads[i])));
  tear_down (folder);
}

static void
test_allowed (void)
{
  static const char *const only[] = { "prints", NULL };
  g_auto (GStrv) codecs = NULL;
  g_auto (GStrv) plugins = NULL;
  g_autofree char *names = NULL;
  char *folder;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  folder = set_up ("good", "prints", "codec", "error-init", NULL);
  g_assert_true (dlp_registry_set_allowed (only));
  g_assert_false (dlp_registry_has_element ("good-element"));
  g_assert_true (dlp_registry_has_element ("prints-element"));
  g_assert_true (dlp_registry_get_element_type ("good-element") == G_TYPE_INVALID);
  g_assert_null (dlp_registry_describe_plugin ("good"));
  codecs = dlp_registry_list_codecs ();
  g_assert_null (codecs[0]);
  g_assert_null (dlp_codec_open ((const guint8 *) "TOY!", 4, NULL));
  g_assert_null (dlp_scheme_for_uri ("toy://x", NULL));
  plugins = dlp_registry_list_plugins ();
  names = g_strjoinv (" ", plugins);
  g_assert_cmpstr (names, ==, "core prints");
  /* Too late. */
  g_assert_false (dlp_registry_set_allowed (NULL));
  g_assert_false (dlp_registry_has_element ("good-element"));
  g_assert_false (is_any_open ());
  tear_down (folder);
}

/* Without a scanner what is not allowed is not opened either. */
static void
test_allowed_in_process (void)
{
  static const char *const only[] = { "good", NULL };
  char *folder;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  folder = set_up ("good", "crash-load", NULL);
  g_setenv ("DLPIPE_PLUGIN_SCANNER", "", TRUE);
  dlp_registry_set_allowed (only);
  g_assert_true (dlp_registry_has_element ("good-element"));
  g_assert_true (is_open ("good"));
  g_assert_false (is_open ("crash-load"));
  tear_down (folder);
}

/* A path that is added once the registry is in use. */
static void
test_late_path (void)
{
  g_autoptr (DlpElement) element = NULL;
  char *folder, *other;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  other = set_up ("good", NULL);
  folder = set_up ("codec", NULL);
  g_assert_false (dlp_registry_has_element ("good-element"));
  dlp_registry_add_path (other);
  element = dlp_element_make ("good-element", NULL, NULL);
  g_assert_nonnull (element);
  tear_down (folder);
  tear_down (other);
}

/* Again, and by the folder around it: no plugin is in its own way. */
static void
test_path_twice (void)
{
  g_autoptr (GVariant) problems = NULL;
  g_autofree char *around = NULL;
  char *folder, *inner;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  folder = set_up ("good", NULL);
  around = g_dir_make_tmp ("dlpipe-registry-XXXXXX", NULL);
  inner = g_build_filename (around, "inner", NULL);
  g_assert_cmpint (g_mkdir (inner, 0700), ==, 0);
  use_plugins (inner, (const char *const[]){ "codec", NULL });
  dlp_registry_add_path (inner);
  g_assert_true (dlp_registry_has_element ("good-element"));
  dlp_registry_add_path (folder);
  dlp_registry_add_path (inner);
  dlp_registry_add_path (around);
  problems = dlp_registry_list_problems ();
  g_assert_cmpuint (g_variant_n_children (problems), ==, 0);
  tear_down (folder);
  tear_down (inner);
  g_rmdir (around);
}

static void
test_names (void)
{
  static const char *const bad[] = { "", "Upper", "1digit", "two words", "pad.name", "é" };

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (dlp_registry_add_element (bad[i], DLP_TYPE_APP_SINK, &error));
      g_assert_nonnull (strstr (error->message, "a name is a lower-case letter"));
    }
  g_assert_true (dlp_registry_add_element ("mine-2", DLP_TYPE_APP_SINK, NULL));
}

/* Replaced between the listing and the use. */
static void
test_replaced (void)
{
  g_autoptr (DlpElement) element = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  char *folder;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  folder = set_up ("good", NULL);
  path = g_build_filename (folder, "dlp-good.so", NULL);
  g_assert_true (dlp_registry_has_element ("good-element"));
  g_remove (path);
  element = dlp_element_make ("good-element", NULL, &error);
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT);
  g_assert_nonnull (strstr (error->message, "cannot be used: it cannot be opened: No such file"));
  tear_down (folder);
}

/* By one that would take the program down. */
static void
test_replaced_badly (void)
{
  g_autoptr (DlpElement) element = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *good = NULL;
  g_autofree char *bad = NULL;
  g_autofree char *data = NULL;
  char *folder;
  gsize size;

  if (!g_test_subprocess ())
    {
      run_again ();
      return;
    }
  folder = set_up ("good", NULL);
  good = g_build_filename (folder, "dlp-good.so", NULL);
  bad = g_build_filename (fixtures, "dlp-crash-init.so", NULL);
  g_assert_true (dlp_registry_has_element ("good-element"));
  g_assert_true (g_file_get_contents (bad, &data, &size, NULL));
  g_assert_true (g_file_set_contents (good, data, (gssize) size, NULL));
  element = dlp_element_make ("good-element", NULL, &error);
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_UNKNOWN_ELEMENT);
  g_assert_nonnull (strstr (error->message, "was replaced since"));
  tear_down (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixtures = argc > 1 ? argv[1] : g_getenv ("DLPIPE_FIXTURES");
  g_setenv ("DLPIPE_FIXTURES", fixtures, TRUE);

  g_test_add_func ("/registry/process/elements", test_elements);
  g_test_add_func ("/registry/process/codec", test_codec);
  g_test_add_func ("/registry/process/scheme", test_scheme);
  g_test_add_func ("/registry/process/threads", test_threads);
  g_test_add_func ("/registry/process/allowed", test_allowed);
  g_test_add_func ("/registry/process/allowed-in-process", test_allowed_in_process);
  g_test_add_func ("/registry/process/late-path", test_late_path);
  g_test_add_func ("/registry/process/path-twice", test_path_twice);
  g_test_add_func ("/registry/process/names", test_names);
  g_test_add_func ("/registry/process/replaced", test_replaced);
  g_test_add_func ("/registry/process/replaced-badly", test_replaced_badly);
  return g_test_run ();
}
