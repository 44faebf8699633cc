/* SPDX-License-Identifier: MIT */

/* dlpipe-fanout as a program: what comes out depends on the graph, the files and the tasks alone.
 * Arguments: dlpipe-fanout, the folder tests/data. Environment: DLPIPE_LAUNCH, DLPIPE_TEST_PLUGINS.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fanout-rig.h"

#define GRAPH "file-source location=in-*.jsonl ! jsonl-reader ! jsonl-sink location=out"
#define RECORDS 400
#define FULL_TIME (60 * G_USEC_PER_SEC)

static char *launch;

static LaunchRig *
new_rig (void)
{
  LaunchRig *rig = launch_rig_new ();

  fanout_rig_write_files (rig, RECORDS);
  return rig;
}

/* With the program that runs a graph as it is. */
static void
run_launch (LaunchRig *rig, const char *graph)
{
  g_autofree char *fanout = g_strdup (launch_rig_get_program ());

  launch_rig_set_program (launch);
  launch_rig_expect (rig, 0, "--no-state", "--summary", "launch.json", graph, NULL);
  launch_rig_set_program (fanout);
}

static guint
count_records (LaunchRig *rig, const char *name)
{
  g_autofree char *text = fanout_rig_read (rig, name);
  guint n = 0;

  for (const char *at = strchr (text, '\n'); at != NULL; at = strchr (at + 1, '\n'))
    n++;
  return n;
}

/* (transfer full): what a summary has for the sink under a key. */
static char *
get_digest (LaunchRig *rig, const char *name, const char *key)
{
  static const char before[] = "\"jsonl-sink0\": \"";
  g_autofree char *text = fanout_rig_read (rig, name);
  const char *at = strstr (text, key);

  at = at != NULL ? strstr (at, before) : NULL;
  if (at == NULL)
    g_error ("there is no %s of jsonl-sink0 in:\n%s", key, text);
  at += strlen (before);
  return g_strndup (at, strcspn (at, "\""));
}

/* ---- what comes out ---- */

static void
test_one_task (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *one = NULL;
  g_autofree char *other = NULL;

  run_launch (rig, "file-source location=in-*.jsonl ! jsonl-reader ! jsonl-sink location=one.x");
  launch_rig_expect (rig, 0, "--tasks", "1",
                     "file-source location=in-*.jsonl ! jsonl-reader ! jsonl-sink location=out.x",
                     NULL);
  one = launch_rig_hash (rig, "one.x");
  other = launch_rig_hash (rig, "out.x/part-00000-of-00001.x");
  g_assert_cmpstr (one, ==, other);
  launch_rig_assert_has (rig->err, "in this process");
}

static void
test_one_task_of_tokens (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  static const char *const endings[] = { "bin", "idx" };

  run_launch (rig, "file-source location=in-*.jsonl ! jsonl-reader ! shuffle size=100 ! "
                   "tokenizer model=gpt2 ! megatron-sink location=one");
  launch_rig_expect (rig, 0, "--tasks", "1",
                     "file-source location=in-*.jsonl ! jsonl-reader ! shuffle size=100 ! "
                     "tokenizer model=gpt2 ! megatron-sink location=out",
                     NULL);
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *launched = g_strconcat ("one.", endings[i], NULL);
      g_autofree char *part = g_strconcat ("out/part-00000-of-00001.", endings[i], NULL);
      g_autofree char *a = launch_rig_hash (rig, launched);
      g_autofree char *b = launch_rig_hash (rig, part);

      g_assert_cmpstr (a, ==, b);
    }
}

/* Nothing is lost and nothing is there twice: the digests of the parts add up to that of the whole,
 * with two sources, shuffled files, a mix and a shuffle. */
