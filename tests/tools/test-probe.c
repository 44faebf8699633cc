/* SPDX-License-Identifier: MIT */

/* What no record of a source has is found before a run begins: for every source of every stage. */

#include <string.h>

#include "launch-rig.h"

#define LINES "{\"text\": \"x\", \"id\": 1}\n{\"text\": \"y\", \"id\": 2}\n"
#define OTHER_LINES "{\"body\": \"x\", \"id\": 1}\n{\"body\": \"y\", \"id\": 2}\n"

static void
run (LaunchRig *rig, const char *graph, int code)
{
  const char *arguments[] = { "--progress", "none", graph, NULL };

  launch_rig_run (rig, arguments);
  if (rig->exit_code != code)
    g_error ("exit code %d, not %d:\n%s", rig->exit_code, code, rig->err);
}

static LaunchRig *
make_rig (const char *first, const char *second)
{
  LaunchRig *rig = launch_rig_new ();

  launch_rig_write (rig, "a.jsonl", first, -1);
  launch_rig_write (rig, "b.jsonl", second, -1);
  return rig;
}

static void
test_one (void)
{
  g_autoptr (LaunchRig) rig = make_rig (OTHER_LINES, OTHER_LINES);

  run (rig, "file-source name=s location=*.jsonl ! jsonl-reader name=r ! null-sink", 2);
  launch_rig_assert_has (rig->err,
                         "r: what is wanted is in no record of s (stage 0, source 0): no "
                         "field \"text\"; the record has \"body\", \"id\"; tried a.jsonl, "
                         "b.jsonl");
  run (rig, "file-source location=*.jsonl ! jsonl-reader field='' fields=n:i64 ! null-sink", 2);
  launch_rig_assert_has (rig->err, "no field \"n\"; the record has \"body\", \"id\" (fields=n:i64? "
                                   "would take it)");
}

/* Empty files, and those with records that lack it, before one that has it. */
static void
test_later_file (void)
{
  g_autoptr (LaunchRig) rig = make_rig ("\n", "{\"body\": 1}\n");

  launch_rig_write (rig, "c.jsonl", LINES, -1);
  run (rig, "file-source location=*.jsonl ! jsonl-reader ! null-sink", 0);
  run (rig, "file-source location=[ab].jsonl ! jsonl-reader ! null-sink", 2);
  launch_rig_assert_has (rig->err, "tried a.jsonl, b.jsonl");
  run (rig, "file-source location=a.jsonl ! jsonl-reader ! null-sink", 0);
  run (rig, "file-source location=*.jsonl shard=1/3 ! jsonl-reader ! null-sink", 2);
  g_assert_null (strstr (rig->err, "a.jsonl"));
}

/* Every source is looked at, not only the first that is read; of several faults the first is said.
 */
static void
test_each_source (void)
{
  g_autoptr (LaunchRig) rig = make_rig (LINES, OTHER_LINES);

  run (rig,
       "file-source location=a.jsonl ! jsonl-reader ! m. "
       "file-source name=s location=b.jsonl ! jsonl-reader name=r ! m. "
       "mix name=m weights=1,1 ! limit records=1 ! null-sink",
       2);
  launch_rig_assert_has (rig->err, "r: what is wanted is in no record of s (stage 0, source 1)");
  run (rig,
       "file-source location=a.jsonl ! jsonl-reader ! c. "
       "file-source name=s location=b.jsonl ! jsonl-reader name=r ! c. "
       "stages name=c records=1,1 ! null-sink",
       2);
  launch_rig_assert_has (rig->err, "r: what is wanted is in no record of s (stage 1, source 0)");
}

static void
test_readers (void)
{
  g_autoptr (LaunchRig) rig = make_rig (LINES, LINES);

  launch_rig_write (rig, "a.csv", "id,body\n1,x\n", -1);
  run (rig, "file-source location=a.csv ! csv-reader ! null-sink", 2);
  launch_rig_assert_has (rig->err,
                         "no column \"text\"; the header has \"id\", \"body\"; tried a.csv");
  run (rig, "file-source location=a.csv ! csv-reader on-damaged-file=keep ! null-sink", 4);
  launch_rig_write (rig, "a.msgpack",
                    "\x81\xa4"
                    "Text\xa1x",
                    8);
  run (rig, "file-source location=a.msgpack ! msgpack-reader ! null-sink", 2);
  launch_rig_assert_has (rig->err, "no field \"text\"; the record has \"Text\"");
  launch_rig_write (rig, "a.bin", "abcd", 4);
  run (rig, "file-source location=a.bin ! token-reader ! null-sink", 2);
  launch_rig_assert_has (rig->err, "a.bin: it has no header, nor an index");
}

/* What is not of this kind is left to the run. */
static void
test_others (void)
{
  g_autoptr (LaunchRig) rig = make_rig ("no JSON\n" OTHER_LINES, "");

  run (rig, "file-source location=a.jsonl ! jsonl-reader ! null-sink", 1);
  run (rig, "file-source location=b.jsonl ! jsonl-reader ! null-sink", 0);
  launch_rig_write (rig, "a.jsonl", OTHER_LINES LINES, -1);
  run (rig, "file-source location=a.jsonl ! jsonl-reader ! null-sink", 0);
  launch_rig_write (rig, "a.jsonl", OTHER_LINES, -1);
  run (rig, "file-source location=a.jsonl ! jsonl-reader max-bad-ratio=1 ! null-sink", 1);
  run (rig, "file-source location=a.jsonl ! jsonl-reader fields=id,none field='' ! null-sink", 0);
}

/* What is there already is left alone. */
static void
test_output (void)
{
  g_autoptr (LaunchRig) rig = make_rig (LINES, OTHER_LINES);
  const char *arguments[] = {
    "--progress", "none", "--restart",
    "file-source location=b.jsonl ! jsonl-reader ! jsonl-sink location=o.jsonl", NULL
  };
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  run (rig, "file-source location=a.jsonl ! jsonl-reader ! jsonl-sink location=o.jsonl", 0);
  before = launch_rig_hash (rig, "o.jsonl");
  launch_rig_run (rig, arguments);
  g_assert_cmpint (rig->exit_code, ==, 2);
  after = launch_rig_hash (rig, "o.jsonl");
  g_assert_cmpstr (before, ==, after);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  g_test_add_func ("/probe/one", test_one);
  g_test_add_func ("/probe/later-file", test_later_file);
  g_test_add_func ("/probe/each-source", test_each_source);
  g_test_add_func ("/probe/readers", test_readers);
  g_test_add_func ("/probe/others", test_others);
  g_test_add_func ("/probe/output", test_output);
  return g_test_run ();
}
