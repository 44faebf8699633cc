/* SPDX-License-Identifier: MIT */

/* What becomes a record, what does not, and where that is, whatever the size of a read. */

#include <string.h>

#include "dlp-text-reader.h"
#include "reader-fixture.h"

#define LITERAL(s) s, sizeof s - 1

typedef struct
{
  const char *name;
  const char *settings; /* with blanks between */
  const char *input;
  gsize size;
  const char *good;     /* the texts, with | between; control characters as \x0a */
  const char *rejected; /* "kind row line offset", with | between */
} Case;

/* Of a case, in golden.txt: the first so many, and the last. */
#define MAX_SHOWN 6
#define LINE "unit=line"
#define PARAGRAPH "unit=paragraph"
#define KEEP LINE " keep-blank-lines=true"
#define BOM "\xef\xbb\xbf"

static const Case cases[] = {
  { "line", LINE, LITERAL ("one\ntwo\r\nthree"), "one|two|three", "" },
  { "line/blank", LINE, LITERAL ("\n \t\r\none\n\n\r\n two \n\n"), "one| two ", "" },
  { "line/keep", KEEP, LITERAL ("\n \t\r\none\n\n"), "| \\x09|one|", "" },
  { "line/keep-no-end", KEEP, LITERAL ("a\n\n "), "a|| ", "" },
  { "line/only-blank", LINE, LITERAL ("\n\n"), "", "" },
  { "line/cr", LINE, LITERAL ("a\rb\r\r\nc\r"), "a\\x0db|c", "" },
  { "line/separators", LINE,
    LITERAL ("a\xe2\x80\xa8"
             "b\xc2\x85"
             "c\nd"),
    "a\xe2\x80\xa8"
    "b\xc2\x85"
    "c|d",
    "" },
  { "line/nul", LINE, LITERAL ("a\0b\n\0\n"), "a\\x00b|\\x00", "" },
  { "line/bom", LINE, LITERAL (BOM "a\n" BOM "b\n" BOM "\nc" BOM "\n"), "a|b|c" BOM, "" },
  { "line/utf-8", LINE, LITERAL ("\n\xc3\xa9\n\nx\xe9y\n\xf0\x9f\x98\x80\n\xc3\n"),
    "\xc3\xa9|\xf0\x9f\x98\x80", "utf-8 1 4 6|utf-8 3 6 14" },
  { "line/utf-8-end", LINE, LITERAL ("a\n\xf0\x9f\x98"), "a", "utf-8 1 2 2" },
  { "line/replace", LINE " invalid-utf8=replace",
    LITERAL ("a\xe9"
             "b\nc\n\xf0\x9f\x98\n\xed\xa0\x80|"),
    "a\xef\xbf\xbd"
    "b|c|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|",
    "" },
  { "line/too-long", LINE " max-record-bytes=8", LITERAL ("1234567\n12345678\nab\n123456789abcdef"),
    "1234567|ab", "too-long 1 2 8|too-long 3 4 20" },
  { "paragraph", PARAGRAPH, LITERAL ("\n\na\nb\n\nc\n \t\n\nd\r\ne\r\n\r\nf"),
    "a\\x0ab|c|d\\x0ae|f", "" },
  { "paragraph/one", PARAGRAPH, LITERAL ("a\n b \n"), "a\\x0a b ", "" },
  { "paragraph/blank", PARAGRAPH, LITERAL (" \n\r\n\t"), "", "" },
  { "paragraph/nul", PARAGRAPH, LITERAL ("\0\n\na\0b"), "\\x00|a\\x00b", "" },
  { "paragraph/bom", PARAGRAPH, LITERAL (BOM "a\n\n" BOM "b\n\n" BOM "\nc"), "a|b|c", "" },
  { "paragraph/cr", PARAGRAPH, LITERAL ("a\rb\r\r\nc\r\n\nd\r"), "a\\x0db\\x0ac|d", "" },
  { "paragraph/utf-8", PARAGRAPH, LITERAL ("\na\nb\n\n\nc\nd\xff\ne\nf\n\ng\n"), "a\\x0ab|g",
    "utf-8 1 7 10" },
  { "paragraph/replace", PARAGRAPH " invalid-utf8=replace", LITERAL ("a\r\n\xff\n\nb"),
    "a\\x0a\xef\xbf\xbd|b", "" },
  { "paragraph/too-long", PARAGRAPH " max-record-bytes=8",
    LITERAL ("a\n\n1234\n5678\n9\n\nb\n\n\n12345678\n1"), "a|b",
    "too-long 1 3 3|too-long 3 10 20" },
  { "file", "unit=file", LITERAL ("a\r\n\n\0b\n"), "a\\x0d\\x0a\\x0a\\x00b\\x0a", "" },
  { "file/default", "field=body", LITERAL ("x"), "x", "" },
  { "file/bom", "unit=file", LITERAL (BOM "a\n" BOM), "a\\x0a" BOM, "" },
  { "file/only-bom", "unit=file", LITERAL (BOM), "", "" },
  { "file/utf-8", "unit=file", LITERAL ("a\nb\xc3(\nc\n"), "", "utf-8 0 2 3" },
  { "file/replace", "unit=file invalid-utf8=replace", LITERAL ("a\r\n\xc3("),
    "a\\x0d\\x0a\xef\xbf\xbd(", "" },
  { "file/max", "unit=file max-record-bytes=8", LITERAL ("1234567\n"), "1234567\\x0a", "" },
  { "file/too-long", "unit=file max-record-bytes=8", LITERAL ("12\n4567\n9"), "",
    "too-long 0 1 0" },
};