static void
test_union (void)
{
  static const char graph[] = "mix name=m weights=2,1 ! shuffle size=50 ! jsonl-sink location=%s "
                              "file-source location=in-[0-4].jsonl shuffle=true reshuffle=true "
                              "epochs=3 ! jsonl-reader ! m. "
                              "file-source location=in-[5-7].jsonl ! jsonl-reader ! m.";
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *whole = g_strdup_printf (graph, "one");
  g_autofree char *parts = g_strdup_printf (graph, "out");
  g_autofree char *wanted = NULL;
  g_autofree char *found = NULL;
  g_autofree char *list = NULL;
  guint n = 0;

  run_launch (rig, whole);
  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, "--workers", "2", "--summary", "sum.json",
                     parts, NULL);
  wanted = get_digest (rig, "launch.json", "\"digests\"");
  found = get_digest (rig, "sum.json", "\"digests-unordered\"");
  g_assert_cmpuint (strlen (found), ==, 32);
  g_assert_true (g_str_has_suffix (wanted, found));
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("out/part-%05u-of-00004", i);
      guint records = count_records (rig, name);

      g_assert_cmpuint (records, >, 0);
      n += records;
    }
  g_assert_cmpuint (n, ==, count_records (rig, "one"));
  g_assert_cmpuint (fanout_rig_get_number (rig, "records"), ==, n);
  list = launch_rig_list (rig, "out");
  launch_rig_assert_has (list, "manifest.json");
}

static void
test_workers (void)
{
  static const char *const workers[] = { "1", "2", "4", "9" };
  g_autofree char *wanted = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (workers); i++)
    {
      g_autoptr (LaunchRig) rig = new_rig ();
      g_autofree char *found = NULL;

      launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, "--workers", workers[i], GRAPH, NULL);
      found = fanout_rig_hash (rig);
      if (wanted == NULL)
        wanted = g_steal_pointer (&found);
      else
        g_assert_cmpstr (found, ==, wanted);
    }
}

/* 4 workers, then 2, then 7, on one job that is killed in between. */
static void
test_other_workers (void)
{
  static const char *const workers[] = { "4", "2", "7" };
  g_autoptr (LaunchRig) undisturbed = new_rig ();
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *plugins = g_strdup (g_getenv ("DLPIPE_TEST_PLUGINS"));
  const char *graph =
      "file-source location=in-*.jsonl ! jsonl-reader ! die ! jsonl-sink location=out";
  g_autofree char *wanted = NULL;
  g_autofree char *found = NULL;

  launch_rig_expect (undisturbed, 0, "--plugin-path", plugins, "--tasks", FANOUT_TASKS, "--workers",
                     "2", graph, NULL);
  g_setenv ("DLPIPE_TEST_NAP", "5000", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (workers); i++)
    {
      const char *const arguments[] = { "--plugin-path",      plugins, "--tasks",   FANOUT_TASKS,
                                        "--checkpoint-every", "10ms",  "--workers", workers[i],
                                        "--progress",         "none",  graph,       NULL };

      launch_rig_start (rig, arguments, NULL);
      if (i + 1 == G_N_ELEMENTS (workers))
        break;
      g_array_unref (fanout_rig_wait_for_workers (rig, 2));
      g_usleep (60 * 1000);
      kill (rig->pid, SIGKILL);
      g_assert_true (launch_rig_wait (rig, FULL_TIME));
      g_assert_cmpint (rig->killed_by, ==, SIGKILL);
    }
  g_assert_true (launch_rig_wait (rig, FULL_TIME));
  g_unsetenv ("DLPIPE_TEST_NAP");
  if (rig->exit_code != 0)
    g_error ("exit code %d:\n%s", rig->exit_code, rig->err);
  wanted = fanout_rig_hash (undisturbed);
  found = fanout_rig_hash (rig);
  g_assert_cmpstr (found, ==, wanted);
}

/* ---- the same command, and others ---- */

static gint64
get_mtime (LaunchRig *rig, const char *name)
{
  g_autofree char *path = launch_rig_path (rig, name);
  struct stat info;

  g_assert_cmpint (stat (path, &info), ==, 0);
  return info.st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) + info.st_mtim.tv_nsec;
}

