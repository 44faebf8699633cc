/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>
#include <glib/gstdio.h>

#include "dlp-file-source.h"
#include "reader-rig.h"

static char *folder;

static char *
make_path (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
write_file (const char *name, const char *data, gssize size)
{
  g_autofree char *path = make_path (name);
  GError *error = NULL;

  g_file_set_contents (path, data, size, &error);
  g_assert_no_error (error);
}

/* Settings in which "@" stands for the folder, as text with blanks between them. */
static char **
make_settings (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "@", -1);
  g_autofree char *slashed = g_strconcat (folder, "/", NULL);
  g_autofree char *joined = g_strjoinv (slashed, parts);

  return g_strsplit (joined, " ", -1);
}

static RigConfig
make_config (char **settings)
{
  return (RigConfig){
    .source_type = DLP_TYPE_FILE_SOURCE,
    .source = (const char *const *) settings,
    .seed = 11,
  };
}

/* (transfer full): "FILE EPOCH NAME" of what came out, the folder left out of the names. */
static char *
list (const RigOutput *output)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < output->good->len; i++)
    {
      g_auto (GStrv) columns = g_strsplit (output->good->pdata[i], "\t", -1);
      g_auto (GStrv) at = g_strsplit (columns[0], " ", -1);
      const char *name = columns[1];

      if (g_str_has_prefix (name, folder))
        name += strlen (folder) + 1;
      g_string_append_printf (text, "%s%s/%s:%s", i > 0 ? " " : "", at[2], at[4], name);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
assert_list (const char *settings_text, const char *expected)
{
  g_auto (GStrv) settings = make_settings (settings_text);
  RigConfig config = make_config (settings);
  g_autoptr (RigOutput) output = rig_run (&config);
  g_autofree char *text = list (output);

  g_assert_no_error (output->error);
  g_assert_cmpstr (text, ==, expected);
}

static void
assert_error (const char *settings_text, GQuark domain, int code, const char *message)
{
  g_auto (GStrv) settings = make_settings (settings_text);
  RigConfig config = make_config (settings);
  g_autoptr (RigOutput) output = rig_run (&config);

  g_assert_nonnull (output->error);
  g_test_message ("%s", output->error->message);
  g_assert_error (output->error, domain, code);
  g_assert_nonnull (strstr (output->error->message, message));
}

static void
test_locations (void)
{
  assert_list ("location=@*.txt", "0/0:B.txt 1/0:a.txt 2/0:b.txt 3/0:\xc3\xa9.txt");
  assert_list ("location=@b.txt", "0/0:b.txt");
  assert_list ("location=@", "0/0:B.txt 1/0:a.txt 2/0:b.txt 3/0:list 4/0:list0 5/0:\xc3\xa9.txt");
  /* A file that is named twice is read once. */
  assert_list ("location=@b.txt location=@*.txt", "0/0:B.txt 1/0:a.txt 2/0:b.txt 3/0:\xc3\xa9.txt");
  assert_list ("location=@b.txt location=@*.txt order=given",
               "0/0:b.txt 1/0:B.txt 2/0:a.txt 3/0:\xc3\xa9.txt");
  /* However often. */
  assert_list ("location=@b.txt location=@b.txt location=@b.txt", "0/0:b.txt");
  assert_list ("location=@b.txt location=@b.txt location=@b.txt location=@b.txt order=given",
               "0/0:b.txt");
  assert_list ("location=@*.txt location=@b.txt location=@*.txt location=@b.txt location=@B.txt",
               "0/0:B.txt 1/0:a.txt 2/0:b.txt 3/0:\xc3\xa9.txt");
}

static void
test_lists (void)
{
  g_autofree char *lines =
      g_strdup_printf ("%s/b.txt\r\n\n%s/a.txt\n%s/b.txt", folder, folder, folder);
  g_autofree char *nuls = g_strdup_printf ("%s/b.txt%%%s/a.txt%%", folder, folder);
  gsize length = strlen (nuls);

  write_file ("list", lines, -1);
  assert_list ("list=@list", "0/0:a.txt 1/0:b.txt");
  assert_list ("list=@list order=given", "0/0:b.txt 1/0:a.txt");
  assert_list ("list=@list location=@B.txt order=given", "0/0:B.txt 1/0:b.txt 2/0:a.txt");
  g_strdelimit (nuls, "%", '\0');
  write_file ("list0", nuls, (gssize) length);
  assert_list ("list=@list0 order=given", "0/0:b.txt 1/0:a.txt");
}

/* What is no list, and would not fit into memory: told by its size, or while it is read. */
static void
test_endless_lists (void)
{
  g_autofree char *path = make_path ("list");

  write_file ("list", "", 0);
  g_assert_cmpint (truncate (path, (off_t) 300 * 1024 * 1024), ==, 0);
  assert_error ("list=@list", DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                "/list: it has 314572800 bytes or more, and at most 268435456 are allowed");
  assert_error ("list=/dev/zero", DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                "list=/dev/zero: it has 268");
  write_file ("list", "", 0);
}

static void
test_shards (void)
{
  assert_list ("location=@*.txt shard=0/3", "0/0:B.txt 3/0:\xc3\xa9.txt");
  assert_list ("location=@*.txt shard=1/3 epochs=2", "1/0:a.txt 1/1:a.txt");
  assert_list ("location=@*.txt shard=4/5", "");
}

/* All shards together are the whole, in the order of the whole: position p is in shard p mod N. */
static void
test_shards_of_shuffled (void)
{
  const char *settings_text = "location=@*.txt shuffle=true reshuffle=true epochs=5";
  g_auto (GStrv) settings = make_settings (settings_text);
  RigConfig config = make_config (settings);
  g_autoptr (RigOutput) whole = rig_run (&config);

  g_assert_cmpuint (whole->good->len, ==, 20);
  for (guint n = 1; n < 7; n++)
    for (guint i = 0; i < n; i++)
      {
        g_autofree char *text = g_strdup_printf ("%s shard=%u/%u", settings_text, i, n);
        g_auto (GStrv) own = make_settings (text);
        RigConfig shard = make_config (own);
        g_autoptr (RigOutput) part = rig_run (&shard);
        guint k = 0;

        g_assert_no_error (part->error);
        for (guint p = 0; p < whole->good->len; p++)
          if (p % 4 % n == i)
            g_assert_cmpstr (part->good->pdata[k++], ==, whole->good->pdata[p]);
        g_assert_cmpuint (part->good->len, ==, k);
      }
}

/* A plan of a fan-out: B.txt and b.txt to task 0, a.txt to task 2, é.txt to task 1. */
static void
write_plan (void)
{
  static const char *const names[] = { "B.txt", "a.txt", "b.txt", "\xc3\xa9.txt" };
  static const guint task_of[] = { 0, 2, 0, 1 };
  g_autoptr (GString) text =
      g_string_new ("dlpipe plan 1\t4\nsource\tother\t0\nsource\tfile-source0\t4\n");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = make_path (names[i]);
      g_autoptr (DlpFile) file =
          dlp_scheme_identify (dlp_scheme_for_uri (path, NULL), path, NULL, NULL);

      g_string_append_printf (text, "%u\t0\t%s\t%s\n", task_of[i], dlp_file_get_identity (file),
                              path);
    }
  g_string_append (text, "end\n");
  write_file ("plan", text->str, -1);
}

