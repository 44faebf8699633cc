/* SPDX-License-Identifier: MIT */

/* Plugins that cannot be used are reported with reason and remedy, once from the scanner and then
 * from the cache, and harm nothing else. */

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "registry-rig.h"
#include "sanitized.h"

typedef struct
{
  const char *fixture;
  const char *reason; /* a pattern */
  const char *remedy;
  bool is_forgotten; /* not due to the file */
} Case;

#define HANGS_REMEDY "correct or remove it; until its file changes it is not tried again, *--rescan"

static const Case cases[] = {
  { "missing-symbol", "it cannot be opened: *a_function_that_nobody_has*", "build it again*",
    false },
  { "wrong-abi", "*plugin ABI 999 (descriptor of * bytes); this dlpipe has ABI 1 (* bytes)",
    "build it again*", false },
  { "wrong-size", "*plugin ABI 1 (descriptor of 8 bytes); this dlpipe has ABI 1 (* bytes)",
    "build it again*", false },
  { "crash-load", "it is ended by signal 11 (*), while it was opened; it printed: the last words",
    "correct or remove it*", false },
  { "crash-loud",
    "it is ended by signal 11 (*), while it was opened; it printed: .*.the last words",
    "correct or remove it*", false },
  { "crash-init", "it is ended by signal 11 (*), in its init()", "correct or remove it*", false },
  { "exit-init", "it ends the process (exit status 3), in its init()", "correct or remove it*",
    false },
  { "hang-init", "it hangs, in its init() (for * s)", HANGS_REMEDY, false },
  { "hang-load", "it hangs, while it was opened (for * s)", HANGS_REMEDY, false },
  { "close-and-hang", "it hangs, in its init() (for * s)", HANGS_REMEDY, false },
  { "error-init", "its init() fails: the device is not there", "correct or remove it*", false },
  { "error-escapes", "its init() fails: \\x1b[31mred\\x07 blue\\xc2\\x9b", "correct or remove it*",
    false },
  { "silent-init", "its init() fails: it does not say why", "correct or remove it*", false },
  { "no-name", "its descriptor has no name", "correct its DLP_PLUGIN_DEFINE()", false },
  { "bad-name", "its name is “Bad/Name”; *", "correct its DLP_PLUGIN_DEFINE()", false },
  { "no-init", "its descriptor has no init()", "correct its DLP_PLUGIN_DEFINE()", false },
  { "no-descriptor", "it is no plugin of dlpipe: it has no symbol dlp_plugin_descriptor",
    "a plugin has DLP_PLUGIN_DEFINE()*", false },
  { "same-element-twice", "its init() fails: it adds element “broken-sink” twice",
    "correct or remove it*", false },
  { "abstract-element", "its init() fails: element “broken-sink”: type BrokenSink is not *",
    "correct or remove it*", false },
  { "bad-codec",
    "its init() fails: codec “broken”: type BrokenSink is not a decoder that can be made",
    "correct or remove it*", false },
  { "bad-magic", "its init() fails: codec “broken”: a magic of 1 bytes comes before the codec *",
    "correct or remove it*", false },
  { "bad-scheme", "its init() fails: URI scheme “Upper”: a name is a lower-case letter, *",
    "correct or remove it*", false },
  { "crash-describe", "it is ended by signal 11 (*), while its elements were made and described",
    "correct or remove it*", false },
  { "fork-and-crash", "it is ended by signal 11 (*), while it was opened*", "correct or remove it*",
    false },
  { "writes-anywhere", "it writes to descriptors that are not its own*", "correct or remove it*",
    false },
  { "killed", "the process that looks at it was ended by signal 9 (*), in its init()",
    "correct or remove it*", true },
};

static void
assert_matches (const char *pattern, const char *text)
{
  if (!g_pattern_match_simple (pattern, text))
    g_error ("“%s” is not like “%s”", text, pattern);
}

static void
check_problem (LaunchRig *rig, GVariant *all, const Case *self)
{
  g_autoptr (GVariant) good = registry_rig_find (all, "elements", "good-element");
  g_autofree char *problems = registry_rig_get_problems (all);
  g_autofree char *path = registry_rig_path (rig, self->fixture);
  g_autofree char *pattern = g_strdup_printf ("%s: %s; %s", path, self->reason, self->remedy);

  g_assert_nonnull (good);
  assert_matches (pattern, problems);
  g_assert_null (strchr (problems, '\n'));
}

