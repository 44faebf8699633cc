/* SPDX-License-Identifier: MIT */

/* The examples of the pages, typed as they stand, one after another in one folder: each has to end
 * well, and none may be in the way of another. Arguments: dlpipe-launch, the source folder. */

#include <glib/gstdio.h>
#include <string.h>

#include "launch-rig.h"

#define INDENT "    "
/* There were so many when this was written; less, and they are not found any more. */
#define MIN_EXAMPLES 20

static const char *const data_line =
    "{\"id\": %u, \"text\": \"one two %u\", \"content\": \"int x%u;\", \"lang\": \"en\", "
    "\"score\": 0.75, "
    "\"data\": {\"lang\": \"en\", \"doc\": {\"text\": \"deep %u\"}}}\n";

/* Exit status; what was said is shown where it is not 0. */
static int
run_shell (LaunchRig *rig, const char *script)
{
  g_autofree char *out = NULL;
  g_autofree char *err = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  g_spawn_sync (rig->dir, (char *[]){ "sh", "-ec", (char *) script, NULL }, NULL,
                G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, &error);
  g_assert_no_error (error);
  if (status != 0)
    g_printerr ("%s\n%s%s", script, out, err);
  return status;
}

/* What the pages take for there. Copies, and programs that only call ours: whatever becomes of this
 * folder, nothing outside of it is reached from it. */
static void
set_up_folder (LaunchRig *rig)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *tools = g_path_get_dirname (launch_rig_get_program ());
  g_autofree char *script = NULL;

  for (guint i = 0; i < 50; i++)
    g_string_append_printf (text, data_line, i, i, i, i);
  launch_rig_write (rig, "a.jsonl", text->str, -1);
  launch_rig_write (rig, "names.txt", "data/a.jsonl\ndata/b.jsonl\n", -1);
  launch_rig_write (rig, "sentences.txt", "One.\nTwo.\n\nThree.\n", -1);
  launch_rig_write (rig, "plain.csv", "1,one\n2,\"two,\nor so\"\n", -1);
  launch_rig_write (rig, "a.csv", "id,body\n1,one\n2,\"two,\nor so\"\n", -1);
  launch_rig_write (rig, "a.tsv", "text\tscore\tlang\none\t0.7\ten\ntwo\t\tde\n", -1);
  script = g_strdup_printf (
      "mkdir -p data web code books tables crawl corpus dumps build/tools tests/data/sample\n"
      "cp '%s'/tests/data/sample/en-*.jsonl.* tests/data/sample\n"
      "for name in dlpipe-launch dlpipe-dataset; do\n"
      "  printf '#!/bin/sh\\nexec \"%s/%%s\" \"$@\"\\n' $name >build/tools/$name\n"
      "  chmod +x build/tools/$name\n"
      "done\n"
      "cp '%s'/plugins/arrow/tests/data/codec-zstd.parquet data/a.parquet\n"
      "cp '%s'/plugins/arrow/tests/data/ipc-zstd.arrow data/a.arrow\n"
      "cp sentences.txt books/a.txt; gzip -k books/a.txt\n"
      "gzip a.tsv; mv a.csv a.tsv.gz tables\n"
      "gzip -k a.jsonl; zstd -q a.jsonl; xz -k a.jsonl; lz4 -q a.jsonl a.jsonl.lz4; bzip2 -k "
      "a.jsonl\n"
      "cp a.jsonl a.jsonl.zst data; cp a.jsonl data/b.jsonl\n"
      "cp a.jsonl.zst a.jsonl.xz a.jsonl.lz4 corpus; mv a.jsonl.bz2 dumps\n"
      "mv a.jsonl.xz dump.jsonl.xz; rm a.jsonl.lz4; cp a.jsonl.zst web; mv a.jsonl.zst "
      "dump.jsonl.zst\n"
      "cp a.jsonl.gz code; cp a.jsonl.gz crawl; mv a.jsonl.gz dump.jsonl.gz\n"
      "cp '%s'/plugins/warc-reader/tests/cases/w01-ok.warc.gz crawl/a.warc.gz\n"
      "cp crawl/a.warc.gz crawl/a.wet.gz\n"
      "mkdir ids flat rows tokenized; cp '%s'/tests/data/formats/meg16.* ids\n"
      "cp ids/meg16.bin flat/train.bin\n"
      "printf '\\201\\251input_ids\\223\\1\\2\\3' >rows/a.msgpack\n"
      "printf '{\"input_ids\": [1, 2, 3], \"score\": 0.5}\\n' >tokenized/a.jsonl\n"
      "mkdir shards; printf one >a.txt; printf 5 >a.cls; cp a.txt a.jpg\n"
      "printf '{\"title\": \"x\"}' >a.json; tar cf shards/a.tar a.txt a.cls a.jpg a.json; gzip -k "
      "shards/a.tar\n",
      launch_rig_get_data (), tools, launch_rig_get_data (), launch_rig_get_data (),
      launch_rig_get_data (), launch_rig_get_data ());
  g_assert_cmpint (run_shell (rig, script), ==, 0);
}