static void
test_again (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  gint64 part, whole;

  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, GRAPH, NULL);
  part = get_mtime (rig, "out/part-00002-of-00004");
  whole = get_mtime (rig, "out/manifest.json");
  launch_rig_expect (rig, 0, GRAPH, NULL);
  launch_rig_assert_has (rig->err, "4 of them done before");
  launch_rig_assert_has (rig->err, "4 of 4 tasks done; 8 files, 8 done");
  g_assert_cmpint (get_mtime (rig, "out/part-00002-of-00004"), ==, part);
  g_assert_cmpint (get_mtime (rig, "out/manifest.json"), ==, whole);

  launch_rig_expect (rig, 3, "--tasks", "3", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "dealt to 4 tasks, not 3");
  launch_rig_expect (rig, 3, "--seed", "7", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "the seed was 0 when the job was begun, and is 7");
  launch_rig_expect (rig, 3, "--set", "jsonl-reader0.field=other", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "field was text when the job was begun, and is other");
  launch_rig_expect (rig, 0, "--set", "file-source0.prefetch-files=1", GRAPH, NULL);
  launch_rig_write (rig, "in-9.jsonl", "{\"text\": \"new\"}\n", -1);
  launch_rig_expect (rig, 3, GRAPH, NULL);
  launch_rig_assert_has (rig->err, "there were 8, now there are 9");

  launch_rig_expect (rig, 0, "--restart", "--tasks", "3", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "3 of 3 tasks done; 9 files, 9 done");
  {
    g_autofree char *list = launch_rig_list (rig, "out");

    launch_rig_assert_has_not (list, "of-00004");
    launch_rig_assert_has (list, "part-00002-of-00003");
  }
}

/* Whatever is not this job's stays. */
static void
test_foreign (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = launch_rig_path (rig, "out");

  g_assert_cmpint (g_mkdir_with_parents (path, 0700), ==, 0);
  launch_rig_write (rig, "out/part-00001-of-00004", "mine", -1);
  launch_rig_expect (rig, 1, "--tasks", FANOUT_TASKS, "--workers", "2", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "part-00001-of-00004");
  launch_rig_assert_has (rig->err, "3 of 4 tasks done");
  {
    g_autofree char *text = fanout_rig_read (rig, "out/part-00001-of-00004");

    g_assert_cmpstr (text, ==, "mine");
  }
  launch_rig_expect (rig, 2, "--tasks", "3", "--state", "other", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "has parts of another job");
}

/* Takes a lock as another process would; closing it gives it back. */
static int
hold_lock (LaunchRig *rig, const char *name)
{
  g_autofree char *path = launch_rig_path (rig, name);
  int lock = open (path, O_RDWR | O_CLOEXEC);

  g_assert_cmpint (lock, >=, 0);
  g_assert_cmpint (flock (lock, LOCK_EX | LOCK_NB), ==, 0);
  return lock;
}

/* A job that was discarded in part says of nothing that it is there, and is made again. */
static void
test_discarded_in_part (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *wanted = NULL;
  g_autofree char *found = NULL;
  g_autofree char *list = NULL;
  int lock;

  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, GRAPH, NULL);
  wanted = fanout_rig_hash (rig);
  lock = hold_lock (rig, "out.fanout/tasks/00002/state/lock");
  launch_rig_expect (rig, 2, "--restart", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "task 2 is to be discarded");
  list = launch_rig_list (rig, "out");
  launch_rig_assert_has_not (list, "part-00001-of-00004");
  launch_rig_assert_has (list, "part-00002-of-00004");
  launch_rig_assert_has_not (list, " manifest.json");
  g_assert_false (g_str_has_prefix (list, "manifest.json"));
  close (lock);
  launch_rig_expect (rig, 0, GRAPH, NULL);
  launch_rig_assert_has (rig->err, "1 of them done before");
  found = fanout_rig_hash (rig);
  g_assert_cmpstr (found, ==, wanted);
}

static void
write_manifest (LaunchRig *rig, const char *name, guint n_files)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n_files; i++)
    g_string_append_printf (text, "{\"uri\": \"in-%u.jsonl\"}\n", i);
  launch_rig_write (rig, name, text->str, -1);
}