/* Numbers, order and draws are those of the whole list. */
static void
test_parts (void)
{
  const char *settings_text = "location=@*.txt shuffle=true reshuffle=true epochs=5";
  static const guint task_of[] = { 0, 2, 0, 1 };
  g_auto (GStrv) settings = make_settings (settings_text);
  RigConfig config = make_config (settings);
  g_autoptr (RigOutput) whole = rig_run (&config);

  write_plan ();
  assert_list ("plan=@plan task=0", "0/0:B.txt 2/0:b.txt");
  assert_list ("plan=@plan task=1 epochs=2", "3/0:\xc3\xa9.txt 3/1:\xc3\xa9.txt");
  assert_list ("location=@none.txt plan=@plan task=3", "");
  for (guint task = 0; task < 4; task++)
    {
      g_autofree char *text = g_strdup_printf ("%s plan=@plan task=%u", settings_text, task);
      g_auto (GStrv) own = make_settings (text);
      RigConfig of_task = make_config (own);
      g_autoptr (RigOutput) part = rig_run (&of_task);
      guint k = 0;

      g_assert_no_error (part->error);
      for (guint p = 0; p < whole->good->len; p++)
        {
          g_auto (GStrv) at = g_strsplit (whole->good->pdata[p], " ", -1);

          if (task_of[at[2][0] - '0'] == task)
            g_assert_cmpstr (part->good->pdata[k++], ==, whole->good->pdata[p]);
        }
      g_assert_cmpuint (part->good->len, ==, k);
    }
}

static void
test_resume (void)
{
  static const char *const texts[] = {
    "plan=@plan task=0 shuffle=true reshuffle=true epochs=4", "location=@*.txt",
    "location=@*.txt epochs=3 shard=1/2",
    "location=@*.txt shuffle=true reshuffle=true epochs=4 prefetch-files=0",
    "location=@*.txt shard=7/9"
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_auto (GStrv) settings = make_settings (texts[i]);
      RigConfig config = make_config (settings);
      g_autoptr (RigOutput) whole = rig_run (&config);
      g_autoptr (RigOutput) pieces = rig_run_in_pieces (&config);

      rig_assert_equal (pieces, whole);
      rig_assert_resumable (&config, &config);
    }
}

static void
test_endless (void)
{
  g_auto (GStrv) settings = make_settings ("location=@*.txt epochs=0");
  RigConfig config = make_config (settings);
  GError *error = NULL;
  g_autoptr (Rig) rig = rig_new (&config, NULL, &error);
  gboolean rejected;
  char *line;

  g_assert_no_error (error);
  for (guint i = 0; i < 100; i++)
    {
      g_autofree char *prefix = g_strdup_printf ("0 0 %u 0 %u\t", i % 4, i / 4);

      line = rig_next (rig, &rejected, &error);
      g_assert_true (g_str_has_prefix (line, prefix));
      g_free (line);
    }
  rig_finish (rig);
  while ((line = rig_next (rig, &rejected, &error)) != NULL)
    g_free (line);
  g_assert_no_error (error);
}

