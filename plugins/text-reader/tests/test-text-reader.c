/* SPDX-License-Identifier: MIT */

/* What becomes a record, what does not, and where that is, whatever the size of a read. */

#include <string.h>

#include "dlp-text-reader.h"
#include "reader-cases.h"

#define LINE "unit=line"
#define PARAGRAPH "unit=paragraph"
#define KEEP LINE " keep-blank-lines=true"
#define BOM "\xef\xbb\xbf"

static const ReaderCase cases[] = {
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
  { LITERAL ("PK\3\4...."), "zip data" },
};

static void
test_other (void)
{
  static const char *const units[] = { "unit=file", LINE, PARAGRAPH };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    for (guint unit = 0; unit < G_N_ELEMENTS (units); unit++)
      for (guint k = 0; k < N_READ_SIZES; k++)
        reader_cases_assert_damaged (units[unit], others[i].bytes, others[i].size,
                                     reader_read_sizes[k], others[i].part);
}

/* The files behind one that is damaged are read. */
static void
test_damaged_first (void)
{
  for (guint k = 0; k < N_READ_SIZES; k++)
    {
      g_autoptr (Fixture) fixture = reader_cases_fixture (LINE, reader_read_sizes[k]);
      g_autoptr (RigOutput) output = NULL;
      guint64 damaged = 0;

      fixture_write (fixture, "a.txt", others[0].bytes, (gssize) others[0].size);
      fixture_write (fixture, "b.txt", LITERAL ("good\n"));
      fixture_set_reader (fixture, "on-damaged-file=keep");
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
  g_autoptr (Fixture) fixture = reader_cases_fixture ("unit=file", 4096);
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
    reader_cases_assert_refused (settings[i][0], settings[i][1]);
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

static void
test_golden (void)
{
  static const char *const units[] = { "unit=file", "unit=line", "unit=paragraph" };
  g_autofree char *folder = g_build_filename (g_getenv ("DLPIPE_TEST_DATA"), "cases/", NULL);
  g_autoptr (GPtrArray) names = list_cases (folder);
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < names->len; i++)
    for (guint unit = 0; unit < G_N_ELEMENTS (units); unit++)
      reader_cases_append_outcome (all, folder, names->pdata[i], units[unit]);
  reader_cases_assert_golden (all);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  reader_cases_init (DLP_TYPE_TEXT_READER, "text-reader", ".txt");
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  reader_cases_add (cases, G_N_ELEMENTS (cases));
  g_test_add_func ("/text-reader/other", test_other);
  g_test_add_func ("/text-reader/damaged-first", test_damaged_first);
  g_test_add_func ("/text-reader/empty", test_empty);
  g_test_add_func ("/text-reader/refused", test_refused);
  g_test_add_func ("/text-reader/golden", test_golden);
  return g_test_run ();
}
