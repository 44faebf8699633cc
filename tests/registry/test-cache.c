/* SPDX-License-Identifier: MIT */

/* The cache is as good as asking again, whatever happens to it and to the plugins; and the order of
 * the search. */

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "registry-rig.h"
#include "sanitized.h"

#define N_PROCESSES 6

static LaunchRig *
new_rig (void)
{
  LaunchRig *rig = registry_rig_new ();

  registry_rig_count_scans (rig);
  registry_rig_add (rig, NULL, "good");
  registry_rig_add (rig, NULL, "codec");
  registry_rig_add (rig, NULL, "error-init");
  return rig;
}

/* (transfer full): the list, for comparison, and that it took so many scans. */
static char *
list (LaunchRig *rig, guint n_scans)
{
  launch_rig_expect (rig, 0, NULL);
  g_assert_nonnull (strstr (rig->out, "good-element"));
  g_assert_nonnull (strstr (rig->out, "the device is not there"));
  g_assert_cmpuint (registry_rig_take_scans (rig), ==, n_scans);
  return g_strdup (rig->out);
}

static void
test_used (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *first = list (rig, 3);
  g_autofree char *second = list (rig, 0);

  g_assert_cmpstr (first, ==, second);
}

/* (transfer full): when @path was last changed, and the other way round. */
static struct timespec
get_mtime (const char *path)
{
  struct stat st;

  g_assert_cmpint (stat (path, &st), ==, 0);
  return st.st_mtim;
}

static void
set_mtime (const char *path, struct timespec mtime)
{
  struct timespec times[2] = { mtime, mtime };

  g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
}

static void
test_touched (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = registry_rig_path (rig, "good");
  g_autofree char *first = list (rig, 3);
  struct timespec mtime = get_mtime (path);
  g_autofree char *second = NULL;

  mtime.tv_nsec = mtime.tv_nsec == 0 ? 1 : mtime.tv_nsec - 1;
  set_mtime (path, mtime);
  second = list (rig, 1);
  g_assert_cmpstr (first, ==, second);
  g_free (g_steal_pointer (&second));
  second = list (rig, 0);
}

/* By a file that has the same size and times. */
static void
test_replaced (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = registry_rig_path (rig, "good");
  g_autofree char *other = launch_rig_path (rig, "other.so");
  g_autofree char *first = list (rig, 3);
  g_autofree char *second = NULL;
  g_autofree char *data = NULL;
  struct timespec mtime = get_mtime (path);
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  g_assert_true (g_file_set_contents (other, data, (gssize) size, NULL));
  set_mtime (other, mtime);
  g_assert_cmpint (g_rename (other, path), ==, 0);
  second = list (rig, 1);
  g_assert_cmpstr (first, ==, second);
}

static void
test_broken_repaired (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = registry_rig_path (rig, "error-init");
  g_autofree char *first = list (rig, 3);

  /* Another file in its place is looked at. */
  g_remove (path);
  registry_rig_add (rig, NULL, "until-repaired");
  launch_rig_expect (rig, 0, NULL);
  g_assert_nonnull (strstr (rig->out, "not repaired"));
  g_assert_null (strstr (rig->out, "the device is not there"));
  g_assert_cmpuint (registry_rig_take_scans (rig), ==, 1);

  /* What is not of the file is not seen, but by --rescan. */
  g_setenv ("FIXTURE_REPAIRED", "1", TRUE);
  launch_rig_expect (rig, 0, NULL);
  g_assert_nonnull (strstr (rig->out, "not repaired"));
  g_assert_cmpuint (registry_rig_take_scans (rig), ==, 0);
  launch_rig_expect (rig, 0, "--rescan", NULL);
  g_assert_null (strstr (rig->out, "not repaired"));
  g_assert_nonnull (strstr (rig->out, "broken-sink"));
  g_assert_cmpuint (registry_rig_take_scans (rig), ==, 3);
  g_unsetenv ("FIXTURE_REPAIRED");
  launch_rig_expect (rig, 0, NULL);
  g_assert_nonnull (strstr (rig->out, "broken-sink"));
  g_assert_cmpuint (registry_rig_take_scans (rig), ==, 0);
}

static void
test_removed (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = registry_rig_path (rig, "codec");
  g_autofree char *first = list (rig, 3);
  g_autofree char *second = NULL;

  g_assert_nonnull (strstr (first, "codec: "));
  g_remove (path);
  second = list (rig, 0);
  g_assert_null (strstr (second, "codec: "));
}

static void
test_truncated (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *cache = launch_rig_path (rig, "registry.cache");
  g_autofree char *first = list (rig, 3);
  const guint n = launch_rig_scale (12);
  g_autofree char *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (cache, &data, &size, NULL));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *next = NULL;

      launch_rig_write (rig, "registry.cache", data, (gssize) (size * i / n));
      next = list (rig, 3);
      g_assert_cmpstr (first, ==, next);
    }
  launch_rig_write (rig, "registry.cache", data, (gssize) size);
  g_free (list (rig, 0));
}