/* What a manifest says now does not keep a job from being discarded. */
static void
test_other_manifest (void)
{
  static const char graph[] =
      "file-source manifest=m.json ! jsonl-reader ! jsonl-sink location=out";
  static const char other[] =
      "file-source manifest=n.json ! jsonl-reader ! jsonl-sink location=out";
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = launch_rig_path (rig, "m.json");

  write_manifest (rig, "m.json", FANOUT_FILES);
  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, graph, NULL);
  write_manifest (rig, "m.json", FANOUT_FILES - 3);
  launch_rig_expect (rig, 3, graph, NULL);
  launch_rig_assert_has (rig->err, "there were 8, now there are 5");
  launch_rig_expect (rig, 0, "--restart", graph, NULL);
  launch_rig_assert_has (rig->err, "5 files, 5 done");
  write_manifest (rig, "n.json", FANOUT_FILES);
  g_assert_cmpint (unlink (path), ==, 0);
  launch_rig_expect (rig, 0, "--restart", other, NULL);
  launch_rig_assert_has (rig->err, "8 files, 8 done");
}

static void
test_refusals (void)
{
  static const char read[] = "file-source location=in-*.jsonl ! jsonl-reader ! ";
  static const struct
  {
    const char *graph, *says;
  } cases[] = {
    { "limit records=5 ! null-sink", "limit counts what it lets through" },
    { "batch size=5 ! null-sink", "batch makes and counts batches" },
    { "app-sink", "is for a program" },
    { "jsonl-sink location=-", "cannot go back" },
    { "dedup ! null-sink", "so by itself; run one task (--tasks 1)" },
  };
  g_autoptr (LaunchRig) rig = new_rig ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *graph = g_strconcat (read, cases[i].graph, NULL);

      launch_rig_expect (rig, 2, "--tasks", "2", "--state", "job", graph, NULL);
      launch_rig_assert_has (rig->err, cases[i].says);
    }
  launch_rig_expect (rig, 2, "--tasks", "2", "--state", "job",
                     "mix name=m exhausted=stop ! null-sink file-source location=in-0.jsonl ! "
                     "jsonl-reader ! m. file-source location=in-[12].jsonl ! jsonl-reader ! m.",
                     NULL);
  launch_rig_assert_has (rig->err, "exhausted=stop");
  launch_rig_expect (rig, 2, "--tasks", "9", "--state", "job", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "only 8 files to deal");
  launch_rig_expect (rig, 2, "--state", "job",
                     "file-source location=in-*.jsonl shard=0/2 ! jsonl-reader ! null-sink", NULL);
  launch_rig_assert_has (rig->err, "shard=0/2");
  launch_rig_expect (rig, 2, "--state", "job", "file-source location=- ! jsonl-reader ! null-sink",
                     NULL);
  launch_rig_assert_has (rig->err, "only once");
  launch_rig_expect (rig, 2, "--rank", "2", "--world-size", "2", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "ranks are counted from 0");
}

/* What is meant for each task is done in each. */
static void
test_per_task (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 0, "--tasks", "2", "--summary", "sum.json",
                     "file-source location=in-*.jsonl ! jsonl-reader ! limit records=5 "
                     "per-task=true ! jsonl-sink location=out",
                     NULL);
  g_assert_cmpuint (fanout_rig_get_number (rig, "records"), ==, 10);
  /* One task is the whole. */
  launch_rig_expect (rig, 0, "--tasks", "1", "--summary", "sum.json", "--state", "one",
                     "file-source location=in-*.jsonl ! jsonl-reader ! limit records=5 ! null-sink",
                     NULL);
  g_assert_cmpuint (fanout_rig_get_number (rig, "records"), ==, 5);
}

/* ---- faults ---- */

/* A fault that would come again is not tried again; the others are done, and all files are
 * accounted for. */
