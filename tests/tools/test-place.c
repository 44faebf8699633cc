/* SPDX-License-Identifier: MIT */

/* Programs find their plugins and rank files without any help, in the build folder and where they
 * were installed. */

#include <string.h>

#include "launch-rig.h"

static const char *const graph[] = {
  "--no-state",
  "file-source location=a.jsonl ! jsonl-reader ! tokenizer model=cl100k_base ! null-sink", NULL
};

static void
run_graph (LaunchRig *rig)
{
  launch_rig_write (rig, "a.jsonl", "{\"text\":\"one\"}\n", -1);
  launch_rig_run (rig, graph);
  if (rig->exit_code != 0)
    g_test_message ("%s", rig->err);
  g_assert_cmpint (rig->exit_code, ==, 0);
}

static void
test_uninstalled (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  run_graph (rig);
}

/* The file @name somewhere below @folder. */
static char *
find_below (const char *folder, const char *name)
{
  g_autofree char *out = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  g_spawn_sync (NULL,
                (char *[]){ "find", (char *) folder, "-name", (char *) name, "!", "-path",
                            "*/completions/*", NULL },
                NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, NULL, &status, &error);
  g_assert_no_error (error);
  g_strchomp (out);
  if (out[0] == '\0')
    return NULL;
  g_assert_null (strchr (out, '\n'));
  return g_steal_pointer (&out);
}

static void
install (const char *destdir)
{
  g_autofree char *out = NULL;
  g_autofree char *err = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  g_spawn_sync (NULL,
                (char *[]){ "meson", "install", "-C", (char *) g_getenv ("DLPIPE_BUILD"),
                            "--no-rebuild", "--quiet", "--destdir", (char *) destdir, NULL },
                NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, &error);
  g_assert_no_error (error);
  if (status != 0)
    g_test_message ("%s%s", out, err);
  g_assert_cmpint (status, ==, 0);
}

static void
test_installed (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *destdir = launch_rig_path (rig, "root");
  g_autofree char *program = NULL;
  g_autofree char *library = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *pc = NULL;
  g_autofree char *marker = NULL;

  install (destdir);
  program = find_below (destdir, "dlpipe-launch");
  library = find_below (destdir, "libdlpipe-1.0.so.0");
  pc = find_below (destdir, "dlpipe-1.0.pc");
  marker = find_below (destdir, "dlpipe-uninstalled");
  g_assert_nonnull (program);
  g_assert_nonnull (library);
  g_assert_nonnull (pc);
  g_assert_null (marker);

  folder = g_path_get_dirname (library);
  launch_rig_set_program (program);
  g_setenv ("LD_LIBRARY_PATH", folder, TRUE);
  run_graph (rig);
  g_unsetenv ("LD_LIBRARY_PATH");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  g_unsetenv ("DLPIPE_PLUGIN_PATH");
  g_unsetenv ("DLPIPE_VOCAB_PATH");

  g_test_add_func ("/place/uninstalled", test_uninstalled);
  g_test_add_func ("/place/installed", test_installed);
  return g_test_run ();
}
