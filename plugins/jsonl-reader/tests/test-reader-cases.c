/* SPDX-License-Identifier: MIT */

/* The inputs of tests/data/cases: as many good and bad records as its manifest says, whatever the
 * size of a read. */

#include <stdlib.h>
#include <string.h>

#include "reader-fixture.h"

typedef struct
{
  char *file;
  int good; /* -1: any number */
  int bad;  /* damage of the file counts as one */
} Case;

static const char *
data_path (void)
{
  const char *path = g_getenv ("DLPIPE_TEST_DATA");

  g_assert_nonnull (path);
  return path;
}

static guint64
get_damaged (const RigOutput *output)
{
  guint64 damaged = 0;

  g_assert_true (g_variant_lookup (output->report, "damaged", "t", &damaged));
  return damaged;
}

static Fixture *
open_case (const char *file, guint read_size)
{
  g_autofree char *path = g_build_filename (data_path (), "cases", file, NULL);
  Fixture *fixture = fixture_new_at (path);

  fixture_set_reader (fixture, "on-damaged-file=keep");
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "read-size=%u", read_size);
  if (g_str_has_prefix (file, "z08"))
    fixture_set_reader (fixture, "window-log-max=31");
  if (g_str_has_prefix (file, "j18"))
    fixture_set_reader (fixture, "field=data.doc.text");
  return fixture;
}

static void
test_counts (gconstpointer data)
{
  const Case *c = data;
  static const guint read_sizes[] = { 65536, 1, 7, 4096 };
  g_autoptr (RigOutput) first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (read_sizes); i++)
    for (guint workers = 0; workers < (read_sizes[i] > 1 ? 3 : 1); workers += 2)
      {
        g_autoptr (Fixture) fixture = open_case (c->file, read_sizes[i]);
        g_autoptr (RigOutput) output = NULL;

        fixture->config.workers = workers;
        output = rig_run (fixture_config (fixture));
        g_assert_no_error (output->error);
        if (c->good >= 0)
          g_assert_cmpuint (output->good->len, ==, c->good);
        g_assert_cmpuint (output->rejected->len + get_damaged (output), ==, c->bad);
        if (first == NULL)
          first = g_steal_pointer (&output);
        else
          rig_assert_equal (output, first);
      }
}

static void
free_case (gpointer data)
{
  Case *c = data;

  g_free (c->file);
  g_free (c);
}

static void
add_cases (void)
{
  g_autofree char *path = g_build_filename (data_path (), "cases", "manifest.tsv", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  GError *error = NULL;
  guint n = 0;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 1; lines[i] != NULL; i++)
    {
      g_auto (GStrv) columns = g_strsplit (lines[i], "\t", -1);
      g_autofree char *name = NULL;
      Case *c;

      if (columns[0] == NULL || strchr ("jgz", columns[0][0]) == NULL || columns[0][0] == '\0')
        continue;
      c = g_new0 (Case, 1);
      c->file = g_strdup (columns[0]);
      c->good = strcmp (columns[2], "-") == 0 ? -1 : atoi (columns[2]);
      c->bad = atoi (columns[3]);
      name = g_strconcat ("/reader/cases/", c->file, NULL);
      g_test_add_data_func_full (name, c, test_counts, free_case);
      n++;
    }
  g_assert_cmpuint (n, >=, 30);
}