/* An indented block is an example if one of our programs is run in it, with what can be run. */
static gboolean
is_example (const char *block)
{
  return (g_str_has_prefix (block, "dlpipe-") || g_str_has_prefix (block, "build/tools/dlpipe-") ||
          strstr (block, "| dlpipe-") != NULL || strstr (block, "\ndlpipe-") != NULL) &&
         strstr (block, "GRAPH") == NULL && strstr (block, " LOCATION") == NULL;
}

/* (transfer full): the indented blocks of a page, without the indentation. */
static GPtrArray *
list_blocks (const char *page)
{
  g_auto (GStrv) lines = g_strsplit (page, "\n", -1);
  GPtrArray *blocks = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) block = g_string_new (NULL);
  gsize indent = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      gboolean is_in = g_str_has_prefix (lines[i], INDENT);

      /* Those in a list are indented by more. */
      if (is_in && block->len == 0)
        indent = strspn (lines[i], " ");
      if (is_in)
        g_string_append_printf (block, "%s\n", lines[i] + MIN (indent, strspn (lines[i], " ")));
      if (is_in && lines[i + 1] != NULL)
        continue;
      if (block->len > 0)
        g_ptr_array_add (blocks, g_strdup (block->str));
      g_string_truncate (block, 0);
    }
  return blocks;
}

/* How many it has. */
static guint
check_page (LaunchRig *rig, const char *path)
{
  g_autofree char *page = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) blocks = NULL;
  guint n = 0;

  g_file_get_contents (path, &page, NULL, &error);
  g_assert_no_error (error);
  blocks = list_blocks (page);
  for (guint i = 0; i < blocks->len; i++)
    {
      if (!is_example (blocks->pdata[i]))
        continue;
      n++;
      if (run_shell (rig, blocks->pdata[i]) != 0)
        g_error ("an example of %s fails", path);
    }
  if (n == 0)
    g_error ("%s has no example", path);
  return n;
}

/* Optional ones may not be. */
static gboolean
is_built (const char *plugin)
{
  g_autofree char *tools = g_path_get_dirname (launch_rig_get_program ());
  g_autofree char *file = g_strdup_printf ("%s/../plugins/%s/dlp-%s.so", tools, plugin, plugin);

  return g_file_test (file, G_FILE_TEST_EXISTS);
}

static void
test_pages (void)
{
  static const char *const pages[] = { "README.md", "docs/graph-language.md", "docs/running.md" };
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  const char *root = launch_rig_get_data ();
  g_autofree char *plugins = g_build_filename (root, "plugins", NULL);
  g_autoptr (GDir) dir = g_dir_open (plugins, 0, NULL);
  const char *name;
  guint n = 0;

  set_up_folder (rig);
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      g_autofree char *path = g_build_filename (root, pages[i], NULL);

      n += check_page (rig, path);
    }
  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (plugins, name, "README.md", NULL);
      g_autofree char *plugin = g_build_filename (plugins, name, "plugin.c", NULL);

      /* Where there is no plugin is what several have in common. */
      if (!g_file_test (plugin, G_FILE_TEST_EXISTS))
        continue;
      if (is_built (name))
        n += check_page (rig, path);
      else
        g_test_message ("%s is not built: its page is left out", name);
    }
  g_test_message ("%u examples", n);
  g_assert_cmpuint (n, >=, MIN_EXAMPLES);
}

int
main (int argc, char **argv)
{
  g_autofree char *tools = NULL;
  g_autofree char *path = NULL;

  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  tools = g_path_get_dirname (launch_rig_get_program ());
  path = g_strconcat (tools, ":", g_getenv ("PATH"), NULL);
  g_setenv ("PATH", path, TRUE);

  g_test_add_func ("/examples/pages", test_pages);
  return g_test_run ();
}
