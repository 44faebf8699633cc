/* SPDX-License-Identifier: MIT */

/* What --dry-run projects, against what a run delivers. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "launch-rig.h"

static void
check_has (const char *all, const char *text)
{
  if (strstr (all, text) == NULL)
    g_error ("“%s” is not in:\n%s", text, all);
}

static double
get_projected (LaunchRig *rig, const char *what)
{
  g_autofree char *key = g_strdup_printf ("projected %s: ", what);
  const char *at = strstr (rig->out, key);

  if (at == NULL)
    g_error ("“%s” is not in:\n%s", key, rig->out);
  return g_ascii_strtod (at + strlen (key), NULL);
}

static void
check_near (double value, double wanted, double tolerance)
{
  if (fabs (value - wanted) > tolerance * wanted)
    g_error ("%.0f is not within %.0f %% of %.0f", value, tolerance * 100, wanted);
}

/* Records of some 230 bytes, whose numbers make them hard to compress. */
static GString *
make_records (guint n, guint seed)
{
  GString *text = g_string_new (NULL);
  GRand *random = g_rand_new_with_seed (seed);

  for (guint i = 0; i < n; i++)
    {
      g_string_append (text, "{\"text\": \"");
      for (guint k = 0; k < 20; k++)
        g_string_append_printf (text, "%u ", g_rand_int (random));
      g_string_append (text, "\"}\n");
    }
  g_rand_free (random);
  return text;
}

static void
write_records (LaunchRig *rig, const char *name, guint n)
{
  g_autoptr (GString) text = make_records (n, n);

  launch_rig_write (rig, name, text->str, (gssize) text->len);
}

static void
write_gzip (LaunchRig *rig, const char *name, guint n)
{
  g_autoptr (GString) text = make_records (n, n);
  g_autoptr (GZlibCompressor) compressor = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 6);
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) stream =
      g_converter_output_stream_new (memory, G_CONVERTER (compressor));

  g_assert_true (g_output_stream_write_all (stream, text->str, text->len, NULL, NULL, NULL));
  g_assert_true (g_output_stream_close (stream, NULL, NULL));
  launch_rig_write (
      rig, name, g_memory_output_stream_get_data (G_MEMORY_OUTPUT_STREAM (memory)),
      (gssize) g_memory_output_stream_get_data_size (G_MEMORY_OUTPUT_STREAM (memory)));
}

/* Of one large file only the beginning is read, and no epoch twice. */
static void
test_large_file (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  double share;
  const char *at;

  write_records (rig, "in.jsonl", 30000);
  launch_rig_expect (rig, 0, "--dry-run",
                     "file-source location=in.jsonl epochs=20 ! jsonl-reader ! null-sink", NULL);
  check_near (get_projected (rig, "records"), 600000, 0.03);
  at = strstr (rig->out, " MB (");
  g_assert_nonnull (at);
  share = g_ascii_strtod (at + strlen (" MB ("), NULL);
  g_assert_cmpfloat (share, <, 40);
  check_has (rig->out, "projected output of null-sink0: nothing is written\n");

  launch_rig_expect (rig, 0, "--dry-run",
                     "file-source location=in.jsonl epochs=0 ! jsonl-reader ! null-sink", NULL);
  check_near (get_projected (rig, "records"), 30000, 0.03);
  check_has (rig->out, "goes on for ever");
}

/* A byte of a compressed file stands for more records. */
static void
test_codecs (void)
{
  static const char graph[] =
      "file-source location=plain.jsonl location=packed.jsonl.gz ! jsonl-reader ! null-sink";
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_records (rig, "plain.jsonl", 15000);
  write_gzip (rig, "packed.jsonl.gz", 30000);
  launch_rig_expect (rig, 0, "--dry-run=10%", graph, NULL);
  check_near (get_projected (rig, "records"), 45000, 0.05);
}

static void
test_early_ends (void)
{
  static const char limit[] =
      "file-source location=a.jsonl ! jsonl-reader ! limit records=700 ! null-sink";
  static const char mix[] =
      "file-source location=a.jsonl ! jsonl-reader ! m.a  file-source location=b.jsonl ! "
      "jsonl-reader ! m.b  mix name=m weights=a:1,b:3 exhausted=stop ! null-sink";
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_records (rig, "a.jsonl", 20000);
  write_records (rig, "b.jsonl", 21000);
  for (guint whole = 0; whole < 2; whole++)
    {
      const char *option = whole ? "--dry-run=100%" : "--dry-run=10%";

      launch_rig_expect (rig, 0, option, limit, NULL);
      g_assert_cmpfloat (get_projected (rig, "records"), ==, 700);
      /* b ends the mix: a third as many of a have come. */
      launch_rig_expect (rig, 0, option, mix, NULL);
      check_near (get_projected (rig, "records"), 28000, 0.03);
    }
  launch_rig_expect (rig, 0, "--progress=none", mix, NULL);
  launch_rig_expect (
      rig, 0, "--dry-run=10%",
      "file-source location=a.jsonl epochs=0 ! jsonl-reader ! limit records=90000 ! null-sink",
      NULL);
  g_assert_cmpfloat (get_projected (rig, "records"), ==, 90000);
}

