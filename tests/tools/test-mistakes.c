/* SPDX-License-Identifier: MIT */

/* Twelve mistakes: each gives one message with place, value and remedy, and the exit code that says
 * what kind it is. */

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "launch-rig.h"

#define RUNS "dlpipe-launch: 1 workers, 112 MiB of memory, seed 0, "

static void
write_input (LaunchRig *rig)
{
  launch_rig_write (rig, "in.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n", -1);
}

static void
run (LaunchRig *rig, const char *graph, const char *option)
{
  const char *arguments[] = { "--progress", "none", "--workers", "1", "--memory",
                              "112M",       graph,  option,      NULL };

  launch_rig_run (rig, arguments);
  g_assert_cmpstr (rig->out, ==, "");
}

static void
check (LaunchRig *rig, int code, const char *err)
{
  g_assert_cmpstr (rig->err, ==, err);
  g_assert_cmpint (rig->exit_code, ==, code);
}

typedef struct
{
  const char *name;
  const char *graph;
  int code;
  const char *err;
} Mistake;

/* Those that need nothing but a graph; in.jsonl is there. */
static const Mistake mistakes[] = {
  { "unknown-element", "file-sorce location=in.jsonl ! jsonl-reader ! null-sink", 2,
    "dlpipe-launch: error: line 1, column 1: there is no element “file-sorce”\n"
    "  file-sorce location=in.jsonl ! jsonl-reader ! null-sink\n"
    "  ^~~~~~~~~~\n"
    "  did you mean “file-source”?\n" },
  { "misspelt-property", "file-source locaton=in.jsonl ! jsonl-reader ! null-sink", 2,
    "dlpipe-launch: error: line 1, column 13: file-source has no property “locaton”\n"
    "  file-source locaton=in.jsonl ! jsonl-reader ! null-sink\n"
    "              ^~~~~~~\n"
    "  did you mean “location”?\n" },
  { "out-of-range", "file-source location=in.jsonl ! jsonl-reader ! shuffle size=0 ! null-sink", 2,
    "" },
  { "unclosed-quote", "file-source location=\"in.jsonl ! jsonl-reader ! null-sink", 2, "" },
  { "two-sinks-on-one-pad",
    "file-source location=in.jsonl ! jsonl-reader name=r r. ! null-sink r. ! null-sink", 2, "" },
  { "type-mismatch", "file-source location=in.jsonl ! tokenizer model=gpt2 ! null-sink", 2, "" },
  { "missing-file", "file-source location=no/such.jsonl ! jsonl-reader ! null-sink", 2, "" },
};

static void
test_graph (gconstpointer data)
{
  const Mistake *mistake = data;
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_input (rig);
  run (rig, mistake->graph, NULL);
  check (rig, mistake->code, mistake->err);
  /* Found before anything was written. */
  g_autofree char *list = launch_rig_list (rig, NULL);
  g_assert_cmpstr (list, ==, "in.jsonl");
}

#define WRITE_GRAPH "file-source location=in.jsonl ! jsonl-reader ! jsonl-sink location=out.jsonl"

static void
test_cut_zst (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *whole =
      g_build_filename (launch_rig_get_data (), "sample", "en-devil.jsonl.zst", NULL);
  g_autofree char *bytes = NULL;
  const char *graph = "file-source location=cut.jsonl.zst ! jsonl-reader ! jsonl-sink "
                      "location=out.jsonl";

  g_assert_true (g_file_get_contents (whole, &bytes, NULL, NULL));
  launch_rig_write (rig, "cut.jsonl.zst", bytes, 300);
  run (rig, graph, NULL);
  check (rig, 1, "");
}

static void
damage (LaunchRig *rig, const char *name)
{
  g_autofree char *path = launch_rig_path (rig, name);
  FILE *file = fopen (path, "r+e");

  g_assert_nonnull (file);
  g_assert_cmpint (fseek (file, 100, SEEK_SET), ==, 0);
  g_assert_cmpuint (fwrite ("damage", 1, 6, file), ==, 6);
  g_assert_cmpint (fclose (file), ==, 0);
}

static void
test_corrupt_checkpoint (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  write_input (rig);
  run (rig, WRITE_GRAPH, NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);
  before = launch_rig_hash (rig, "out.jsonl");

  damage (rig, "out.jsonl.dlpipe/checkpoint-2");
  damage (rig, "out.jsonl.dlpipe/checkpoint-3");
  run (rig, WRITE_GRAPH, NULL);
  check (rig, 3, "");

  /* What the message says helps. */
  run (rig, WRITE_GRAPH, "--restart");
  g_assert_cmpint (rig->exit_code, ==, 0);
  after = launch_rig_hash (rig, "out.jsonl");
  g_assert_cmpstr (after, ==, before);
}

static void
test_changed_seed (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_input (rig);
  run (rig, WRITE_GRAPH, NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);
  run (rig, WRITE_GRAPH, "--seed=4");
  check (rig, 3, "");
}

static void
test_foreign_output (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_input (rig);
  run (rig, WRITE_GRAPH, NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);
  run (rig, WRITE_GRAPH, "--state=other");
  check (rig, 2, "");
}

/* ---- a full disk: a small tmpfs where that can be mounted, else a limit on file sizes ---- */

static const char *disk;

static void
make_small_disk (gpointer data)
{
  struct rlimit limit = { 256 * 1024, 256 * 1024 };

  if (unshare (CLONE_NEWNS) == 0 && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
      mount ("tmpfs", disk, "tmpfs", 0, "size=256k") == 0)
    return;
  setrlimit (RLIMIT_FSIZE, &limit);
}

static void
test_full_disk (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *dir = launch_rig_path (rig, "disk");
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s/sample/*.jsonl.zst ! jsonl-reader ! jsonl-sink "
                       "location=disk/out.jsonl",
                       launch_rig_get_data ());
  const char *arguments[] = { "--progress", "none", "--no-state", "--workers", "1",
                              "--memory",   "112M", graph,        NULL };
  g_autofree char *err = NULL;

  g_assert_cmpint (mkdir (dir, 0700), ==, 0);
  disk = dir;
  launch_rig_start (rig, arguments, make_small_disk);
  g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
  g_assert_cmpint (rig->exit_code, ==, 1);
  check (rig, 1, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    {
      g_autofree char *path = g_strconcat ("/mistakes/", mistakes[i].name, NULL);

      g_test_add_data_func (path, &mistakes[i], test_graph);
    }
  g_test_add_func ("/mistakes/cut-zst", test_cut_zst);
  g_test_add_func ("/mistakes/corrupt-checkpoint", test_corrupt_checkpoint);
  g_test_add_func ("/mistakes/changed-seed", test_changed_seed);
  g_test_add_func ("/mistakes/full-disk", test_full_disk);
  g_test_add_func ("/mistakes/foreign-output", test_foreign_output);
  return g_test_run ();
}
