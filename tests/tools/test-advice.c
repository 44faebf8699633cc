/* SPDX-License-Identifier: MIT */

/* What looks right and is not: each is said, once, with the place and what to do. */

#include <glib/gstdio.h>
#include <string.h>

#include "launch-rig.h"

#define OUT_OF "file-source location=in.jsonl ! jsonl-reader "

static guint
count (const char *text, const char *part)
{
  guint n = 0;

  for (const char *at = strstr (text, part); at != NULL; at = strstr (at + 1, part))
    n++;
  return n;
}

static void
run (LaunchRig *rig, const char *graph, int code)
{
  const char *arguments[] = { "--progress", "none", graph, NULL };

  launch_rig_run (rig, arguments);
  if (rig->exit_code != code)
    g_error ("exit code %d, not %d:\n%s", rig->exit_code, code, rig->err);
}

static void
write_lines (LaunchRig *rig, const char *line, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s\n", line);
  launch_rig_write (rig, "in.jsonl", text->str, -1);
}

/* ---- fields ---- */

static void
test_wrong_field (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_lines (rig, "{\"id\": \"a,\\\"b\", \"text\": [{\"no\": 1}], \"body\": \"x\"}", 120);
  run (rig, OUT_OF "field=bodi ! null-sink", 2);
  /* Before the run; and where it is only met in it, one warning, and the error. */
  launch_rig_assert_has (rig->err, "no field \"bodi\"; the record has \"id\", \"text\", \"body\"; "
                                   "did you mean \"body\"?; tried in.jsonl");
  g_assert_cmpuint (count (rig->err, "no field"), ==, 1);
  {
    g_autoptr (GString) text = g_string_new ("{\"bodi\": \"x\"}\n");

    for (guint i = 0; i < 120; i++)
      g_string_append (text, "{\"id\": 1, \"body\": \"x\"}\n");
    launch_rig_write (rig, "in.jsonl", text->str, -1);
  }
  run (rig, OUT_OF "field=bodi ! null-sink", 1);
  launch_rig_assert_has (rig->err,
                         "row 1 (line 2, byte 14): missing: no field \"bodi\"; the record "
                         "has \"id\", \"body\"; did you mean \"body\"?");
  g_assert_cmpuint (count (rig->err, "no field"), ==, 2);
  launch_rig_assert_has (rig->err, "100 bad records in a row; the last one: ");
}

static void
test_some_lack_field (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  launch_rig_write (rig, "in.jsonl", "{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\n{\"text\": \"x\"}\n", -1);
  run (rig, OUT_OF "max-bad-ratio=1 ! null-sink", 0);
  g_assert_cmpuint (count (rig->err, "no field"), ==, 1);
  launch_rig_assert_has (rig->err,
                         "3 bad records of kind missing; the first one of them was warned of");
}

static void
test_fields (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_lines (rig, "{\"text\": \"x\", \"language\": \"en\", \"a,b\": \"c\"}", 3);
  run (rig, OUT_OF "field=id,language ! null-sink", 2);
  launch_rig_assert_has (rig->err, "\"id,language\": a comma separates nothing here");
  run (rig, OUT_OF "fields=language:strin ! null-sink", 2);
  launch_rig_assert_has (rig->err, "fields, column 10: “strin” is no type, did you mean “string”?");
  run (rig, OUT_OF "fields=languge fields=language ! null-sink", 0);
  launch_rig_assert_has (rig->err, "fields=languge: in none of the 3 records; there are \"text\", "
                                   "\"language\", \"a,b\"; did you mean \"language\"?");
  g_assert_cmpuint (count (rig->err, "in none of"), ==, 1);
  run (rig, OUT_OF "fields='a\\,b' ! null-sink", 0);
  g_assert_null (strstr (rig->err, "in none of"));
}

/* Long before the end of a long run. */
static void
test_fields_early (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_lines (rig, "{\"text\": \"a line that is long enough\", \"id\": 1}", 60000);
  run (rig, OUT_OF "fields=ident ! limit records=50000 ! null-sink", 0);
  launch_rig_assert_has (rig->err, "fields=ident: in none of the first 10000 records; there are ");
}