static void
assert_changed (const char *before, const char *after, const char *message)
{
  g_auto (GStrv) old_settings = make_settings (before);
  g_auto (GStrv) new_settings = make_settings (after);
  RigConfig old_config = make_config (old_settings);
  RigConfig new_config = make_config (new_settings);
  GError *error = NULL;
  g_autoptr (Rig) rig = rig_new (&old_config, NULL, &error);
  g_autoptr (RigState) state = rig_save (rig);
  g_autoptr (Rig) again = rig_new (&new_config, state, &error);

  g_assert_null (again);
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, message));
  g_clear_error (&error);
}

static void
test_changed_list (void)
{
  assert_changed (
      "location=@a.txt location=@b.txt", "location=@a.txt location=@B.txt",
      "there were 2, now there are 2; the first difference is at file 0 (from 0), where ");
  assert_changed (
      "location=@a.txt", "location=@a.txt location=@b.txt",
      "there were 1, now there are 2; the first difference is at file 1 (from 0), where ");
  assert_changed ("location=@a.txt location=@b.txt", "location=@a.txt",
                  "the first difference is at file 1 (from 0), where no file is now");
  assert_changed ("location=-", "location=-", "the standard input cannot be continued");
}

static void
test_errors (void)
{
  const GQuark data = DLP_DATA_ERROR;
  const GQuark graph = DLP_GRAPH_ERROR;

  assert_error ("epochs=1", graph, DLP_GRAPH_ERROR_VALUE, "nothing to read: location=FILE");
  assert_error ("location=@none.txt", data, DLP_DATA_ERROR_NO_INPUT, "none.txt: no such file");
  assert_error ("location=@*.none", data, DLP_DATA_ERROR_NO_INPUT, "*.none: no file matches");
  assert_error ("location=@*.txt shard=3/3", graph, DLP_GRAPH_ERROR_VALUE,
                "shard=3/3: expected I/N");
  assert_error ("location=@*.txt shard=1", graph, DLP_GRAPH_ERROR_VALUE, "shard=1: expected I/N");
  assert_error ("location=@*.txt shard=-1/2", graph, DLP_GRAPH_ERROR_VALUE, "shard=-1/2: expected");
  assert_error ("location=@*.txt shard=1/2x", graph, DLP_GRAPH_ERROR_VALUE, "shard=1/2x: expected");
  assert_error ("location=@*.txt shard=5/6 epochs=0", data, DLP_DATA_ERROR_NO_INPUT, "for ever");
  assert_error ("location=- epochs=2", graph, DLP_GRAPH_ERROR_VALUE, "- can be read only once");
  assert_error ("list=-", data, DLP_DATA_ERROR_NO_INPUT, "list=-: names cannot come from");
  assert_error ("list=@a.txt", data, DLP_DATA_ERROR_NO_INPUT, "a.txt: the list names no file");
  write_file ("list", "\nnone.txt\n", -1);
  assert_error ("list=@list", data, DLP_DATA_ERROR_NO_INPUT,
                "/list, name 2: none.txt: no such file");
  assert_error ("plan=@plan task=4", graph, DLP_GRAPH_ERROR_VALUE, "has 4, from 0");
  assert_error ("plan=@plan task=0 shard=0/2", graph, DLP_GRAPH_ERROR_VALUE, "exclude each other");
  assert_error ("plan=@plan task=3 epochs=0", data, DLP_DATA_ERROR_NO_INPUT, "task=3 of 4 files");
  assert_error ("plan=@list task=0", DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "this is no plan");
  write_file ("list", "-\n", -1);
  assert_error ("list=@list", data, DLP_DATA_ERROR_NO_INPUT, "cannot be named in a list");
  assert_error ("location=gopher://x", data, DLP_DATA_ERROR_NO_INPUT, "gopher://");
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "b.txt", "a.txt", "B.txt", "\xc3\xa9.txt", "list", "list0" };
  g_autofree char *plan = NULL;
  GError *error = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  folder = g_dir_make_tmp ("dlpipe-source-XXXXXX", &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    write_file (names[i], "", 0);

  g_test_add_func ("/file-source/locations", test_locations);
  g_test_add_func ("/file-source/lists", test_lists);
  g_test_add_func ("/file-source/endless-lists", test_endless_lists);
  g_test_add_func ("/file-source/shards", test_shards);
  g_test_add_func ("/file-source/shards-of-shuffled", test_shards_of_shuffled);
  g_test_add_func ("/file-source/parts", test_parts);
  g_test_add_func ("/file-source/resume", test_resume);
  g_test_add_func ("/file-source/endless", test_endless);
  g_test_add_func ("/file-source/changed-list", test_changed_list);
  g_test_add_func ("/file-source/errors", test_errors);
  result = g_test_run ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = make_path (names[i]);

      g_remove (path);
    }
  plan = make_path ("plan");
  g_remove (plan);
  g_rmdir (folder);
  g_free (folder);
  return result;
}
