/* SPDX-License-Identifier: MIT */

/* Mistakes: each gives one message with place, value and remedy, and the exit code that says
 * what kind it is. */

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "launch-rig.h"

#define RUNS "dlpipe-launch: 1 worker, 112 MiB of memory, seed 0, "

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

/* Sizes that depend on how the data were cut, or on what a checkpoint holds; and how many
 * checkpoints there were. */
static void
check (LaunchRig *rig, int code, const char *err)
{
  g_autoptr (GRegex) sizes = g_regex_new (
      "(?<=write |at byte |its first )[0-9]+(?= bytes|:)|(?<=/checkpoint-)[0-9]+", 0, 0, NULL);
  g_autofree char *said = g_regex_replace_literal (sizes, rig->err, -1, 0, "N", 0, NULL);

  g_assert_cmpstr (said, ==, err);
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
  { "no-program", "file-source location=in.jsonl ! jsonl-reader ! app-sink", 2,
    "dlpipe-launch: error: app-sink0: app-sink is for a program that has the pipeline in it, and "
    "would wait for it for ever; use null-sink or a sink that writes files here, or see "
    "docs/embedding.md\n" },
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
    "dlpipe-launch: error: line 1, column 61: shuffle: size=\"0\" is out of range; allowed: 1 to "
    "4294967296\n"
    "  file-source location=in.jsonl ! jsonl-reader ! shuffle size=0 ! null-sink\n"
    "                                                              ^\n" },
  { "unclosed-quote", "file-source location=\"in.jsonl ! jsonl-reader ! null-sink", 2,
    "dlpipe-launch: error: line 1, column 22: this quote is never closed\n"
    "  file-source location=\"in.jsonl ! jsonl-reader ! null-sink\n"
    "                       ^\n"
    "  for a quote that is part of a value write \\\"\n" },
  { "two-sinks-on-one-pad",
    "file-source location=in.jsonl ! jsonl-reader name=r r. ! null-sink r. ! null-sink", 2,
    "dlpipe-launch: error: line 1, column 71: r has no free output pad: an output feeds one link; "
    "a "
    "tee copies it to several\n"
    "  file-source location=in.jsonl ! jsonl-reader name=r r. ! null-sink r. ! null-sink\n"
    "                                                                        ^\n" },
  { "type-mismatch", "file-source location=in.jsonl ! tokenizer model=gpt2 ! null-sink", 2,
    "dlpipe-launch: error: line 1, column 33: tokenizer0: needs records with a string field "
    "“text”; "
    "its input is files {uri: string, size: int64, identity: string}; put a reader before it, such "
    "as jsonl-reader\n"
    "  file-source location=in.jsonl ! tokenizer model=gpt2 ! null-sink\n"
    "                                  ^~~~~~~~~\n" },
  { "missing-file", "file-source location=no/such.jsonl ! jsonl-reader ! null-sink", 2,
    "dlpipe-launch: error: file-source0: no/such.jsonl: no such file; the nearest folder that "
    "exists "
    "is \".\"\n" },
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
  check (rig, 1,
         RUNS
         "state out.jsonl.dlpipe, checkpoint every 10s\n"
         "dlpipe-launch: error: jsonl-reader0: cut.jsonl.zst: zstd stream cut at byte 300 (frame "
         "from byte 0) (after 0 decoded bytes); on-damaged-file=keep would keep the records before "
         "the damage\n");
}

static void
damage (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  FILE *file = fopen (path, "r+e");

  g_assert_nonnull (file);
  g_assert_cmpint (fseek (file, 100, SEEK_SET), ==, 0);
  g_assert_cmpuint (fwrite ("damage", 1, 6, file), ==, 6);
  g_assert_cmpint (fclose (file), ==, 0);
}