static void
test_kept_text (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_lines (rig, "{\"text\": \"x\"}", 3);
  run (rig, OUT_OF "! tokenizer ! jsonl-sink location=o.jsonl fields=text", 2);
  launch_rig_assert_has (rig->err, "keep-text=true");
}

static void
test_reshuffle (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_lines (rig, "{\"text\": \"x\"}", 3);
  run (rig, "file-source location=in.jsonl reshuffle=true ! jsonl-reader ! null-sink", 2);
  launch_rig_assert_has (rig->err, "reshuffle=true does nothing without shuffle=true");
}

/* ---- special tokens ---- */

static void
test_special_tokens (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  launch_rig_write (rig, "in.jsonl",
                    "{\"text\":\"x\"}\n{\"text\":\"a<|endoftext|>b<|endoftext|>\"}\n", -1);
  run (rig, OUT_OF "! tokenizer special-tokens=error ! null-sink", 1);
  launch_rig_assert_has (rig->err, "in.jsonl: row 1: the document has the text of a special token, "
                                   "<|endoftext|> (2 in all)");
  run (rig, OUT_OF "! tokenizer special-tokens=error ! jsonl-sink location=o.jsonl", 1);
  launch_rig_assert_has (rig->err, "in.jsonl: row 1: ");
  run (rig, OUT_OF "! tokenizer special-tokens=skip-record ! null-sink", 0);
  launch_rig_assert_has (rig->err, "1 documents were left out");
  run (rig, OUT_OF "! tokenizer ! null-sink", 0);
  launch_rig_assert_has (rig->err,
                         "the text of special tokens 2 times; it was taken as ordinary text");
  run (rig, OUT_OF "! tokenizer special-tokens=allow ! null-sink", 0);
  g_assert_null (strstr (rig->err, "warning"));
}

/* ---- a rank file of one's own ---- */

static void
write_ranks (LaunchRig *rig, const char *name)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < 256; i++)
    {
      guchar byte = (guchar) i;
      g_autofree char *base64 = g_base64_encode (&byte, 1);

      g_string_append_printf (text, "%s %u\n", base64, i);
    }
  launch_rig_write (rig, name, text->str, -1);
}

static void
run_dataset (LaunchRig *rig, const char *command, const char *option, const char *value)
{
  const char *arguments[] = { command, "o", option, value, NULL };
  g_autofree char *launch = g_strdup (launch_rig_get_program ());

  launch_rig_set_program (g_getenv ("DLPIPE_DATASET"));
  launch_rig_run (rig, arguments);
  launch_rig_set_program (launch);
}

#define OWN "! tokenizer model=my.tiktoken pattern=gpt2 "

static void
test_eod (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  write_lines (rig, "{\"text\": \"ab\"}", 1);
  write_ranks (rig, "my.tiktoken");
  run (rig, OUT_OF OWN "! null-sink", 2);
  launch_rig_assert_has (
      rig->err, "eod-token=ID names it (ordinary ids are below 256, it may lie behind them), "
                "eod=none adds none");
  run (rig, OUT_OF "! tokenizer eod-token=50257 ! null-sink", 2);
  launch_rig_assert_has (rig->err, "ids of gpt2 are below 50257");
  run (rig, OUT_OF OWN "eod-token=2147483647 ! null-sink", 2);
  launch_rig_assert_has (rig->err, "ids of my are below 2147483647");

  /* Beyond what 16 bits hold, the width follows. */
  run (rig, OUT_OF OWN "eod-token=70000 ! jsonl-sink location=o", 0);
  g_autofree char *path = launch_rig_path (rig, "o");
  g_autofree char *lines = NULL;
  g_assert_true (g_file_get_contents (path, &lines, NULL, NULL));
  g_assert_cmpstr (lines, ==, "{\"tokens\":[97,98,70000]}\n");
}