static void
test_bit_flips (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *cache = launch_rig_path (rig, "registry.cache");
  g_autofree char *first = list (rig, 3);
  const guint n = launch_rig_scale (24);
  g_autofree char *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (cache, &data, &size, NULL));
  for (guint i = 0; i < n; i++)
    {
      gsize at = i < 12 ? i * 2 : (gsize) g_test_rand_int_range (0, (gint32) size);
      char mask = (char) (1 << g_test_rand_int_range (0, 8));
      g_autofree char *next = NULL;

      data[at] ^= mask;
      launch_rig_write (rig, "registry.cache", data, (gssize) size);
      data[at] ^= mask;
      next = list (rig, 3);
      g_assert_cmpstr (first, ==, next);
    }
}

/* (transfer full): a copy of the library that says that it was built from something else. */
static char *
make_other_build (LaunchRig *rig)
{
  static const guint8 head[] = {
    4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0
  };
  char *path = launch_rig_path (rig, "libdlpipe-1.0.so.0");
  g_autofree char *data = NULL;
  guint8 *note;
  gsize size;

  g_assert_true (g_file_get_contents (g_getenv ("DLPIPE_LIBRARY"), &data, &size, NULL));
  note = memmem (data, size, head, sizeof head);
  g_assert_nonnull (note);
  note[sizeof head] ^= 1;
  launch_rig_write (rig, "libdlpipe-1.0.so.0", data, (gssize) size);
  return path;
}

static void
test_other_build (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *library = NULL;
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  if (SANITIZED)
    {
      g_test_skip ("a sanitizer wants to be the first library");
      return;
    }
  library = make_other_build (rig);
  first = list (rig, 3);
  g_setenv ("LD_PRELOAD", library, TRUE);
  second = list (rig, 3);
  g_assert_cmpstr (first, ==, second);
  g_free (list (rig, 0));
  g_unsetenv ("LD_PRELOAD");
  g_free (list (rig, 3));
}

/* A folder that cannot be made or written, even by a user who may everything. */
static void
test_unwritable (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *cache = launch_rig_path (rig, "file/registry.cache");
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  launch_rig_write (rig, "file", "no folder", -1);
  g_setenv ("DLPIPE_REGISTRY", cache, TRUE);
  first = list (rig, 3);
  g_assert_cmpstr (rig->err, ==, "");
  second = list (rig, 3);
  g_assert_cmpstr (first, ==, second);
  g_setenv ("G_MESSAGES_DEBUG", "all", TRUE);
  launch_rig_expect (rig, 0, NULL);
  g_unsetenv ("G_MESSAGES_DEBUG");
  g_assert_nonnull (strstr (rig->out, "it is not kept"));
}

/* What is neither a file nor nothing is not read, which might never end, and not replaced. */
static void
test_no_file (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *cache = launch_rig_path (rig, "fifo");
  struct stat st;

  g_assert_cmpint (mkfifo (cache, 0600), ==, 0);
  g_setenv ("DLPIPE_REGISTRY", cache, TRUE);
  g_free (list (rig, 3));
  g_free (list (rig, 3));
  g_assert_cmpint (stat (cache, &st), ==, 0);
  g_assert_true (S_ISFIFO (st.st_mode));
}

/* Processes that come back from init() as well say nothing in between. */
static void
test_forks (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();

  registry_rig_add (rig, NULL, "forks");
  for (guint i = launch_rig_scale (20); i > 0; i--)
    launch_rig_expect (rig, 0, "--rescan", "--exists", "forks-element", NULL);
}

static void
test_at_once (void)
{
  static const char *const arguments[] = { NULL };
  LaunchRig *rigs[N_PROCESSES];
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *first = list (rig, 3);

  launch_rig_write (rig, "registry.cache", "", 0);
  for (guint i = 0; i < N_PROCESSES; i++)
    {
      rigs[i] = launch_rig_new ();
      launch_rig_start (rigs[i], arguments, NULL);
    }
  for (guint i = 0; i < N_PROCESSES; i++)
    {
      g_assert_true (launch_rig_wait (rigs[i], 60 * G_USEC_PER_SEC));
      g_assert_cmpint (rigs[i]->exit_code, ==, 0);
      g_assert_cmpstr (rigs[i]->out, ==, first);
      launch_rig_free (rigs[i]);
    }
  registry_rig_take_scans (rig);
  g_free (list (rig, 0));
}

/* What is known of another search path stays known. */
static void
test_two_paths (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *plugins = launch_rig_path (rig, "plugins");
  g_autofree char *others = launch_rig_path (rig, "others");
  g_autofree char *first = list (rig, 3);

  registry_rig_add (rig, "others", "prints");
  g_setenv ("DLPIPE_PLUGIN_PATH", others, TRUE);
  launch_rig_expect (rig, 0, NULL);
  g_assert_cmpuint (registry_rig_take_scans (rig), ==, 1);
  g_setenv ("DLPIPE_PLUGIN_PATH", plugins, TRUE);
  g_free (list (rig, 0));
}