static void
test_broken (gconstpointer data)
{
  const Case *self = data;
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autoptr (GVariant) first = NULL;
  g_autoptr (GVariant) second = NULL;
  gint64 start = g_get_monotonic_time ();

  g_setenv ("DLPIPE_SCANNER_TIMEOUT", strstr (self->fixture, "hang") != NULL ? "0.4" : "30", TRUE);
  registry_rig_count_scans (rig);
  registry_rig_add (rig, NULL, "good");
  registry_rig_add (rig, NULL, self->fixture);
  first = registry_rig_list (rig, NULL);
  check_problem (rig, first, self);
  g_assert_cmpstr (rig->err, ==, "");
  g_assert_cmpuint (registry_rig_take_scans (rig), ==, 2);
  /* A process that holds the pipes is not waited for. */
  g_assert_cmpint (g_get_monotonic_time () - start, <, 25 * G_USEC_PER_SEC);

  second = registry_rig_list (rig, NULL);
  check_problem (rig, second, self);
  g_assert_cmpuint (registry_rig_take_scans (rig), ==, self->is_forgotten ? 1 : 0);
}

/* Nothing that a plugin started goes on, also where the plugin has ended the scanner. */
static void
test_left_behind (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autofree char *path = launch_rig_path (rig, "lock");
  g_autoptr (GVariant) all = NULL;
  int fd, locked = -1;

  g_setenv ("FIXTURE_LOCK", path, TRUE);
  registry_rig_add (rig, NULL, "fork-and-crash");
  all = registry_rig_list (rig, NULL);
  g_unsetenv ("FIXTURE_LOCK");
  fd = open (path, O_RDWR);
  g_assert_cmpint (fd, >=, 0);
  for (guint i = 0; i < 1000 && locked != 0; i++)
    {
      locked = flock (fd, LOCK_EX | LOCK_NB);
      g_usleep (10000);
    }
  g_assert_cmpint (locked, ==, 0);
  close (fd);
}

/* Nobody waits for a minute without being told why. */
static void
test_many_hang (void)
{
  static const char *const fixtures[] = { "close-and-hang", "good", "hang-init", "hang-load" };
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autoptr (GVariant) all = NULL;

  g_setenv ("DLPIPE_SCANNER_TIMEOUT", "0.4", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (fixtures); i++)
    registry_rig_add (rig, NULL, fixtures[i]);
  all = registry_rig_list (rig, NULL);
  assert_matches ("*looking at plugins takes long: ? of 4 files are done, *.so is next; *",
                  rig->err);
}

static void
test_no_library (void)
{
  static const char *const contents[] = { "", "ELF", "#!/bin/sh\n", "\177ELF and no more" };

  for (guint i = 0; i < G_N_ELEMENTS (contents); i++)
    {
      g_autoptr (LaunchRig) rig = registry_rig_new ();
      g_autoptr (GVariant) all = NULL;
      const Case self = { "text",
                          i < 3 ? "it is no shared library: it does not begin as an ELF file" :
                                  "it cannot be opened: *",
                          i < 3 ? "build it again, or remove the file" : "build it again*", false };

      registry_rig_add (rig, NULL, "good");
      launch_rig_write (rig, "plugins/dlp-text.so", contents[i], -1);
      all = registry_rig_list (rig, NULL);
      check_problem (rig, all, &self);
    }
}

/* The beginning of a plugin, such as one that is being copied. */
static void
test_truncated (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autofree char *path = registry_rig_path (rig, "later-good");
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) all = NULL;
  const Case self = { "later-good", "it *", "*", false };
  gsize size;

  registry_rig_add (rig, NULL, "good");
  registry_rig_add (rig, NULL, "later-good");
  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  g_assert_cmpint (truncate (path, (off_t) size / 3), ==, 0);
  all = registry_rig_list (rig, NULL);
  check_problem (rig, all, &self);
}