/* What a record is, is in the file. */
static void
test_values (void)
{
  static const struct
  {
    const char *file;
    const char *lines[4];
  } expected[] = {
    { "j01-bom.jsonl", { "0 0 0 0 0\tone", "0 0 0 1 0\ttwo" } },
    { "j09-crlf.jsonl", { "0 0 0 0 0\tone", "0 0 0 1 0\ttwo" } },
    { "j10-no-final-newline.jsonl", { "0 0 0 0 0\tone", "0 0 0 1 0\ttwo" } },
    { "j14-half-last-line.jsonl", { "0 0 0 0 0\tone", "0 0 0 1 0\ttwo" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autoptr (Fixture) fixture = open_case (expected[i].file, 65536);
      g_autoptr (RigOutput) output = rig_run (fixture_config (fixture));

      for (guint k = 0; k < output->good->len; k++)
        g_assert_cmpstr (output->good->pdata[k], ==, expected[i].lines[k]);
    }
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (transfer full): the counts. */
static char *
print_report (const RigOutput *output)
{
  g_autoptr (GVariant) counters = g_variant_lookup_value (output->report, "counters", NULL);
  g_autoptr (GVariant) bad = g_variant_lookup_value (output->report, "bad", NULL);
  g_autofree char *counters_text = g_variant_print (counters, FALSE);
  g_autofree char *bad_text = g_variant_print (bad, FALSE);

  return g_strdup_printf ("bad %s, damaged %" G_GUINT64_FORMAT ", %s", bad_text,
                          get_damaged (output), counters_text);
}

static void
append_lines (GString *all, const char *prefix, GPtrArray *lines, const char *folder)
{
  for (guint i = 0; i < lines->len; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lines->pdata[i], folder, -1);
      g_autofree char *line = g_strjoinv ("", parts);

      /* The keys of j25 are long. */
      g_string_append_printf (all, "%s %.400s\n", prefix, line);
    }
}

/* Everything that comes of the cases in JSON lines, as it was looked through once: golden.txt. To
 * make it again: DLPIPE_WRITE_GOLDEN=FILE. */
static void
test_golden (void)
{
  g_autofree char *folder = g_build_filename (data_path (), "cases/", NULL);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "golden.txt", NULL);
  g_autofree char *expected = NULL;
  g_autoptr (GString) all = g_string_new (NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;
  GError *error = NULL;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (name[0] == 'j')
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    {
      g_autoptr (Fixture) fixture = open_case (names->pdata[i], 65536);
      g_autoptr (RigOutput) output = NULL;
      g_autofree char *report = NULL;

      fixture_set_reader (fixture, "fields=id");
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      g_string_append_printf (all, "%s\n", (const char *) names->pdata[i]);
      append_lines (all, "  good", output->good, folder);
      append_lines (all, "  bad ", output->rejected, folder);
      report = print_report (output);
      g_string_append_printf (all, "  %s\n", report);
    }

  if (g_getenv ("DLPIPE_WRITE_GOLDEN") != NULL)
    g_file_set_contents (g_getenv ("DLPIPE_WRITE_GOLDEN"), all->str, (gssize) all->len, &error);
  g_assert_no_error (error);
  g_file_get_contents (path, &expected, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (all->str, ==, expected);
}

/* What is said of each, by default: the first fault ends the run, named with its place. */
static void
assert_message (const char *file, const char *setting, const char *message)
{
  g_autofree char *path = g_build_filename (data_path (), "cases", file, NULL);
  g_autofree char *expected = g_strdup_printf (message, path);
  g_autoptr (Fixture) fixture = fixture_new_at (path);
  g_autoptr (RigOutput) output = NULL;

  if (setting != NULL)
    fixture_set_reader (fixture, "%s", setting);
  output = rig_run (fixture_config (fixture));
  g_assert_nonnull (output->error);
  g_test_message ("%s", output->error->message);
  g_assert_cmpstr (output->error->message, ==, expected);
}

static void
test_messages (void)
{
  const char *fail = "on-bad-record=fail";

  assert_message ("j08-bad-utf8.jsonl", fail,
                  "jsonl-reader0: %s: row 0 (line 1, byte 12): utf-8: expected well-formed UTF-8, "
                  "found byte 0xe9 (bad records are not allowed: on-bad-record=fail)");
  assert_message (
      "j14-half-last-line.jsonl", fail,
      "jsonl-reader0: %s: row 2 (line 3, byte 42): unterminated: the last line, which "
      "does not end with a newline: the line ends inside the record: expected a closing "
      "quote (bad records are not allowed: on-bad-record=fail)");
  assert_message ("j17-text-types.jsonl", fail,
                  "jsonl-reader0: %s: row 0 (line 1, byte 8): null: the field \"text\" is of kind "
                  "null, expected a string (bad records are not allowed: on-bad-record=fail)");
  assert_message (
      "j03-utf16le.jsonl", NULL,
      "jsonl-reader0: %s: a UTF-16 byte order mark: the file must be UTF-8 (at byte 0); "
      "on-damaged-file=keep would keep the records before the damage");
  assert_message ("j19-top-level-array.json", NULL,
                  "jsonl-reader0: %s: a JSON array, not JSON lines (at byte 0); "
                  "on-damaged-file=keep would keep the records before the damage");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  /* Bad records are warned of; that is no fault of the test. */
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  add_cases ();
  g_test_add_func ("/reader/values", test_values);
  g_test_add_func ("/reader/golden", test_golden);
  g_test_add_func ("/reader/messages", test_messages);
  return g_test_run ();
}