static void
test_bad_file (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  guint64 failed;

  launch_rig_write (rig, "in-3.jsonl", "{\"text\": 5}\n{\"text\": 6}\n", -1);
  launch_rig_expect (rig, 1, "--tasks", FANOUT_TASKS, "--workers", "2", "--strict", "--summary",
                     "sum.json", GRAPH, NULL);
  launch_rig_assert_has (rig->err, "it is given up, the other tasks go on");
  launch_rig_assert_has (rig->err, "3 of 4 tasks done");
  launch_rig_assert_has (rig->err, "in-3.jsonl");
  failed = fanout_rig_get_number (rig, "files-failed");
  g_assert_cmpuint (failed, >, 0);
  g_assert_cmpuint (fanout_rig_get_number (rig, "files-done") + failed, ==, 8);
  g_assert_cmpuint (fanout_rig_get_number (rig, "files-left"), ==, 0);
  g_assert_cmpuint (fanout_rig_get_number (rig, "retries"), ==, 0);

  launch_rig_expect (rig, 1, "status", "out.fanout", NULL);
  launch_rig_assert_has (rig->out, "3 done, 0 running, 0 waiting, 1 failed");
  launch_rig_assert_has (rig->out, "in-3.jsonl");
  launch_rig_expect (rig, 1, "status", "--json", "out.fanout", NULL);
  launch_rig_assert_has (rig->out, "\"tasks-failed\": 1");
}

static void
test_damaged_file (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_write (rig, "in-8.jsonl", "\x1f\x8b\x08\0\0\0\0\0\0\x03x", 11);
  launch_rig_expect (rig, 4, "--tasks", FANOUT_TASKS, "--workers", "2", "--summary", "sum.json",
                     "--set", "jsonl-reader0.on-damaged-file=keep", GRAPH, NULL);
  g_assert_cmpuint (fanout_rig_get_number (rig, "files-damaged"), ==, 1);
  g_assert_cmpuint (fanout_rig_get_number (rig, "files-done"), ==, 8);
  launch_rig_assert_has (rig->err, "9 files, 8 done, 1 damaged");
}

/* More than a socket takes at once. */
static void
test_large_graph (void)
{
  static const char *const workers[] = { "1", "2" };
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (GString) graph = g_string_new ("file-source");
  g_autofree char *away = g_strnfill (3000, '/');

  for (guint i = 0; i < 400; i++)
    g_string_append_printf (graph, " location=.%.*sin-%u.jsonl", 2000 + (int) i, away,
                            i % FANOUT_FILES);
  g_string_append (graph, " ! jsonl-reader ! jsonl-sink name=k location=out");
  launch_rig_write (rig, "graph", graph->str, -1);
  for (guint i = 0; i < G_N_ELEMENTS (workers); i++)
    {
      g_autofree char *location = g_strconcat ("k.location=out-", workers[i], NULL);

      launch_rig_expect (rig, 0, "--tasks", "2", "--workers", workers[i], "--file", "graph",
                         "--set", location, NULL);
      launch_rig_assert_has (rig->err, "2 of 2 tasks done; 400 files, 400 done");
      launch_rig_assert_has_not (rig->err, "warning");
    }
}

/* ---- several machines ---- */

/* A state that somebody has: as long as that may be a run that ends, its task waits. */
static void
test_locked_task (void)
{
  static const char task[] = "out.fanout/tasks/00001/done.json";
  const char *const again[] = { GRAPH, NULL };
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *path = launch_rig_path (rig, task);
  g_autofree char *outcome = NULL;
  int lock;

  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, GRAPH, NULL);
  outcome = fanout_rig_read (rig, task);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (unlink (path), ==, 0);
      lock = hold_lock (rig, "out.fanout/tasks/00001/state/lock");
      launch_rig_start (rig, again, NULL);
      g_assert_false (launch_rig_wait (rig, 2 * G_USEC_PER_SEC));
      /* It is given back, or whoever has it has done the task. */
      if (i == 0)
        close (lock);
      else
        launch_rig_write (rig, task, outcome, -1);
      g_assert_true (launch_rig_wait (rig, 20 * G_USEC_PER_SEC));
      if (i == 1)
        close (lock);
      if (rig->exit_code != 0)
        g_error ("exit code %d:\n%s", rig->exit_code, rig->err);
      launch_rig_assert_has (rig->err, "the task is begun within 30 s");
      launch_rig_assert_has (rig->err, "4 of 4 tasks done");
    }
}