static void
test_same_names (void)
{
  static const struct
  {
    const char *fixture, *reason;
    bool has_plugin;
  } doubles[] = {
    { "later-good", "plugin “good” is there already, from */dlp-good.so", true },
    { "same-element", "element “good-element” is there already, from */dlp-good.so", true },
    { "same-type", "its type “GoodElement” is there already, from */dlp-good.so", false },
  };

  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    {
      g_autoptr (LaunchRig) rig = registry_rig_new ();
      g_autoptr (GVariant) all = NULL;
      g_autoptr (GVariant) plugin = NULL;
      g_autoptr (GVariant) element = NULL;
      const Case self = { doubles[i].fixture, doubles[i].reason,
                          "remove one of them, or give it another name", false };
      const char *of;

      registry_rig_add (rig, NULL, "good");
      registry_rig_add (rig, NULL, doubles[i].fixture);
      all = registry_rig_list (rig, NULL);
      check_problem (rig, all, &self);
      element = registry_rig_find (all, "elements", "good-element");
      g_assert_true (g_variant_lookup (element, "plugin", "&s", &of));
      g_assert_cmpstr (of, ==, "good");
      plugin = registry_rig_find (all, "plugins", "good");
      g_assert_true (g_variant_lookup (plugin, "version", "&s", &of));
      g_assert_cmpstr (of, ==, "1.2.3");
    }
}

static void
leak_descriptor (gpointer data)
{
  dup2 (STDERR_FILENO, 77);
}

/* What it prints, and what the program has open, is no matter of the scanner. */
static void
test_descriptors (void)
{
  static const char *const arguments[] = { NULL };
  g_autoptr (LaunchRig) rig = registry_rig_new ();

  registry_rig_add (rig, NULL, "prints");
  registry_rig_add (rig, NULL, "fds");
  launch_rig_start (rig, arguments, leak_descriptor);
  g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
  g_assert_cmpint (rig->exit_code, ==, 0);
  g_assert_nonnull (strstr (rig->out, "prints-element"));
  g_assert_nonnull (strstr (rig->out, "fds-element"));
  g_assert_null (strstr (rig->out, "Not used"));
}

static void
test_no_scanner (void)
{
  static const char *const scanners[] = { "/nonexistent/scanner", "/bin/false", "/bin/true" };

  for (guint i = 0; i < G_N_ELEMENTS (scanners); i++)
    {
      g_autoptr (LaunchRig) rig = registry_rig_new ();

      g_setenv ("DLPIPE_PLUGIN_SCANNER", scanners[i], TRUE);
      registry_rig_add (rig, NULL, "good");
      registry_rig_add (rig, NULL, "error-init");
      launch_rig_expect (rig, 0, NULL);
      g_assert_nonnull (strstr (rig->out, "good-element"));
      g_assert_nonnull (strstr (rig->out, "the device is not there"));
      g_assert_nonnull (strstr (rig->err, "plugins are opened in this process"));
      g_assert_nonnull (strstr (rig->err, scanners[i]));
    }
}

/* A run that has nothing to do with the broken one, and one that would. */
static void
test_launch (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autofree char *inspect = g_strdup (launch_rig_get_program ());

  launch_rig_set_program (g_getenv ("DLPIPE_LAUNCH"));
  registry_rig_add (rig, NULL, "good");
  registry_rig_add (rig, NULL, "crash-init");
  launch_rig_expect (rig, 2, "--check", "good-element", NULL);
  g_assert_nonnull (strstr (rig->err, "is not linked"));
  g_assert_nonnull (strstr (rig->err, "warning: plugin "));
  g_assert_nonnull (strstr (rig->err, "dlp-crash-init.so is not used: it is ended by signal 11"));
  launch_rig_expect (rig, 2, "--quiet", "--check", "crash-init", NULL);
  g_assert_nonnull (strstr (rig->err, "there is no element “crash-init”"));
  g_assert_nonnull (strstr (rig->err, "is not used: it is ended by signal 11"));
  launch_rig_set_program (inspect);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/registry/broken/%s", cases[i].fixture);

      g_test_add_data_func (path, &cases[i], test_broken);
    }
  g_test_add_func ("/registry/broken/left-behind", test_left_behind);
  g_test_add_func ("/registry/broken/many-hang", test_many_hang);
  g_test_add_func ("/registry/broken/no-library", test_no_library);
  g_test_add_func ("/registry/broken/truncated", test_truncated);
  g_test_add_func ("/registry/broken/same-names", test_same_names);
  g_test_add_func ("/registry/broken/descriptors", test_descriptors);
  g_test_add_func ("/registry/broken/no-scanner", test_no_scanner);
  g_test_add_func ("/registry/broken/launch", test_launch);
  return g_test_run ();
}
