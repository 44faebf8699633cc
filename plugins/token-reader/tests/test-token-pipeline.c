/* SPDX-License-Identifier: MIT */

/* Tokens go in and out as they were, without a tokenizer: from each kind of file to Megatron's. */

#include <dlp-harness.h>
#include <glib/gstdio.h>

#include "megatron-check.h"
#include "resume-files.h"
#include "token-files.h"

static void
write_ids (guint file, GString *text)
{
  g_autoptr (GByteArray) ids = g_byte_array_new ();

  for (guint i = 0; i < 60; i++)
    token_files_append_number (ids, 4, i % 23 == 22 ? -1 : (gint64) (file * 100 + i));
  g_string_append_len (text, (const char *) ids->data, ids->len);
}

static void
test_resume (gconstpointer data)
{
  for (guint interleave = 1; interleave < 4; interleave += 2)
    {
      g_autofree char *reader = g_strdup_printf ("token-reader dtype=i32 %s interleave=%u",
                                                 (const char *) data, interleave);

      resume_files_check (".bin", write_ids, reader, 6);
    }
}

static void
test_from_tokens (void)
{
  static const char *const names[] = { "meg16", "meg32" };

  for (guint i = 0; i < 2; i++)
    for (guint k = 0; k < 2; k++)
      {
        g_autofree char *reader =
            g_strdup_printf ("file-source location=%s/formats/%s.bin ! token-reader",
                             g_getenv ("DLPIPE_TEST_DATA"), names[i]);

        megatron_check_written (reader, names[k]);
      }
}

/* The same documents as rows of other formats. */
static void
check_text (const char *ending, const char *text, const char *reader)
{
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-tokens-XXXXXX", NULL);
  g_autofree char *name = g_strconcat ("a", ending, NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *graph = g_strdup_printf ("file-source location=%s ! %s", path, reader);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  megatron_check_written (graph, "meg16");
  megatron_check_written (graph, "meg32");
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_from_text (void)
{
  static const char lines[] = "{\"ids\":[1,2,3,50256]}\n{\"ids\":[7,8,50256]}\n"
                              "{\"ids\":[9,10,11,12,13,50256]}\n";
  static const char rows[] = "n;ids\n1;[1,2,3,50256]\n2;[7,8,50256]\n3;[9,10,11,12,13,50256]\n";

  static const char maps[] = "\x81\xa3ids\x94\x01\x02\x03\xcd\xc4\x50"
                             "\x81\xa3ids\x93\x07\x08\xcd\xc4\x50"
                             "\x81\xa3ids\x96\x09\x0a\x0b\x0c\x0d\xcd\xc4\x50";

  check_text (".msgpack", maps, "msgpack-reader field='' fields=tokens=ids:i32[]");
  check_text (".jsonl", lines, "jsonl-reader field='' fields=tokens=ids:i32[]");
  check_text (".jsonl", lines, "jsonl-reader field='' fields=tokens=ids:u16[]");
  check_text (".csv", rows, "csv-reader delimiter=; field='' fields=tokens=ids:i32[]");
}

/* Training batches need no tokenizer either. */
static void
test_batch (void)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s/formats/meg16.bin ! token-reader ! batch size=2 "
                       "! check-sink name=k",
                       g_getenv ("DLPIPE_TEST_DATA"));

  dlp_harness_check_resume (graph, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/token-pipeline/resume/length", "length=7", test_resume);
  g_test_add_data_func ("/token-pipeline/resume/separator", "separator=50", test_resume);
  g_test_add_func ("/token-pipeline/from-tokens", test_from_tokens);
  g_test_add_func ("/token-pipeline/from-text", test_from_text);
  g_test_add_func ("/token-pipeline/batch", test_batch);
  return g_test_run ();
}