/* Both at once, the second one first: it waits for the files to be dealt. */
static void
test_ranks (void)
{
  g_autoptr (LaunchRig) alone = new_rig ();
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (LaunchRig) other = launch_rig_new ();
  g_autofree char *wanted = NULL;
  g_autofree char *found = NULL;
  const char *const first[] = { "--tasks", FANOUT_TASKS, "--launcher", "env", GRAPH, NULL };
  g_autofree char *own_dir = other->dir;

  launch_rig_expect (alone, 0, "--tasks", FANOUT_TASKS, GRAPH, NULL);
  other->dir = g_strdup (rig->dir);
  g_setenv ("OMPI_COMM_WORLD_SIZE", "2", TRUE);
  g_setenv ("OMPI_COMM_WORLD_RANK", "1", TRUE);
  launch_rig_start (rig, first, NULL);
  g_usleep (50 * 1000);
  g_setenv ("OMPI_COMM_WORLD_RANK", "0", TRUE);
  launch_rig_start (other, first, NULL);
  g_assert_true (launch_rig_wait (rig, FULL_TIME));
  g_assert_true (launch_rig_wait (other, FULL_TIME));
  g_unsetenv ("OMPI_COMM_WORLD_SIZE");
  g_unsetenv ("OMPI_COMM_WORLD_RANK");
  if (rig->exit_code != 0 || other->exit_code != 0)
    g_error ("exit codes %d and %d:\n%s\n%s", rig->exit_code, other->exit_code, rig->err,
             other->err);
  launch_rig_assert_has (rig->err, "rank 1 of 2");
  launch_rig_assert_has (rig->err, "2 of 2 tasks done");
  wanted = fanout_rig_hash (alone);
  found = fanout_rig_hash (rig);
  g_assert_cmpstr (found, ==, wanted);
  g_free (other->dir);
  other->dir = g_steal_pointer (&own_dir);
}

/* Nobody deals: it is told where a plan was looked for, within a time; and a signal is heard. */
static void
test_no_plan (void)
{
  const char *const waiting[] = { "--rank", "1", "--world-size", "2", GRAPH, NULL };
  g_autoptr (LaunchRig) rig = new_rig ();

  launch_rig_expect (rig, 2, "--rank", "1", "--world-size", "2", "--plan-timeout", "300ms", GRAPH,
                     NULL);
  launch_rig_assert_has (rig->err, "rank 1 has waited for the plan of rank 0");
  launch_rig_assert_has (rig->err, "out.fanout/job.json is not there");
  launch_rig_assert_has_not (rig->err, "has been waiting");

  launch_rig_start (rig, waiting, NULL);
  g_assert_false (launch_rig_wait (rig, 7 * G_USEC_PER_SEC));
  kill (rig->pid, SIGTERM);
  g_assert_true (launch_rig_wait (rig, FULL_TIME));
  g_assert_cmpint (rig->exit_code, !=, 0);
  launch_rig_assert_has (rig->err, "rank 1 has been waiting for the plan of rank 0 for");
  launch_rig_assert_has (rig->err, "out.fanout/job.json is not there yet");
}

/* Another rank has the lock of the job for long: a signal ends the wait, which is a minute else. */
static void
test_stop_at_the_end (void)
{
  const char *const last[] = { "--rank", "1", "--world-size", "2", GRAPH, NULL };
  g_autoptr (LaunchRig) rig = new_rig ();
  int lock;

  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, GRAPH, NULL);
  lock = hold_lock (rig, "out.fanout/lock");
  launch_rig_start (rig, last, NULL);
  g_assert_false (launch_rig_wait (rig, 3 * G_USEC_PER_SEC));
  kill (rig->pid, SIGTERM);
  g_assert_true (launch_rig_wait (rig, 20 * G_USEC_PER_SEC));
  g_assert_cmpint (rig->exit_code, ==, 75);
  launch_rig_assert_has (rig->err, "stopped before another rank had written the manifest");
  close (lock);
  launch_rig_expect (rig, 0, "--rank", "1", "--world-size", "2", GRAPH, NULL);
}