static void
damage_checkpoints (LaunchRig *rig)
{
  g_autofree char *path = launch_rig_path (rig, "out.jsonl.dlpipe");
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;
  guint n = 0;

  g_assert_nonnull (folder);
  while ((name = g_dir_read_name (folder)) != NULL)
    if (g_str_has_prefix (name, "checkpoint-"))
      {
        damage (path, name);
        n++;
      }
  g_assert_cmpuint (n, ==, 2);
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

  damage_checkpoints (rig);
  run (rig, WRITE_GRAPH, NULL);
  check (rig, 3,
         "dlpipe-launch: error: out.jsonl.dlpipe: no checkpoint can be used: "
         "out.jsonl.dlpipe/checkpoint-N: damaged: the checksum over its first N bytes is wrong; "
         "out.jsonl.dlpipe/checkpoint-N: damaged: the checksum over its first N bytes is wrong; "
         "the graph with --restart begins anew and discards what was written\n");

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
  check (rig, 3,
         "dlpipe-launch: error: the seed was 0 when the run began, is 4; go on with what was "
         "recorded, or begin anew with --restart\n");
}

static void
test_foreign_output (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_input (rig);
  run (rig, WRITE_GRAPH, NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);
  run (rig, WRITE_GRAPH, "--state=other");
  check (rig, 2,
         "dlpipe-launch: error: jsonl-sink0: out.jsonl.manifest.json is there already, and is not "
         "of this run: "
         "choose another location; or add --overwrite, which deletes what out.jsonl.manifest.json "
         "lists\n");
}

/* ---- a full disk: a small tmpfs where that can be mounted, else a limit on file sizes ---- */

static const char *disk;

static void
limit_files (gpointer data)
{
  struct rlimit limit = { 256 * 1024, 256 * 1024 };

  setrlimit (RLIMIT_FSIZE, &limit);
}

static void
make_small_disk (gpointer data)
{
  if (unshare (CLONE_NEWNS) != 0 || mount ("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount ("tmpfs", disk, "tmpfs", 0, "size=256k") != 0)
    limit_files (data);
}

static void
run_full_disk (LaunchRig *rig, GSpawnChildSetupFunc setup)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source location=\"%s/sample/*.jsonl.zst\" ! jsonl-reader ! jsonl-sink "
                       "location=disk/out.jsonl",
                       launch_rig_get_data ());
  const char *arguments[] = { "--progress", "none",     "--state", "state", "--workers",
                              "1",          "--memory", "112M",    graph,   NULL };

  launch_rig_start (rig, arguments, setup);
  g_assert_true (launch_rig_wait (rig, 60 * G_USEC_PER_SEC));
}

static void
test_full_disk (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *dir = launch_rig_path (rig, "disk");
  g_autofree char *err = NULL;
  const char *reason;

  g_assert_cmpint (mkdir (dir, 0700), ==, 0);
  disk = dir;
  run_full_disk (rig, make_small_disk);
  reason = strstr (rig->err, "File too large") != NULL ?
               "File too large\n" :
               "No space left on device; make room, and the same command goes on\n";
  err = g_strconcat (
      RUNS "state state, checkpoint every 10s\n"
           "dlpipe-launch: error: jsonl-sink0: disk/out.jsonl: cannot write N bytes at byte N: ",
      reason, NULL);
  check (rig, 1, err);
}

/* What the message says is so: the same command goes on. */
static void
test_room_again (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *dir = launch_rig_path (rig, "disk");
  g_autofree char *resumed = NULL;
  g_autofree char *whole = NULL;

  g_assert_cmpint (mkdir (dir, 0700), ==, 0);
  run_full_disk (rig, limit_files);
  g_assert_cmpint (rig->exit_code, ==, 1);
  run_full_disk (rig, NULL);
  if (rig->exit_code != 0)
    g_error ("%s", rig->err);
  resumed = launch_rig_hash (rig, "disk/out.jsonl");

  launch_rig_clear (rig);
  g_assert_cmpint (mkdir (dir, 0700), ==, 0);
  run_full_disk (rig, NULL);
  whole = launch_rig_hash (rig, "disk/out.jsonl");
  g_assert_cmpstr (resumed, ==, whole);
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
  g_test_add_func ("/mistakes/room-again", test_room_again);
  g_test_add_func ("/mistakes/foreign-output", test_foreign_output);
  return g_test_run ();
}