/* Files by their names and the seed, not the first ones. */
static void
test_files_by_seed (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *first = NULL;
  g_autofree char *again = NULL;

  for (guint i = 0; i < 40; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%02u.jsonl", i);

      /* The first ones are unlike the others. */
      write_records (rig, name, i < 8 ? 10 : 100 + i);
    }
  launch_rig_expect (rig, 0, "--dry-run=20%",
                     "file-source location=f*.jsonl ! jsonl-reader ! null-sink", NULL);
  first = g_strdup (rig->out);
  check_near (get_projected (rig, "records"), 8 * 10 + 32 * 123, 0.1);
  launch_rig_expect (rig, 0, "--dry-run=20%",
                     "file-source location=f*.jsonl ! jsonl-reader ! null-sink", NULL);
  again = g_strndup (rig->out, strcspn (rig->out, "\n"));
  g_assert_true (g_str_has_prefix (first, again));
  launch_rig_expect (rig, 0, "--dry-run=20%", "--seed=9",
                     "file-source location=f*.jsonl ! jsonl-reader ! null-sink", NULL);
  g_assert_false (g_str_has_prefix (rig->out, again));
}

/* Readers of one source read the same bytes. */
static void
test_readers_of_one (void)
{
  static const char graph[] = "file-source location=f*.jsonl ! tee name=t ! jsonl-reader ! "
                              "null-sink  t. ! jsonl-reader ! null-sink";
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  for (guint i = 0; i < 40; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%02u.jsonl", i);

      launch_rig_write (rig, name, "{\"text\": \"good\"}\n{\"text\": 1}\n", -1);
    }
  launch_rig_expect (rig, 0, "--dry-run=25%", graph, NULL);
  check_has (rig->out, "(25.00 % of the bytes), 10 records\n");
  g_assert_cmpfloat (get_projected (rig, "records"), ==, 40);
}

/* Also where it is judged whether a run would fail: by a sample of 300 records of 1,200. */
static void
test_readers_of_one_judged (void)
{
  static const char graph[] = "file-source location=f*.jsonl ! tee name=t ! jsonl-reader ! "
                              "null-sink  t. ! jsonl-reader ! null-sink";
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < 30; i++)
    g_string_append (text, i % 10 == 3 ? "{\"text\": 1}\n" : "{\"text\": \"good\"}\n");
  for (guint i = 0; i < 40; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%02u.jsonl", i);

      launch_rig_write (rig, name, text->str, -1);
    }
  launch_rig_expect (rig, 1, "--dry-run=25%", graph, NULL);
  check_has (rig->err, "the run would fail: jsonl-reader1: 30 of 300 records are bad");
}

/* Counts by kind are what it is made for where the run would fail. */
static void
test_faults (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *damaged =
      g_build_filename (launch_rig_get_data (), "cases", "z04-truncated-frame.jsonl.zst", NULL);
  g_autofree char *graph =
      g_strdup_printf ("file-source location=\"%s\" ! jsonl-reader ! null-sink", damaged);

  for (guint i = 0; i < 3000; i++)
    g_string_append (text, i % 10 == 3 ? "{\"text\": 1}\n" : "{\"text\": \"good\"}\n");
  launch_rig_write (rig, "bad.jsonl", text->str, -1);
  launch_rig_expect (rig, 1, "--dry-run=100%",
                     "file-source location=bad.jsonl ! jsonl-reader ! null-sink", NULL);
  check_has (rig->out, "bad records: 300\n  type: 300\n");
  check_has (rig->err, "the run would fail: jsonl-reader0: 300 of 3000 records are bad, above the "
                       "share max-bad-ratio=0.001 allows");
  launch_rig_expect (rig, 0, "--dry-run=100%",
                     "file-source location=bad.jsonl ! jsonl-reader max-bad-ratio=0.2 ! null-sink",
                     NULL);
  launch_rig_expect (rig, 1, "--dry-run", "--strict",
                     "file-source location=bad.jsonl ! jsonl-reader max-bad-ratio=0.2 ! null-sink",
                     NULL);
  check_has (rig->err, "the first bad record ends it");

  launch_rig_expect (rig, 1, "--dry-run", graph, NULL);
  check_has (rig->out, "damaged files: 1\n");
  check_has (rig->err, "on-damaged-file=fail");
}

static void
test_sinks (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_records (rig, "in.jsonl", 20000);
  launch_rig_expect (
      rig, 0, "--dry-run=10%", "--dot=-",
      "file-source location=in.jsonl ! jsonl-reader name=r ! tee name=t ! null-sink  "
      "t. ! jsonl-sink location=out.jsonl  r.rejected ! jsonl-sink location=bad.jsonl",
      NULL);
  check_near (get_projected (rig, "records"), 20000, 0.03);
  check_has (rig->out, "projected output of jsonl-sink0: 5.0 MB; 200");
  check_has (rig->out, "projected output of jsonl-sink1: 0 B; 0 records\n");
  check_has (rig->out, "digraph dlpipe");

  launch_rig_expect (rig, 2, "--dry-run", "--stats",
                     "file-source location=in.jsonl ! jsonl-reader ! null-sink", NULL);
  check_has (rig->err, "--dry-run and --stats exclude each other");
  launch_rig_expect (rig, 2, "--dry-run", "--summary=s",
                     "file-source location=in.jsonl ! jsonl-reader ! "
                     "null-sink",
                     NULL);
  check_has (rig->err, "--dry-run and --summary exclude each other");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  g_test_add_func ("/dry-run/large-file", test_large_file);
  g_test_add_func ("/dry-run/codecs", test_codecs);
  g_test_add_func ("/dry-run/early-ends", test_early_ends);
  g_test_add_func ("/dry-run/files-by-seed", test_files_by_seed);
  g_test_add_func ("/dry-run/readers-of-one", test_readers_of_one);
  g_test_add_func ("/dry-run/readers-of-one/judged", test_readers_of_one_judged);
  g_test_add_func ("/dry-run/faults", test_faults);
  g_test_add_func ("/dry-run/sinks", test_sinks);
  return g_test_run ();
}