/* ---- the order ---- */

static void
assert_version (LaunchRig *rig, const char *plugin, const char *version, const char *option)
{
  g_autoptr (GVariant) all = registry_rig_list (rig, option);
  g_autoptr (GVariant) found = registry_rig_find (all, "plugins", plugin);
  const char *has;

  g_assert_nonnull (found);
  g_assert_true (g_variant_lookup (found, "version", "&s", &has));
  g_assert_cmpstr (has, ==, version);
}

static void
test_order (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autofree char *plugins = launch_rig_path (rig, "plugins");
  g_autofree char *system = launch_rig_path (rig, "system");
  g_autofree char *given = launch_rig_path (rig, "given");
  g_autofree char *option = g_strconcat ("--plugin-path=", given, NULL);
  g_autofree char *both = g_strconcat (system, ":", plugins, NULL);

  registry_rig_add (rig, NULL, "good");
  registry_rig_add (rig, "system", "later-good");
  g_setenv ("DLPIPE_SYSTEM_PLUGIN_PATH", system, TRUE);
  assert_version (rig, "good", "1.2.3", NULL);
  g_setenv ("DLPIPE_PLUGIN_PATH", both, TRUE);
  assert_version (rig, "good", "2.0", NULL);
  g_setenv ("DLPIPE_PLUGIN_PATH", plugins, TRUE);
  registry_rig_add (rig, "given", "later-good");
  assert_version (rig, "good", "2.0", option);
  g_setenv ("DLPIPE_SYSTEM_PLUGIN_PATH", "", TRUE);
}

/* The user's own come before those of the library, which are those of the build. */
static void
test_user_folder (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autofree char *home = launch_rig_path (rig, "data");
  g_autofree char *former = g_strdup (g_getenv ("XDG_DATA_HOME"));

  g_unsetenv ("DLPIPE_PLUGIN_PATH");
  g_unsetenv ("DLPIPE_SYSTEM_PLUGIN_PATH");
  g_setenv ("XDG_DATA_HOME", home, TRUE);
  launch_rig_expect (rig, 0, "tee", NULL);
  launch_rig_expect (rig, 0, "--exists", "limit", NULL);
  registry_rig_add (rig, "data/dlpipe-1.0/plugins", "as-limit");
  assert_version (rig, "limit", "9.9", NULL);
  launch_rig_expect (rig, 0, "tee", NULL);
  if (former != NULL)
    g_setenv ("XDG_DATA_HOME", former, TRUE);
  else
    g_unsetenv ("XDG_DATA_HOME");
  g_setenv ("DLPIPE_SYSTEM_PLUGIN_PATH", "", TRUE);
}

/* By two names, or twice on the path: one file. */
static void
test_same_file (void)
{
  g_autoptr (LaunchRig) rig = registry_rig_new ();
  g_autofree char *plugins = launch_rig_path (rig, "plugins");
  g_autofree char *link = launch_rig_path (rig, "link");
  g_autofree char *path = g_strjoin (":", plugins, link, plugins, "/nonexistent", NULL);

  registry_rig_add (rig, NULL, "good");
  g_assert_cmpint (symlink (plugins, link), ==, 0);
  g_setenv ("DLPIPE_PLUGIN_PATH", path, TRUE);
  launch_rig_expect (rig, 0, NULL);
  g_assert_null (strstr (rig->out, "Not used"));
  g_assert_cmpstr (rig->err, ==, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);

  g_test_add_func ("/registry/cache/used", test_used);
  g_test_add_func ("/registry/cache/touched", test_touched);
  g_test_add_func ("/registry/cache/replaced", test_replaced);
  g_test_add_func ("/registry/cache/broken-repaired", test_broken_repaired);
  g_test_add_func ("/registry/cache/removed", test_removed);
  g_test_add_func ("/registry/cache/truncated", test_truncated);
  g_test_add_func ("/registry/cache/bit-flips", test_bit_flips);
  g_test_add_func ("/registry/cache/other-build", test_other_build);
  g_test_add_func ("/registry/cache/unwritable", test_unwritable);
  g_test_add_func ("/registry/cache/no-file", test_no_file);
  g_test_add_func ("/registry/cache/forks", test_forks);
  g_test_add_func ("/registry/cache/at-once", test_at_once);
  g_test_add_func ("/registry/cache/two-paths", test_two_paths);
  g_test_add_func ("/registry/order/folders", test_order);
  g_test_add_func ("/registry/order/user", test_user_folder);
  g_test_add_func ("/registry/order/same-file", test_same_file);
  return g_test_run ();
}