static void
test_own_model (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *ranks = launch_rig_path (rig, "my.tiktoken");
  g_autofree char *moved = launch_rig_path (rig, "moved.tiktoken");

  write_lines (rig, "{\"text\": \"ab\"}", 1);
  write_ranks (rig, "my.tiktoken");
  run (rig, OUT_OF OWN "eod-token=256 ! megatron-sink location=o", 0);

  run_dataset (rig, "head", NULL, NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);
  launch_rig_assert_has (rig->out, "ab<|256|>\n");
  run_dataset (rig, "verify", NULL, NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);

  g_assert_cmpint (g_rename (ranks, moved), ==, 0);
  run_dataset (rig, "head", NULL, NULL);
  g_assert_cmpint (rig->exit_code, ==, 2);
  launch_rig_assert_has (rig->err, "my.tiktoken (it is not there)");
  launch_rig_assert_has (rig->err, "--tokenizer MODEL");
  /* The pattern is in the manifest. */
  run_dataset (rig, "head", "--tokenizer", "moved.tiktoken");
  g_assert_cmpint (rig->exit_code, ==, 0);
  g_assert_cmpstr (rig->err, ==, "");
  launch_rig_assert_has (rig->out, "ab<|256|>\n");
}

/* A copy of a known model is that model, whatever it is called. */
static void
test_copied_model (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *known =
      g_build_filename (g_getenv ("DLPIPE_VOCAB_PATH"), "cl100k_base.tiktoken", NULL);
  g_autofree char *ranks = launch_rig_path (rig, "my.tiktoken");
  g_autofree char *text = NULL;
  gsize size;

  write_lines (rig, "{\"text\": \"ab\"}", 1);
  g_assert_true (g_file_get_contents (known, &text, &size, NULL));
  launch_rig_write (rig, "my.tiktoken", text, (gssize) size);
  run (rig, OUT_OF "! tokenizer model=my.tiktoken ! megatron-sink location=o", 0);
  g_assert_cmpint (g_remove (ranks), ==, 0);
  run_dataset (rig, "head", NULL, NULL);
  g_assert_cmpint (rig->exit_code, ==, 0);
  launch_rig_assert_has (rig->out, "ab<|endoftext|>\n");
}

/* ---- outputs ---- */

static void
test_output_gone (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *bin = launch_rig_path (rig, "o.bin");

  write_lines (rig, "{\"text\": \"ab\"}", 1);
  run (rig, OUT_OF "! tokenizer ! megatron-sink location=o", 0);
  g_assert_cmpint (g_remove (bin), ==, 0);
  run (rig, OUT_OF "! tokenizer ! megatron-sink location=o", 3);
  launch_rig_assert_has (rig->err, "put it back, or make it again with --restart");

  const char *again[] = { "--restart", OUT_OF "! tokenizer ! megatron-sink location=o", NULL };
  launch_rig_run (rig, again);
  g_assert_cmpint (rig->exit_code, ==, 0);
  g_assert_true (g_file_test (bin, G_FILE_TEST_EXISTS));
}

static void
test_unfinished (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  launch_rig_write (rig, "in.jsonl", "{\"text\":\"a<|endoftext|>\"}\n", -1);
  run (rig, OUT_OF "! tokenizer special-tokens=error ! megatron-sink location=o", 1);
  run_dataset (rig, "info", NULL, NULL);
  g_assert_cmpint (rig->exit_code, ==, 2);
  launch_rig_assert_has (rig->err, "o: unfinished: the state of its run is in o.dlpipe");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);

  g_test_add_func ("/advice/wrong-field", test_wrong_field);
  g_test_add_func ("/advice/some-lack-field", test_some_lack_field);
  g_test_add_func ("/advice/fields", test_fields);
  g_test_add_func ("/advice/fields-early", test_fields_early);
  g_test_add_func ("/advice/kept-text", test_kept_text);
  g_test_add_func ("/advice/reshuffle", test_reshuffle);
  g_test_add_func ("/advice/special-tokens", test_special_tokens);
  g_test_add_func ("/advice/eod", test_eod);
  g_test_add_func ("/advice/own-model", test_own_model);
  g_test_add_func ("/advice/copied-model", test_copied_model);
  g_test_add_func ("/advice/output-gone", test_output_gone);
  g_test_add_func ("/advice/unfinished", test_unfinished);
  return g_test_run ();
}