/* Three tasks have no file of the first source, and yet the reader that it calls for. */
static void
test_auto_reader (void)
{
  static const char graph[] = "file-source location=one.jsonl ! auto-reader name=r ! m. "
                              "file-source location=in-*.jsonl ! auto-reader ! m. "
                              "mix name=m weights=1,1 ! jsonl-sink location=out";
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *recorded = NULL;

  launch_rig_write (rig, "one.jsonl", "{\"text\": \"one\"}\n", -1);
  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, graph, NULL);
  recorded = fanout_rig_read (rig, "out.fanout/graph");
  launch_rig_assert_has (recorded, "jsonl-reader name=r");
  launch_rig_assert_has_not (recorded, "auto-reader name=");
  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, graph, NULL);
}

static void
test_environment (void)
{
  static const struct
  {
    const char *variables, *says;
    int code;
  } cases[] = {
    { "SLURM_PROCID=1 SLURM_NTASKS=4", "rank 1 of 4", 0 },
    { "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_COUNT=3 "
      "SLURM_ARRAY_TASK_STEP=2",
      "rank 2 of 3", 0 },
    { "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 SLURM_PROCID=1 SLURM_NTASKS=2", "rank 3 of 4",
      0 },
    { "JOB_COMPLETION_INDEX=1 JOB_COMPLETIONS=2", "rank 1 of 2", 0 },
    { "RANK=1 WORLD_SIZE=3", "rank 1 of 3", 0 },
    { "JOB_COMPLETION_INDEX=1", "JOB_COMPLETIONS", 2 },
    { "RANK=3 WORLD_SIZE=3", "rank 3 of 3", 2 },
    { "RANK=x WORLD_SIZE=3", "RANK=x", 2 },
    { "", "nothing in the environment", 2 },
  };
  g_autoptr (LaunchRig) rig = new_rig ();

  /* The plan of rank 0 of one: others find it. */
  launch_rig_expect (rig, 0, "--tasks", FANOUT_TASKS, GRAPH, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) variables = g_strsplit (cases[i].variables, " ", -1);

      for (guint k = 0; variables[k] != NULL && variables[k][0] != '\0'; k++)
        {
          g_auto (GStrv) pair = g_strsplit (variables[k], "=", 2);

          g_setenv (pair[0], pair[1], TRUE);
        }
      launch_rig_expect (rig, cases[i].code, "--launcher", "env", GRAPH, NULL);
      launch_rig_assert_has (rig->err, cases[i].says);
      for (guint k = 0; variables[k] != NULL && variables[k][0] != '\0'; k++)
        {
          g_auto (GStrv) pair = g_strsplit (variables[k], "=", 2);

          g_unsetenv (pair[0]);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  launch = g_strdup (g_getenv ("DLPIPE_LAUNCH"));

  g_test_add_func ("/fanout/one-task", test_one_task);
  g_test_add_func ("/fanout/one-task-of-tokens", test_one_task_of_tokens);
  g_test_add_func ("/fanout/union", test_union);
  g_test_add_func ("/fanout/workers", test_workers);
  g_test_add_func ("/fanout/other-workers", test_other_workers);
  g_test_add_func ("/fanout/again", test_again);
  g_test_add_func ("/fanout/foreign", test_foreign);
  g_test_add_func ("/fanout/discarded-in-part", test_discarded_in_part);
  g_test_add_func ("/fanout/other-manifest", test_other_manifest);
  g_test_add_func ("/fanout/refusals", test_refusals);
  g_test_add_func ("/fanout/per-task", test_per_task);
  g_test_add_func ("/fanout/bad-file", test_bad_file);
  g_test_add_func ("/fanout/damaged-file", test_damaged_file);
  g_test_add_func ("/fanout/large-graph", test_large_graph);
  g_test_add_func ("/fanout/locked-task", test_locked_task);
  g_test_add_func ("/fanout/ranks", test_ranks);
  g_test_add_func ("/fanout/no-plan", test_no_plan);
  g_test_add_func ("/fanout/stop-at-the-end", test_stop_at_the_end);
  g_test_add_func ("/fanout/auto-reader", test_auto_reader);
  g_test_add_func ("/fanout/environment", test_environment);
  return g_test_run ();
}