static const guint read_sizes[] = { 1, 7, 4096, 65536 };

static void
set_all (Fixture *fixture, const char *settings)
{
  g_auto (GStrv) parts = g_strsplit (settings, " ", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    fixture_set_reader (fixture, "%s", parts[i]);
}

static Fixture *
make_fixture (const char *settings, guint read_size)
{
  Fixture *fixture = fixture_new ();

  fixture->config.reader_type = DLP_TYPE_TEXT_READER;
  set_all (fixture, settings);
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "read-size=%u", read_size);
  fixture_set_reader (fixture, "chunk-bytes=%u", read_size);
  return fixture;
}

/* Without the place. */
static char *
join_good (const RigOutput *output)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < output->good->len; i++)
    g_string_append_printf (all, "%s%s", i > 0 ? "|" : "",
                            strchr (output->good->pdata[i], '\t') + 1);
  return g_string_free (g_steal_pointer (&all), FALSE);
}

static char *
join_rejected (const RigOutput *output)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < output->rejected->len; i++)
    {
      g_auto (GStrv) parts = g_strsplit (output->rejected->pdata[i], "\t", -1);

      g_string_append_printf (all, "%s%s %s %s %s", i > 0 ? "|" : "", parts[1], parts[4], parts[5],
                              parts[6]);
    }
  return g_string_free (g_steal_pointer (&all), FALSE);
}

static gboolean
is_all_bad (const Case *c)
{
  return *c->rejected != '\0' && *c->good == '\0';
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;

  for (guint i = 0; i < G_N_ELEMENTS (read_sizes); i++)
    for (guint way = 0; way < 4; way++)
      {
        static const char *const names[] = { "a.txt", "a.txt", "a.txt.gz", "a.txt.zst" };
        g_autoptr (Fixture) fixture = make_fixture (c->settings, read_sizes[i]);
        g_autoptr (RigOutput) output = NULL;
        g_autofree char *good = NULL;
        g_autofree char *rejected = NULL;

        fixture_write (fixture, names[way], c->input, (gssize) c->size);
        fixture->config.workers = way % 2 == 0 ? 0 : 2;
        output = rig_run (fixture_config (fixture));
        if (is_all_bad (c))
          g_assert_error (output->error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO);
        else
          g_assert_no_error (output->error);
        good = join_good (output);
        rejected = join_rejected (output);
        g_assert_cmpstr (good, ==, c->good);
        g_assert_cmpstr (rejected, ==, c->rejected);
      }
}

/* ---- files that are something else ---- */

typedef struct
{
  const char *bytes;
  gsize size;
  const char *part; /* of the message */
} Other;

static const Other others[] = {
  { LITERAL ("\xff\xfe"
             "a\0\n\0"),
    "a UTF-16 byte order mark: the file must be UTF-8 (at byte 0)" },
  { LITERAL ("\xfe\xff\0a\0\n"), "a UTF-16 byte order mark" },
  { LITERAL ("\xff\xfe\0\0a\0\0\0"), "a UTF-32 byte order mark" },
  { LITERAL ("\0\0\xfe\xff\0\0\0a"), "a UTF-32 byte order mark" },
  { LITERAL ("a\0b\0c\0\n\0"), "UTF-16 text (every other byte is zero)" },
  { LITERAL ("\0a\0b\0c\0\n"), "UTF-16 text (every other byte is zero)" },
  { LITERAL ("\xfd"
             "7zXZ\0\0\4"),
    "xz data" },
  { LITERAL ("BZh91AY&SY...."), "bzip2 data" },
  { LITERAL ("PK\3\4...."), "zip data" },
};

static void
test_other (void)
{
  static const char *const units[] = { "unit=file", LINE, PARAGRAPH };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    for (guint unit = 0; unit < G_N_ELEMENTS (units); unit++)
      for (guint k = 0; k < G_N_ELEMENTS (read_sizes); k++)
        {
          g_autoptr (Fixture) fixture = make_fixture (units[unit], read_sizes[k]);
          g_autoptr (RigOutput) output = NULL;
          guint64 damaged = 0;

          fixture_write (fixture, "a.txt", others[i].bytes, (gssize) others[i].size);
          output = rig_run (fixture_config (fixture));
          g_assert_error (output->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
          g_assert_nonnull (strstr (output->error->message, others[i].part));
          g_assert_cmpuint (output->good->len, ==, 0);

          fixture_write (fixture, "b.txt", LITERAL ("good\n"));
          fixture_set_reader (fixture, "on-damaged-file=keep");
          g_clear_pointer (&output, rig_output_free);
          output = rig_run (fixture_config (fixture));
          g_assert_no_error (output->error);
          g_assert_true (g_variant_lookup (output->report, "damaged", "t", &damaged));
          g_assert_cmpuint (damaged, ==, 1);
          g_assert_cmpuint (output->good->len, ==, 1);
        }
}

static void
test_empty (void)
{
  g_autoptr (Fixture) fixture = make_fixture ("unit=file", 4096);
  g_autoptr (RigOutput) output = NULL;

  fixture_write (fixture, "a.txt", "", 0);
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len + output->rejected->len, ==, 0);
}

static void
test_refused (void)
{
  static const char *const settings[][2] = {
    { "field=", "field: empty" },
    { "unit=file keep-blank-lines=true", "only with unit=line" },
    { "unit=paragraph keep-blank-lines=true", "only with unit=line" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr (Fixture) fixture = make_fixture (settings[i][0], 4096);
      GError *error = NULL;

      fixture_write (fixture, "a.txt", "x\n", -1);
      g_assert_null (rig_new (fixture_config (fixture), NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      g_assert_nonnull (strstr (error->message, settings[i][1]));
      g_clear_error (&error);
    }
}

/* ---- the inputs of all readers ---- */

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_cases (const char *folder)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (strchr ("jgz", name[0]) != NULL)
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

static RigOutput *
run_case (const char *path, const char *unit, guint read_size, guint workers)
{
  g_autoptr (Fixture) fixture = fixture_new_at (path);

  fixture->config.reader_type = DLP_TYPE_TEXT_READER;
  fixture->config.workers = workers;
  fixture_set_reader (fixture, "unit=%s", unit);
  fixture_set_reader (fixture, "on-damaged-file=keep");
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "window-log-max=31");
  fixture_set_reader (fixture, "read-size=%u", read_size);
  return rig_run (fixture_config (fixture));
}

static void
append_outcome (GString *all, const char *folder, const RigOutput *output)
{
  guint64 damaged = 0;

  for (guint k = 0; k < 2; k++)
    {
      GPtrArray *lines = k == 0 ? output->good : output->rejected;

      for (guint i = 0; i < lines->len; i++)
        {
          g_auto (GStrv) parts = g_strsplit (lines->pdata[i], folder, -1);
          g_autofree char *line = g_strjoinv ("", parts);

          if (i < MAX_SHOWN || i + 1 == lines->len)
            g_string_append_printf (all, "  %s %.120s\n", k == 0 ? "good" : "bad ", line);
        }
    }
  g_assert_true (g_variant_lookup (output->report, "damaged", "t", &damaged));
  g_string_append_printf (all, "  damaged %" G_GUINT64_FORMAT "%s\n", damaged,
                          output->error != NULL ? ", an error" : "");
}

/* golden.txt was looked through once. To make it again: DLPIPE_WRITE_GOLDEN=FILE. */
static void
test_golden (void)
{
  static const char *const units[] = { "file", "line", "paragraph" };
  g_autofree char *folder = g_build_filename (g_getenv ("DLPIPE_TEST_DATA"), "cases/", NULL);
  g_autofree char *golden = g_test_build_filename (G_TEST_DIST, "golden.txt", NULL);
  g_autoptr (GPtrArray) names = list_cases (folder);
  g_autoptr (GString) all = g_string_new (NULL);
  g_autofree char *expected = NULL;
  GError *error = NULL;

  for (guint i = 0; i < names->len; i++)
    for (guint unit = 0; unit < G_N_ELEMENTS (units); unit++)
      {
        g_autofree char *path = g_build_filename (folder, names->pdata[i], NULL);
        g_autoptr (RigOutput) first = run_case (path, units[unit], 65536, 0);

        g_string_append_printf (all, "%s unit=%s\n", (const char *) names->pdata[i], units[unit]);
        append_outcome (all, folder, first);
        for (guint k = 0; k < 3; k++)
          {
            g_autoptr (RigOutput) output = run_case (path, units[unit], read_sizes[k], k);

            rig_assert_equal (output, first);
          }
      }

  if (g_getenv ("DLPIPE_WRITE_GOLDEN") != NULL)
    g_file_set_contents (g_getenv ("DLPIPE_WRITE_GOLDEN"), all->str, (gssize) all->len, &error);
  g_assert_no_error (error);
  g_file_get_contents (golden, &expected, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (all->str, ==, expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/text-reader/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/text-reader/other", test_other);
  g_test_add_func ("/text-reader/empty", test_empty);
  g_test_add_func ("/text-reader/refused", test_refused);
  g_test_add_func ("/text-reader/golden", test_golden);
  return g_test_run ();
}
